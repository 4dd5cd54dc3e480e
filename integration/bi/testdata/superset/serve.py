"""Superset on 127.0.0.1, with an empty store in the folder SUPERSET_HOME and the user admin."""

import os

os.environ["SUPERSET_CONFIG_PATH"] = os.path.join(os.path.dirname(__file__), "settings.py")

import flask_migrate
import superset
from superset.app import create_app

app = create_app()
with app.app_context():
    from superset import appbuilder, security_manager

    flask_migrate.upgrade(directory=os.path.join(superset.__path__[0], "migrations"))
    appbuilder.add_permissions(update_perms=True)
    security_manager.sync_role_definitions()
    admin = security_manager.find_role("Admin")
    security_manager.add_user("admin", "Ann", "Analyst", "ann@example.org", admin, password=os.environ["ADMIN_PASSWORD"])
print("Superset is set up", flush=True)
app.run(host="127.0.0.1", port=int(os.environ["PORT"]), threaded=True)
