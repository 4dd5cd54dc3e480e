"""Prints what SQLAlchemy reflects, a section for each method of its inspector."""
import os
import sqlalchemy as sa

url = sa.engine.URL.create(
    "postgresql+psycopg2", os.environ["PGUSER"], os.environ["PGPASSWORD"], os.environ["PGHOST"], int(os.environ["PGPORT"]), os.environ["PGDATABASE"])
engine = sa.create_engine(url)
inspector = sa.inspect(engine)


def show(title, ask):
    print("==", title)
    try:
        answer = ask()
    except Exception as e:
        answer = "ERROR: " + str(e).split("\n")[0]
    if isinstance(answer, list):
        for one in answer:
            print({k: str(v) for k, v in sorted(one.items())} if isinstance(one, dict) else one)
    else:
        print(answer)


show("default schema", lambda: inspector.default_schema_name)
show("get_schema_names", lambda: inspector.get_schema_names())
for schema in (None, "public", "hospital"):
    show(f"get_table_names of {schema}", lambda: sorted(inspector.get_table_names(schema)))
    show(f"get_view_names of {schema}", lambda: sorted(inspector.get_view_names(schema)))
show("get_enums", lambda: inspector.get_enums("*"))
show("get_view_definition of patients", lambda: inspector.get_view_definition("patients"))
for table in ("patients", "wards", "icd10", "measures", "beds_by_building", "persons", "stays"):
    show(f"has_table {table}", lambda: inspector.has_table(table))
    show(f"get_columns of {table}", lambda: inspector.get_columns(table))
    show(f"get_pk_constraint of {table}", lambda: inspector.get_pk_constraint(table))
    show(f"get_foreign_keys of {table}", lambda: inspector.get_foreign_keys(table))
    show(f"get_indexes of {table}", lambda: inspector.get_indexes(table))
    show(f"get_unique_constraints of {table}", lambda: inspector.get_unique_constraints(table))
    show(f"get_check_constraints of {table}", lambda: inspector.get_check_constraints(table))
    show(f"get_table_comment of {table}", lambda: inspector.get_table_comment(table))
show("get_columns of hospital.visits", lambda: inspector.get_columns("visits", "hospital"))
show("get_columns of what is hidden", lambda: inspector.get_columns("patients_raw"))
show("has_table of what is hidden", lambda: [inspector.has_table("patients_raw"), inspector.has_table("visits", "public")])


def reflected():
    metadata = sa.MetaData()
    metadata.reflect(engine, views=True)
    return sorted(f"{t.name}: {', '.join(c.name for c in t.columns)}" for t in metadata.tables.values())


show("MetaData.reflect", reflected)
