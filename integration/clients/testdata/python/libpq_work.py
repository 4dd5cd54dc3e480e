"""libpq itself, through ctypes: what only its newer versions do, in the version that LIBPQ names."""

import ctypes
import hashlib
import os

pq = ctypes.CDLL(os.environ["LIBPQ"])
for name, kind in {"PQconnectdb": ctypes.c_void_p, "PQexec": ctypes.c_void_p, "PQprepare": ctypes.c_void_p, "PQexecPrepared": ctypes.c_void_p, "PQgetResult": ctypes.c_void_p, "PQerrorMessage": ctypes.c_char_p, "PQgetvalue": ctypes.c_void_p,
                   "PQresultErrorField": ctypes.c_char_p, "PQsslAttribute": ctypes.c_char_p, "PQcmdStatus": ctypes.c_char_p, "PQcancelCreate": ctypes.c_void_p,
                   "PQcancelErrorMessage": ctypes.c_char_p, "PQparameterStatus": ctypes.c_char_p}.items():
    if hasattr(pq, name):
        getattr(pq, name).restype = kind

TUPLES = 2  # PGRES_TUPLES_OK
LARGE = b"SELECT n, p.visit, p.cost, p.remarks FROM patients p, generate_series(1, 24) n ORDER BY n, visit"
SLOW = b"SELECT count(*) FROM generate_series(1, 100000000000)"


def step(name, work):
    """Does a piece of work and prints what it returns."""
    print("%s: %s" % (name, repr(work()).replace("\\n", " ").strip()), flush=True)


def connect(**options):
    """A connection, which is bad if something is wrong."""
    text = " ".join("%s='%s'" % option for option in options.items())
    return ctypes.c_void_p(pq.PQconnectdb(text.encode()))


def rows(result):
    """The rows of a result."""
    result = ctypes.c_void_p(result)
    seen = []
    for i in range(pq.PQntuples(result)):
        row = []
        for j in range(pq.PQnfields(result)):
            row.append(None if pq.PQgetisnull(result, i, j) else ctypes.string_at(pq.PQgetvalue(result, i, j), pq.PQgetlength(result, i, j)))
        seen.append(row)
    status = pq.PQresultStatus(result), pq.PQresultErrorField(result, ord("C")), pq.PQcmdStatus(result)
    pq.PQclear(result)
    return status, seen


def attempt(**options):
    """How a connection is made: its state, encryption, protocol and a first query."""
    conn = connect(**options)
    try:
        if pq.PQstatus(conn) != 0:
            message = pq.PQerrorMessage(conn).decode().replace(os.environ["PGPORT"], "PORT")
            return "bad", message
        full = pq.PQfullProtocolVersion(conn) if hasattr(pq, "PQfullProtocolVersion") else None
        return full, pq.PQsslAttribute(conn, b"protocol"), rows(pq.PQexec(conn, b"SELECT count(*) FROM patients"))
    finally:
        pq.PQfinish(conn)


def fetched(conn, mode):
    """All rows of a large result, fetched in chunks of a size; 1 is the older single-row mode, 0 none."""
    pq.PQsendQuery(conn, LARGE)
    if mode == 1:
        pq.PQsetSingleRowMode(conn)
    elif mode:
        pq.PQsetChunkedRowsMode(conn, mode)
    summary, count, states = hashlib.sha256(), 0, {}
    while result := pq.PQgetResult(conn):
        (state, _, _), seen = rows(result)
        states[state] = states.get(state, 0) + 1
        count += len(seen)
        for row in seen:
            summary.update(repr(row).encode())
    return count, states, summary.hexdigest()[:16]


def broken(conn, mode):
    """A result that ends in an error when some chunks have come."""
    pq.PQsendQuery(conn, b"SELECT 1 / (visit - 300) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p")
    if mode > 1:
        pq.PQsetChunkedRowsMode(conn, mode)
    else:
        pq.PQsetSingleRowMode(conn)
    seen = []
    while result := pq.PQgetResult(conn):
        (state, code, _), read = rows(result)
        seen.append((state, code, len(read)))
    return seen[-3:], rows(pq.PQexec(conn, b"SELECT 1"))


def answers(conn, number):
    """So many results of a pipeline; each query's end with nothing."""
    seen = []
    while len(seen) < number:
        result = pq.PQgetResult(conn)
        if result:
            seen.append(rows(result))
    return seen


