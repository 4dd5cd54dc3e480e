"""SQLAlchemy 2 over psycopg 3, its engines with and without asyncio: Core, the ORM, streaming, everything that it reflects."""

import asyncio
import datetime
import decimal
import os
import uuid

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext import asyncio as asynchronous, automap
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, aliased, joinedload, mapped_column, relationship, selectinload, subqueryload

from report import LARGE, MEDIUM, PATIENTS, digest, step

url = sa.URL.create("postgresql+psycopg", os.environ["PGUSER"], os.environ["PGPASSWORD"], "localhost", int(os.environ["PGPORT"]), os.environ["PGDATABASE"])


class Base(DeclarativeBase):
    """All classes."""


class Patient(Base):
    """A published record, with its number as the key."""

    __tablename__ = "patients"
    visit: Mapped[int] = mapped_column(primary_key=True)
    diagnosis: Mapped[str]
    cost: Mapped[decimal.Decimal | None]
    title: Mapped[str | None]
    alive: Mapped[bool | None]
    uid: Mapped[uuid.UUID | None]
    mood: Mapped[str | None] = mapped_column(postgresql.ENUM("low", "fair", "good", name="mood", create_type=False))
    details: Mapped[dict | None] = mapped_column(postgresql.JSONB)
    tags: Mapped[list | None] = mapped_column(postgresql.ARRAY(sa.Text))
    stay: Mapped[object | None] = mapped_column(postgresql.TSTZRANGE)
    admitted: Mapped[datetime.datetime | None]
    wards: Mapped[list["Ward"]] = relationship(back_populates="patient", viewonly=True)


class Ward(Base):
    """A readable table; the number of beds stands for a key of the records."""

    __tablename__ = "wards"
    ward: Mapped[str] = mapped_column(primary_key=True)
    beds: Mapped[int] = mapped_column(sa.ForeignKey("patients.visit"))
    size: Mapped[int | None] = mapped_column("Größe")
    patient: Mapped[Patient] = relationship(back_populates="wards", viewonly=True)


def plain(rows):
    return [tuple(row) for row in rows]


def core(conn):
    p = Patient.__table__
    grouped = sa.select(p.c.diagnosis, sa.func.count(), sa.func.avg(p.c.cost).filter(p.c.alive), sa.func.percentile_cont(0.5).within_group(p.c.cost)).group_by(sa.func.rollup(p.c.diagnosis)).order_by(sa.text("1"))
    ranked = sa.select(p.c.visit, sa.func.row_number().over(partition_by=p.c.diagnosis, order_by=p.c.visit).label("n")).cte("ranked")
    tree = sa.select(sa.literal(1).label("n")).cte("tree", recursive=True)
    tree = tree.union_all(sa.select(tree.c.n * 2).where(tree.c.n < 50))
    latest = sa.select(p.c.visit).where(p.c.diagnosis == Patient.diagnosis).order_by(p.c.visit.desc()).limit(1).lateral("latest")
    statements = (
        sa.select(p.c.visit, p.c.cost, p.c.details["k"].as_integer(), p.c.mood, p.c.tags[1]).where(p.c.diagnosis.in_(["I10", "C50"]), p.c.cost > 100, p.c.mood == "good").order_by(p.c.visit).limit(20),
        grouped,
        sa.select(ranked).where(ranked.c.n == 1).order_by(ranked.c.visit),
        sa.select(tree.c.n, p.c.title).join_from(tree, p, p.c.visit == tree.c.n, isouter=True).order_by(tree.c.n),
        sa.select(Ward.__table__.c.ward, latest.c.visit).join_from(Ward.__table__, p, Ward.__table__.c.beds == p.c.visit).join(latest, sa.true()).order_by(Ward.__table__.c.ward),
        sa.select(p.c.visit, sa.func.lower(p.c.stay), p.c.stay.contains(datetime.datetime(2024, 1, 3, tzinfo=datetime.timezone.utc))).where(p.c.tags.contains(["a9"])),
        sa.select(sa.func.json_agg(sa.func.json_build_object("v", p.c.visit)), sa.func.string_agg(p.c.title, postgresql.aggregate_order_by(sa.literal(","), p.c.visit))).where(p.c.visit < 4),
        sa.select(sa.column("n"), sa.column("v")).select_from(sa.values(sa.column("n", sa.Integer), sa.column("v", sa.String), name="t").data([(1, "a"), (2, "b")])),
        sa.union_all(sa.select(p.c.visit).where(p.c.visit < 3), sa.select(Ward.__table__.c.beds)).order_by(sa.text("1")),
        sa.select(sa.func.unnest(p.c.tags).label("tag")).where(p.c.visit == 5),
        sa.select(p.c.visit).distinct(p.c.diagnosis).order_by(p.c.diagnosis, p.c.visit),
    )
    return [plain(conn.execute(statement)) for statement in statements]


