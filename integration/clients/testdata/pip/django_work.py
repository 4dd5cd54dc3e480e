"""Django: the ORM over models that it does not manage, transactions, server-side cursors, introspection and inspectdb."""

import datetime
import io
import itertools
import os

import django
from django.apps import AppConfig
from django.conf import settings
from django.contrib.postgres import aggregates, fields
from django.core.management import call_command
from django.db import DatabaseError, connection, models, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import functions

from report import MEDIUM, PATIENTS, digest, step



class Clinic(AppConfig):
    """This program as an application: only models of applications find each other."""

    name, label, path = __name__, "clinic", os.path.dirname(__file__)


settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"], "USER": os.environ["PGUSER"], "PASSWORD": os.environ["PGPASSWORD"],
                           "HOST": "localhost", "PORT": os.environ["PGPORT"], "CONN_HEALTH_CHECKS": True}},
    INSTALLED_APPS=["django.contrib.postgres", __name__ + ".Clinic"], USE_TZ=True, TIME_ZONE="UTC",
)
django.setup()


class Patient(models.Model):
    """A published record, with its number as the key."""

    visit = models.IntegerField(primary_key=True)
    diagnosis = models.TextField()
    sex = models.TextField()
    cost = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    alive = models.BooleanField(null=True)
    ratio = models.FloatField(null=True)
    title = models.CharField(max_length=20, null=True)
    raw = models.BinaryField(null=True)
    uid = models.UUIDField(null=True)
    details = models.JSONField(null=True)
    tags = fields.ArrayField(models.TextField(), null=True)
    admitted = models.DateTimeField(null=True)
    clock = models.TimeField(null=True)
    span = models.DurationField(null=True)
    address = models.GenericIPAddressField(null=True)
    stay = fields.DateTimeRangeField(null=True)
    remarks = models.TextField(null=True)

    class Meta:
        app_label = "clinic"
        managed = False
        db_table = "patients"


class Ward(models.Model):
    """A readable table; the number of beds stands for a key of the records."""

    ward = models.TextField(primary_key=True)
    patient = models.ForeignKey(Patient, models.DO_NOTHING, db_column="beds", related_name="wards")
    size = models.IntegerField(db_column="Größe", null=True)

    class Meta:
        app_label = "clinic"
        managed = False
        db_table = "wards"


patients = Patient.objects.order_by("visit")
wards = Ward.objects.order_by("ward")


def plain(rows):
    return [tuple(row) if isinstance(row, (list, tuple)) else row for row in rows]


def fetched(sql, *values):
    with connection.cursor() as cursor:
        cursor.execute(sql, values or None)
        return [(c.name, c.type_code, c.display_size, c.internal_size, c.precision, c.scale) for c in cursor.description], cursor.fetchall()


LOOKUPS = [("title__iexact", "TITLE 12"), ("title__icontains", "le 1"), ("title__startswith", "Title 2"), ("title__regex", r"e [34]0?$"), ("title__iregex", "TITLE 5"), ("admitted__year", 2024),
           ("admitted__date__gte", "2024-04-05"), ("admitted__week_day", 3), ("clock__hour", 9), ("cost__range", (100, 300)), ("alive__isnull", True), ("visit__in", range(3, 9)),
           ("details__k__gt", 300), ("details__deep__t", True), ("details__has_key", "list"), ("details__contains", {"k": 9}), ("details__list__1", 10), ("tags__contains", ["a9"]),
           ("tags__0", "a10"), ("tags__len", 3), ("tags__overlap", ["a1", "a2"]), ("stay__contains", datetime.datetime(2024, 1, 9, tzinfo=datetime.timezone.utc)), ("stay__isempty", False), ("uid", "00000000-0000-4000-8000-000000000012"),
           ("address", "10.0.12.1"), ("span__lt", datetime.timedelta(64)), ("remarks__search", "stable"), ("remarks__iendswith", "日本語 🩺")]


def looked_up():
    return [plain(patients.filter(**{lookup: value}).values_list("visit", flat=True)[:5]) for lookup, value in LOOKUPS]


def aggregated():
    return [
        Patient.objects.aggregate(n=models.Count("*"), sum=models.Sum("cost"), mean=models.Avg("cost"), first=models.Min("admitted"), most=models.Max("cost"), spread=models.StdDev("cost"), variance=models.Variance("visit", sample=True)),
        plain(Patient.objects.values_list("diagnosis").annotate(n=models.Count("visit"), some=models.Count("visit", filter=models.Q(cost__gt=1000)), least=models.Min("cost")).filter(n__gt=3).order_by("-n", "diagnosis")),
        plain(Patient.objects.values("sex").annotate(all=aggregates.ArrayAgg("diagnosis", distinct=True, ordering="diagnosis"), some=aggregates.StringAgg("title", ",", ordering="visit", filter=models.Q(visit__lt=9)), ok=aggregates.BoolAnd("alive")).order_by("sex")),
        plain(Patient.objects.annotate(month=functions.TruncMonth("admitted")).values_list("month").annotate(n=models.Count("*")).order_by("month")),
        Patient.objects.values("diagnosis").distinct().count(),
    ]


