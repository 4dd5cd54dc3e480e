import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;

/** pgjdbc: every query mode, server-prepared statements, fetch sizes, binary transfer, COPY, metadata, cancel. */
public class Work {
    static final String PATIENTS = "SELECT * FROM patients WHERE visit <= 30 ORDER BY visit";
    /** 55,000 rows of it are more than any buffer on the way holds. */
    static final String LARGE = "SELECT n, p.visit, p.cost, p.admitted, p.remarks, p.tags, p.raw FROM patients p, generate_series(1, 110) n ORDER BY n, visit";
    /** Enough rows of it for several messages and buffers. */
    static final String MEDIUM = LARGE.replace("1, 110", "1, 11");
    static final String SLOW = "SELECT count(*) FROM generate_series(1, 100000000000)";

    interface Task {
        Object run() throws Exception;
    }

    static void step(String name, Task task) {
        String text;
        try {
            text = String.valueOf(task.run());
        } catch (PSQLException e) {
            text = "ERROR " + e.getSQLState() + " " + e.getMessage();
        } catch (Exception e) {
            text = "ERROR " + e;
        }
        System.out.println(name + ": " + text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r"));
    }

    static Connection connect(String... more) throws SQLException {
        Properties p = new Properties();
        p.setProperty("user", System.getenv("PGUSER"));
        p.setProperty("password", System.getenv("PGPASSWORD"));
        p.setProperty("sslmode", "verify-full");
        p.setProperty("sslrootcert", System.getenv("PGSSLROOTCERT"));
        p.setProperty("ApplicationName", "work");
        for (int i = 0; i < more.length; i += 2) {
            p.setProperty(more[i], more[i + 1]);
        }
        return DriverManager.getConnection("jdbc:postgresql://localhost:" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE"), p);
    }

    static String show(Object value) throws SQLException {
        if (value instanceof byte[] bytes) {
            return HexFormat.of().formatHex(bytes);
        }
        if (value instanceof java.sql.Array array) {
            return array.getBaseTypeName() + Arrays.deepToString((Object[]) array.getArray());
        }
        if (value instanceof java.sql.SQLXML xml) {
            return xml.getString();
        }
        return value == null ? "null" : value.getClass().getSimpleName() + " " + value;
    }

    static String rows(ResultSet r) throws SQLException {
        StringBuilder b = new StringBuilder();
        int columns = r.getMetaData().getColumnCount();
        while (r.next()) {
            b.append('(');
            for (int i = 1; i <= columns; i++) {
                b.append(i > 1 ? ", " : "").append(show(r.getObject(i)));
            }
            b.append(") ");
        }
        return b.toString();
    }

    static String digest(ResultSet r) throws Exception {
        MessageDigest sum = MessageDigest.getInstance("SHA-256");
        int count = 0, columns = r.getMetaData().getColumnCount();
        while (r.next()) {
            for (int i = 1; i <= columns; i++) {
                sum.update(show(r.getObject(i)).getBytes(StandardCharsets.UTF_8));
            }
            count++;
        }
        return count + " " + HexFormat.of().formatHex(sum.digest(), 0, 8);
    }

    static String query(Connection c, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                s.setObject(i + 1, parameters[i]);
            }
            return rows(s.executeQuery());
        }
    }

    static String columns(ResultSetMetaData m) throws SQLException {
        StringBuilder b = new StringBuilder();
        for (int i = 1; i <= m.getColumnCount(); i++) {
            b.append(m.getColumnLabel(i)).append(' ').append(m.getColumnTypeName(i)).append(' ').append(m.getColumnType(i)).append(' ').append(m.getPrecision(i))
                .append(' ').append(m.getScale(i)).append(' ').append(m.getColumnClassName(i)).append(' ').append(m.isNullable(i)).append(' ').append(m.isAutoIncrement(i))
                .append(' ').append(m.getTableName(i)).append("; ");
        }
        return b.toString();
    }

    public static void main(String[] arguments) throws Exception {
        for (String mode : List.of("simple", "extended", "extendedForPrepared", "extendedCacheEverything")) {
            try (Connection c = connect("preferQueryMode", mode)) {
                common(c, mode);
            }
        }
        try (Connection c = connect("channelBinding", "require", "binaryTransfer", "true", "prepareThreshold", "-1")) {
            common(c, "binary");
        }
        try (Connection c = connect("channelBinding", "require")) {
            prepared(c);
            large(c);
            failures(c);
            session(c);
            described(c);
        }
        autosave();
        step("reconnect", () -> {
            StringBuilder b = new StringBuilder();
            for (int i = 0; i < 5; i++) {
                try (Connection c = connect("ApplicationName", "again")) {
                    b.append(query(c, "SELECT count(*), current_setting('application_name') FROM patients"));
                }
            }
            return b;
        });
    }