def mapped(conn):
    with Session(conn) as session:
        found = session.scalars(sa.select(Patient).where(Patient.visit.between(1, 12), Patient.alive.is_(True)).order_by(Patient.visit)).all()
        seen = [(p.visit, p.title, p.cost, p.details, p.tags, p.admitted, p.uid, p.stay) for p in found]
        seen.append((session.get(Patient, 3).title, session.scalar(sa.select(sa.func.count()).select_from(Patient))))
        for load in (joinedload, selectinload, subqueryload):
            session.expunge_all()
            query = sa.select(Patient).where(Patient.visit.in_([9, 10, 20])).options(load(Patient.wards)).order_by(Patient.visit)
            seen.append([(p.visit, [w.ward for w in p.wards]) for p in session.scalars(query).unique()])
        other = aliased(Patient)
        seen.append(plain(session.execute(sa.select(Patient.visit, other.visit).join(other, other.visit == Patient.visit + 1).where(Patient.visit < 4).order_by(Patient.visit))))
        return seen


def flushed(conn):
    with Session(conn) as session:
        session.add(Ward(ward="x", beds=1, size=None))
        session.flush()


def inserted(conn):
    return conn.execute(postgresql.insert(Ward).values([{"ward": "x", "beds": 1}]).on_conflict_do_nothing().returning(Ward.ward))


def locked(conn):
    return plain(conn.execute(sa.select(Ward.ward).order_by(Ward.ward).with_for_update(read=True)))


def savepoint(conn):
    seen = []
    for sql in ("SELECT 1 / 0", "SELECT nothing FROM patients"):
        nested = conn.begin_nested()
        try:
            conn.execute(sa.text(sql))
        except sa.exc.DBAPIError as error:
            seen.append((type(error).__name__, error.orig.sqlstate, error.connection_invalidated))
            nested.rollback()
    return seen, conn.execute(sa.text("SELECT count(*) FROM patients")).scalar()


def created(conn):
    return sa.Table("scratch", sa.MetaData(), sa.Column("n", sa.Integer, primary_key=True)).create(conn)


def dumped(columns):
    """What is reflected of columns, in which types are objects."""
    return [{key: str(value) if key == "type" else value for key, value in column.items()} for column in columns]


INSPECTED = ("get_columns", "get_pk_constraint", "get_foreign_keys", "get_indexes", "get_unique_constraints", "get_check_constraints", "get_table_comment", "get_table_options", "has_table", "get_view_definition")


def inspected(conn, name):
    i = sa.inspect(conn)
    if name == "names":
        return i.default_schema_name, sorted(i.get_schema_names()), sorted(i.get_table_names()), sorted(i.get_view_names()), i.get_materialized_view_names(), i.get_sequence_names(), i.get_temp_table_names(), i.get_foreign_table_names()
    if name == "schema":
        return sorted(i.get_table_names("public")), sorted(i.get_view_names("public")), i.has_schema("public"), i.has_schema("none"), i.has_table("patients", "public"), i.has_index("wards", "wards_pkey"), i.has_sequence("none")
    if name == "types":
        return [{**e, "labels": list(e["labels"])} for e in i.get_enums()], [{**d, "type": str(d["type"])} for d in i.get_domains()], i.has_type("mood"), i.has_type("none")
    if name == "all":
        return {table: [c["name"] for c in columns] for (_, table), columns in i.get_multi_columns(kind=sa.engine.reflection.ObjectKind.ANY).items()}
    how, table = name.split()
    found = getattr(i, how)(table)
    if how == "get_view_definition":
        return "not shown" in found  # straight, it has numbers that every server gives otherwise
    return dumped(found) if how == "get_columns" else found


