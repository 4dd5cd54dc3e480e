import static org.apache.spark.sql.functions.avg;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.sum;

import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;

/** Spark: tables and queries that it reads by parts, what it has the server do, and its catalog over the server's. */
class Spark extends Report {
    /** Most types that Spark has a type for. */
    static final String TYPES = "(SELECT visit, diagnosis, birth_date, weight, birth_date_range::text, cost, alive, small, large, ratio, single, code, title, raw, uid, details, plain, tags,"
        + " admitted, left_at, day, clock, span, address, flags, mood, share, remarks FROM patients WHERE visit BETWEEN 1 AND 19) t";

    static DataFrameReader reader(SparkSession spark, String... more) {
        DataFrameReader r = spark.read().format("jdbc").option("url", URL);
        properties().forEach((name, value) -> r.option((String) name, (String) value));
        for (int i = 0; i < more.length; i += 2) {
            r.option(more[i], more[i + 1]);
        }
        return r;
    }

    static String rows(Dataset<Row> d) {
        return Arrays.toString(d.toJSON().collectAsList().toArray());
    }

    /** What of a plan the server does. */
    static String pushed(Dataset<Row> d) {
        StringBuilder b = new StringBuilder();
        Matcher m = Pattern.compile("Pushed[A-Za-z]+: ([^\\[,]*\\[[^\\]]*\\]|[^,\\n]*)").matcher(d.queryExecution().simpleString());
        while (m.find()) {
            b.append(m.group()).append(' ');
        }
        return b.append(rows(d)).toString();
    }

    public static void main(String[] arguments) throws Exception {
        SparkSession.Builder builder = SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.host", "localhost").config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "2").config("spark.sql.session.timeZone", "UTC").config("spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir") + "/kproxy-spark")
            .config("spark.sql.catalog.pg", "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog").config("spark.sql.catalog.pg.url", URL).config("spark.sql.catalog.pg.driver", "org.postgresql.Driver")
            .config("spark.sql.catalog.pg.pushDownAggregate", "true").config("spark.sql.catalog.pg.pushDownLimit", "true").config("spark.sql.catalog.pg.pushDownOffset", "true");
        properties().forEach((name, value) -> builder.config("spark.sql.catalog.pg." + name, (String) value));
        try (SparkSession spark = builder.getOrCreate()) {
            read(spark);
            push(spark);
            catalog(spark);
        }
    }

    static void read(SparkSession spark) {
        step("types", () -> reader(spark, "dbtable", TYPES).load().schema().simpleString());
        step("values", () -> rows(reader(spark, "dbtable", TYPES).load().orderBy("visit")));
        step("all columns", () -> reader(spark, "dbtable", "patients").load().schema().fieldNames());
        step("nested arrays", () -> rows(reader(spark, "query", "SELECT matrix FROM patients WHERE visit = 1").load()));
        step("partitioned", () -> {
            Dataset<Row> d = reader(spark, "dbtable", "patients", "partitionColumn", "visit", "lowerBound", "1", "upperBound", "500", "numPartitions", "5", "fetchsize", "20").load();
            return d.rdd().getNumPartitions() + rows(d.groupBy("diagnosis").agg(count(lit(1)), sum("visit"), sum("cost")).orderBy("diagnosis"));
        });
        step("partitioned by day", () -> rows(reader(spark, "dbtable", "(SELECT visit, admitted FROM patients) p", "partitionColumn", "admitted", "lowerBound", "2024-04-01 00:00:00", "upperBound", "2024-04-10 00:00:00", "numPartitions", "3").load()
            .agg(count(lit(1)), count("admitted"), sum("visit"))));
        step("predicates", () -> {
            Properties p = properties();
            Dataset<Row> d = spark.read().jdbc(URL, "patients", new String[] {"visit % 2 = 0 AND cost > 100", "visit % 2 = 1"}, p);
            return d.rdd().getNumPartitions() + " " + d.select("visit").count();
        });
        step("query", () -> rows(reader(spark, "query", "SELECT diagnosis, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) AS median FROM patients GROUP BY 1").load().orderBy("diagnosis")));
        step("prepared query", () -> rows(reader(spark, "prepareQuery", "WITH t AS (SELECT ward, beds FROM wards WHERE beds > 10)", "query", "SELECT * FROM t").load().orderBy("ward")));
        step("custom types", () -> rows(reader(spark, "dbtable", "patients", "customSchema", "visit DECIMAL(38, 0), cost STRING").load().select("visit", "cost").where("visit < 4").orderBy("visit")));
        step("session", () -> rows(reader(spark, "query", "SELECT current_setting('lock_timeout') AS t", "sessionInitStatement", "SET lock_timeout = 4000", "queryTimeout", "30").load()));
        step("time limit", () -> rows(reader(spark, "dbtable", "(SELECT count(*) AS n FROM generate_series(1, 100000000000)) s", "queryTimeout", "1").load()).isEmpty());
        step("unknown table", () -> reader(spark, "dbtable", "nothing").load().count());
        step("cached and joined", () -> {
            Dataset<Row> patients = reader(spark, "dbtable", "patients").load().select("visit", "diagnosis").cache();
            Dataset<Row> wards = reader(spark, "dbtable", "wards").load();
            return rows(wards.join(patients, patients.col("visit").equalTo(wards.col("beds")), "left").select("ward", "visit", "diagnosis").orderBy("ward"));
        });
        for (SaveMode mode : List.of(SaveMode.Append, SaveMode.Overwrite, SaveMode.ErrorIfExists)) {
            step("write " + mode, () -> {
                Dataset<Row> d = spark.sql("SELECT 'new' AS ward, 1 AS beds");
                d.write().mode(mode).jdbc(URL, mode == SaveMode.ErrorIfExists ? "fresh" : "wards", properties());
                return "written";
            });
        }
    }