def pipelined(conn):
    """A pipeline with an error in it, and then one whose answers are asked for by Flush before its Sync."""
    pq.PQenterPipelineMode(conn)
    for sql in (b"SELECT 1", b"SELECT 1 / 0", b"SELECT 2"):
        pq.PQsendQueryParams(conn, sql, 0, None, None, None, None, 0)
    pq.PQpipelineSync(conn)
    seen = answers(conn, 4)
    pq.PQsendPrepare(conn, b"counted", b"SELECT count(*) FROM patients WHERE visit > $1", 0, None)
    pq.PQsendQueryPrepared(conn, b"counted", 1, (ctypes.c_char_p * 1)(b"7"), None, None, 0)
    pq.PQsendFlushRequest(conn)
    pq.PQflush(conn)
    seen += answers(conn, 2)
    pq.PQpipelineSync(conn)
    seen += answers(conn, 1)
    while pq.PQexitPipelineMode(conn) == 0:
        pq.PQgetResult(conn)
    return seen


def closed(conn):
    """Statements and portals that are closed and described by messages of the protocol."""
    seen = [rows(pq.PQprepare(conn, b"kept", b"SELECT visit FROM patients WHERE visit < $1 ORDER BY 1", 0, None))]
    seen.append(rows(pq.PQexecPrepared(conn, b"kept", 1, (ctypes.c_char_p * 1)(b"4"), None, None, 1)))
    for name in ("PQdescribePrepared", "PQclosePrepared", "PQclosePrepared"):
        if hasattr(pq, name):
            getattr(pq, name).restype = ctypes.c_void_p
            seen.append(rows(getattr(pq, name)(conn, b"kept")))
    seen.append(rows(pq.PQexecPrepared(conn, b"kept", 1, (ctypes.c_char_p * 1)(b"4"), None, None, 1)))
    return seen


def canceled(conn):
    """A statement that an encrypted cancel request ends."""
    pq.PQsendQuery(conn, SLOW)
    for _ in range(100):
        request = ctypes.c_void_p(pq.PQcancelCreate(conn))
        sent = pq.PQcancelBlocking(request)
        pq.PQcancelFinish(request)
        pq.PQconsumeInput(conn)
        if not pq.PQisBusy(conn):
            break
    status, _ = rows(pq.PQgetResult(conn))
    while result := pq.PQgetResult(conn):
        pq.PQclear(ctypes.c_void_p(result))
    for _ in range(100):  # a request that came late ends the next statement
        state, read = rows(pq.PQexec(conn, b"SELECT 1"))
        if state[0] == TUPLES:
            break
    return sent, status, read


newest = pq.PQlibVersion() >= 180000
step("version", pq.PQlibVersion)
step("plain", lambda: attempt())
step("direct", lambda: attempt(sslnegotiation="direct"))
step("direct, with channel binding", lambda: attempt(sslnegotiation="direct", channel_binding="require", require_auth="scram-sha-256"))
step("without a certificate", lambda: attempt(sslrootcert="system"))
step("no such setting", lambda: attempt(options="-c nothing=1"))
step("options", lambda: attempt(options="-c statement_timeout=5000 -c TimeZone=Asia/Kolkata"))
step("gss", lambda: attempt(gssencmode="prefer"))
step("compression of nothing", lambda: attempt(sslcompression="1"))
for version in ("TLSv1.2", "TLSv1.3"):
    step(version, lambda version=version: attempt(ssl_min_protocol_version=version, ssl_max_protocol_version=version))
if newest:
    for least, most in (("3.0", "3.0"), ("3.0", "3.2"), ("3.0", "latest"), ("3.2", "3.2")):
        step("protocol %s to %s" % (least, most), lambda least=least, most=most: attempt(min_protocol_version=least, max_protocol_version=most))
work = connect()
step("application protocol", lambda: pq.PQsslAttribute(work, b"alpn"))
step("whole", lambda: fetched(work, 0))
step("single rows", lambda: fetched(work, 1))
for size in (2, 500, 11999, 20000):
    step("chunks of %d" % size, lambda size=size: fetched(work, size))
step("broken rows", lambda: broken(work, 1))
step("broken chunks", lambda: broken(work, 64))
step("pipeline", lambda: pipelined(work))
step("after pipeline", lambda: rows(pq.PQexec(work, b"SELECT count(*) FROM patients")))
step("prepared", lambda: closed(work))
step("cancel", lambda: canceled(work))
step("session", lambda: [pq.PQparameterStatus(work, name) for name in (b"server_encoding", b"DateStyle", b"is_superuser")])
pq.PQfinish(work)
