"""Streamlit: a page with st.connection("sql"), run without a browser, its widgets, its cache and its tables."""

import contextlib
import os
import sys

from streamlit.testing.v1 import AppTest

from report import step


def page():
    """The page, which Streamlit runs as a program of its own."""
    import os

    import sqlalchemy as sa
    import streamlit as st

    conn = st.connection("clinic", type="sql", dialect="postgresql", driver="psycopg", host="localhost", port=int(os.environ["PGPORT"]), username=os.environ["PGUSER"], password=os.environ["PGPASSWORD"], database=os.environ["PGDATABASE"])
    st.title("Clinic")
    diagnosis = st.selectbox("Diagnosis", conn.query("SELECT DISTINCT diagnosis FROM patients ORDER BY 1", ttl=600)["diagnosis"])
    most = st.slider("Most", 10, 500, 100)
    found = conn.query("SELECT visit, sex, cost::float8 AS cost, admitted FROM patients WHERE diagnosis = :of AND visit <= :most ORDER BY visit", params={"of": diagnosis, "most": most}, ttl=0)
    st.metric("Records", len(found))
    st.dataframe(found)
    st.bar_chart(conn.query("SELECT sex, count(*) AS n FROM patients GROUP BY 1 ORDER BY 1", ttl=600), x="sex", y="n")
    with conn.session as session:
        st.text(session.execute(sa.text("SELECT ward FROM wards ORDER BY beds DESC LIMIT 1")).scalar())
    st.caption("%s over %s" % (conn.engine.dialect.name, conn.engine.driver))
    if st.button("Write"):
        with conn.session as session:
            session.execute(sa.text("INSERT INTO wards VALUES ('x', 1)"))
            session.commit()
    if st.button("Reset"):
        conn.reset()
        st.write(conn.query("SELECT 1 AS one", ttl=0))


def shown(app):
    """What is on the page."""
    frames = [(list(frame.value.columns), frame.value.to_csv(index=False)) for frame in app.dataframe]
    return [t.value for t in app.title], [m.value for m in app.metric], [t.value for t in app.text], [c.value for c in app.caption], list(app.selectbox[0].options), frames, [e.message.split("\n")[0] for e in app.exception]


def run(work):
    """What is on the page after a piece of work, without what Streamlit prints of errors."""
    with contextlib.redirect_stdout(sys.stderr):
        return shown(work())


assert os.environ["PGUSER"]
app = AppTest.from_function(page, default_timeout=240)
step("page", lambda: run(app.run))
step("other diagnosis", lambda: run(app.selectbox[0].select("J18").run))
step("fewer", lambda: run(app.slider[0].set_value(20).run))
step("write", lambda: run(app.button[0].click().run))
step("reset", lambda: run(lambda: app.run().button[1].click().run()))
