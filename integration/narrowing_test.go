package integration

import (
	"strings"
	"testing"
)

// TestCheckTellsOfNarrowingColumns has districts of postcodes published beside generalized
// postcodes, in a table with a record of each person and in one with several. In the third table
// the district follows from nothing.
func TestCheckTellsOfNarrowingColumns(t *testing.T) {
	t.Parallel()
	const table = `
  public.NAME:
    SUBJECT
    updates: immediate
    constraints: [{k: 5}]
    columns:
      person: identifying
      zip: {role: quasi-identifying, hierarchy: prefix}
      age: {role: quasi-identifying, hierarchy: numeric}
      district: insensitive
      illness: sensitive
`
	named := func(name, subject string) string {
		return strings.NewReplacer("NAME", name, "SUBJECT", subject).Replace(table)
	}
	s := newSite(t, sqlSite(`CREATE FUNCTION any_of(n int, VARIADIC of anyarray) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT (hashtextextended(of::text, 1) & 1048575)::int % n';
		CREATE TABLE towns AS SELECT i AS id, i AS person, 10000 + any_of(90000, 'zip', i::text) AS zip, 18 + any_of(70, 'age', i::text) AS age, any_of(12, 'ill', i::text) AS illness FROM generate_series(1, 4000) i;
		ALTER TABLE towns ADD PRIMARY KEY (id), ADD district int; UPDATE towns SET district = zip / 700;
		CREATE TABLE visits AS SELECT i * 4 + j AS id, i AS person, zip, age, illness, district FROM towns, LATERAL (SELECT id) x(i), generate_series(0, 3) j;
		CREATE TABLE strays AS SELECT id, person, zip, age, illness, any_of(128, 'stray', id::text) AS district FROM towns;
		ALTER TABLE visits ADD PRIMARY KEY (id); ALTER TABLE strays ADD PRIMARY KEY (id); DROP FUNCTION any_of`,
		"tables:"+named("towns", "method: rounded-partition")+named("visits", "subject: person")+named("strays", "method: rounded-partition")))
	s.kproxy(t, "setup").must(t)
	out := s.kproxy(t, "check").must(t).stdout
	const says = "column district: is published and follows from zip, and shows more of it than is published"
	if strings.Count(out, says) != 2 || !strings.Contains(out, "acknowledge: {joinable: [district]}") {
		t.Errorf("check says\n%s", out)
	}
	_, strays, _ := strings.Cut(out, "table public.strays")
	strays, _, _ = strings.Cut(strays, "table public.")
	if strings.Contains(strays, says) || strings.Contains(out, "illness: is published") {
		t.Errorf("check says\n%s", out)
	}
	const acknowledged = "    acknowledge: {joinable: [district]}\n"
	s.replace(t, "    method: rounded-partition\n", "    method: rounded-partition\n"+acknowledged, "    subject: person\n", "    subject: person\n"+acknowledged)
	if out := s.kproxy(t, "check").must(t).stdout; strings.Contains(out, says) {
		t.Errorf("what is acknowledged is reported:\n%s", out)
	}
}