    static void push(SparkSession spark) {
        Dataset<Row> patients = reader(spark, "dbtable", "patients").load().select("visit", "diagnosis", "cost", "alive", "title", "day", "admitted");
        step("filters", () -> pushed(patients.where(col("diagnosis").isin("I10", "J18").and(col("cost").gt(4000).or(col("alive").isNull()))).select("visit", "diagnosis").orderBy("visit")));
        step("texts", () -> pushed(patients.where(col("title").startsWith("Title 49").or(col("title").contains("33"))).select("visit").orderBy("visit")));
        step("days", () -> pushed(patients.where("day > DATE '2025-06-01' AND admitted < TIMESTAMP '2024-04-10 00:00:00Z'").select("visit").orderBy("visit")));
        step("aggregates", () -> pushed(patients.groupBy("diagnosis").agg(count(lit(1)), sum("cost"), avg("visit")).orderBy("diagnosis")));
        step("statistics", () -> rows(patients.select("visit", "cost", "diagnosis").summary("count", "min", "max")));
    }

    static void catalog(SparkSession spark) throws Exception {
        String schema;
        try (var c = java.sql.DriverManager.getConnection(URL, properties())) {
            schema = "pg.`" + c.getSchema() + "`";
        }
        for (String sql : List.of("SHOW TABLES IN S", "DESCRIBE S.patients", "DESCRIBE S.wards", "SELECT ward, beds FROM S.wards WHERE beds > 10 ORDER BY beds DESC LIMIT 2", "SELECT * FROM S.wards ORDER BY ward LIMIT 2 OFFSET 1",
            "SELECT diagnosis, count(*), max(cost), avg(visit) FROM S.patients WHERE visit > 100 GROUP BY diagnosis ORDER BY diagnosis", "SELECT count(DISTINCT diagnosis), var_pop(visit) > 0 FROM S.patients",
            "SELECT upper(ward), abs(beds - 25), coalesce(beds, 0) FROM S.wards WHERE upper(ward) LIKE 'S%'", "SELECT w.ward, count(p.visit) FROM S.wards w LEFT JOIN S.patients p ON p.visit < w.beds GROUP BY w.ward ORDER BY 1",
            "INSERT INTO S.wards VALUES ('new', 1, 1)", "CREATE TABLE S.fresh (n INT)", "DROP TABLE S.wards", "ANALYZE TABLE S.wards COMPUTE STATISTICS")) {
            step("catalog " + sql, () -> {
                Dataset<Row> d = spark.sql(sql.replace("S.", schema + ".").replace("IN S", "IN " + schema));
                return (sql.startsWith("SELECT") ? pushed(d) : rows(d)).replace("kproxy_release_public", "public");
            });
        }
    }
}
