"""pgcli, without its prompt: statements, its backslash commands, and what it completes names from."""

import os
import tempfile

home = tempfile.TemporaryDirectory()
os.environ.update(HOME=home.name, XDG_CONFIG_HOME=home.name)  # neither the user's settings nor the user's history

from pgcli.main import PGCli  # noqa: E402
from pgcli.packages.sqlcompletion import suggest_type  # noqa: E402

from report import PATIENTS, digest, step  # noqa: E402

cli = PGCli(pgclirc_file=os.path.join(home.name, "config"), never_passwd_prompt=True, single_connection=True)
cli.connect(host="localhost", port=int(os.environ["PGPORT"]), user=os.environ["PGUSER"], database=os.environ["PGDATABASE"], passwd=os.environ["PGPASSWORD"])
execute = cli.pgexecute


def run(text):
    """What pgcli shows of a command, with its error as it shows it."""
    shown = []
    output, query = cli._evaluate_command(text)
    for line in output:
        shown.append(line if isinstance(line, str) else repr(line))
    return shown, query.successful, query.total_time > 0, query.meta_changed, query.db_changed


def large():
    seen = []
    for title, rows, headers, status, sql, success, special in execute.run("SELECT n, visit, cost, remarks, tags FROM patients, generate_series(1, 110) n ORDER BY n, visit"):
        seen.append((digest(rows), headers, status, success))
    return seen


def completions(text):
    """What pgcli proposes after a text."""
    from prompt_toolkit.document import Document

    cli.refresh_completions(persist_priorities="all")
    refresher = cli.completion_refresher
    while refresher.is_refreshing():
        refresher._completer_thread.join(0.05)
    return cli.completer.get_completions(Document(text + " FROM patients", len(text)), None)


for number, text in enumerate((
        PATIENTS, "SELECT 1; SELECT count(*) FROM patients; SELECT 'ß'", "SELECT nothing FROM patients", "SELECT 1 / 0", "SELECT 1", "BEGIN", "SELECT 1 / 0", "SELECT 1", "ROLLBACK", "COMMIT", "",
        "SET TimeZone = 'Asia/Kolkata'", "SELECT admitted FROM patients WHERE visit = 3", "RESET ALL", "SELECT mood, count(*) FROM patients GROUP BY 1 ORDER BY 1\\G",
        "EXPLAIN (COSTS OFF) SELECT 1", "INSERT INTO wards VALUES ('x', 1, 1)", "SHOW TimeZone", "\\d wards", "\\dT mood", "\\timing")):
    step("command %d" % number, lambda text=text: [part for part in run(text)[:2]])
step("many rows", large)
step("databases", lambda: os.environ["PGDATABASE"] in execute.databases())
step("published columns", lambda: [(c.table if hasattr(c, "table") else c[1], c[2], c[3]) for c in list(execute.table_columns()) + list(execute.view_columns()) if c[1] in ("patients", "wards")
     and c[0] in ("public", "kproxy_release_public") and c[2] not in ("patient_id", "name")] != [])
step("functions", lambda: "count" in [f.func_name for f in execute.functions()])
step("types", lambda: "mood" in [t[1] for t in execute.datatypes()])
step("completions", lambda: sorted({c.text for c in completions("SELECT vis")}))
step("suggestions", lambda: [type(s).__name__ for s in suggest_type("SELECT * FROM pat", "SELECT * FROM pat")])