    static void common(Connection c, String mode) {
        step(mode + " columns", () -> columns(c.createStatement().executeQuery(PATIENTS).getMetaData()));
        step(mode + " all types", () -> query(c, PATIENTS));
        step(mode + " parameters", () -> {
            try (PreparedStatement s = c.prepareStatement("SELECT ?::int, ?::int8, ?::numeric, ?::float8, ?::text, ?::bool, ?::bytea, ?::date, ?::timestamptz, ?::uuid, ?::int[], ?::text, ?::mood")) {
                s.setInt(1, 7);
                s.setLong(2, 1L << 40);
                s.setBigDecimal(3, new BigDecimal("12.50"));
                s.setDouble(4, -1.25);
                s.setString(5, "ß'\\\"日本");
                s.setBoolean(6, true);
                s.setBytes(7, new byte[] {0, 39, 92});
                s.setDate(8, Date.valueOf("2024-02-29"));
                s.setTimestamp(9, new Timestamp(1700000000123L));
                s.setObject(10, new UUID(0, 7));
                s.setArray(11, c.createArrayOf("int4", new Object[] {1, null, 3}));
                s.setNull(12, Types.VARCHAR);
                s.setObject(13, "good", Types.OTHER);
                return rows(s.executeQuery());
            }
        });
        step(mode + " filter", () -> query(c, "SELECT visit, title FROM patients WHERE diagnosis = ? AND visit < ? AND alive = ? ORDER BY 1", "I10", 90, true));
        step(mode + " several", () -> {
            StringBuilder b = new StringBuilder();
            try (Statement s = c.createStatement()) {
                for (boolean more = s.execute("SELECT 1; SELECT count(*) FROM patients; VALUES (1), (2)"); more; more = s.getMoreResults()) {
                    b.append(rows(s.getResultSet())).append('|');
                }
            }
            return b;
        });
        step(mode + " empty", () -> c.createStatement().execute(""));
        step(mode + " division", () -> query(c, "SELECT 1 / (visit - ?) FROM patients", 100));
        step(mode + " unknown column", () -> query(c, "SELECT nothing FROM patients"));
        step(mode + " row limit", () -> {
            try (Statement s = c.createStatement()) {
                s.setMaxRows(3);
                return rows(s.executeQuery("SELECT visit FROM patients ORDER BY 1"));
            }
        });
    }

    static void prepared(Connection c) {
        step("past the threshold", () -> {
            StringBuilder b = new StringBuilder();
            try (PreparedStatement s = c.prepareStatement("SELECT title, cost, admitted, tags FROM patients WHERE visit = ?")) {
                for (int i = 1; i <= 12; i++) {
                    s.setInt(1, i);
                    b.append(rows(s.executeQuery())).append(((org.postgresql.PGStatement) s).isUseServerPrepare()).append(' ');
                }
            }
            return b;
        });
        step("changed types", () -> {
            StringBuilder b = new StringBuilder();
            try (PreparedStatement s = c.prepareStatement("SELECT count(*) FROM patients WHERE cost > ?")) {
                for (int i = 0; i < 14; i++) {
                    if (i % 2 == 0) {
                        s.setInt(1, i);
                    } else {
                        s.setBigDecimal(1, new BigDecimal("100.5"));
                    }
                    b.append(rows(s.executeQuery()));
                }
            }
            return b;
        });
        step("deallocated", () -> {
            StringBuilder b = new StringBuilder();
            try (PreparedStatement s = c.prepareStatement("SELECT count(*) FROM patients WHERE visit > ?"); Statement all = c.createStatement()) {
                for (int i = 0; i < 8; i++) {
                    s.setInt(1, i);
                    b.append(rows(s.executeQuery()));
                }
                all.execute("DEALLOCATE ALL");
                b.append(rows(s.executeQuery()));
            }
            return b;
        });
        step("after deallocation", () -> query(c, "SELECT 1"));
        step("parameter types", () -> {
            try (PreparedStatement s = c.prepareStatement("SELECT visit, mood FROM patients WHERE visit = ? AND diagnosis = ? AND mood = ? AND tags @> ?")) {
                StringBuilder b = new StringBuilder(columns(s.getMetaData()));
                for (int i = 1; i <= s.getParameterMetaData().getParameterCount(); i++) {
                    b.append(s.getParameterMetaData().getParameterTypeName(i)).append(' ');
                }
                return b;
            }
        });
        step("batch", () -> {
            try (Statement s = c.createStatement()) {
                s.addBatch("SET TimeZone = 'UTC'");
                s.addBatch("SET DateStyle = 'ISO'");
                return Arrays.toString(s.executeBatch());
            }
        });
        step("failing batch", () -> {
            try (PreparedStatement s = c.prepareStatement("SELECT 1 / ?")) {
                for (int i = 0; i < 3; i++) {
                    s.setInt(1, i);
                    s.addBatch();
                }
                return Arrays.toString(s.executeBatch());
            }
        });
    }

