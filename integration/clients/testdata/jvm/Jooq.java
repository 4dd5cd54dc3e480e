import static org.jooq.impl.DSL.array;
import static org.jooq.impl.DSL.arrayAgg;
import static org.jooq.impl.DSL.avg;
import static org.jooq.impl.DSL.cast;
import static org.jooq.impl.DSL.count;
import static org.jooq.impl.DSL.exists;
import static org.jooq.impl.DSL.extract;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.grouping;
import static org.jooq.impl.DSL.inline;
import static org.jooq.impl.DSL.jsonObject;
import static org.jooq.impl.DSL.listAgg;
import static org.jooq.impl.DSL.max;
import static org.jooq.impl.DSL.median;
import static org.jooq.impl.DSL.multiset;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.rollup;
import static org.jooq.impl.DSL.row;
import static org.jooq.impl.DSL.rowNumber;
import static org.jooq.impl.DSL.select;
import static org.jooq.impl.DSL.selectOne;
import static org.jooq.impl.DSL.sum;
import static org.jooq.impl.DSL.table;
import static org.jooq.impl.DSL.val;
import static org.jooq.impl.DSL.values;
import static org.jooq.impl.DSL.when;

import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.DatePart;
import org.jooq.Field;
import org.jooq.JSONB;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.codegen.GenerationTool;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jooq.meta.jaxb.Configuration;
import org.jooq.meta.jaxb.Database;
import org.jooq.meta.jaxb.Generate;
import org.jooq.meta.jaxb.Generator;
import org.jooq.meta.jaxb.Logging;
import org.jooq.meta.jaxb.Target;

/** jOOQ: queries that it builds, plain SQL, transactions, what it asks the catalogs, and the classes that it generates. */
class Jooq extends Report {
    static final Table<?> PATIENTS = table(name("patients")), WARDS = table(name("wards"));
    static final Field<Integer> VISIT = field(name("patients", "visit"), SQLDataType.INTEGER);
    static final Field<String> DIAGNOSIS = field(name("patients", "diagnosis"), SQLDataType.CLOB);
    static final Field<BigDecimal> COST = field(name("patients", "cost"), SQLDataType.NUMERIC(10, 2));
    static final Field<Boolean> ALIVE = field(name("patients", "alive"), SQLDataType.BOOLEAN);
    static final Field<String[]> TAGS = field(name("patients", "tags"), SQLDataType.CLOB.getArrayDataType());
    static final Field<JSONB> DETAILS = field(name("patients", "details"), SQLDataType.JSONB);
    static final Field<String> WARD = field(name("ward"), SQLDataType.CLOB);
    static final Field<Integer> BEDS = field(name("beds"), SQLDataType.INTEGER);

    /** As Java's objects take a row. */
    record Visit(int visit, String diagnosis, BigDecimal cost) { }

    public static void main(String[] arguments) throws Exception {
        System.setProperty("org.jooq.no-logo", "true");
        System.setProperty("org.jooq.no-tips", "true");
        try (Connection c = DriverManager.getConnection(URL, properties())) {
            DSLContext sql = DSL.using(c, SQLDialect.POSTGRES, new Settings().withFetchSize(50));
            queries(sql);
            aggregates(sql);
            texts(sql);
            transactions(sql, c);
            catalogs(sql, c);
        }
    }

    static void rows(String name, java.util.function.Supplier<org.jooq.ResultQuery<?>> query) {
        step(name, () -> query.get().fetch().formatJSON());
    }

