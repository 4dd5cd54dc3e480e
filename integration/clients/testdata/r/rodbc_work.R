# RODBC over psqlODBC: statements, whole tables, the catalogs.

library(RODBC)
source("testdata/r/report.R")

way <- sprintf("Driver={PostgreSQL Unicode};Server=localhost;Port=%s;Database=%s;Uid=%s;Pwd={%s};SSLmode=verify-full",
  Sys.getenv("PGPORT"), Sys.getenv("PGDATABASE"), Sys.getenv("PGUSER"), Sys.getenv("PGPASSWORD"))
db <- odbcDriverConnect(way)
stopifnot(inherits(db, "RODBC"))

# What R does not read as numbers or times it takes for text.
VALUES <- "SELECT visit, cost, alive, small, large, ratio, single, code, title, details, tags, admitted, left_at, day, clock, birth_date, birth_date_range, weight_range, mood, remarks
  FROM patients WHERE visit <= 30 AND visit <> 20 ORDER BY visit"

sorted <- function(frame) frame[do.call(order, unname(as.list(frame))), , drop = FALSE]

step("all types", function() sqlQuery(db, VALUES, stringsAsFactors = FALSE))
step("classes", function() sapply(sqlQuery(db, VALUES, stringsAsFactors = FALSE), function(column) class(column)[1]))
step("as is", function() sqlQuery(db, VALUES, as.is = TRUE))
step("no rows", function() sqlQuery(db, "SELECT visit, title FROM patients WHERE visit < 0"))
step("many rows", function() digest(sqlQuery(db, LARGE, stringsAsFactors = FALSE)))
step("by part", function() list(nrow(sqlQuery(db, LARGE, max = 1000)), nrow(sqlGetResults(db, max = 2000))))
step("whole table", function() sorted(sqlFetch(db, "public.wards", stringsAsFactors = FALSE)))
step("tables", function() sorted(sqlTables(db, schema = "public")[c("TABLE_SCHEM", "TABLE_NAME")]))
step("columns", function() sqlColumns(db, "patients")[c("COLUMN_NAME", "TYPE_NAME")])
step("keys", function() nrow(sqlPrimaryKeys(db, "patients")))
step("types", function() sqlTypeInfo(db)$TYPE_NAME)
step("unknown column", function() sqlQuery(db, "SELECT nothing FROM patients"))
step("after an error", function() sqlQuery(db, "SELECT count(*) FROM patients"))
step("transaction", function() {
  odbcSetAutoCommit(db, FALSE)
  seen <- list(sqlQuery(db, "SELECT count(*) FROM patients"), sqlQuery(db, "SELECT 1 / 0"), odbcEndTran(db, FALSE), sqlQuery(db, "SELECT 1 AS one"), odbcEndTran(db))
  odbcSetAutoCommit(db, TRUE)
  seen
})
step("write", function() sqlQuery(db, "INSERT INTO wards VALUES ('x', 1)"))
step("write table", function() sqlSave(db, data.frame(a = 1:2), "mine", rownames = FALSE))
step("after all", function() sqlQuery(db, "SELECT count(*) FROM patients"))
odbcClose(db)
