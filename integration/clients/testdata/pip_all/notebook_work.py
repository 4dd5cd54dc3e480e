"""A notebook of JupyterLab, run by nbclient in a kernel of its own: SQLAlchemy, pandas and psycopg in its cells."""

import os
import pathlib
import sys
import tempfile

import nbformat
from jupyterlab import __version__ as version
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from report import step

CELLS = {
    "connect": '''
import os
import pandas
import sqlalchemy as sa
engine = sa.create_engine(sa.URL.create("postgresql+psycopg", os.environ["PGUSER"], os.environ["PGPASSWORD"], "localhost", int(os.environ["PGPORT"]), os.environ["PGDATABASE"]))
engine.dialect.name''',
    "frame": 'frame = pandas.read_sql("SELECT visit, diagnosis, cost::float8 AS cost, admitted FROM patients ORDER BY visit", engine, index_col="visit")\nframe.head()',
    "grouped": 'frame.groupby("diagnosis")["cost"].agg(["count", "mean", "max"]).round(4)',
    "months": 'print(frame["admitted"].dt.strftime("%Y-%m").value_counts().sort_index().to_string())',
    "tables": 'sorted(sa.inspect(engine).get_view_names() + sa.inspect(engine).get_table_names())',
    "columns": '[(c["name"], str(c["type"])) for c in sa.inspect(engine).get_columns("wards")]',
    "driver": 'import psycopg\nwith psycopg.connect("") as conn:\n    print(conn.execute("SELECT ward, beds FROM wards ORDER BY 1").fetchall())',
    "html": 'from IPython.display import HTML\nHTML(pandas.read_sql("SELECT ward, beds FROM wards ORDER BY 1", engine).to_html())',
    "write": 'with engine.begin() as conn:\n    conn.execute(sa.text("INSERT INTO wards VALUES (\'x\', 1)"))',
}


def outputs(cell):
    """What a cell prints and returns, its errors without their traces."""
    seen = []
    for output in cell.outputs:
        if output.output_type == "error":
            seen.append((output.ename, output.evalue.split("\n")[0]))
        elif output.output_type == "stream":
            seen.append((output.name, output.text))
        else:
            seen.append((output.output_type, sorted(output.data), output.data.get("text/plain")))
    return seen


assert os.environ["PGUSER"]
# The kernel is this interpreter, whatever kernels the machine knows.
with tempfile.TemporaryDirectory() as folder:
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
        os.environ[name] = folder
    os.environ["JUPYTER_PATH"] = str(pathlib.Path(nbformat.__file__).parents[1] / "share" / "jupyter")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source.strip()) for source in CELLS.values()])
    client = NotebookClient(notebook, timeout=240, kernel_name="python3", allow_errors=True)
    client.create_kernel_manager()
    client.km.kernel_spec.argv = [sys.executable, "-B", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    step("notebook", lambda: (version.split(".")[0], len(client.execute().cells)))
    for name, cell in zip(CELLS, notebook.cells):
        step(name, lambda: outputs(cell))
    step("page", lambda: HTMLExporter(template_name="lab").from_notebook_node(notebook)[0].count("<td>"))