def reflected(conn):
    metadata = sa.MetaData()
    metadata.reflect(conn, views=True)
    tables = {name: [(c.name, str(c.type), c.primary_key, c.nullable, c.comment) for c in table.columns] for name, table in sorted(metadata.tables.items())}
    wards = metadata.tables["wards"]
    return tables, plain(conn.execute(sa.select(wards).order_by(wards.c.ward)))


def mapped_by_itself(conn):
    base = automap.automap_base()
    base.prepare(conn)
    return sorted(base.classes.keys())


PIECES = {"core": core, "all types": lambda conn: plain(conn.execute(sa.text(PATIENTS.replace("<= 30", "< 20")))), "many rows": lambda conn: digest(conn.execute(sa.text(MEDIUM))), "orm": mapped,
          "parameters": lambda conn: plain(conn.execute(sa.text("SELECT CAST(:a AS integer) + 1, CAST(:b AS text), CAST(:c AS numeric), CAST(:d AS jsonb)"), {"a": 1, "b": None, "c": 7, "d": "{}"})),
          "error": lambda conn: conn.execute(sa.text("SELECT nothing FROM patients")), "savepoint": savepoint, "flush": flushed, "insert": inserted, "create": created, "locked": locked,
          "lock": lambda conn: conn.execute(sa.text("LOCK TABLE wards")), "advisory lock": lambda conn: conn.execute(sa.text("SELECT pg_try_advisory_lock(1)")).scalar()}


def synchronous():
    engine = sa.create_engine(url, pool_size=2, pool_pre_ping=True, insertmanyvalues_page_size=10)

    def run(function):
        with engine.begin() as conn:
            return function(conn)

    for name, piece in PIECES.items():
        step(name, lambda: run(piece))
    for name in ("names", "schema", "types", "all", *("%s %s" % (how, table) for table in ("patients", "wards", "nobody") for how in INSPECTED)):
        step("inspect " + name, lambda: run(lambda conn: inspected(conn, name)))
    step("reflected", lambda: run(reflected))
    step("automap", lambda: run(mapped_by_itself))

    def streamed():
        with engine.connect().execution_options(stream_results=True, yield_per=1000) as conn:
            return digest(conn.execute(sa.text(LARGE)))

    def isolated(level):
        with engine.connect().execution_options(isolation_level=level, postgresql_readonly=True, postgresql_deferrable=True) as conn:
            return [conn.execute(sa.text("SHOW " + name)).scalar() for name in ("transaction_isolation", "transaction_read_only", "transaction_deferrable")], conn.get_isolation_level()

    step("streamed", streamed)
    for level in ("AUTOCOMMIT", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"):
        step("isolation " + level, lambda: isolated(level))
    step("again", lambda: [run(lambda conn: conn.execute(sa.text("SELECT count(*) FROM patients")).scalar()) for _ in range(10)])
    engine.dispose()


async def with_asyncio():
    engine = asynchronous.create_async_engine(url)

    async def run(function):
        async with engine.begin() as conn:
            return await conn.run_sync(function)

    async def streamed():
        async with engine.connect() as conn:
            return digest([tuple(row) async for row in await conn.stream(sa.text(MEDIUM))])

    loop = asyncio.get_running_loop()

    def work():
        for name in ("core", "orm", "error", "savepoint"):
            step("asyncio " + name, lambda: asyncio.run_coroutine_threadsafe(run(PIECES[name]), loop).result())
        step("asyncio streamed", lambda: asyncio.run_coroutine_threadsafe(streamed(), loop).result())

    await loop.run_in_executor(None, work)
    await engine.dispose()


synchronous()
asyncio.run(with_asyncio())
