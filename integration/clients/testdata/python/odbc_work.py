"""psqlODBC through unixODBC: with and without cursors and server-side prepared statements."""

import datetime
import decimal
import os
import threading
import uuid

import pyodbc

from report import LARGE, MEDIUM, SLOW, digest, step

# pyodbc does not read intervals and bit strings.
PATIENTS = """SELECT visit, cost, alive, small, large, ratio, single, code, title, letter, raw, uid, details, plain, tags, matrix, admitted, left_at,
    day, clock, clocktz, span::text AS span, address, network, card, flags::text AS flags, amount, years, stay, mood, share, home, place, document::text AS document, remarks
    FROM patients WHERE visit <= 30 AND visit <> 20 ORDER BY visit"""


def connect(options="", **more):
    return pyodbc.connect("DRIVER={PostgreSQL Unicode};SERVER=localhost;PORT=%s;DATABASE=%s;UID=%s;PWD={%s};SSLmode=verify-full;%s" % (
        os.environ["PGPORT"], os.environ["PGDATABASE"], os.environ["PGUSER"], os.environ["PGPASSWORD"], options), **more)


def fetch(conn, sql, *parameters):
    return [tuple(row) for row in conn.cursor().execute(sql, *parameters).fetchall()]


def described(conn):
    return [tuple(str(part) for part in column) for column in conn.cursor().execute(PATIENTS).description]


def several(conn):
    cursor = conn.cursor().execute("SELECT 1; SELECT count(*) FROM patients; SELECT 'ß'")
    seen = [[tuple(row) for row in cursor.fetchall()]]
    while cursor.nextset():
        seen.append([tuple(row) for row in cursor.fetchall()])
    return seen


def repeated(conn):
    cursor = conn.cursor()
    return [cursor.execute("SELECT title, alive, cost FROM patients WHERE visit = ?", n).fetchone()[:] for n in range(1, 15)]


def partly(conn):
    cursor = conn.cursor().execute("SELECT visit FROM patients ORDER BY 1")
    seen = [tuple(row) for row in cursor.fetchmany(7)]
    cursor.skip(100)
    seen.append(tuple(cursor.fetchone()))
    cursor.close()
    return seen, fetch(conn, "SELECT 1")


def transaction(conn):
    seen = []
    conn.autocommit = False
    for sql in ("SELECT count(*) FROM patients", "SELECT 1 / 0", "SELECT count(*) FROM patients"):
        try:
            seen.append(fetch(conn, sql))
        except pyodbc.Error as error:
            seen.append(error.args[0])
    conn.rollback()
    seen.append(fetch(conn, "SELECT count(*) FROM patients"))
    conn.commit()
    conn.autocommit = True
    return seen


def canceled(conn):
    cursor = conn.cursor()
    timer = threading.Timer(0.3, cursor.cancel)
    timer.start()
    try:
        return cursor.execute(SLOW).fetchall()
    finally:
        timer.join()


PARAMETERS = [("int4", 7), ("int8", 2**40), ("float8", -1.25), ("numeric", decimal.Decimal("12.50")), ("text", "ß'\\\"日本"), ("text", None), ("bool", True), ("bytea", b"\x00\x01'\\"),
              ("date", datetime.date(2024, 2, 29)), ("time", datetime.time(1, 2, 3)), ("timestamp", datetime.datetime(2024, 1, 2, 3, 4, 5, 600000)), ("uuid", uuid.UUID(int=7)), ("mood", "good"), ("int4", "x")]


def work(name, conn):
    step(name + " columns", lambda: described(conn))
    step(name + " all types", lambda: fetch(conn, PATIENTS))
    for index, (kind, value) in enumerate(PARAMETERS):
        step("%s parameter %d" % (name, index), lambda kind=kind, value=value: fetch(conn, "SELECT CAST(? AS %s)" % kind, value))
    step(name + " filter", lambda: fetch(conn, "SELECT visit, title FROM patients WHERE diagnosis = ? AND visit < ? AND mood = ? ORDER BY 1", "I10", 90, "good"))
    step(name + " repeated", lambda: repeated(conn))
    step(name + " many rows", lambda: digest(conn.cursor().execute(LARGE if name == "cursors" else MEDIUM)))
    step(name + " partly", lambda: partly(conn))
    step(name + " several", lambda: several(conn))
    step(name + " division", lambda: fetch(conn, "SELECT 1 / (visit - 300) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p"))
    step(name + " unknown column", lambda: fetch(conn, "SELECT nothing FROM patients"))
    step(name + " syntax error", lambda: fetch(conn, "SELECT FROM WHERE"))
    step(name + " transaction", lambda: transaction(conn))


for name, options in (("plain", ""), ("cursors", "UseDeclareFetch=1;Fetch=1000"), ("server", "UseServerSidePrepare=1;BoolsAsChar=0;ByteaAsLongVarBinary=1"),
                      ("client", "UseServerSidePrepare=0"), ("statements", "Protocol=7.4-2;UseDeclareFetch=1;Fetch=77"), ("transactions", "Protocol=7.4-1;UpdatableCursors=0")):
    connection = connect(options, autocommit=True)
    work(name, connection)
    if name == "plain":
        step("cancel", lambda: canceled(connection))
        step("after cancel", lambda: fetch(connection, "SELECT count(*) FROM patients"))
        step("write", lambda: fetch(connection, "INSERT INTO wards VALUES ('x', 1, 1)"))
        step("information", lambda: [connection.getinfo(i) for i in (pyodbc.SQL_DBMS_NAME, pyodbc.SQL_DBMS_VER, pyodbc.SQL_DATABASE_NAME, pyodbc.SQL_USER_NAME)])
    connection.close()
step("settings", lambda: fetch(connect("ConnSettings=SET TimeZone TO 'Asia/Kolkata'", autocommit=True), "SELECT admitted::text, current_setting('TimeZone') FROM patients WHERE visit = 3"))
step("reconnect", lambda: [fetch(connect(autocommit=True), "SELECT count(*) FROM patients") for _ in range(5)])
