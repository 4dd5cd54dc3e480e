"""Steps of a client, each printed as one line: its name and what came of it."""

import hashlib
import os
import traceback

PATIENTS = "SELECT * FROM patients WHERE visit <= 30 ORDER BY visit"
# 55,000 rows of it are more than any buffer on the way holds.
LARGE = "SELECT n, p.visit, p.cost, p.admitted, p.remarks, p.tags, p.raw FROM patients p, generate_series(1, 110) n ORDER BY n, visit"
# Enough rows of it for several messages and buffers.
MEDIUM = LARGE.replace("1, 110", "1, 11")
SLOW = "SELECT count(*) FROM generate_series(1, 100000000000)"
CERTIFICATE = os.environ["PGSSLROOTCERT"]


def code(error):
    """The SQLSTATE and message of an error of any of the drivers."""
    error = origin(getattr(error, "orig", None) or error)
    state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    diag = getattr(error, "diag", None)
    message = diag.message_primary if diag is not None and diag.message_primary else str(error)
    return "%s %s %s" % (type(error).__name__, state, message.strip())


def origin(error):
    """The driver's error that an error was made of."""
    cause = error
    while cause is not None and not (getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)):
        cause = getattr(cause, "orig", None) or cause.__cause__
    return error if cause is None else cause


def plain(value):
    """A value whose repr tells all of it and nothing of the process."""
    if isinstance(value, memoryview):
        return ("memoryview", bytes(value))
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(plain(item) for item in value)
    return value


def step(name, work):
    """Does a piece of work and prints what it returns or raises."""
    try:
        text = repr(plain(work()))
    except Exception as error:  # noqa: BLE001: whatever it is, it is what the client sees
        text = "ERROR " + code(error)
        if os.environ.get("TRACE"):
            traceback.print_exc()
    print("%s: %s" % (name, text.replace("\\", "\\\\").replace("\n", "\\n")), flush=True)


def digest(rows):
    """The number of rows and a digest of all that is in them."""
    summary, count = hashlib.sha256(), 0
    for row in rows:
        summary.update(repr(plain(tuple(row))).encode())
        count += 1
    return count, summary.hexdigest()[:16]
