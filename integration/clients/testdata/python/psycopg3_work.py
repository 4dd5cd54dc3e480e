"""psycopg 3: binary and text, prepared statements, server cursors, pipelines, COPY, asyncio."""

import asyncio
import datetime
import decimal
import hashlib
import ipaddress
import threading
import uuid

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from psycopg.types.range import Range

from report import LARGE, MEDIUM, PATIENTS, SLOW, code, digest, step

connection = psycopg.connect("channel_binding=require", autocommit=True)
notes = []
connection.add_notice_handler(lambda note: notes.append((note.severity, note.sqlstate, note.message_primary)))

# psycopg reads the values of these types in binary form, too; of the others only the text is known to it.
BINARY = """SELECT visit, cost, alive, small, large, ratio, single, code, title, letter, raw, uid, details, plain, tags, matrix, admitted,
    left_at, clock, clocktz, span, address, network, years, stay, share, remarks FROM patients WHERE visit <= 30 AND visit <> 20 ORDER BY visit"""


def fetch(sql, parameters=None, **options):
    return connection.execute(sql, parameters, **options).fetchall()


def described(sql, binary):
    cursor = connection.execute(sql, binary=binary)
    return [(c.name, c.type_code, c.internal_size, c.precision, c.scale, c.table_oid if hasattr(c, "table_oid") else None) for c in cursor.description], cursor.statusmessage


def prepared():
    seen = []
    for visit in range(12):
        seen += fetch("SELECT title, alive FROM patients WHERE visit = %s", (visit,), prepare=None if visit else True)
    return seen, fetch("SELECT count(*) > 0 FROM pg_prepared_statements")


def server_cursor(binary):
    with connection.transaction():
        with connection.cursor("large", binary=binary) as cursor:
            cursor.itersize = 1000
            cursor.execute(MEDIUM)
            return digest(cursor)


def streamed():
    return digest(connection.cursor().stream(MEDIUM))


def pipeline():
    seen = []
    with connection.pipeline():
        cursors = [connection.execute("SELECT %s::int + count(*) FROM patients", (i,)) for i in range(20)]
        seen.append([cursor.fetchone()[0] for cursor in cursors])
    return seen


def broken_pipeline(*statements):
    """When psycopg reads the answers, and so where it raises the error, is left to chance."""
    seen = []
    try:
        with connection.pipeline() as p:
            for sql in statements:
                connection.execute(sql)
            p.sync()
    except psycopg.Error as error:
        seen.append(code(error))
    return seen, connection.info.transaction_status.name, fetch("SELECT 5")


def nested():
    seen = []
    with connection.transaction():
        try:
            with connection.transaction("inner"):
                fetch("SELECT 1 / 0")
        except psycopg.Error as error:
            seen.append((code(error), connection.info.transaction_status.name))
        seen.append(fetch("SELECT count(*) FROM patients"))
    with psycopg.connect(autocommit=False) as conn:
        conn.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        conn.read_only = True
        seen.append(conn.execute("SHOW transaction_isolation").fetchone())
        try:
            conn.execute("SELECT 'x'::int")
        except psycopg.Error as error:
            seen.append(code(error))
        try:
            conn.execute("SELECT 1")
        except psycopg.Error as error:
            seen.append(code(error))
        conn.rollback()
    return seen


def copied(sql):
    summary, size = hashlib.sha256(), 0
    with connection.cursor().copy(sql) as copy:
        for data in copy:
            summary.update(data)
            size += len(data)
    return size, summary.hexdigest()[:16]


def copied_rows():
    with connection.cursor().copy("COPY (SELECT visit, cost, tags FROM patients ORDER BY visit) TO STDOUT (FORMAT binary)") as copy:
        copy.set_types(["int4", "numeric", "text[]"])
        return digest(copy.rows())


def canceled():
    timer = threading.Timer(0.3, connection.cancel)
    timer.start()
    try:
        return fetch(SLOW)
    finally:
        timer.join()


def noticed():
    del notes[:]
    connection.execute("COMMIT"), connection.execute("ROLLBACK")
    return notes


async def together():
    async def one(number):
        async with await psycopg.AsyncConnection.connect() as conn:
            cursor = await conn.execute("SELECT %s::int, count(*) FROM patients WHERE visit > %s", (number, number))
            return await cursor.fetchall()

    return await asyncio.gather(*(one(number) for number in range(8)))


async def async_canceled():
    async with await psycopg.AsyncConnection.connect(autocommit=True) as conn:
        work = asyncio.ensure_future(conn.execute(SLOW))
        await asyncio.sleep(0.3)
        conn.cancel()
        try:
            await work
        except psycopg.Error as error:
            return code(error), (await (await conn.execute("SELECT 1")).fetchall())


