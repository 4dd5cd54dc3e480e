"""asyncpg: binary protocol, prepared statements, cursors, COPY, pools."""

import asyncio
import datetime
import decimal
import hashlib
import os
import ssl
import uuid

import asyncpg

from report import CERTIFICATE, LARGE, MEDIUM, PATIENTS, SLOW, code, digest

context = ssl.create_default_context(cafile=CERTIFICATE)
options = {"host": "localhost", "ssl": context}


async def step(name, work):
    """Awaits a piece of work and prints what it returns or raises."""
    try:
        text = repr(await work)
    except Exception as error:  # noqa: BLE001: whatever it is, it is what the client sees
        text = "ERROR " + code(error)
    print("%s: %s" % (name, text.replace("\\", "\\\\").replace("\n", "\\n")), flush=True)


def plain(rows):
    return [tuple(row) for row in rows]


async def described(conn):
    statement = await conn.prepare("SELECT visit, birth_date_range, title, letter, uid, details, tags, matrix, mood, share, stay FROM patients WHERE visit = $1 AND mood = $2 AND tags @> $3")
    return [(a.name, a.type.name, a.type.kind) for a in statement.get_attributes()], [(p.name, p.kind) for p in statement.get_parameters()], statement.get_statusmsg()


async def prepared(conn):
    statement = await conn.prepare("SELECT title FROM patients WHERE visit = $1")
    return [await statement.fetchval(n) for n in range(1, 20)]


async def with_cursor(conn):
    async with conn.transaction():
        cursor = conn.cursor(MEDIUM, prefetch=300)
        rows = [row async for row in cursor]
        scroll = await conn.cursor("SELECT visit FROM patients ORDER BY 1")
        seen = [plain(await scroll.fetch(3)), await scroll.forward(100), plain([await scroll.fetchrow()])]
        return digest(rows), seen


async def transaction(conn):
    seen = []
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        seen.append(await conn.fetchval("SELECT count(*) FROM patients"))
        try:
            async with conn.transaction():
                await conn.fetchval("SELECT 1 / 0")
        except asyncpg.DivisionByZeroError as error:
            seen.append(code(error))
        seen.append((await conn.fetchval("SELECT count(*) FROM patients"), conn.is_in_transaction()))
    return seen


async def copied(conn, sql, **options):
    summary = hashlib.sha256()
    size = 0

    async def write(data):
        nonlocal size
        summary.update(data)
        size += len(data)

    status = await conn.copy_from_query(sql, output=write, **options)
    return status, size, summary.hexdigest()[:16]


async def limited(conn):
    try:
        await conn.fetch(SLOW, timeout=0.4)
    except asyncio.TimeoutError:
        return "timeout", await conn.fetchval("SELECT 1")


async def canceled(conn):
    task = asyncio.ensure_future(conn.fetch(SLOW))
    await asyncio.sleep(0.3)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return "canceled", await conn.fetchval("SELECT 1")


async def noticed(conn):
    seen = []
    conn.add_log_listener(lambda _, note: seen.append((note.sqlstate, note.message)))
    await conn.execute("COMMIT")
    await conn.execute("ROLLBACK")
    await asyncio.sleep(0)
    return seen


async def pooled():
    async with asyncpg.create_pool(min_size=2, max_size=4, server_settings={"application_name": "pooled"}, **options) as pool:
        async def one(number):
            async with pool.acquire() as conn:
                await conn.execute("SET TimeZone = 'Asia/Tokyo'")
                return await conn.fetchval("SELECT count(*) + $1 FROM patients", number)

        seen = await asyncio.gather(*(one(number) for number in range(20)))
        return seen, await pool.fetchval("SHOW TimeZone"), await pool.fetchval("SELECT current_setting('application_name')")


