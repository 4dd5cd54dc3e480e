import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** HikariCP: limits, validation, what it resets between users, leaks, eviction, concurrent use. */
class Pool extends Report {
    static HikariDataSource pool(int size, Consumer<HikariConfig> more) {
        HikariConfig c = new HikariConfig();
        c.setJdbcUrl(URL);
        c.setDataSourceProperties(properties());
        c.addDataSourceProperty("ApplicationName", "pooled");
        c.setMaximumPoolSize(size);
        c.setConnectionTimeout(120_000);
        more.accept(c);
        return new HikariDataSource(c);
    }

    static String query(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement()) {
            return rows(s.executeQuery(sql));
        }
    }

    static String state(Connection c) throws SQLException {
        return c.getAutoCommit() + " " + c.isReadOnly() + " " + c.getTransactionIsolation() + " " + c.getHoldability() + " " + c.getNetworkTimeout() + " " + query(c,
            "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only'), current_setting('TimeZone'), current_setting('lock_timeout')");
    }

    public static void main(String[] arguments) {
        try (HikariDataSource pool = pool(1, c -> { })) {
            single(pool);
        }
        configured();
        step("limit", () -> {
            try (HikariDataSource pool = pool(2, c -> c.setConnectionTimeout(10_000)); Connection a = pool.getConnection(); Connection b = pool.getConnection()) {
                String seen = query(a, "SELECT count(*) FROM patients") + query(b, "SELECT count(*) FROM wards");
                try (Connection c = pool.getConnection()) {
                    return seen + "a third one";
                } catch (SQLException e) {
                    return seen + e.getClass().getSimpleName();
                }
            }
        });
        step("leak", Pool::leak);
        step("concurrent", Pool::concurrent);
        step("evicted", () -> {
            try (HikariDataSource pool = pool(1, c -> { })) {
                Connection c = pool.getConnection();
                query(c, "SET lock_timeout = 1234");
                pool.evictConnection(c);
                try (Connection other = pool.getConnection()) {
                    return query(other, "SHOW lock_timeout");
                }
            }
        });
        step("aborted", () -> {
            try (HikariDataSource pool = pool(1, c -> { })) {
                try (Connection c = pool.getConnection()) {
                    query(c, "SET lock_timeout = 1234");
                    c.abort(Runnable::run);
                }
                try (Connection other = pool.getConnection()) {
                    return query(other, "SHOW lock_timeout");
                }
            }
        });
        step("wrong password", () -> {
            try (HikariDataSource pool = pool(1, c -> c.addDataSourceProperty("password", "wrong"))) {
                return "open";
            }
        });
    }

    static void single(HikariDataSource pool) {
        step("fresh", () -> {
            try (Connection c = pool.getConnection()) {
                return state(c) + c.isValid(5);
            }
        });
        step("changed", () -> {
            try (Connection c = pool.getConnection()) {
                c.setReadOnly(true);
                c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                c.setAutoCommit(false);
                c.setNetworkTimeout(Runnable::run, 60_000);
                c.setClientInfo("ApplicationName", "renamed");
                c.setSchema("pg_catalog");
                return state(c) + query(c, "SELECT count(*) FROM pg_namespace WHERE nspname = current_schema");
            }
        });
        // An open transaction is rolled back; what the driver has no method for stays.
        step("reset", () -> {
            try (Connection c = pool.getConnection()) {
                return state(c);
            }
        });
        step("failed transaction", () -> {
            try (Connection c = pool.getConnection()) {
                c.setAutoCommit(false);
                query(c, "SET LOCAL lock_timeout = 1234");
                return query(c, "SELECT 1 / 0");
            }
        });
        step("after failing", () -> {
            try (Connection c = pool.getConnection()) {
                return state(c);
            }
        });
        step("prepared by the server", () -> {
            StringBuilder b = new StringBuilder();
            for (int i = 1; i < 9; i++) {
                try (Connection c = pool.getConnection(); PreparedStatement s = c.prepareStatement("SELECT visit, title, admitted FROM patients WHERE visit = ?")) {
                    s.setInt(1, i);
                    b.append(rows(s.executeQuery()));
                }
            }
            return b;
        });
        step("settings", () -> {
            try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
                s.execute("SET TimeZone = 'Asia/Kolkata'");
            }
            try (Connection c = pool.getConnection()) {
                return state(c);
            }
        });
        step("write", () -> {
            try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
                return s.executeUpdate("UPDATE wards SET beds = 0");
            }
        });
        step("timeout", () -> {
            try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
                s.setQueryTimeout(1);
                return rows(s.executeQuery("SELECT count(*) FROM generate_series(1, 100000000000)"));
            }
        });
        step("after the timeout", () -> {
            try (Connection c = pool.getConnection()) {
                return c.isValid(5) + query(c, "SELECT count(*) FROM patients");
            }
        });
    }

    static void configured() {
        step("configured", () -> {
            try (HikariDataSource pool = pool(1, c -> {
                c.setAutoCommit(false);
                c.setReadOnly(true);
                c.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
                c.setConnectionTestQuery("SELECT 1");
                c.setConnectionInitSql("SET lock_timeout = 5000");
                c.setIsolateInternalQueries(true);
                c.setKeepaliveTime(30_000);
                c.setMaxLifetime(60_000);
            }); Connection c = pool.getConnection()) {
                String seen = state(c);
                c.commit();
                return seen + state(c);
            }
        });
        step("schema", () -> {
            try (HikariDataSource pool = pool(1, c -> c.setSchema("pg_catalog"))) {
                StringBuilder b = new StringBuilder();
                for (int i = 0; i < 2; i++) {
                    try (Connection c = pool.getConnection()) {
                        b.append(c.getSchema()).append(' ');
                        c.setSchema("information_schema");
                        b.append(c.getSchema()).append(' ');
                    }
                }
                return b;
            }
        });
        step("failing start", () -> {
            try (HikariDataSource pool = pool(1, c -> c.setConnectionInitSql("SELECT nothing"))) {
                return "open";
            }
        });
    }

    /** The pool tells of a connection that nobody gives back. */
    static String leak() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        StringBuilder seen = new StringBuilder();
        Logger log = Logger.getLogger("com.zaxxer.hikari.pool.ProxyLeakTask");
        log.addHandler(new Handler() {
            @Override
            public void publish(LogRecord record) {
                seen.append(record.getMessage().replaceAll("PgConnection@[0-9a-f]+", "PgConnection"));
                told.countDown();
            }

            @Override
            public void flush() { }

            @Override
            public void close() { }
        });
        try (HikariDataSource pool = pool(1, c -> c.setLeakDetectionThreshold(2000)); Connection c = pool.getConnection()) {
            return told.await(2, TimeUnit.MINUTES) + seen.toString() + query(c, "SELECT 1");
        }
    }

    static Object concurrent() throws Exception {
        var threads = Executors.newFixedThreadPool(6);
        try (HikariDataSource pool = pool(3, c -> { })) {
            List<Future<Long>> sums = new ArrayList<>();
            for (int thread = 0; thread < 6; thread++) {
                int number = thread;
                sums.add(threads.submit(() -> {
                    long sum = 0;
                    for (int i = 0; i < 40; i++) {
                        try (Connection c = pool.getConnection(); PreparedStatement s = c.prepareStatement("SELECT sum(visit) FROM patients WHERE visit % 6 = ? AND visit > ?")) {
                            s.setInt(1, number);
                            s.setInt(2, i);
                            var r = s.executeQuery();
                            r.next();
                            sum += r.getLong(1);
                        }
                    }
                    return sum;
                }));
            }
            List<Long> all = new ArrayList<>();
            for (Future<Long> sum : sums) {
                all.add(sum.get());
            }
            return all;
        } finally {
            threads.shutdown();
        }
    }
}
