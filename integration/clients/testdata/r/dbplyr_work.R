# dbplyr over RPostgreSQL: verbs that become SQL.

suppressPackageStartupMessages({
  library(dplyr)
  library(dbplyr)
  library(RPostgreSQL)
})
source("testdata/r/report.R")

db <- dbConnect(PostgreSQL())
patients <- suppressWarnings(tbl(db, "patients"))
wards <- tbl(db, in_schema("public", "wards"))

# collected is what the server makes of a query, as a plain data frame.
collected <- function(query) as.data.frame(collect(query))

step("columns", function() colnames(patients))
step("grouped", function() collected(patients %>%
  group_by(diagnosis) %>%
  summarise(n = n(), cost = mean(cost, na.rm = TRUE), dearest = max(cost, na.rm = TRUE)) %>%
  arrange(diagnosis)))
step("filtered", function() collected(patients %>%
  filter(diagnosis %in% c("I10", "C50"), cost > 100, !is.na(mood)) %>%
  select(visit, title, mood, cost) %>%
  arrange(visit) %>%
  head(20)))
step("computed", function() collected(patients %>%
  filter(visit < 12) %>%
  mutate(dear = if_else(cost > 1000, "yes", "no"), short = substr(title, 1, 3), rounded = round(ratio, 1)) %>%
  select(visit, dear, short, rounded) %>%
  arrange(visit)))
step("dates", function() collected(patients %>%
  filter(birth_date >= as.Date("1970-01-01")) %>%
  mutate(born = sql("extract(year FROM birth_date)::integer")) %>%
  count(born) %>%
  arrange(born)))
step("text", function() collected(patients %>%
  filter(grepl("^Title 1", title), !is.na(remarks)) %>%
  mutate(upper = toupper(title), length = nchar(remarks)) %>%
  select(visit, upper, length) %>%
  arrange(visit)))
step("joined", function() collected(patients %>%
  filter(visit <= 40) %>%
  inner_join(wards, by = c("visit" = "beds")) %>%
  select(visit, ward, title) %>%
  arrange(visit)))
step("not in", function() collected(wards %>%
  anti_join(filter(patients, visit < 25), by = c("beds" = "visit")) %>%
  select(ward, beds) %>%
  arrange(beds)))
step("windows", function() collected(patients %>%
  filter(visit < 40) %>%
  group_by(diagnosis) %>%
  window_order(visit) %>%
  mutate(place = min_rank(visit), before = lag(visit), total = cumsum(visit)) %>%
  ungroup() %>%
  select(visit, diagnosis, place, before, total) %>%
  arrange(visit)))
step("union", function() collected(filter(patients, visit < 4) %>%
  select(visit) %>%
  union_all(transmute(wards, visit = beds)) %>%
  arrange(visit)))
step("distinct", function() collected(patients %>% distinct(sex, diagnosis) %>% arrange(sex, diagnosis)))
step("pivoted", function() collected(patients %>%
  group_by(diagnosis) %>%
  summarise(women = sum(if_else(sex == "F", 1L, 0L), na.rm = TRUE), men = sum(if_else(sex == "M", 1L, 0L), na.rm = TRUE)) %>%
  arrange(diagnosis)))
step("rendered", function() as.character(sql_render(patients %>% count(sex) %>% arrange(sex))))
step("explained", function() nchar(paste(capture.output(explain(patients %>% count(sex))), collapse = "")) > 50)
step("by statement", function() collected(tbl(db, sql("SELECT sex, count(*) AS n FROM patients GROUP BY sex")) %>%
  arrange(sex)))
step("pulled", function() patients %>% filter(visit == 8) %>% pull(title))
step("many rows", function() digest(collected(tbl(db, sql(LARGE)))))
step("compute", function() collected(compute(patients %>% count(sex), name = "counted")))
step("copy", function() copy_to(db, data.frame(a = 1:2), "copied"))
step("after all", function() collected(patients %>% tally()))
step("end", function() dbDisconnect(db))
