import static io.trino.testing.TestingSession.testSessionBuilder;

import io.trino.plugin.postgresql.PostgreSqlPlugin;
import io.trino.testing.LocalQueryRunner;
import io.trino.testing.MaterializedResult;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Trino's connector: what it lists and describes, what it has the server do, statistics, the server's own queries. */
class Trino extends Report {
    static final List<String> TOLD = List.of("SHOW SCHEMAS", "SHOW TABLES", "DESCRIBE patients", "DESCRIBE wards", "SHOW STATS FOR wards", "SHOW STATS FOR patients", "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = CURRENT ORDER BY 1",
        "SELECT column_name, is_nullable, data_type FROM information_schema.columns WHERE table_schema = CURRENT AND table_name = 'wards' ORDER BY ordinal_position");

    /** Trino sorts what the server is not asked to. */
    static final List<String> ASKED = List.of(
        "SELECT * FROM wards ORDER BY ward",
        "SELECT visit, diagnosis, birth_date, weight, cost, alive, small, large, ratio, single, code, title, raw, uid, details, admitted, left_at, clock, mood FROM patients WHERE visit BETWEEN 1 AND 15 ORDER BY visit",
        "SELECT visit, title FROM patients WHERE diagnosis IN ('I10', 'J18') AND visit < 40 ORDER BY visit",
        "SELECT visit FROM patients WHERE cost > 4000 AND alive IS NULL ORDER BY visit",
        "SELECT visit FROM patients WHERE admitted < TIMESTAMP '2024-03-31 05:00:00 UTC' AND title IS NOT NULL ORDER BY visit",
        "SELECT diagnosis, count(*), sum(cost), avg(cost), min(visit), max(admitted) FROM patients GROUP BY diagnosis ORDER BY diagnosis",
        "SELECT count(*), count(cost), count(DISTINCT diagnosis) FROM patients",
        "SELECT round(stddev(ratio), 6), round(corr(ratio, visit), 6), round(regr_slope(ratio, visit), 6) FROM patients WHERE visit > 100",
        "SELECT visit, cost FROM patients ORDER BY cost DESC NULLS LAST, visit LIMIT 5",
        "SELECT count(*) FROM (SELECT visit FROM patients LIMIT 7)",
        "SELECT w.ward, p.visit, p.diagnosis FROM wards w JOIN patients p ON p.visit = w.beds ORDER BY 1",
        "SELECT w.ward, count(p.visit) FROM wards w LEFT JOIN patients p ON p.visit < w.beds GROUP BY w.ward ORDER BY 1",
        "SELECT diagnosis, visit FROM (SELECT diagnosis, visit, row_number() OVER (PARTITION BY diagnosis ORDER BY visit) n FROM patients) WHERE n = 2 ORDER BY 1",
        "SELECT visit, json_extract_scalar(details, '$.list[1]') FROM patients WHERE visit < 5 ORDER BY visit",
        "SELECT nothing FROM wards",
        "INSERT INTO wards (ward, beds) VALUES ('new', 1)",
        "DELETE FROM wards WHERE beds = 10",
        "CREATE TABLE fresh AS SELECT * FROM wards");

    static String rows(MaterializedResult r) {
        return r.getTypes() + " " + r.getMaterializedRows().stream().map(row -> row.getFields().toString()).collect(Collectors.joining(" "));
    }

    public static void main(String[] arguments) throws Exception {
        String schema;
        try (Connection c = DriverManager.getConnection(URL, properties())) {
            schema = c.getSchema();
        }
        String root = System.getenv("PGSSLROOTCERT");
        LocalQueryRunner trino = LocalQueryRunner.create(testSessionBuilder().setCatalog("pg").setSchema(schema).setTimeZoneKey(io.trino.spi.type.TimeZoneKey.UTC_KEY).build());
        trino.installPlugin(new PostgreSqlPlugin());
        trino.createCatalog("pg", "postgresql", Map.of("connection-url", URL + "?sslmode=verify-full&sslrootcert=" + root, "connection-user", System.getenv("PGUSER"), "connection-password", System.getenv("PGPASSWORD"),
            "postgresql.array-mapping", "AS_ARRAY", "unsupported-type-handling", "CONVERT_TO_VARCHAR"));
        for (String sql : TOLD) {
            step(sql, () -> rows(trino.execute(sql.replace("CURRENT", "'" + schema + "'"))).replace(schema, "public"));
        }
        for (String sql : ASKED) {
            step(sql, () -> rows(trino.execute(sql)));
            if (sql.contains("LIMIT") || sql.contains("visit < 40") || sql.contains("GROUP BY diagnosis")) {
                // What the server is asked, without costs.
                step("plan of " + sql, () -> trino.execute("EXPLAIN (TYPE LOGICAL) " + sql).getOnlyValue().toString().lines().filter(l -> l.contains("pg:")).map(l -> l.replace(schema, "public").strip()).toList());
            }
        }
        trino.close();
        System.exit(0); // threads of the server stay
    }
}
