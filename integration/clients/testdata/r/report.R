# Steps of a client, each printed as one line: its name, what came of it, and the warnings.

PATIENTS <- "SELECT * FROM patients WHERE visit <= 30 ORDER BY visit"
# 55,000 rows of it are more than any buffer on the way holds.
LARGE <- "SELECT n, p.visit, p.cost, p.remarks, p.raw FROM patients p, generate_series(1, 110) n ORDER BY n, visit"

# told is R code that makes the value again: all of it, on one line.
told <- function(value) {
  text <- deparse(value, width.cutoff = 500L, control = c("keepNA", "niceNames", "showAttributes", "digits17"))
  paste(text, collapse = " ")
}

# step does a piece of work and prints what it returns or raises.
step <- function(name, work) {
  warnings <- character()
  text <- withCallingHandlers(
    tryCatch(told(work()), error = function(e) paste("ERROR", conditionMessage(e))),
    warning = function(w) {
      warnings <<- c(warnings, conditionMessage(w))
      invokeRestart("muffleWarning")
    })
  text <- paste(c(text, unique(warnings)), collapse = " WARNING ")
  cat(name, ": ", gsub("\n", "\\n", text, fixed = TRUE), "\n", sep = "")
}

# digest is the size of a data frame and a sum of all that is in it.
digest <- function(frame) {
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(serialize(frame, NULL), file)
  list(dim(frame), unname(tools::md5sum(file)))
}
