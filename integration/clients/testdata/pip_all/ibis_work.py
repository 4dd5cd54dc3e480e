"""ibis over PostgreSQL: what it lists and describes, expressions, aggregates, joins, windows, what they become."""

import os

import ibis
import ibis.selectors

from report import step

con = ibis.postgres.connect(host="localhost", port=int(os.environ["PGPORT"]), user=os.environ["PGUSER"], password=os.environ["PGPASSWORD"], database=os.environ["PGDATABASE"])


def shown(expression):
    """The types of an expression's columns and its rows."""
    frame = expression.to_pandas()
    return str(expression.schema()), frame.shape, frame.to_csv(float_format="%.9g", index=False)


def described(name, **where):
    return str(con.table(name, **where).schema())


KNOWN = ("birth_date", "sex", "postcode", "weight", "visit", "cost", "alive", "small", "large", "ratio", "single", "code", "title", "raw", "uid", "tags", "matrix", "admitted", "left_at", "clock", "share", "remarks", "address", "card")

step("version", lambda: (con.name, con.version.split(".")[0]))
step("catalogs", lambda: (con.current_catalog, con.list_catalogs()))
step("databases", lambda: (con.current_database, sorted(con.list_databases())))
step("tables", lambda: sorted(con.list_tables()))
step("tables in a schema", lambda: sorted(con.list_tables(database="public")))
step("tables like", lambda: con.list_tables(like="^w"))
step("tables named", lambda: sorted(con.tables))
step("wards", lambda: described("wards"))
step("wards in a schema", lambda: described("wards", database="public"))
step("patients", lambda: described("patients"))
step("nobody", lambda: described("nobody"))
step("schema of a query", lambda: str(con.sql("SELECT visit, cost, tags, admitted FROM patients").schema()))
step("functions", lambda: con.has_operation(ibis.expr.operations.Median))

patients = con.table("patients")
wards = con.table("wards")
small = patients.select("visit", "diagnosis", "sex", "cost", "alive", "title", "admitted", "ratio").filter(patients.visit > 20)
step("head", lambda: shown(small.order_by("visit").head(20)))
step("filters", lambda: shown(small.filter(small.diagnosis.isin(["I10", "J18"]), small.cost > 1000, small.alive.notnull(), small.title.contains("9")).order_by(ibis.desc("visit")).limit(5, offset=2)))
step("expressions", lambda: shown(small.order_by("visit").head(20).mutate(
    kind=ibis.cases((small.cost > 4000, "dear"), (small.cost.isnull(), None), else_="cheap"), upper=small.title.upper(), first=small.title.substr(0, 3), found=small.title.find("1"), year=small.admitted.year(),
    month=small.admitted.truncate("M"), day=small.admitted.day_of_week.full_name(), root=small.visit.sqrt().round(3), log=small.visit.log2().round(3), whole=small.cost.cast("int64"), text=small.visit.cast("string"), filled=small.cost.fill_null(0),
    later=small.admitted + ibis.interval(days=1), split=small.title.split(" ").length(), replaced=small.title.re_replace("[0-9]+", "#"), bucket=small.visit.bucket([0, 25, 35, 100]), shape=small.admitted.strftime("%Y-%m"), some=ibis.greatest(small.visit, 30))))
step("aggregates", lambda: shown(small.group_by("diagnosis").aggregate(
    n=small.count(), unique=small.sex.nunique(), mean=small.cost.mean().round(4), middle=small.cost.median(), spread=small.cost.std().round(4), some=small.count(where=small.cost > 1000), least=small.admitted.min(), all=small.sex.max(),
    near=small.cost.quantile(0.9), most=small.visit.argmax(small.cost), mode=small.sex.mode(), joined=small.title.group_concat(",", order_by=small.visit), kept=small.visit.collect(order_by=small.visit)).order_by("diagnosis")))
step("counted", lambda: (int(patients.count().to_pandas()), int(patients.diagnosis.nunique().execute()), sorted(map(tuple, patients.diagnosis.value_counts().to_pandas().values.tolist()))))
step("having", lambda: shown(small.group_by("diagnosis").having(small.count() > 3).aggregate(n=small.count()).order_by("diagnosis")))
step("joins", lambda: shown(wards.join(small, wards.beds == small.visit, how="left").select("ward", "beds", "title").order_by("ward")))
step("other joins", lambda: [int(getattr(wards, how)(patients, wards.beds == patients.visit).count().execute()) for how in ("inner_join", "outer_join", "semi_join", "anti_join")])
step("windows", lambda: shown(small.mutate(
    rank=ibis.rank().over(group_by="diagnosis", order_by="visit"), before=small.visit.lag().over(group_by="diagnosis", order_by="visit"), total=small.visit.cumsum(group_by="diagnosis", order_by="visit"),
    share=(small.visit / small.visit.sum().over(group_by="sex")).round(6), near=small.visit.mean().over(rows=(-2, 0), order_by="visit").round(4)).order_by("visit").head(15).drop("ratio", "admitted")))
step("sets", lambda: shown(ibis.union(small.select("visit").filter(small.visit < 23), patients.select("visit").filter(patients.visit.isin([10, 400])), distinct=True).order_by("visit")))
step("arrays", lambda: shown(patients.filter(patients.visit.between(3, 6)).select("visit", n=patients.tags.length(), first=patients.tags[0], tag=patients.tags.unnest()).order_by("visit", "tag")))
step("pivot", lambda: shown(small.select("diagnosis", "sex", "cost").pivot_wider(names_from="sex", values_from="cost", values_agg="sum", names=["F", "M"]).order_by("diagnosis")))
step("distinct", lambda: shown(small.select("diagnosis", "sex").distinct().order_by("diagnosis", "sex")))
step("sql", lambda: shown(con.sql("SELECT visit, cost FROM patients WHERE visit < 9").filter(ibis._.visit > 3).order_by("visit")))
step("sql with a schema", lambda: shown(con.sql("SELECT visit, cost FROM patients WHERE visit < 9", schema={"visit": "int32", "cost": "decimal(10, 2)"}).filter(ibis._.visit > 3).order_by("visit")))
step("alias", lambda: shown(small.alias("s").sql("SELECT diagnosis, count(*) AS n FROM s GROUP BY 1 ORDER BY 1")))
step("parameter", lambda: small.filter(small.visit < (limit := ibis.param("int64"))).count().to_pandas(params={limit: 30}))
step("polars", lambda: (frame := small.order_by("visit").head(9).to_polars(), frame.schema, frame.rows())[1:])
step("arrow", lambda: (table := wards.order_by("ward").to_pyarrow(), str(table.schema), table.to_pylist())[1:])
step("batches", lambda: [batch.num_rows for batch in patients.select("visit", "title").order_by("visit").to_pyarrow_batches(chunk_size=200)])
step("all types", lambda: shown(patients.filter(patients.visit < 20).order_by("visit").select(*KNOWN)))
step("compiled", lambda: ibis.to_sql(small.group_by("sex").aggregate(n=small.count())))
step("raw", lambda: con.raw_sql("SELECT count(*) FROM wards").fetchall())
step("error", lambda: con.sql("SELECT nothing FROM patients").execute())
step("description", lambda: shown(small.select("visit", "cost").describe()))
step("create table", lambda: con.create_table("scratch", schema={"n": "int"}))
step("create view", lambda: con.create_view("scratch", small))
step("insert", lambda: con.insert("wards", {"ward": ["x"], "beds": [1], "Größe": [1]}))
step("in memory", lambda: shown(ibis.memtable({"n": [21, 22]}).join(small, ibis._.n == small.visit).select("n", "title").order_by("n")))
con.disconnect()