    static void queries(DSLContext sql) {
        rows("filtered", () -> sql.select(VISIT, DIAGNOSIS, COST).from(PATIENTS).where(DIAGNOSIS.in("I10", "J18")).and(COST.gt(new BigDecimal(4000)).or(ALIVE.isNull())).orderBy(VISIT.desc()).limit(5).offset(2));
        rows("everything", () -> sql.selectFrom(PATIENTS).where(VISIT.lt(4)).orderBy(VISIT));
        step("records", () -> sql.select(VISIT, DIAGNOSIS, COST).from(PATIENTS).orderBy(VISIT).limit(3).fetchInto(Visit.class));
        step("map", () -> sql.select(WARD, BEDS).from(WARDS).fetchMap(WARD, BEDS));
        step("exists", () -> sql.fetchExists(selectOne().from(PATIENTS).where(VISIT.eq(7))) + " " + sql.fetchCount(PATIENTS) + " " + sql.fetchValue(select(max(COST)).from(PATIENTS)));
        rows("joined", () -> sql.select(WARD, count(VISIT)).from(WARDS).leftJoin(PATIENTS).on(VISIT.lt(BEDS)).groupBy(WARD).orderBy(WARD));
        rows("lateral", () -> sql.select(WARD, field(name("t", "visit"))).from(WARDS).crossJoin(DSL.lateral(select(VISIT).from(PATIENTS).where(VISIT.gt(BEDS)).orderBy(VISIT).limit(2)).as("t")).orderBy(1, 2));
        rows("with", () -> sql.with("t").as(select(DIAGNOSIS.as("d"), count().as("n")).from(PATIENTS).groupBy(DIAGNOSIS)).select().from(table(name("t"))).where(field(name("n"), Integer.class).gt(50)).orderBy(1));
        rows("recursive", () -> sql.withRecursive("t", "n").as(select(inline(1)).unionAll(select(field(name("n"), Integer.class).add(1)).from(table(name("t"))).where(field(name("n"), Integer.class).lt(4)))).selectFrom(table(name("t"))));
        rows("union", () -> sql.select(VISIT).from(PATIENTS).where(VISIT.lt(3)).unionAll(select(BEDS).from(WARDS)).orderBy(1));
        rows("values", () -> sql.select().from(values(row(1, "a"), row(2, "b")).as("v", "n", "t")));
        rows("rows", () -> sql.select(VISIT).from(PATIENTS).where(row(VISIT, DIAGNOSIS).in(select(VISIT.add(1), DIAGNOSIS).from(PATIENTS))).or(row(VISIT, DIAGNOSIS).gt(val(498), val("A"))).orderBy(1));
        rows("keyset", () -> sql.select(VISIT, DIAGNOSIS).from(PATIENTS).orderBy(DIAGNOSIS, VISIT.desc()).seek("I10", 400).limit(4));
        rows("nested", () -> sql.select(WARD, multiset(select(VISIT, DIAGNOSIS, COST).from(PATIENTS).where(VISIT.eq(BEDS)).orderBy(VISIT)).as("visits")).from(WARDS).orderBy(WARD));
        rows("nested row", () -> sql.select(VISIT, row(DIAGNOSIS, COST).as("r")).from(PATIENTS).where(VISIT.lt(3)).orderBy(VISIT));
        step("lazily", () -> {
            int rows = 0;
            try (var cursor = sql.select(VISIT).from(PATIENTS).orderBy(VISIT).fetchLazy()) {
                for (Record ignored : cursor) {
                    rows++;
                }
            }
            return rows;
        });
        step("stream", () -> {
            try (var stream = sql.select(VISIT).from(PATIENTS).fetchStream()) {
                return stream.mapToInt(r -> r.value1()).sum();
            }
        });
        step("later", () -> sql.select(count()).from(PATIENTS).fetchAsync().toCompletableFuture().get().formatJSON());
        step("many", () -> sql.fetchMany("SELECT 1; SELECT count(*) FROM wards").stream().map(r -> r.formatJSON()).toList());
        step("empty in", () -> sql.select(VISIT).from(PATIENTS).where(VISIT.in(List.of())).fetch().size());
        step("large in", () -> sql.select(count()).from(PATIENTS).where(VISIT.in(Stream.iterate(1, i -> i + 3).limit(2000).toList())).fetchOne().value1());
    }

