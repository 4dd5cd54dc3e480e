"""dbt: a release as the source of tests and queries, and another database that imports it, in which dbt builds models."""

import contextlib
import os
import pathlib
import shutil
import sys
import tempfile

from dbt.cli.main import dbtRunner

from report import step

runner = dbtRunner()


def message(text):
    """A message without where dbt works and what it made of the models."""
    return str(text).split("\n  compiled code at")[0].replace(str(project), "PROJECT").replace(os.environ["WAREHOUSE_DATABASE"], "WAREHOUSE")


def told(result):
    """What became of a node."""
    seen = [getattr(result, "node", None) and result.node.name, str(result.status), message(getattr(result, "message", None)), getattr(result, "failures", None)]
    if getattr(result, "max_loaded_at", None):
        seen.append(result.max_loaded_at.isoformat())
    table = getattr(result, "agate_table", None)
    if table is not None:
        seen.append((table.column_names, [str(kind).split(".")[-1].split(" ")[0] for kind in table.column_types], [tuple(map(str, row)) for row in table.rows]))
    return seen


def dbt(*arguments):
    """Runs a command and tells what became of its nodes."""
    with contextlib.redirect_stdout(sys.stderr):
        outcome = runner.invoke([*arguments, "--project-dir", str(project), "--profiles-dir", str(project), "--log-level-file", "none", "--no-use-colors"])
    if outcome.exception is not None:
        return message(outcome.exception)
    results = getattr(outcome.result, "results", None)
    return outcome.success, outcome.result if results is None else sorted(map(told, results), key=repr)


def catalog(target):
    """What dbt docs generate finds in the database's catalog."""
    with contextlib.redirect_stdout(sys.stderr):
        outcome = runner.invoke(["docs", "generate", "--target", target, "--project-dir", str(project), "--profiles-dir", str(project), "--log-level-file", "none"])
    if outcome.exception is not None:
        raise outcome.exception
    tables = {**outcome.result.sources, **outcome.result.nodes}
    return outcome.success, sorted((name, t.metadata.type, t.metadata.name, [(c.name, c.type) for c in t.columns.values()][:60]) for name, t in tables.items())


INLINE = "SELECT diagnosis, count(*) AS n, sum(cost) AS cost FROM {{ source('release', 'patients') }} GROUP BY 1 ORDER BY 1"


def main():
    step("debug", lambda: dbt("debug"))
    step("parse", lambda: dbt("parse")[0])
    step("list", lambda: dbt("list"))
    step("compile", lambda: dbt("compile", "--select", "visits")[0])
    step("show inline", lambda: dbt("show", "--inline", INLINE, "--limit", "5"))
    step("freshness", lambda: dbt("source", "freshness"))
    step("tests of sources", lambda: dbt("test", "--select", "source:*"))
    step("catalog", lambda: catalog("release"))
    step("run", lambda: dbt("run", "--select", "visits"))
    step("seed", lambda: dbt("seed"))
    step("error", lambda: dbt("show", "--inline", "SELECT nothing FROM {{ source('release', 'patients') }}"))
    step("warehouse debug", lambda: dbt("debug", "--target", "warehouse"))
    step("warehouse build", lambda: dbt("build", "--target", "warehouse"))
    step("warehouse build again", lambda: dbt("build", "--target", "warehouse"))
    step("warehouse freshness", lambda: dbt("source", "freshness", "--target", "warehouse"))
    for model in ("diagnoses", "weeks", "copies"):
        step("warehouse " + model, lambda: dbt("show", "--target", "warehouse", "--limit", "40", "--inline", "SELECT * FROM {{ ref('%s') }} ORDER BY 1" % model))
    step("warehouse snapshot", lambda: dbt("show", "--target", "warehouse", "--inline", "SELECT ward, beds, dbt_valid_to FROM {{ ref('wards_over_time') }} ORDER BY 1"))
    step("warehouse catalog", lambda: catalog("warehouse"))


# Processes that dbt starts import this program.
if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder, "project")
        shutil.copytree(pathlib.Path(__file__).with_name("project"), project)
        main()
