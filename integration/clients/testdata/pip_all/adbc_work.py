"""ADBC's driver of PostgreSQL: Arrow tables, types, parameters, its catalog, transactions; and polars over it."""

import os
import urllib.parse

import polars
from adbc_driver_postgresql import dbapi

from report import CERTIFICATE, step

uri = "postgresql://%s:%s@localhost:%s/%s?sslmode=verify-full&sslrootcert=%s" % (
    os.environ["PGUSER"], urllib.parse.quote(os.environ["PGPASSWORD"], safe=""), os.environ["PGPORT"], os.environ["PGDATABASE"], urllib.parse.quote(CERTIFICATE))
PLAIN = "SELECT visit, cost::float8 AS cost, alive, ratio, title, admitted FROM patients WHERE visit > 20 ORDER BY visit LIMIT 3"
TYPES = "visit, alive, small, large, ratio, single, title, code, raw, cost, uid, details, plain, tags, matrix, admitted, left_at, day, clock, span, mood, share, remarks, weight_range, amount, address, flags"


def shown(frame):
    return frame.shape, [(name, str(kind)) for name, kind in frame.schema.items()], frame.rows()


def arrow(sql, *parameters):
    with dbapi.connect(uri) as conn, conn.cursor() as cursor:
        cursor.execute(sql, parameters or None)
        table = cursor.fetch_arrow_table()
        return str(table.schema.remove_metadata()), table.to_pylist()


def adbc_catalog():
    with dbapi.connect(uri) as conn:
        objects = conn.adbc_get_objects(depth="tables", db_schema_filter="public", table_name_filter="wards").read_all().to_pylist()
        return sorted(conn.adbc_get_table_types()), sorted(objects, key=str)


def adbc_table():
    with dbapi.connect(uri) as conn:
        return str(conn.adbc_get_table_schema("wards").remove_metadata())


def adbc_info():
    with dbapi.connect(uri) as conn:
        info = conn.adbc_get_info()
        return info["vendor_name"], sorted(info)


def adbc_transactions():
    seen = []
    with dbapi.connect(uri) as conn, conn.cursor() as cursor:
        for sql in ("SELECT count(*) FROM patients", "SELECT 1 / 0", "SELECT 2"):
            try:
                cursor.execute(sql)
                seen.append(cursor.fetchall())
            except dbapi.Error as error:
                seen.append(error.sqlstate)
        conn.rollback()
        cursor.execute("SELECT 3")
        return seen, cursor.fetchall()


def ingested():
    with dbapi.connect(uri) as conn, conn.cursor() as cursor:
        return cursor.adbc_ingest("wards", polars.DataFrame({"ward": ["x"], "beds": [1]}).to_arrow(), mode="append")


step("polars", lambda: shown(polars.read_database(PLAIN, dbapi.connect(uri))))
step("polars uri", lambda: shown(polars.read_database_uri(PLAIN, uri, engine="adbc")))
step("texts", lambda: arrow("SELECT ward FROM wards ORDER BY 1"))
step("types", lambda: arrow("SELECT %s FROM patients WHERE visit = 2" % TYPES))
step("nothing", lambda: arrow("SELECT visit FROM patients WHERE visit < 0"))
step("parameters", lambda: arrow("SELECT visit, title FROM patients WHERE visit < $1 AND diagnosis = $2 ORDER BY 1", 50, "I10"))
step("info", adbc_info)
step("catalog", adbc_catalog)
step("table", adbc_table)
step("transactions", adbc_transactions)
step("error", lambda: arrow("SELECT nothing FROM patients"))
step("write", ingested)