    static void aggregates(DSLContext sql) {
        rows("grouped", () -> sql.select(DIAGNOSIS, count(), avg(COST).cast(SQLDataType.NUMERIC(10, 4)), sum(COST), count().filterWhere(ALIVE.isTrue())).from(PATIENTS).groupBy(DIAGNOSIS).having(count().gt(20)).orderBy(1));
        rows("listed", () -> sql.select(DIAGNOSIS, listAgg(VISIT.cast(String.class), ",").withinGroupOrderBy(VISIT), arrayAgg(VISIT).orderBy(VISIT)).from(PATIENTS).where(VISIT.lt(12)).groupBy(DIAGNOSIS).orderBy(1));
        rows("median", () -> sql.select(median(VISIT), DSL.stddevSamp(VISIT).cast(SQLDataType.NUMERIC(10, 4)), DSL.mode().withinGroupOrderBy(DIAGNOSIS), DSL.percentileCont(0.25).withinGroupOrderBy(VISIT)).from(PATIENTS));
        rows("rollup", () -> sql.select(DIAGNOSIS, ALIVE, grouping(DIAGNOSIS), count()).from(PATIENTS).groupBy(rollup(DIAGNOSIS, ALIVE)).orderBy(DIAGNOSIS.nullsLast(), ALIVE.nullsFirst()));
        rows("window", () -> sql.select(VISIT, rowNumber().over().partitionBy(DIAGNOSIS).orderBy(VISIT), sum(COST).over().orderBy(VISIT).rowsBetweenPreceding(2).andCurrentRow(), DSL.lag(VISIT).over().orderBy(VISIT)).from(PATIENTS).where(VISIT.lt(9)).orderBy(VISIT));
        rows("json", () -> sql.select(jsonObject(DSL.key("v").value(VISIT), DSL.key("d").value(DIAGNOSIS)), DSL.jsonbGetElementAsText(DSL.jsonbGetAttribute(DETAILS, "list"), 1), DSL.jsonbExists(DETAILS, "$.deep.t")).from(PATIENTS).where(VISIT.between(3, 5)).orderBy(VISIT));
        rows("json table", () -> sql.select(VISIT, DSL.jsonbArrayAgg(DIAGNOSIS).orderBy(DIAGNOSIS)).from(PATIENTS).where(VISIT.lt(4)).groupBy(VISIT).orderBy(VISIT));
        rows("arrays", () -> sql.select(TAGS, DSL.cardinality(TAGS), DSL.arrayGet(TAGS, 1), DSL.arrayAppend(TAGS, "x")).from(PATIENTS).where(TAGS.contains(new String[] {"a3"})));
        rows("unnested", () -> sql.select().from(DSL.unnest(array(3, 1, 2)).as("u", "n")).orderBy(1));
        rows("series", () -> sql.select().from(DSL.generateSeries(1, 3)));
        rows("functions", () -> sql.select(DSL.upper(DIAGNOSIS), DSL.lpad(DIAGNOSIS, 5, "0"), DSL.position(DIAGNOSIS, "1"), DSL.md5(DIAGNOSIS), DSL.translate(DIAGNOSIS, "I", "i"), DSL.repeat(DIAGNOSIS, 2), DSL.reverse(DIAGNOSIS),
            DSL.splitPart(DIAGNOSIS, "1", 1), DSL.regexpReplaceAll(DIAGNOSIS, "[0-9]", "#"), DSL.greatest(VISIT, val(4)), DSL.bitAnd(VISIT, val(3)), DSL.power(VISIT, 2), DSL.round(COST, 1), DSL.widthBucket(VISIT, val(0), val(100), val(10)))
            .from(PATIENTS).where(VISIT.in(3, 4)).orderBy(VISIT));
        rows("dates", () -> {
            var day = field(name("day"), SQLDataType.LOCALDATE);
            return sql.select(day, extract(day, DatePart.YEAR), DSL.trunc(day, DatePart.MONTH), DSL.localDateAdd(day, 3), DSL.localDateDiff(day, day), DSL.dayOfWeek(day), DSL.toChar(day, "YYYY/MM/DD")).from(PATIENTS).where(VISIT.eq(5));
        });
        rows("case", () -> {
            var known = when(ALIVE, "yes").when(ALIVE.isNull(), "unknown").otherwise("no").as("known");
            return sql.select(known, count()).from(PATIENTS).groupBy(field(name("known"))).orderBy(1);
        });
        rows("quantified", () -> sql.select(VISIT).from(PATIENTS).where(VISIT.gt(DSL.all(select(BEDS.times(12)).from(WARDS)))).and(exists(selectOne().from(WARDS))).orderBy(1).limit(3));
        rows("sample", () -> sql.select(cast(inline("12"), SQLDataType.INTEGER), DSL.currentUser().isNotNull(), DSL.currentTimestamp().isNotNull(), DSL.currentSchema().isNotNull()));
    }

    static void texts(DSLContext sql) {
        step("plain", () -> sql.fetch("SELECT visit, mood, home, span, years, flags, amount FROM patients WHERE visit = {0} AND diagnosis <> {1}", val(3), val("x")).formatCSV());
        step("plain with numbers", () -> sql.resultQuery("SELECT ?::int + ?::int AS n, '?' AS t", 1, 2).fetch().formatJSON());
        step("described", () -> sql.fetch("SELECT * FROM patients LIMIT 0").fieldStream().map(f -> f.getName() + " " + f.getDataType()).toList());
        step("parsed", () -> sql.fetch(sql.parser().parseSelect("select diagnosis, count(*) from patients where visit < 50 group by diagnosis order by 1 fetch first 3 rows only")).formatJSON());
        // It reads costs from the plan.
        step("explained", () -> sql.explain(select(WARD).from(WARDS).where(WARD.eq("surgery"))).plan().isEmpty());
        step("write", () -> sql.insertInto(WARDS, WARD, BEDS).values("new", 1).execute());
        step("merge", () -> sql.insertInto(WARDS, WARD, BEDS).values("surgery", 1).onConflict(WARD).doNothing().execute());
        step("update", () -> sql.update(WARDS).set(BEDS, 1).where(WARD.eq("surgery")).returning(WARD).fetch());
        step("batch", () -> Arrays.toString(sql.batch(sql.deleteFrom(WARDS), sql.deleteFrom(PATIENTS)).execute()));
        step("create", () -> sql.createTable("fresh").column("n", SQLDataType.INTEGER).execute());
        step("locked", () -> sql.select(WARD).from(WARDS).forUpdate().skipLocked().fetch().size());
        step("wrong", () -> sql.fetch("SELECT nothing FROM patients"));
        step("setting", () -> sql.set(name("lock_timeout"), val("1s")).execute() + sql.fetchValue("SHOW lock_timeout").toString());
    }

