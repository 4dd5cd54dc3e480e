"""SQLAlchemy over psycopg2 and asyncpg, the drivers of PostgreSQL that its version 1.4 knows: Core, a pool, reflection, the ORM."""

import asyncio
import os
import ssl
import sys
import urllib.parse

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session, declarative_base

from report import CERTIFICATE, LARGE, MEDIUM, PATIENTS, digest, step

where = "%s:%s@localhost:%s/%s" % (os.environ["PGUSER"], urllib.parse.quote(os.environ["PGPASSWORD"], safe=""), os.environ["PGPORT"], os.environ["PGDATABASE"])

Base = declarative_base()


class Patient(Base):
    """A published record, with its number as the key."""

    __tablename__ = "patients"
    visit = sa.Column(sa.Integer, primary_key=True)
    diagnosis = sa.Column(sa.Text)
    cost = sa.Column(sa.Numeric(10, 2))
    title = sa.Column(sa.String(20))
    alive = sa.Column(sa.Boolean)
    mood = sa.Column(sa.Enum("low", "fair", "good", name="mood"))
    details = sa.Column(postgresql.JSONB)
    tags = sa.Column(postgresql.ARRAY(sa.Text))
    admitted = sa.Column(sa.DateTime(timezone=True))


class Ward(Base):
    """A readable table."""

    __tablename__ = "wards"
    ward = sa.Column(sa.Text, primary_key=True)
    beds = sa.Column(sa.Integer)
    size = sa.Column("Größe", sa.Integer)


patients = Patient.__table__


def plain(rows):
    return [tuple(row) for row in rows]


def core(conn):
    query = sa.select(patients.c.visit, patients.c.cost, patients.c.details["k"], patients.c.mood, patients.c.tags).where(
        patients.c.diagnosis.in_(["I10", "C50"]), patients.c.cost > 100, patients.c.mood == "good").order_by(patients.c.visit).limit(20)
    grouped = sa.select(patients.c.diagnosis, sa.func.count(), sa.func.avg(patients.c.cost)).group_by(patients.c.diagnosis).order_by(sa.text("1"))
    joined = sa.select(patients.c.visit, Ward.ward).join(Ward, Ward.beds == patients.c.visit).order_by(patients.c.visit)
    return [plain(conn.execute(statement)) for statement in (query, grouped, joined)]


def mapped(conn):
    session = Session(bind=conn)
    found = session.query(Patient).filter(Patient.visit.between(1, 12), Patient.alive.is_(True)).order_by(Patient.visit).all()
    seen = [(p.visit, p.title, p.cost, p.details, p.tags, p.admitted) for p in found]
    seen.append(session.get(Patient, 3).title)
    seen.append(session.query(sa.func.count(Patient.visit)).scalar())
    return seen


def savepoint(conn):
    seen = []
    nested = conn.begin_nested()
    try:
        conn.execute(sa.text("SELECT 1 / 0"))
    except sa.exc.DBAPIError as error:
        seen.append(getattr(error.orig, "pgcode", None))
        nested.rollback()
    seen.append(conn.execute(sa.text("SELECT count(*) FROM patients")).scalar())
    return seen


def write(conn):
    conn.execute(sa.insert(Ward).values(ward="x", beds=1))


def reflected(conn):
    inspector = sa.inspect(conn)
    return [(c["name"], str(c["type"]), c["nullable"]) for c in inspector.get_columns("patients")]


def work(name, run):
    """Does all steps; run calls a function with a connection."""
    step(name + " core", lambda: run(core))
    step(name + " all types", lambda: run(lambda conn: plain(conn.execute(sa.text(PATIENTS.replace("*", "visit, cost, ratio, remarks, uid, span, clock, day, raw, matrix, details").replace("<= 30", "< 20"))))))
    step(name + " parameters", lambda: run(lambda conn: plain(conn.execute(sa.text("SELECT CAST(:a AS integer) + 1, CAST(:b AS text), CAST(:c AS numeric)"), {"a": 1, "b": None, "c": 7}))))
    step(name + " orm", lambda: run(mapped))
    step(name + " many rows", lambda: run(lambda conn: digest(conn.execute(sa.text(MEDIUM)))))
    step(name + " error", lambda: run(lambda conn: conn.execute(sa.text("SELECT nothing FROM patients"))))
    step(name + " savepoint", lambda: run(savepoint))
    step(name + " write", lambda: run(write))
    step(name + " reflection", lambda: run(reflected))


def synchronous():
    engine = sa.create_engine("postgresql+psycopg2://" + where, connect_args={"sslmode": "verify-full", "sslrootcert": CERTIFICATE}, pool_size=2, pool_pre_ping=True)

    def run(function):
        with engine.begin() as conn:
            return function(conn)

    work("psycopg2", run)

    def streamed():
        with engine.connect().execution_options(stream_results=True, yield_per=1000) as conn:
            return digest(conn.execute(sa.text(LARGE)))

    def isolated():
        with engine.connect().execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True) as conn:
            return conn.execute(sa.text("SHOW transaction_isolation")).scalar(), conn.execute(sa.text("SHOW transaction_read_only")).scalar()

    step("psycopg2 streamed", streamed)
    step("psycopg2 isolation", isolated)
    step("psycopg2 again", lambda: [run(lambda conn: conn.execute(sa.text("SELECT count(*) FROM patients")).scalar()) for _ in range(10)])
    engine.dispose()


async def asynchronous():
    engine = create_async_engine("postgresql+asyncpg://" + where, connect_args={"ssl": ssl.create_default_context(cafile=CERTIFICATE)})

    async def run(function):
        async with engine.begin() as conn:
            return await conn.run_sync(function)

    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, lambda: work("asyncpg", lambda function: asyncio.run_coroutine_threadsafe(run(function), loop).result()))
    await engine.dispose()


assert sys.version_info >= (3, 9)
synchronous()
asyncio.run(asynchronous())