PARAMETERS = [("int2", -3), ("int4", 1), ("int8", 2**40), ("float4", 1.5), ("float8", -1.25), ("numeric", decimal.Decimal("12.50")), ("numeric", decimal.Decimal("NaN")), ("text", "ß'日本"),
              ("bool", True), ("bytea", b"\x00\x01'\\"), ("date", datetime.date(2024, 2, 29)), ("time", datetime.time(1, 2, 3, 4)), ("timestamp", datetime.datetime(2024, 1, 2, 3, 4, 5, 6)),
              ("timestamptz", datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc)), ("interval", datetime.timedelta(days=1, microseconds=5)), ("int4[]", [1, None, 3]), ("text[]", ["a", "b,{}"]),
              ("uuid", uuid.UUID(int=7)), ("jsonb", '{"a": [1, null]}'), ("json", "[]"), ("int4range", asyncpg.Range(1, 5)), ("int4[]", [[1, 2], [3, 4]]), ("inet", "10.0.0.1"), ("point", (1, 2)), ("bit(4)", asyncpg.BitString("1010")),
              ("text", None), ("int4", None), ("int4", "x"), ("mood", "good"), ("mood", "bad"), ("percentage", 7), ("percentage", 700), ("address", ("City", None))]


async def main():
    conn = await asyncpg.connect(**options)
    await step("columns", described(conn))
    await step("all types", rows(conn, PATIENTS))
    for index, (name, value) in enumerate(PARAMETERS):
        await step("parameter %d %s" % (index, name), rows(conn, "SELECT $1::%s" % name, value))
    await step("composite", rows(conn, "SELECT home FROM patients WHERE visit < 5 ORDER BY visit"))
    await step("filter", rows(conn, "SELECT visit, title FROM patients WHERE diagnosis = ANY($1) AND visit < $2 AND mood = $3 ORDER BY 1", ["I10", "C50"], 60, "good"))
    await step("many rows", large(conn))
    await step("prepared", prepared(conn))
    await step("cursor", with_cursor(conn))
    await step("many executions", conn.executemany("SELECT count(*) FROM patients WHERE visit > $1", [(n,) for n in range(50)]))
    await step("failing executions", conn.executemany("SELECT 1 / $1::int", [(1,), (0,), (2,)]))
    await step("after failure", conn.fetchval("SELECT count(*) FROM patients"))
    await step("script", conn.execute("SELECT 1; SELECT count(*) FROM patients; SELECT 2"))
    await step("failing script", conn.execute("SELECT 1; SELECT 1 / 0; SELECT 2"))
    await step("empty", conn.execute(""))
    await step("empty, prepared", rows(conn, ""))
    await step("unknown column", rows(conn, "SELECT nothing FROM patients"))
    await step("unknown table", rows(conn, "SELECT * FROM nobody"))
    await step("syntax error", rows(conn, "SELEC 1"))
    await step("transactions", transaction(conn))
    for form in ("text", "csv", "binary"):
        await step("copy " + form, copied(conn, "SELECT * FROM patients ORDER BY visit", format=form))
    await step("copy large", copied(conn, LARGE))
    await step("copy parameters", copied_parameters(conn))
    await step("copy table", copied_table(conn))
    await step("copy error", copied(conn, "SELECT 1 / (visit - 200) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p"))
    await step("time limit", limited(conn))
    await step("cancel", canceled(conn))
    await step("notices", noticed(conn))
    await step("settings", settings(conn))
    await step("listen", conn.add_listener("channel", print))
    await step("copy in", conn.copy_records_to_table("wards", records=[("x", 1, None)]))
    await step("reset", conn.reset())
    await step("reload", conn.reload_schema_state())
    await conn.close()
    await step("pool", pooled())
    await step("wrong certificate", asyncpg.connect(host="localhost", ssl=ssl.create_default_context()))


async def rows(conn, sql, *values):
    return plain(await conn.fetch(sql, *values))


async def large(conn):
    return digest(await conn.fetch(LARGE))


async def copied_parameters(conn):
    seen = []

    async def write(data):
        seen.append(data)

    await conn.copy_from_query("SELECT visit, mood FROM patients WHERE visit < $1 ORDER BY 1", 5, output=write)
    return b"".join(seen)


async def copied_table(conn):
    seen = []

    async def write(data):
        seen.append(data)

    await conn.copy_from_table("wards", columns=["ward", "beds"], output=write, delimiter="|")
    return sorted(b"".join(seen).splitlines())


async def settings(conn):
    await conn.execute("SET TimeZone = 'America/St_Johns'")
    shown = await rows(conn, "SELECT admitted, admitted::text FROM patients WHERE visit = 3")
    await conn.execute("RESET ALL")
    s = conn.get_settings()
    return shown, s.TimeZone, s.DateStyle, s.client_encoding, conn.get_server_version()[:2]


assert os.environ["PGUSER"]
asyncio.run(main())
