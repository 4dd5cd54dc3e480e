"""What Superset runs with: its store in SQLite, no cache, no telemetry."""

import os

SECRET_KEY = "of a test, and of no use elsewhere"
SQLALCHEMY_DATABASE_URI = "sqlite:///" + os.path.join(os.environ["SUPERSET_HOME"], "superset.db")
# The test drives the API from outside of a browser.
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
FEATURE_FLAGS = {"DRILL_TO_DETAIL": True, "DRILL_BY": True}
