"""pandas, over SQLAlchemy with psycopg 3: queries, tables, chunks, dates, types, parameters, the index."""

import os
import warnings

import pandas
import psycopg
import sqlalchemy as sa

from report import MEDIUM, PATIENTS, step

url = sa.URL.create("postgresql+psycopg", os.environ["PGUSER"], os.environ["PGPASSWORD"], "localhost", int(os.environ["PGPORT"]), os.environ["PGDATABASE"])
engine = sa.create_engine(url)
SIMPLE = "SELECT visit, cost, alive, ratio, title, admitted, left_at, clock, span, uid, mood FROM patients WHERE visit > 20 ORDER BY visit LIMIT 30"


def shown(frame):
    """The types of a frame's columns and its rows."""
    return str(frame.index.name), [(str(name), str(kind)) for name, kind in frame.dtypes.items()], frame.shape, frame.to_csv(float_format="%.9g")


def chunked():
    seen = []
    with engine.connect().execution_options(stream_results=True, max_row_buffer=500) as conn:
        for frame in pandas.read_sql(sa.text(MEDIUM), conn, chunksize=1000):
            seen.append((frame.shape, int(pandas.util.hash_pandas_object(frame[["n", "visit", "remarks"]], index=False).sum())))
    return seen


def over_driver():
    with warnings.catch_warnings(), psycopg.connect("") as conn:
        warnings.simplefilter("ignore")  # pandas tests it with SQLAlchemy alone
        return shown(pandas.read_sql_query("SELECT visit, cost FROM patients WHERE visit = ANY(%(some)s) ORDER BY 1", conn, params={"some": [3, 4, 5]}))


def analyzed():
    frame = pandas.read_sql("SELECT diagnosis, sex, cost, admitted FROM patients", engine, coerce_float=True)
    by = frame.groupby(["diagnosis", "sex"], dropna=False)["cost"].agg(["count", "mean", "min", "max", "median"])
    months = frame.assign(month=frame["admitted"].dt.strftime("%Y-%m")).pivot_table(index="month", columns="sex", values="cost", aggfunc="sum")
    return shown(by.round(6)), shown(months.round(6)), str(frame.isna().sum().to_dict())


def merged():
    wards = pandas.read_sql_table("wards", engine, index_col="beds")
    patients = pandas.read_sql("SELECT visit, title FROM patients", engine, index_col="visit")
    return shown(wards.join(patients, how="left").sort_index())


step("query", lambda: shown(pandas.read_sql_query(SIMPLE, engine)))
step("all types", lambda: shown(pandas.read_sql(PATIENTS.replace("<= 30", "< 20"), engine)))
step("parameters", lambda: shown(pandas.read_sql(sa.text("SELECT visit, cost FROM patients WHERE visit < :most AND diagnosis = :of ORDER BY 1"), engine, params={"most": 50, "of": "I10"})))
step("index and dates", lambda: shown(pandas.read_sql(SIMPLE, engine, index_col=["visit", "mood"], parse_dates={"left_at": {"errors": "coerce"}, "admitted": {"utc": True}})))
step("as seconds", lambda: shown(pandas.read_sql("SELECT visit, visit * 86400 AS day FROM patients ORDER BY 1 LIMIT 5", engine, parse_dates={"day": "s"})))
step("types with nulls", lambda: shown(pandas.read_sql(SIMPLE, engine, dtype_backend="numpy_nullable")))
step("given types", lambda: shown(pandas.read_sql_query("SELECT visit, ratio, alive FROM patients ORDER BY 1 LIMIT 9", engine, dtype={"visit": "int16", "ratio": "float32", "alive": "boolean"})))
step("table", lambda: shown(pandas.read_sql_table("wards", engine).sort_values("ward")))
step("table in a schema", lambda: shown(pandas.read_sql_table("wards", engine, schema="public", columns=["ward", "Größe"]).sort_values("ward")))
step("table by read_sql", lambda: shown(pandas.read_sql("wards", engine).sort_values("ward")))
step("view", lambda: shown(pandas.read_sql_table("patients", engine, index_col="visit", columns=["cost", "admitted", "clock", "remarks"], parse_dates=["admitted"]).sort_index().head(40)))
step("no table", lambda: pandas.read_sql_table("nobody", engine))
step("core", lambda: shown(pandas.read_sql(sa.select(sa.table("wards", sa.column("ward"), sa.column("beds"))).order_by(sa.column("ward")), engine)))
step("chunks", chunked)
step("a driver's connection", over_driver)
step("analyzed", analyzed)
step("merged", merged)
step("error", lambda: pandas.read_sql("SELECT nothing FROM patients", engine))
step("syntax error", lambda: pandas.read_sql("SELEC 1", engine))
step("has table", lambda: [pandas.io.sql.pandasSQL_builder(engine).has_table(name) for name in ("wards", "patients", "nobody")])
step("write", lambda: pandas.DataFrame({"n": [1, 2]}).to_sql("scratch", engine, index=False))
step("append", lambda: pandas.DataFrame({"ward": ["x"], "beds": [1]}).to_sql("wards", engine, index=False, if_exists="append"))
engine.dispose()
