package integration

import (
	"strings"
	"testing"
)

// coarseSchema has records that cannot be divided well. In rare, two of 4,000 have a town of
// their own, so that datafly generalizes all ages before it gives the towns up; in alike,
// 4,000 of 12,000 differ in nothing; in lone every record has a tag of its own; in fine
// nothing is wrong.
const coarseSchema = `
CREATE TABLE rare (id int PRIMARY KEY, age int, town text, kind int);
INSERT INTO rare SELECT i, i % 60, 'town ' || CASE WHEN i <= 2 THEN 9 ELSE i % 4 END, i % 5 FROM generate_series(1, 4000) i;
CREATE TABLE alike (id int PRIMARY KEY, age int, town text, kind int);
INSERT INTO alike SELECT i, CASE WHEN i % 3 = 0 THEN 99 ELSE i % 60 END, CASE WHEN i % 3 = 0 THEN 'none' ELSE 'town ' || i % 4 END, i % 5 FROM generate_series(1, 12000) i;
CREATE TABLE lone (id int PRIMARY KEY, age int, tag text, kind int);
INSERT INTO lone SELECT i, i % 70, 'tag ' || i, i % 5 FROM generate_series(1, 3000) i;
CREATE TABLE fine (id int PRIMARY KEY, age int, kind int);
INSERT INTO fine SELECT i, i % 70, i % 5 FROM generate_series(1, 700) i;`

// coarseTable is the policy of one of them.
func coarseTable(name, method, age, column string) string {
	return "  public." + name + `:
    method: ` + method + `
    updates: immediate
    constraints: [{k: 5}]
    columns:
      age: {role: quasi-identifying, hierarchy: ` + age + `}
      ` + column + `
      kind: sensitive
`
}

// TestCheckTellsOfCoarseClasses has check tell of large classes and of columns that say
// nothing, before anything is published, with the column that is the cause.
func TestCheckTellsOfCoarseClasses(t *testing.T) {
	t.Parallel()
	const town, tag = "town: {role: quasi-identifying, hierarchy: categorical}", "tag: {role: quasi-identifying, hierarchy: categorical}"
	s := newSite(t, sqlSite(coarseSchema, "tables:\n"+coarseTable("rare", "datafly", "suppression", town)+coarseTable("alike", "datafly", "numeric", town)+
		coarseTable("lone", "rounded-partition", "numeric", tag)+coarseTable("fine", "rounded-partition", "numeric", "id: identifying")))
	s.kproxy(t, "setup").must(t)
	said := make(map[string]string) // of each table
	for _, section := range strings.Split(s.kproxy(t, "check").must(t).stdout, "\ntable public.")[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		said[name] = rest
	}
	for table, words := range map[string][]string{
		"rare": {
			"column town: has classes of more than 1000 records, 1 of them, the largest of about 4000, as tried on its 4000 records; column town is the cause: without it the largest has about 67",
			"column age: is published as *, or without a value, in 100 % of the rows, as tried on its 4000 records; column town is the cause: without it, it is 0 %",
		},
		"alike": {"has classes of more than 1000 records, 1 of them, the largest of about ", "as tried on 10000 of its 12000 records; no single quasi-identifying column is the cause"},
		"lone":  {"column tag: is published as *, or without a value, in 100 % of the rows, as tried on its 3000 records; column tag itself is the cause"},
	} {
		for _, w := range words {
			if !strings.Contains(said[table], w) {
				t.Errorf("of %s check does not say %q:\n%s", table, w, said[table])
			}
		}
	}
	for table, codes := range map[string][]string{"alike": {"silent-column"}, "lone": {"large-class"}, "fine": {"silent-column", "large-class"}} {
		for _, code := range codes {
			if strings.Contains(said[table], code) {
				t.Errorf("of %s check says %s:\n%s", table, code, said[table])
			}
		}
	}
}
