package main

// question is one of a dashboard.
type question struct{ name, sql string }

// questions are about groups of patients. The first eight are about what classes show, the others about a
// number that is published as it is.
var questions = []question{
	{"count", "SELECT count(*) FROM patients"},
	{"count by sex, marital status", "SELECT sex, marital_status, count(*) FROM patients GROUP BY 1, 2 ORDER BY 1, 2"},
	{"ten most frequent occupations", "SELECT occupation, count(*) AS n FROM patients GROUP BY 1 ORDER BY n DESC, 1 LIMIT 10"},
	{"count by decade of birth, sex", "SELECT extract(year FROM birth_date)::int / 10 AS decade, sex, count(*) FROM patients GROUP BY 1, 2 ORDER BY 1, 2"},
	{"women by digit of postcode", "SELECT left(postcode, 1), count(*) FILTER (WHERE sex = 'F') AS women, count(*) AS all FROM patients GROUP BY 1 ORDER BY 1"},
	{"shares by marital status", "SELECT marital_status, count(*) * 100.0 / sum(count(*)) OVER () AS share FROM patients GROUP BY 1 ORDER BY 1"},
	{"count, two filters", "SELECT count(*) FROM patients WHERE sex = 'F' AND birth_date BETWEEN '1950-01-01' AND '1969-12-31'"},
	{"least, greatest, distinct", "SELECT min(birth_date), max(birth_date), count(DISTINCT occupation) FROM patients WHERE sex = 'M'"},
	{"cost by sex", "SELECT sex, sum(cost), avg(cost) FROM patients GROUP BY 1 ORDER BY 1"},
	{"cost by occupation, filter", "SELECT occupation, count(*), avg(cost), max(cost) FROM patients WHERE birth_date < '1960-01-01' GROUP BY 1 ORDER BY 1"},
	{"cost by year of birth, filter", "SELECT date_trunc('year', birth_date), sum(cost) FROM patients WHERE sex = 'F' GROUP BY 1 ORDER BY 1"},
	{"range of cost by marital status", "SELECT marital_status, min(cost), max(cost), count(cost) FROM patients GROUP BY 1 ORDER BY 1"},
}
