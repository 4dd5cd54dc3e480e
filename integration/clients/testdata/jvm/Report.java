import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.logging.LogManager;

/** Steps of a client, each printed as one line: its name and what came of it. */
class Report {
    static final String URL = "jdbc:postgresql://localhost:" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");

    static {
        // What libraries log is for people.
        LogManager.getLogManager().reset();
    }

    interface Task {
        Object run() throws Exception;
    }

    static Properties properties() {
        Properties p = new Properties();
        p.setProperty("user", System.getenv("PGUSER"));
        p.setProperty("password", System.getenv("PGPASSWORD"));
        p.setProperty("sslmode", "verify-full");
        p.setProperty("sslrootcert", System.getenv("PGSSLROOTCERT"));
        return p;
    }

    static void step(String name, Task task) {
        String text;
        try {
            text = show(task.run());
        } catch (Throwable e) {
            text = error(e);
            if (System.getenv("TRACE") != null) {
                e.printStackTrace();
            }
        }
        System.out.println(name + ": " + text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r"));
    }

    /** What failed, and what the driver was told, which libraries wrap. */
    static String error(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException s && s.getSQLState() != null) {
                return "ERROR " + e.getClass().getSimpleName() + " " + s.getSQLState() + " " + s.getMessage();
            }
        }
        return "ERROR " + e;
    }

    static String show(Object value) throws SQLException {
        if (value instanceof byte[] bytes) {
            return HexFormat.of().formatHex(bytes);
        } else if (value instanceof int[] numbers) {
            return Arrays.toString(numbers);
        } else if (value instanceof java.sql.Array array) {
            return array.getBaseTypeName() + Arrays.deepToString((Object[]) array.getArray());
        } else if (value instanceof Object[] values) {
            return show(Arrays.asList(values));
        } else if (value instanceof Collection<?> values) {
            StringBuilder b = new StringBuilder("[");
            for (Object one : values) {
                b.append(b.length() > 1 ? ", " : "").append(show(one));
            }
            return b + "]";
        } else if (value instanceof Map<?, ?> values) {
            return new TreeMap<>(values).toString();
        }
        return value == null ? "null" : value instanceof CharSequence ? value.toString() : value.getClass().getSimpleName() + " " + value;
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
}