def annotated():
    earlier = patients.filter(diagnosis=models.OuterRef("diagnosis"), visit__lt=models.OuterRef("visit")).order_by("-visit")
    return [
        plain(patients.annotate(
            kind=models.Case(models.When(cost__gt=4000, then=models.Value("dear")), models.When(cost=None, then=None), default=models.Value("cheap")),
            rank=models.Window(functions.Rank(), partition_by=["diagnosis"], order_by="visit"), before=models.Subquery(earlier.values("visit")[:1]), had=models.Exists(earlier),
            double=models.F("visit") * 2 + 1, upper=functions.Upper("title"), length=functions.Length("remarks"), both=functions.Concat("diagnosis", models.Value("/"), "title", output_field=models.TextField()), root=functions.Round(functions.Sqrt("visit"), 3),
            digest=functions.MD5("title"), padded=functions.LPad("diagnosis", 5, models.Value("*")), day=functions.ExtractIsoWeekDay("admitted"), whole=functions.Cast("cost", models.IntegerField()), k=models.F("details__k"),
        ).values_list("visit", "kind", "rank", "before", "had", "double", "upper", "length", "both", "root", "digest", "padded", "day", "whole", "k")[:12]),
        plain(patients.filter(visit__lt=4).values_list("visit").union(patients.filter(visit=7).values_list("visit")).order_by("visit")),
        plain(patients.filter(visit__lt=9).values_list("visit").difference(patients.filter(visit__lt=5).values_list("visit")).order_by("visit")),
        plain(Patient.objects.order_by("diagnosis", "visit").distinct("diagnosis").values_list("diagnosis", "visit")),
        sorted(Patient.objects.in_bulk([3, 5])), patients.filter(visit=3).exists(), patients.latest("visit").pk, patients.filter(cost__gt=4900).explain(costs=False) != "",
    ]


def related():
    with connection.execute_wrapper(count := Counter()):
        seen = [(w.ward, w.patient.visit, w.patient.title) for w in wards.select_related("patient").filter(patient__cost__gt=1)]
        seen += [(p.visit, [w.ward for w in p.wards.all()]) for p in patients.filter(visit__in=[9, 10, 20]).prefetch_related("wards")]
        seen += plain(wards.values_list("ward", "patient__diagnosis"))
        seen += plain(patients.filter(wards__size__gt=1).annotate(models.Count("wards")).values_list("visit", "wards__count"))
    return seen, count.statements


class Counter:
    """Counts statements."""

    statements = 0

    def __call__(self, execute, sql, parameters, many, context):
        self.statements += 1
        return execute(sql, parameters, many, context)


def transactions():
    seen = []
    with transaction.atomic():
        seen.append(patients.count())
        try:
            with transaction.atomic():
                fetched("SELECT 1 / 0")
        except DatabaseError as error:
            seen.append((type(error).__name__, error.__cause__.sqlstate))
        seen.append((patients.count(), connection.in_atomic_block, connection.needs_rollback))
        sid = transaction.savepoint()
        transaction.savepoint_rollback(sid)
        transaction.on_commit(lambda: seen.append("committed"))
    return seen, connection.get_autocommit()


def locked():
    with transaction.atomic():
        return Ward.objects.select_for_update().get(ward="surgery").size


def streamed():
    rows = (tuple(getattr(p, name) for name in ("visit", "cost", "admitted", "remarks", "raw")) for p in patients.iterator(chunk_size=50))
    first = list(itertools.islice(rows, 5))
    return first, digest(rows), connection.features.can_return_columns_from_insert


def introspected(table):
    i = connection.introspection
    with connection.cursor() as cursor:
        return [i.get_table_description(cursor, table), i.get_relations(cursor, table), i.get_sequences(cursor, table), i.get_primary_key_column(cursor, table)]


def constrained(table):
    with connection.cursor() as cursor:
        return connection.introspection.get_constraints(cursor, table)


def listed():
    with connection.cursor() as cursor:
        return sorted(connection.introspection.get_table_list(cursor))


def inspected(*arguments, **options):
    output = io.StringIO()
    call_command("inspectdb", *arguments, stdout=output, **options)
    return output.getvalue()


step("version", lambda: (connection.get_database_version()[0], connection.features.is_postgresql_15))
step("all types", lambda: fetched(PATIENTS.replace("<= 30", "< 20")))  # later ones have dates that Python does not have
step("parameters", lambda: fetched("SELECT %s + 1, %s::text, %s::numeric, %s::int[], %s::jsonb", 1, None, 7, [1, 2], "{}"))
step("many rows", lambda: digest(fetched(MEDIUM)[1]))
step("models", lambda: [tuple(getattr(p, f.attname) for f in Patient._meta.fields) for p in patients[:12]])
step("values", lambda: list(patients.values("visit", "cost", "details__k", "details__list__0")[5:9]))
step("wards", lambda: [(w.ward, w.patient_id, w.size) for w in wards])
step("lookups", looked_up)
step("aggregates", aggregated)
step("annotations", annotated)
step("get", lambda: (patients.get(visit=3).title, wards.get(pk="Größe").size))
step("none", lambda: patients.get(visit=-1))
step("raw", lambda: [(p.visit, p.cost) for p in Patient.objects.raw("SELECT visit, cost FROM patients WHERE visit < %s ORDER BY 1", [4])])
step("related", related)
step("transactions", transactions)
step("locked", locked)
step("streamed", streamed)
step("many models", lambda: digest(tuple([p.visit, p.cost]) for p in Patient.objects.raw(MEDIUM).iterator()))
step("unknown column", lambda: fetched("SELECT nothing FROM patients"))
step("create", lambda: Ward.objects.create(ward="x", patient_id=1))
step("update", lambda: wards.update(size=1))
step("delete", lambda: wards.filter(ward="x").delete())
step("check constraints", lambda: connection.check_constraints())
step("tables", listed)
step("wards described", lambda: introspected("wards"))
step("wards constraints", lambda: constrained("wards"))
step("patients described", lambda: introspected("patients"))
step("patients constraints", lambda: constrained("patients"))
step("inspectdb", lambda: inspected("wards"))
step("inspectdb of a view", lambda: inspected("patients"))
step("migrations", lambda: sorted(MigrationRecorder(connection).applied_migrations()))
step("migration", lambda: MigrationRecorder(connection).ensure_schema())
connection.close()
