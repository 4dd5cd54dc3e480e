# RPostgreSQL over DBI: statements, parameters, fetches by part, transactions, the catalogs.

suppressPackageStartupMessages(library(RPostgreSQL))
source("testdata/r/report.R")

# The way is in libpq's environment, and so are the certificate and that it is verified.
connect <- function() dbConnect(PostgreSQL())

# one is for what fails: dbGetQuery makes a warning of the server's message, and NULL of the result.
one <- function(sql) {
  result <- dbSendQuery(db, sql)
  on.exit(dbClearResult(result))
  fetch(result, n = -1)
}

described <- function() {
  result <- dbSendQuery(db, "SELECT * FROM patients WHERE visit < 0")
  on.exit(dbClearResult(result))
  dbColumnInfo(result)
}

parts <- function(size) {
  result <- dbSendQuery(db, LARGE)
  on.exit(dbClearResult(result))
  seen <- list()
  while (!dbHasCompleted(result)) seen[[length(seen) + 1]] <- fetch(result, n = size)
  list(length(seen), dbGetRowCount(result), digest(do.call(rbind, seen)))
}

transaction <- function() {
  seen <- list(dbBegin(db), dbGetQuery(db, "SELECT count(*) FROM patients"))
  seen <- c(seen, tryCatch(one("SELECT 1 / 0"), error = conditionMessage))
  seen <- c(seen, tryCatch(one("SELECT 1"), error = conditionMessage))
  seen <- c(seen, dbRollback(db), dbBegin(db), dbGetQuery(db, "SELECT count(*) FROM wards"), dbCommit(db))
  seen
}

second <- function() {
  other <- connect()
  on.exit(dbDisconnect(other))
  list(dbGetQuery(other, "SELECT current_user::text"), dbGetQuery(db, "SELECT 1 AS one"), dbGetQuery(other, PATIENTS)$visit)
}

db <- connect()
step("columns", described)
step("all types", function() dbGetQuery(db, PATIENTS))
step("classes", function() sapply(suppressWarnings(dbGetQuery(db, PATIENTS)), function(column) class(column)[1]))
step("parameters", function() dbGetQuery(db, "SELECT count(*), avg(cost) FROM patients WHERE diagnosis = $1 AND cost > $2", c("I10", 100)))
step("interpolated", function() dbGetQuery(db, sqlInterpolate(db, "SELECT ?a AS a, ?b AS b", a = "ß'\\ 日本", b = 2.5)))
step("no rows", function() dbGetQuery(db, "SELECT visit, title FROM patients WHERE visit < 0"))
step("no statement", function() one("-- nothing"))
step("many rows", function() digest(dbGetQuery(db, LARGE)))
step("by part", function() parts(10000))
step("stopped early", function() list(nrow(fetch(result <- dbSendQuery(db, LARGE), n = 7)), dbClearResult(result)))
step("whole table", function() { wards <- dbReadTable(db, "wards"); wards[order(wards$beds), ] })
# It lists no views, and so not patients.
step("tables", function() intersect(dbListTables(db), "wards"))
step("there", function() c(dbExistsTable(db, "patients"), dbExistsTable(db, "wards"), dbExistsTable(db, "nothing")))
step("fields", function() dbListFields(db, "patients"))
step("fields of a table", function() dbListFields(db, c("public", "wards")))
step("fields by SQL", function() dbGetQuery(db, "SELECT column_name::text, data_type::text FROM information_schema.columns WHERE table_name = 'patients' ORDER BY ordinal_position"))
step("quoted", function() dbGetQuery(db, paste("SELECT", dbQuoteIdentifier(db, "Größe"), "FROM wards ORDER BY beds")))
step("unknown column", function() one("SELECT nothing FROM patients"))
step("syntax error", function() one("SELEC 1"))
step("exception", function() { try(one("SELECT 1 / 0"), silent = TRUE); dbGetException(db) })
step("transaction", transaction)
step("second", second)
step("write", function() one("INSERT INTO wards VALUES ('x', 1)"))
step("write table", function() dbWriteTable(db, "mine", data.frame(a = 1:2)))
step("after all", function() dbGetQuery(db, "SELECT count(*) FROM patients"))
step("end", function() dbDisconnect(db))
