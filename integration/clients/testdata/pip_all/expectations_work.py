"""Great Expectations: a data source, table and query assets, batches, expectations that hold and that do not, a checkpoint."""

import os
import urllib.parse
import warnings

import great_expectations as gx
import great_expectations.expectations as gxe

from report import CERTIFICATE, step

warnings.simplefilter("ignore")
where = "postgresql+psycopg2://%s:%s@localhost:%s/%s?sslmode=verify-full&sslrootcert=%s" % (
    os.environ["PGUSER"], urllib.parse.quote(os.environ["PGPASSWORD"], safe=""), os.environ["PGPORT"], os.environ["PGDATABASE"], urllib.parse.quote(CERTIFICATE))
context = gx.get_context(mode="ephemeral")
source = context.data_sources.add_postgres("clinic", connection_string=where)

PATIENTS = "SELECT visit, sex, diagnosis, cost, alive, title, admitted, large FROM patients"
EXPECTATIONS = {
    "patients": [
        gxe.ExpectTableRowCountToBeBetween(min_value=1, max_value=500), gxe.ExpectTableColumnCountToEqual(value=8), gxe.ExpectColumnToExist(column="visit"), gxe.ExpectColumnToExist(column="name"),
        gxe.ExpectColumnValuesToNotBeNull(column="visit"), gxe.ExpectColumnValuesToNotBeNull(column="cost"), gxe.ExpectColumnValuesToBeNull(column="alive", mostly=0.1), gxe.ExpectColumnValuesToBeUnique(column="visit"),
        gxe.ExpectColumnValuesToBeInSet(column="diagnosis", value_set=["I10", "I21", "J18", "K35"]), gxe.ExpectColumnDistinctValuesToContainSet(column="sex", value_set=["F", "M"]),
        gxe.ExpectColumnValuesToBeBetween(column="cost", min_value=0, max_value=4000), gxe.ExpectColumnMeanToBeBetween(column="visit", min_value=1, max_value=500), gxe.ExpectColumnMedianToBeBetween(column="visit", min_value=1, max_value=2),
        gxe.ExpectColumnStdevToBeBetween(column="visit", min_value=0), gxe.ExpectColumnQuantileValuesToBeBetween(column="visit", quantile_ranges={"quantiles": [0.1, 0.5, 0.9], "value_ranges": [[0, 100], [200, 300], [None, 600]]}),
        gxe.ExpectColumnValueLengthsToBeBetween(column="title", min_value=7, max_value=8), gxe.ExpectColumnValuesToMatchRegex(column="diagnosis", regex="^[A-Z][0-9]{2}$"), gxe.ExpectColumnValuesToMatchLikePattern(column="title", like_pattern="Title%"),
        gxe.ExpectColumnMinToBeBetween(column="admitted", min_value=None), gxe.ExpectColumnUniqueValueCountToBeBetween(column="diagnosis", min_value=8, max_value=8), gxe.ExpectColumnMostCommonValueToBeInSet(column="sex", value_set=["F", "M"]),
        gxe.ExpectColumnPairValuesAToBeGreaterThanB(column_A="large", column_B="visit"), gxe.ExpectCompoundColumnsToBeUnique(column_list=["diagnosis", "visit"]), gxe.ExpectColumnSumToBeBetween(column="visit", min_value=0),
        gxe.ExpectColumnValueZScoresToBeLessThan(column="visit", threshold=1.5, double_sided=True), gxe.UnexpectedRowsExpectation(unexpected_rows_query="SELECT visit, cost FROM {batch} WHERE cost > 4970"),
    ],
    "wards": [
        gxe.ExpectTableColumnsToMatchSet(column_set=["ward", "beds", "Größe"]), gxe.ExpectTableColumnsToMatchOrderedList(column_list=["ward", "beds", "Größe"]), gxe.ExpectTableRowCountToEqual(value=4),
        gxe.ExpectColumnValuesToBeInTypeList(column="Größe", type_list=["INTEGER", "BIGINT"]), gxe.ExpectColumnValuesToBeUnique(column="ward"), gxe.ExpectColumnMaxToBeBetween(column="beds", max_value=30),
    ],
}


def told(result):
    """What a validation found, without what is of the run."""
    return result.success, result.exception_info.get("exception_message"), ordered(result.result)


def ordered(value):
    """A value in which what the server gives in any order is sorted."""
    if isinstance(value, dict):
        return {key: ordered(inner) for key, inner in sorted(value.items(), key=str)}
    return sorted(map(ordered, value), key=repr) if isinstance(value, list) else value


def batch_of(asset):
    return asset.add_batch_definition_whole_table("whole").get_batch()


def checked():
    suite = context.suites.add(gx.ExpectationSuite(name="suite", expectations=[gxe.ExpectColumnValuesToNotBeNull(column="visit"), gxe.ExpectColumnValuesToBeBetween(column="beds", max_value=3)]))
    parts = [gx.ValidationDefinition(name="of %s" % asset.name, data=asset.add_batch_definition_whole_table("checked"), suite=suite) for asset in source.assets]
    checkpoint = context.checkpoints.add(gx.Checkpoint(name="checkpoint", validation_definitions=[context.validation_definitions.add(part) for part in parts]))
    outcome = checkpoint.run()
    return outcome.success, sorted((r.success, r.statistics["evaluated_expectations"], r.statistics["successful_expectations"]) for r in outcome.run_results.values())


step("connection", source.test_connection)
for table, expectations in EXPECTATIONS.items():
    # Of a table Great Expectations wants no column of a type that SQLAlchemy does not know.
    asset = source.add_query_asset(table, query=PATIENTS) if table == "patients" else source.add_table_asset(table, table_name=table, schema_name="public")
    batch = batch_of(asset)
    step(table + " columns", lambda: sorted(batch.columns()))
    for number, expectation in enumerate(expectations):
        step("%s %d %s" % (table, number, type(expectation).__name__), lambda: told(batch.validate(expectation, result_format="COMPLETE")))
query = source.add_query_asset("query", query="SELECT visit, cost, admitted FROM patients WHERE visit < 50")
step("query", lambda: told(batch_of(query).validate(gxe.ExpectColumnMaxToBeBetween(column="visit", max_value=49))))
step("monthly", lambda: sorted((b.metadata["year"], b.metadata["month"], b.validate(gxe.ExpectTableRowCountToBeBetween(min_value=1)).result["observed_value"]) for b in [
    monthly.get_batch(batch_parameters=p) for monthly in [query.add_batch_definition_monthly("monthly", column="admitted")] for p in monthly.get_batch_identifiers_list()]))
step("no table", lambda: source.add_table_asset("nobody", table_name="nobody").test_connection())
step("checkpoint", checked)
