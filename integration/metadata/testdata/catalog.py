"""Prints what psqlODBC's catalog functions tell, a section for each."""
import os
import pyodbc

# MaxLongVarcharSize: twice the driver's own choice, a column's length in bytes, would look
# like the number of an object.
link = pyodbc.connect(
    "Driver={PostgreSQL Unicode};Servername=%s;Port=%s;Database=%s;Username=%s;Password={%s};SSLmode=disable;MaxLongVarcharSize=4000"
    % (os.environ["PGHOST"], os.environ["PGPORT"], os.environ["PGDATABASE"], os.environ["PGUSER"], os.environ["PGPASSWORD"]))
cursor = link.cursor()


def show(title, ask):
    print("==", title)
    try:
        rows = ask()
        print(" | ".join(c[0] for c in rows.description))
        lines = [" | ".join(str(v) for v in row) for row in rows.fetchall()]
        print("\n".join(lines[:60] + ["(%d rows)" % len(lines)]))
    except pyodbc.Error as e:
        print("ERROR:", e.args[0], e.args[1].split("\n")[0])


show("SQLTables", lambda: cursor.tables(schema="%", tableType="TABLE,VIEW,MATERIALIZED VIEW"))
show("SQLTables, catalogs", lambda: cursor.tables(catalog="%", schema="", table=""))
show("SQLTables, schemas", lambda: cursor.tables(catalog="", schema="%", table=""))
show("SQLTables, types", lambda: cursor.tables(catalog="", schema="", table="", tableType="%"))
for table in ("patients", "wards", "persons", "stays"):
    show("SQLColumns of " + table, lambda: cursor.columns(table=table, schema="public"))
    show("SQLPrimaryKeys of " + table, lambda: cursor.primaryKeys(table, schema="public"))
    show("SQLForeignKeys of " + table, lambda: cursor.foreignKeys(foreignTable=table, foreignSchema="public"))
    show("SQLForeignKeys to " + table, lambda: cursor.foreignKeys(table=table, schema="public"))
    show("SQLStatistics of " + table, lambda: cursor.statistics(table, schema="public"))
    show("SQLSpecialColumns of " + table, lambda: cursor.rowIdColumns(table, schema="public"))
    show("SQLSpecialColumns, versions, of " + table, lambda: cursor.rowVerColumns(table, schema="public"))
show("SQLColumns of hospital", lambda: cursor.columns(schema="hospital"))
show("SQLProcedures", lambda: cursor.procedures(schema="public"))
show("SQLGetTypeInfo", lambda: cursor.getTypeInfo())
print("== SQLGetInfo")
print(link.getinfo(pyodbc.SQL_DATABASE_NAME), link.getinfo(pyodbc.SQL_DBMS_NAME), link.getinfo(pyodbc.SQL_USER_NAME))
show("a result", lambda: cursor.execute("SELECT sex, weight, cost FROM patients WHERE sex = ? LIMIT 0", "f"))