    static void transactions(DSLContext sql, Connection c) {
        step("transaction", () -> sql.transactionResult(t -> {
            DSLContext in = t.dsl();
            String seen = in.fetchCount(PATIENTS) + " ";
            try {
                in.transaction(nested -> nested.dsl().fetch("SELECT 1 / 0"));
            } catch (RuntimeException e) {
                seen += error(e);
            }
            return seen + " " + in.fetchCount(WARDS);
        }));
        step("rolled back", () -> sql.transactionResult(t -> {
            t.dsl().fetch("SELECT 1");
            throw new IllegalStateException("on purpose");
        }));
        step("after", () -> c.getAutoCommit() + " " + sql.fetchCount(WARDS));
        step("time limit", () -> sql.resultQuery("SELECT count(*) FROM generate_series(1, 100000000000)").queryTimeout(1).fetch().formatJSON());
    }

    static void catalogs(DSLContext sql, Connection c) throws Exception {
        String schema = c.getSchema();
        step("schemas", () -> sql.meta().getSchemas().stream().map(s -> s.getName()).filter(s -> s.startsWith("pg_") || s.startsWith("information")).sorted().toList());
        for (String table : List.of("patients", "wards")) {
            step("table " + table, () -> {
                Table<?> t = sql.meta().filterSchemas(s -> s.getName().equals(schema)).getTables(table).get(0);
                return t.getTableType() + " " + t.fieldStream().map(f -> f.getName() + " " + f.getDataType() + " " + f.getDataType().nullable()).toList() + t.getPrimaryKey() + t.getKeys() + t.getReferences() + t.getIndexes() + t.getComment().isEmpty();
            });
        }
        step("tables", () -> sql.meta().filterSchemas(s -> s.getName().equals(schema)).getTables().stream().map(t -> t.getName()).sorted().toList());
        step("sequences", () -> sql.meta().filterSchemas(s -> s.getName().equals(schema)).getSequences());
        // Without the texts of views and the comments, which are on one way alone.
        step("exported", () -> sql.meta().filterSchemas(s -> s.getName().equals(schema)).ddl().queryStream().map(q -> q.getSQL().replace(schema, "public").replaceFirst("(?s) as .*", ""))
            .filter(q -> !q.startsWith("comment")).sorted().toList());
        Path folder = Files.createTempDirectory("kproxy-jooq-");
        try {
            step("generated", () -> generate(folder, schema));
            for (String table : List.of("Patients", "Wards")) {
                step("generated " + table, () -> fields(folder.resolve("generated/tables/" + table + ".java")));
            }
        } finally {
            try (var files = Files.walk(folder)) {
                files.sorted(Comparator.reverseOrder()).forEach(f -> f.toFile().delete());
            }
        }
    }

    static Object generate(Path folder, String schema) throws Exception {
        GenerationTool tool = new GenerationTool();
        try (Connection c = DriverManager.getConnection(URL, properties())) {
            tool.setConnection(c);
            tool.run(new Configuration().withLogging(Logging.ERROR).withGenerator(new Generator()
                .withDatabase(new Database().withName("org.jooq.meta.postgres.PostgresDatabase").withInputSchema(schema).withOutputSchema("public").withIncludeRoutines(false))
                .withGenerate(new Generate().withRecords(true).withPojos(true).withDaos(true).withGeneratedAnnotation(false).withComments(false))
                .withTarget(new Target().withDirectory(folder.toString()).withPackageName("generated"))));
        }
        try (var files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).map(f -> folder.relativize(f).toString()).sorted().toList();
        }
    }

    /** What a class has, from which programs build their queries. */
    static Object fields(Path file) throws Exception {
        Pattern field = Pattern.compile("createField\\(DSL.name\\((\".*?\")\\), (?:org.jooq.impl.)?(.*), this, ");
        try (var lines = Files.lines(file)) {
            return lines.map(field::matcher).filter(Matcher::find).map(m -> m.group(1) + " " + m.group(2)).toList();
        }
    }
}
