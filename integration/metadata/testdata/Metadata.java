import java.sql.*;
import java.util.*;

/** Prints what the driver's DatabaseMetaData tells, a section for each method. */
public class Metadata {
  interface Ask { ResultSet ask() throws SQLException; }

  static void show(String title, Ask ask, String... leftOut) {
    System.out.println("== " + title);
    List<String> skip = Arrays.asList(leftOut);
    try (ResultSet rows = ask.ask()) {
      ResultSetMetaData columns = rows.getMetaData();
      StringBuilder head = new StringBuilder();
      for (int i = 1; i <= columns.getColumnCount(); i++) {
        if (!skip.contains(columns.getColumnName(i))) head.append(columns.getColumnName(i)).append(" | ");
      }
      System.out.println(head);
      int n = 0;
      for (; rows.next(); n++) {
        StringBuilder line = new StringBuilder();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
          if (!skip.contains(columns.getColumnName(i))) line.append(rows.getString(i)).append(" | ");
        }
        if (n < 60) System.out.println(line);
      }
      System.out.println("(" + n + " rows)");
    } catch (SQLException e) {
      System.out.println("ERROR: " + e.getSQLState() + " " + e.getMessage());
    }
  }

  public static void main(String[] args) throws SQLException {
    Properties p = new Properties();
    p.setProperty("user", System.getenv("PGUSER"));
    p.setProperty("password", System.getenv("PGPASSWORD"));
    String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
    try (Connection c = DriverManager.getConnection(url, p)) {
      DatabaseMetaData m = c.getMetaData();
      String db = c.getCatalog();
      System.out.println("== connection\n" + db + " " + c.getSchema() + " " + m.getUserName() + " " + m.getDatabaseProductName());
      show("getCatalogs", () -> m.getCatalogs());
      show("getSchemas", () -> m.getSchemas());
      show("getTables, all kinds", () -> m.getTables(db, null, "%", new String[] {"TABLE", "VIEW", "MATERIALIZED VIEW", "PARTITIONED TABLE", "FOREIGN TABLE", "SEQUENCE", "INDEX", "TYPE"}));
      show("getTables, public", () -> m.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}));
      for (String schema : new String[] {"public", "hospital"}) show("getColumns of " + schema, () -> m.getColumns(db, schema, "%", "%"), "SQL_DATA_TYPE", "SQL_DATETIME_SUB", "BUFFER_LENGTH", "SCOPE_CATALOG", "SCOPE_SCHEMA", "SCOPE_TABLE", "SOURCE_DATA_TYPE");
      for (String table : new String[] {"patients", "wards", "measures", "persons", "stays"}) {
        show("getPrimaryKeys of " + table, () -> m.getPrimaryKeys(db, "public", table));
        show("getIndexInfo of " + table, () -> m.getIndexInfo(db, "public", table, false, true));
        show("getImportedKeys of " + table, () -> m.getImportedKeys(db, "public", table));
        show("getExportedKeys of " + table, () -> m.getExportedKeys(db, "public", table));
        show("getTablePrivileges of " + table, () -> m.getTablePrivileges(db, "public", table));
        show("getColumnPrivileges of " + table, () -> m.getColumnPrivileges(db, "public", table, "%"));
        show("getBestRowIdentifier of " + table, () -> m.getBestRowIdentifier(db, "public", table, DatabaseMetaData.bestRowSession, true));
        show("getVersionColumns of " + table, () -> m.getVersionColumns(db, "public", table));
      }
      show("getExportedKeys of icd10", () -> m.getExportedKeys(db, "public", "icd10"));
      show("getCrossReference", () -> m.getCrossReference(db, "public", "icd10", db, "public", "wards"));
      show("getTypeInfo", () -> m.getTypeInfo(), "MINIMUM_SCALE", "MAXIMUM_SCALE", "SQL_DATA_TYPE", "SQL_DATETIME_SUB");
      show("getUDTs", () -> m.getUDTs(db, null, "%", null));
      show("getProcedures", () -> m.getProcedures(db, null, "%"));
      show("getFunctions of public", () -> m.getFunctions(db, "public", "%"));
      show("getFunctions, lower", () -> m.getFunctions(db, null, "lower"));
      show("getFunctionColumns, lower", () -> m.getFunctionColumns(db, null, "lower", "%"));
      show("getTableTypes", () -> m.getTableTypes());
      show("getClientInfoProperties", () -> m.getClientInfoProperties());
      System.out.println("== keywords and limits\n" + (m.getSQLKeywords().length() > 100) + " " + m.getMaxColumnNameLength() + " " + m.getMaxColumnsInIndex() + " " + m.isReadOnly());
      System.out.println("== columns of a result");
      try (PreparedStatement s = c.prepareStatement("SELECT * FROM patients WHERE sex = ? LIMIT 0")) {
        s.setString(1, "f");
        ResultSetMetaData r = s.executeQuery().getMetaData();
        for (int i = 1; i <= r.getColumnCount(); i++) {
          System.out.println(r.getColumnName(i) + " | " + r.getColumnTypeName(i) + " | " + r.getTableName(i) + " | " + r.getSchemaName(i) + " | " + r.isNullable(i) + " | " + r.isAutoIncrement(i) + " | " + r.getPrecision(i));
        }
      }
      System.out.println("== types of results");
      try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT mood, price, tags FROM wards ORDER BY ward LIMIT 1")) {
        r.next();
        System.out.println(r.getObject(1) + " " + r.getObject(2) + " " + r.getObject(3) + " " + r.getMetaData().getColumnTypeName(1) + " " + r.getMetaData().getColumnTypeName(2));
      }
    }
  }
}