    static void large(Connection c) {
        step("many rows", () -> digest(c.createStatement().executeQuery(LARGE)));
        for (int size : new int[] {100, 700}) {
            step("fetch size " + size, () -> {
                c.setAutoCommit(false);
                try (PreparedStatement s = c.prepareStatement(MEDIUM)) {
                    s.setFetchSize(size);
                    return digest(s.executeQuery());
                } finally {
                    c.commit();
                    c.setAutoCommit(true);
                }
            });
        }
        step("fetch left early", () -> {
            c.setAutoCommit(false);
            StringBuilder b = new StringBuilder();
            try (Statement s = c.createStatement()) {
                s.setFetchSize(5);
                ResultSet r = s.executeQuery("SELECT visit FROM patients ORDER BY 1");
                for (int i = 0; i < 12 && r.next(); i++) {
                    b.append(r.getInt(1)).append(' ');
                }
                ResultSet other = c.createStatement().executeQuery("SELECT count(*) FROM patients");
                b.append(rows(other));
                r.next();
                b.append(r.getInt(1));
                r.close();
            }
            c.rollback();
            c.setAutoCommit(true);
            return b;
        });
        step("error while fetching", () -> {
            c.setAutoCommit(false);
            try (Statement s = c.createStatement()) {
                s.setFetchSize(50);
                return rows(s.executeQuery("SELECT 1 / (visit - 300) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p"));
            } finally {
                c.rollback();
                c.setAutoCommit(true);
            }
        });
        step("scrollable", () -> {
            try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
                ResultSet r = s.executeQuery("SELECT visit FROM patients ORDER BY 1");
                r.last();
                int last = r.getInt(1);
                r.absolute(10);
                return last + " " + r.getInt(1);
            }
        });
        for (String form : List.of("text", "csv", "binary")) {
            step("copy " + form, () -> {
                ByteArrayOutputStream b = new ByteArrayOutputStream();
                long count = c.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY (SELECT * FROM patients ORDER BY visit) TO STDOUT (FORMAT " + form + ")", b);
                return count + " " + b.size() + " " + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(b.toByteArray()), 0, 8);
            });
        }
        step("copy large", () -> c.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY (" + LARGE + ") TO STDOUT", OutputStream.nullOutputStream()));
        step("copy error", () -> c.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY (SELECT 1 / (visit - 200) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p) TO STDOUT", OutputStream.nullOutputStream()));
        step("after copy", () -> query(c, "SELECT count(*) FROM patients"));
    }

    static void failures(Connection c) {
        step("transaction", () -> {
            c.setAutoCommit(false);
            List<String> seen = new ArrayList<>();
            var save = c.setSavepoint("a");
            for (String sql : List.of("SELECT 1 / 0", "SELECT 1")) {
                try {
                    query(c, sql);
                } catch (SQLException e) {
                    seen.add(e.getSQLState());
                }
            }
            c.rollback(save);
            seen.add(query(c, "SELECT count(*) FROM patients"));
            c.commit();
            c.setAutoCommit(true);
            return seen;
        });
        step("levels", () -> {
            List<String> seen = new ArrayList<>();
            for (int level : new int[] {Connection.TRANSACTION_SERIALIZABLE, Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_READ_COMMITTED}) {
                c.setTransactionIsolation(level);
                seen.add(c.getTransactionIsolation() + query(c, "SHOW transaction_isolation"));
            }
            return seen;
        });
        step("read only", () -> {
            c.setReadOnly(true);
            c.setAutoCommit(false);
            String seen = query(c, "SELECT count(*) FROM patients");
            c.commit();
            c.setAutoCommit(true);
            c.setReadOnly(false);
            return seen + c.isReadOnly();
        });
        step("time limit", () -> {
            try (Statement s = c.createStatement()) {
                s.setQueryTimeout(1);
                return rows(s.executeQuery(SLOW));
            }
        });
        step("cancel", () -> {
            try (Statement s = c.createStatement()) {
                Thread other = new Thread(() -> {
                    try {
                        Thread.sleep(300);
                        s.cancel();
                    } catch (Exception e) {
                        System.err.println(e);
                    }
                });
                other.start();
                try {
                    return rows(s.executeQuery(SLOW));
                } finally {
                    other.join();
                }
            }
        });
        step("after cancel", () -> query(c, "SELECT count(*) FROM patients"));
        step("bad value", () -> query(c, "SELECT ?::int", "x"));
        step("syntax error", () -> query(c, "SELECT FROM WHERE ?", 1));
        step("write", () -> c.createStatement().executeUpdate("INSERT INTO wards VALUES ('x', 1, 1)"));
        step("call", () -> {
            try (var s = c.prepareCall("{? = call upper(?)}")) {
                s.registerOutParameter(1, Types.VARCHAR);
                s.setString(2, "größe");
                s.execute();
                return s.getString(1);
            }
        });
        step("escapes", () -> query(c, "SELECT {fn concat('a', 'b')}, {d '2024-02-29'}, {fn now()} IS NOT NULL"));
    }

    static void session(Connection c) {
        step("warnings", () -> {
            List<String> seen = new ArrayList<>();
            try (Statement s = c.createStatement()) {
                s.execute("COMMIT");
                for (SQLWarning w = s.getWarnings(); w != null; w = w.getNextWarning()) {
                    seen.add(w.getSQLState() + " " + w.getMessage());
                }
            }
            return seen;
        });
        step("formats", () -> {
            StringBuilder b = new StringBuilder();
            c.createStatement().execute("SET TimeZone = 'Asia/Kolkata'");
            b.append(query(c, "SELECT admitted, admitted::text, span FROM patients WHERE visit = 3"));
            b.append(c.unwrap(PGConnection.class).getParameterStatus("TimeZone"));
            c.createStatement().execute("RESET ALL");
            return b;
        });
        step("parameters", () -> {
            var reported = new TreeMap<>(c.unwrap(PGConnection.class).getParameterStatuses());
            reported.remove("search_path"); // the ways differ in it, and new servers report it
            return reported;
        });
        step("client info", () -> {
            c.setClientInfo("ApplicationName", "renamed");
            return c.getClientInfo() + query(c, "SELECT current_setting('application_name')") + c.isValid(5) + c.getSchema() + c.getCatalog();
        });
        step("listen", () -> c.createStatement().execute("LISTEN channel"));
        step("large object", () -> {
            c.setAutoCommit(false);
            try {
                return c.unwrap(PGConnection.class).getLargeObjectAPI().open(1L, org.postgresql.largeobject.LargeObjectManager.READ).size();
            } finally {
                c.rollback();
                c.setAutoCommit(true);
            }
        });
    }

    static void described(Connection c) {
        step("primary keys", () -> rows(c.getMetaData().getPrimaryKeys(null, "public", "wards")));
        step("types", () -> {
            List<String> seen = new ArrayList<>();
            ResultSet r = c.getMetaData().getTypeInfo();
            while (r.next()) {
                if (List.of("int4", "text", "mood", "percentage", "jsonb").contains(r.getString("TYPE_NAME"))) {
                    seen.add(r.getString("TYPE_NAME") + r.getInt("DATA_TYPE"));
                }
            }
            return seen;
        });
        step("product", () -> c.getMetaData().getDatabaseProductVersion() + c.getMetaData().getMaxConnections() + c.getMetaData().getUserName());
    }

    static void autosave() throws SQLException {
        for (String setting : List.of("always", "conservative", "never")) {
            try (Connection c = connect("autosave", setting, "cleanupSavepoints", "true", "defaultRowFetchSize", "50", "prepareThreshold", "2")) {
                step("autosave " + setting, () -> {
                    c.setAutoCommit(false);
                    List<String> seen = new ArrayList<>();
                    for (String sql : List.of("SELECT count(*) FROM patients", "SELECT 1 / 0", "SELECT count(*) FROM patients", "SELECT nothing FROM patients", "SELECT max(visit) FROM patients")) {
                        try {
                            seen.add(query(c, sql));
                        } catch (SQLException e) {
                            seen.add(e.getSQLState());
                        }
                    }
                    c.rollback();
                    return seen;
                });
            }
        }
    }
}