def many():
    cursor = connection.cursor()
    cursor.executemany("SELECT title FROM patients WHERE visit = %s", [(n,) for n in range(1, 30)], returning=True)
    seen = []
    while True:
        seen.append(cursor.fetchone())
        if not cursor.nextset():
            return seen


def results(sql):
    cursor = connection.execute(sql)
    while True:
        yield cursor.fetchall(), cursor.statusmessage
        if not cursor.nextset():
            return


def zoned():
    connection.execute("SET TimeZone = 'America/St_Johns'")
    seen = fetch("SELECT admitted, admitted::text FROM patients WHERE visit = 3"), connection.info.timezone
    connection.execute("RESET TimeZone")
    return seen


VALUES = [1, 2**40, 2**70, -1.5, decimal.Decimal("12.50"), "ß'\\\"日本", None, True, b"\x00\x01'\\", datetime.date(2024, 2, 29), datetime.time(1, 2, 3, 4),
          datetime.datetime(2024, 1, 2, 3, 4, 5, 6), datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc), datetime.timedelta(days=1, microseconds=5),
          [1, None, 3], ["a", "b,{}"], uuid.UUID(int=7), Jsonb({"a": [1, None]}), Range(1, 5), [[1, 2], [3, 4]], ipaddress.ip_address("10.0.0.1")]

for binary in (False, True):
    form = "binary" if binary else "text"
    step("columns, " + form, lambda binary=binary: described(PATIENTS, binary))
    step("all types, " + form, lambda binary=binary: fetch(BINARY, binary=binary))
    for index, value in enumerate(VALUES):
        place = "%b" if binary else "%t"
        if not (binary and isinstance(value, float)):
            step("parameter %d, %s" % (index, form), lambda value=value, binary=binary, place=place: fetch("SELECT " + place, (value,), binary=binary))
    step("server cursor, " + form, lambda binary=binary: server_cursor(binary))
step("raw", lambda: fetch(PATIENTS.replace("*", "home, place, document, flags, bits, amount, mood, card, day").replace("<= 30", "< 20")))
step("many rows", lambda: digest(fetch(LARGE, binary=True)))
step("streamed", streamed)
step("dictionary", lambda: connection.cursor(row_factory=dict_row).execute("SELECT visit, mood FROM patients WHERE visit < %(n)s ORDER BY 1", {"n": 4}).fetchall())
step("array", lambda: fetch("SELECT visit FROM patients WHERE diagnosis = ANY(%s) AND visit < 20 ORDER BY 1", (["I10", "C50"],)))
step("many executions", many)
step("prepared", prepared)
step("pipeline", pipeline)
step("failing pipeline", lambda: broken_pipeline("SELECT 1", "SELECT 1 / (count(*) - 500) FROM patients", "SELECT 3"))
step("refused pipeline", lambda: broken_pipeline("SELECT 1", "SELECT nothing FROM patients", "SELECT 2"))
step("after pipelines", lambda: fetch("SELECT count(*) FROM patients"))
step("transactions", nested)
for form in ("text", "csv", "binary"):
    step("copy " + form, lambda form=form: copied("COPY (SELECT * FROM patients ORDER BY visit) TO STDOUT (FORMAT %s)" % form))
step("copy large", lambda: copied("COPY (%s) TO STDOUT" % LARGE))
step("copy rows", copied_rows)
step("copy error", lambda: copied("COPY (SELECT 1 / (visit - 200) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p) TO STDOUT"))
step("cancel", canceled)
step("after cancel", lambda: fetch("SELECT 1"))
step("several", lambda: list(results("SELECT 1; SELECT count(*) FROM patients; VALUES (1), (2)")))
step("empty", lambda: connection.execute("").statusmessage)
step("too many", lambda: fetch("SELECT 1; SELECT %s", (1,)))
step("unknown parameter type", lambda: fetch("SELECT %s", (object(),)))
step("syntax error", lambda: fetch("SELECT FROM WHERE"))
step("listen", lambda: connection.execute("LISTEN channel").statusmessage)
step("notices", noticed)
step("zone", zoned)
step("status", lambda: {name: connection.info.parameter_status(name) for name in ("server_version", "server_encoding", "client_encoding", "DateStyle", "TimeZone",
     "IntervalStyle", "integer_datetimes", "standard_conforming_strings", "is_superuser", "session_authorization", "application_name", "in_hot_standby", "default_transaction_read_only")})
step("concurrent", lambda: asyncio.run(together()))
step("asynchronous cancel", lambda: asyncio.run(async_canceled()))
