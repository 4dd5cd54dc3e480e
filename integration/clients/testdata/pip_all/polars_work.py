"""polars: read_database over SQLAlchemy and psycopg 3, in one piece and in batches, and read_database_uri by connectorx."""

import os
import urllib.parse

import polars
import psycopg
import sqlalchemy as sa

from report import MEDIUM, step

where = "%s:%s@localhost:%s/%s" % (os.environ["PGUSER"], urllib.parse.quote(os.environ["PGPASSWORD"], safe=""), os.environ["PGPORT"], os.environ["PGDATABASE"])
rust = "postgresql://" + where + "?sslmode=require"  # connectorx knows no other that encrypts
engine = sa.create_engine("postgresql+psycopg://" + where)
SIMPLE = "SELECT visit, cost, alive, ratio, title, admitted, left_at, clock, uid::text AS uid FROM patients WHERE visit > 20 ORDER BY visit LIMIT 30"
PLAIN = "SELECT visit, cost::float8 AS cost, alive, ratio, title, admitted FROM patients WHERE visit > 20 ORDER BY visit LIMIT 30"
TYPES = ("visit", "alive", "small", "large", "ratio", "single", "title", "code", "raw", "cost", "uid", "details", "plain", "tags", "matrix", "admitted", "left_at", "day", "clock", "span", "mood", "share", "remarks", "weight_range", "amount", "address", "flags")
CONNECTORX = ("visit", "small", "large", "ratio", "single", "title", "code", "raw", "cost", "uid", "details", "plain", "admitted", "clock", "mood", "remarks")


def shown(frame):
    """The types of a frame's columns and its rows."""
    return frame.shape, [(name, str(kind)) for name, kind in frame.schema.items()], frame.rows()


def batched(connection):
    sizes = []
    total = 0
    for frame in polars.read_database(MEDIUM.replace(", p.raw", "").replace(", p.tags", ""), connection, iter_batches=True, batch_size=1000):
        sizes.append(frame.height)
        total += frame["visit"].sum()
    return sum(sizes), total


def analyzed():
    frame = polars.read_database("SELECT diagnosis, sex, cost, admitted FROM patients", engine).lazy()
    by = frame.group_by("diagnosis", "sex").agg(polars.len(), polars.col("cost").cast(polars.Float64).mean().round(6).alias("mean"), polars.col("admitted").max()).sort("diagnosis", "sex")
    return shown(by.collect())


def types(connection):
    """All types of which polars makes a column."""
    return [(name, shown(polars.read_database("SELECT %s FROM patients WHERE visit < 20 ORDER BY visit" % name, connection))) for name in TYPES if name not in ("details", "plain")]


def connected():
    return psycopg.connect("", autocommit=True)


step("sqlalchemy", lambda: shown(polars.read_database(SIMPLE, engine)))
step("sqlalchemy types", lambda: types(engine))
step("psycopg", lambda: shown(polars.read_database(SIMPLE, connected())))
step("psycopg parameters", lambda: shown(polars.read_database("SELECT visit, cost FROM patients WHERE visit = ANY(%(some)s) ORDER BY 1", connected(), execute_options={"params": {"some": [3, 4]}})))
step("given types", lambda: shown(polars.read_database("SELECT visit, cost FROM patients ORDER BY 1 LIMIT 9", engine, schema_overrides={"visit": polars.Int16, "cost": polars.Float64})))
step("batches", lambda: batched(engine))
step("analyzed", analyzed)
step("error", lambda: polars.read_database("SELECT nothing FROM patients", engine))
step("connectorx", lambda: shown(polars.read_database_uri(PLAIN, rust, engine="connectorx")))
for protocol in ("csv", "cursor", "simple"):
    step("connectorx " + protocol, lambda: shown(polars.read_database_uri(PLAIN, rust, engine="connectorx", protocol=protocol)))
for name in CONNECTORX:
    step("connectorx " + name, lambda: shown(polars.read_database_uri("SELECT %s FROM patients WHERE visit < 20 ORDER BY visit" % name, rust, engine="connectorx")))
step("connectorx parts", lambda: shown(polars.read_database_uri("SELECT visit, title FROM patients", rust, engine="connectorx", partition_on="visit", partition_num=3).sort("visit")))
step("connectorx error", lambda: polars.read_database_uri("SELECT nothing FROM patients", rust, engine="connectorx"))
