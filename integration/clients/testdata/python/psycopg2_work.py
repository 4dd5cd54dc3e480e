"""psycopg2: text protocol, client-side parameters, server-side cursors, COPY, async."""

import datetime
import decimal
import hashlib
import io
import select
import threading
import uuid

import psycopg2
import psycopg2.extensions
import psycopg2.extras

from report import LARGE, MEDIUM, PATIENTS, SLOW, digest, step

psycopg2.extras.register_uuid()
connection = psycopg2.connect("", channel_binding="require")
connection.autocommit = True


def fetch(sql, parameters=None, conn=None):
    with (conn or connection).cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()


def described(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return [tuple(column) for column in cursor.description], cursor.rowcount, cursor.statusmessage


def named(size):
    conn = psycopg2.connect("")
    try:
        with conn, conn.cursor("large") as cursor:
            cursor.itersize = size
            cursor.execute(MEDIUM)
            return digest(cursor)
    finally:
        conn.close()


def scrolled():
    with connection.cursor("scrolled", scrollable=True, withhold=True) as cursor:
        cursor.execute("SELECT visit, title FROM patients ORDER BY visit")
        first = cursor.fetchmany(3)
        cursor.scroll(490, mode="absolute")
        last = cursor.fetchall()
        cursor.scroll(-2)
        return first, last, cursor.fetchone()


def real_dictionary():
    with connection.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as cursor:
        cursor.execute("SELECT visit, mood, home FROM patients WHERE visit < 5 ORDER BY 1")
        return cursor.fetchall()


def copied(sql):
    target = io.BytesIO()
    with connection.cursor() as cursor:
        cursor.copy_expert(sql, target)
    return len(target.getvalue()), hashlib.sha256(target.getvalue()).hexdigest()[:16]


def copied_table():
    target = io.StringIO()
    with connection.cursor() as cursor:
        cursor.copy_to(target, "wards", sep="|", null="?")
    return sorted(target.getvalue().splitlines())


def transaction():
    conn = psycopg2.connect("")
    conn.set_session(isolation_level="REPEATABLE READ", readonly=True)
    seen = [fetch("SELECT count(*) FROM patients", conn=conn), conn.info.transaction_status]
    try:
        fetch("SELECT 1 / 0", conn=conn)
    except psycopg2.Error as error:
        seen.append(error.pgcode)
    try:
        fetch("SELECT 1", conn=conn)
    except psycopg2.Error as error:
        seen.append(error.pgcode)
    seen.append(conn.info.transaction_status)
    conn.rollback()
    cursor = conn.cursor()
    cursor.execute("SAVEPOINT a")
    try:
        cursor.execute("SELECT nothing FROM patients")
    except psycopg2.errors.UndefinedColumn as error:
        seen.append((error.pgcode, error.diag.statement_position))
    cursor.execute("ROLLBACK TO a")
    cursor.execute("SELECT count(*) FROM patients")
    seen.append(cursor.fetchone())
    conn.commit()
    conn.close()
    return seen


def canceled():
    timer = threading.Timer(0.3, connection.cancel)
    timer.start()
    try:
        return fetch(SLOW)
    finally:
        timer.join()


def wait(conn):
    while True:
        state = conn.poll()
        if state == psycopg2.extensions.POLL_OK:
            return
        if state == psycopg2.extensions.POLL_READ:
            select.select([conn.fileno()], [], [])
        else:
            select.select([], [conn.fileno()], [])


def asynchronous():
    conn = psycopg2.connect("", async_=1)
    wait(conn)
    cursor = conn.cursor()
    seen = []
    for sql in (PATIENTS, "SELECT 1 / 0", "SELECT count(*) FROM patients"):
        cursor.execute(sql)
        try:
            wait(conn)
            seen.append(digest(cursor.fetchall()))
        except psycopg2.Error as error:
            seen.append(error.pgcode)
    conn.close()
    return seen


def notices():
    del connection.notices[:]
    fetch_status("COMMIT"), fetch_status("ROLLBACK")
    return list(connection.notices)


def fetch_status(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.statusmessage


def formats():
    seen = []
    for setting in ("SET TimeZone = 'Asia/Kolkata'", "SET DateStyle = 'SQL, DMY'", "SET IntervalStyle = 'sql_standard'"):
        seen.append(fetch_status(setting))
    seen.append(fetch("SELECT admitted::text, left_at::text, day::text, span::text FROM patients WHERE visit = 3"))
    seen.append([connection.get_parameter_status(name) for name in ("TimeZone", "DateStyle", "IntervalStyle", "server_encoding", "client_encoding", "is_superuser", "integer_datetimes")])
    fetch_status("RESET ALL")
    seen.append(connection.get_parameter_status("TimeZone"))
    return seen


VALUES = [1, 2**40, -1.5, decimal.Decimal("12.50"), "ß'\\\"日本", None, True, b"\x00\x01'\\", datetime.date(2024, 2, 29), datetime.time(1, 2, 3, 4),
          datetime.datetime(2024, 1, 2, 3, 4, 5, 6), datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc), datetime.timedelta(days=1, microseconds=5),
          [1, None, 3], ["a", "b,{}"], uuid.UUID(int=7), psycopg2.extras.Json({"a": [1, None]}), psycopg2.extras.NumericRange(1, 5), [[1, 2], [3, 4]]]

step("columns", lambda: described(PATIENTS))
step("all types", lambda: fetch(PATIENTS))
for index, value in enumerate(VALUES):
    step("parameter %d" % index, lambda value=value: fetch("SELECT %s, pg_typeof(%s)::text", (value, value)))
step("filter", lambda: fetch("SELECT visit, title FROM patients WHERE diagnosis = ANY(%s) AND visit < %s AND alive IS NOT DISTINCT FROM %s ORDER BY visit", (["I10", "C50"], 60, None)))
step("dictionary", lambda: fetch("SELECT count(*) FROM patients WHERE mood = %(mood)s AND cost > %(cost)s", {"mood": "good", "cost": decimal.Decimal(100)}))
step("many rows", lambda: digest(fetch(LARGE)))
step("named cursor", lambda: named(100))
step("scrolled cursor", scrolled)
step("real dictionary", lambda: [dict(row) for row in real_dictionary()])
step("copy text", lambda: copied("COPY (SELECT * FROM patients ORDER BY visit) TO STDOUT"))
step("copy csv", lambda: copied("COPY (SELECT * FROM patients ORDER BY visit) TO STDOUT WITH (FORMAT csv, HEADER)"))
step("copy binary", lambda: copied("COPY (SELECT * FROM patients ORDER BY visit) TO STDOUT WITH (FORMAT binary)"))
step("copy large", lambda: copied("COPY (%s) TO STDOUT" % MEDIUM))
step("copy table", copied_table)
step("copy error", lambda: copied("COPY (SELECT 1 / (visit - 200) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p) TO STDOUT"))
step("after copy", lambda: fetch("SELECT 1"))
step("unknown column", lambda: fetch("SELECT nothing FROM patients"))
step("syntax error", lambda: fetch("SELEC 1"))
step("bad value", lambda: fetch("SELECT %s::int", ("x",)))
step("transaction", transaction)
step("cancel", canceled)
step("after cancel", lambda: fetch("SELECT count(*) FROM patients"))
step("asynchronous", asynchronous)
step("notices", notices)
step("formats", formats)
step("several", lambda: fetch("SELECT 1; SELECT count(*) FROM patients"))
step("empty", lambda: fetch_status("  "))
step("comment", lambda: fetch_status("-- nothing"))
step("listen", lambda: fetch_status("LISTEN channel"))
step("version", lambda: (connection.server_version, connection.protocol_version, connection.info.ssl_in_use, connection.info.dbname, connection.info.user, connection.encoding))
connection.close()


def reconnected():
    seen = []
    for _ in range(5):
        conn = psycopg2.connect("", application_name="again")
        seen.append(fetch("SELECT count(*), current_setting('application_name'), current_user FROM patients", conn=conn))
        conn.close()
    return seen


step("reconnect", reconnected)
