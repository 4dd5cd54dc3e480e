package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// spelledSource has a value of each type in a tenth of the rows, which are
// neighbors by age: classes that the value does not bound would have nothing else.
const spelledSource = `
CREATE TYPE answer AS ENUM ('yes', 'no');
CREATE TABLE tests (id integer PRIMARY KEY, age integer, hiv boolean, viral_load double precision,
  taken date, lab uuid, code integer, consent answer, severity smallint, grade integer);
INSERT INTO tests SELECT i, i, tenth = 1, CASE WHEN tenth = 2 THEN 1e21 ELSE i END,
  CASE WHEN tenth = 3 THEN date '2024-01-01' ELSE date '2024-01-01' + i END,
  CASE WHEN tenth = 4 THEN 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' ELSE md5(i::text) END::uuid,
  CASE WHEN tenth = 5 THEN 5 ELSE 1000 + i END, CASE WHEN tenth = 6 THEN 'yes' ELSE 'no' END::answer, 1 + i % 3, 1 + i % 4
FROM (SELECT i, (i - 1) / 30 AS tenth FROM generate_series(1, 300) i) r`

// spelled names every value otherwise than the server writes it.
const spelled = `
tables:
  public.tests:
    updates: immediate
    acknowledge: {joinable: [hiv, viral_load, taken, lab, code, consent]}
    constraints:
      - {k: 5}
      - {alpha: 0.2, of: hiv, values: [TRUE]}
      - {alpha: 0.2, of: viral_load, values: ["1000000000000000000000"]}
      - {alpha: 0.2, of: taken, values: ["2024-1-1"]}
      - {alpha: 0.2, of: lab, values: [A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11]}
      - {alpha: 0.2, of: code, values: ["05"]}
      - {alpha: 0.2, of: consent, values: ["yes"]}
    columns:
      id: identifying
      age: {role: quasi-identifying, hierarchy: numeric, publish: value}
      severity: {role: quasi-identifying, hierarchy: {kind: ordered, values: ["01", "02", "03"]}}
      grade: {role: quasi-identifying, hierarchy: {kind: categorical, taxonomy: {low: ["01", "02"], high: ["03", "04"]}}}
      hiv: sensitive
      viral_load: sensitive
      taken: sensitive
      lab: sensitive
      code: sensitive
      consent: sensitive
`

// TestValuesAreProtectedHoweverTheyAreSpelled bounds values that the server writes
// otherwise than the policy, before and after changes.
func TestValuesAreProtectedHoweverTheyAreSpelled(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(spelledSource, spelled))
	s.kproxy(t, "setup").must(t)
	o := s.kproxy(t, "check").must(t)
	if _, about, _ := strings.Cut(o.stdout, "table public.tests"); strings.Contains(about, "warning:") {
		t.Errorf("check warns:\n%s", o.stdout)
	}
	s.serve(t)
	conn, client := connect(t, s.admin), connect(t, s.url())
	holds := func(n int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d rows are published", n), func() bool { return scalar[int](t, client, "SELECT count(*) FROM tests") == n })
		for _, value := range []string{
			"hiv", "viral_load = 1e21", "taken = '2024-01-01'", "lab = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "code = 5", "consent = 'yes'",
		} {
			const worst = "SELECT max(n) FROM (SELECT count(*) FILTER (WHERE %s) / count(*)::float8 AS n FROM tests GROUP BY age, severity, grade) c"
			if share := scalar[float64](t, client, fmt.Sprintf(worst, value)); share > 0.2 || share == 0 {
				t.Errorf("%s: the highest share in a class is %g", value, share)
			}
		}
		if hidden := scalar[int](t, client, "SELECT count(*) FROM tests WHERE severity IS NULL OR grade IS NULL OR grade NOT IN ('*', 'low', 'high', '1', '2', '3', '4')"); hidden > 0 {
			t.Errorf("%d rows have labels that are not of the policy", hidden)
		}
		if labels := scalar[int](t, client, "SELECT count(*) FROM tests WHERE grade IN ('low', 'high', '1', '2', '3', '4') OR severity NOT IN ('*', '1..3')"); labels == 0 {
			t.Error("neither order nor taxonomy is used")
		}
		if o := s.kproxy(t, "verify"); o.code != 0 {
			t.Errorf("verify ended with %d:\n%s%s", o.code, o.stdout, o.stderr)
		}
	}
	holds(300)
	execute(t, conn, "DELETE FROM tests WHERE id % 7 = 0 AND id < 60")
	execute(t, conn, "UPDATE tests SET hiv = true, code = 5 WHERE id BETWEEN 241 AND 250")
	holds(292)
}

// TestMisspelledValuesAreRefused are values that the type does not have, and, as a
// warning of check alone, values that no row has.
func TestMisspelledValuesAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(spelledSource, spelled))
	s.kproxy(t, "setup").must(t)
	for name, c := range map[string]struct {
		old, replacement, place string
		says                    []string
	}{
		"label":   {`["yes"]`, `["Yes"]`, "consent: sensitive", []string{"names 'Yes', which is no value of type public.answer: its labels are yes, no", "write one of the labels"}},
		"boolean": {"[TRUE]", "[positive]", "hiv: sensitive", []string{"names 'positive', which is no value of type boolean", "such as true or false"}},
		"order":   {`"03"]}}`, `"three"]}}`, "severity: {role", []string{"its hierarchy names 'three', which is no value of type smallint", "such as 5"}},
	} {
		config := s.edit(t, name+".yaml", c.old, c.replacement)
		words := slices.Concat(c.says, []string{at(t, config, c.place), "fix: "})
		s.serveFails(t, config).speaks(t, 1, 4, words...)
		o := run(t, "", nil, program, "check", "--config", config)
		o.stderr += o.stdout
		o.speaks(t, 1, 20, words...)
	}
	config := s.edit(t, "absent.yaml", `["05"]`, `["05", "06"]`, "{k: 5}", "{k: 5, over: [age, severity]}\n      - {k: 301, over: [grade]}",
		"of: hiv, ", "of: hiv, over: [age], ", "of: viral_load, ", "of: viral_load, over: [age], ", "of: taken, ", "of: taken, over: [age], ",
		"of: lab, ", "of: lab, over: [age], ", "of: code, ", "of: code, over: [age], ", "of: consent, ", "of: consent, over: [age], ")
	o := run(t, "", nil, program, "check", "--config", config)
	o.stderr += o.stdout
	o.speaks(t, 0, 24, "warning: "+at(t, config, "code: sensitive"), "of code over age names what no row of the table has now: '06'",
		"2 parts that are protected apart from each other: age, severity | grade", "fewer than 301 rows now, so 301-anonymity over grade cannot be met", "ok: 0 of 1 protected tables")
}
