package integration

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const refusalSource = `CREATE TABLE guests (id integer PRIMARY KEY, person integer, age integer, town text, illness text, mood text);
	INSERT INTO guests SELECT i, i, i, 'Ulm', 'flu', 'fair' FROM generate_series(1, 20) i`

// mistaken are the sections of a policy in which nearly everything is wrong; what
// the file alone shows is wrong in guests, what needs the database in strangers.
const mistaken = `
tables:
  public.guests:
    method: rounded-partitions
    subject: age
    suppression: 2
    updates: immediate
    constraints:
      - {k: 5, over: [town]}
      - {t: 0.2, of: illness, distance: hierarchical}
      - {t: 0.2, of: mood, distance: orderly}
      - {recursive_l: 3, of: illness}
    columns:
      age: {role: quasi-identifying, hierarchy: {kind: numeric, steps: [5, 12]}}
      town: {role: quasi-identifying, hierarchy: {kind: categorical, file: towns.csv}}
      illness: sensitive
      mood: sensitive
`

// brokenTaxonomy has a value under two parents.
const brokenTaxonomy = "Ulm;south;*\nKiel;north;*\nUlm;north;*\n"

// at is the place in a file where a text stands first.
func at(t *testing.T, path, text string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(content), text)
	if !found {
		t.Fatalf("%s has no %q", path, text)
	}
	return fmt.Sprintf("%s:%d:", path, 1+strings.Count(before, "\n"))
}

// TestRefusedPolicies has every mistake named at once, with its place and with
// what to write instead.
func TestRefusedPolicies(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(refusalSource, mistaken))
	taxonomy := s.write(t, "towns.csv", brokenTaxonomy)
	place := func(text string) string { return at(t, s.config, text) }
	for _, command := range []string{"check", "serve"} {
		run(t, "", nil, program, command, "--config", s.config).speaks(t, 1, 14,
			place("method:")+` method "rounded-partitions" is not known; did you mean rounded-partition?`,
			place("subject:"), "published as quasi-identifying", "give the column the role identifying",
			place("suppression:")+" suppression is out of range; write a number between 0 and 1",
			place("hierarchical")+" the hierarchical distance goes by a taxonomy", "use another distance",
			place("orderly"), "did you mean ordered?",
			place("recursive_l")+" a recursive_l constraint has no c; write {recursive_l: 3, c: 2,",
			place("age: {role"), "no k constraint is over it", "add a k constraint without over",
			"whole multiple",
			taxonomy+":3:", `"Ulm"`,
		)
	}
}

// TestRefusedByTheDatabase are policies that are well written and do not fit
// the table, or the method.
func TestRefusedByTheDatabase(t *testing.T) {
	t.Parallel()
	const table = `
tables:
  public.guests:
    method: METHOD
    updates: immediate
    constraints: [CONSTRAINTS]
    columns:
      id: identifying
      age: {role: quasi-identifying, hierarchy: HIERARCHY}
      town: {role: quasi-identifying, hierarchy: categorical}
      illness: sensitive
      mood: sensitive
`
	s := newSite(t, sqlSite(refusalSource, strings.NewReplacer("METHOD", "rounded-partition", "CONSTRAINTS", "{k: 5}", "HIERARCHY", "numeric").Replace(table)))
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check").must(t)
	for name, c := range map[string]struct {
		method, constraints, hierarchy string
		place                          string
		says                           []string
	}{
		"the method": {
			"cbad", "{k: 5}, {t: 0.2, of: illness}", "numeric", "public.guests:",
			[]string{"method cbad", "not 0.2-closeness of illness", "choose a method that does: rounded-partition, lookahead-partition, mondrian-strict"},
		},
		"one of two": {
			"hilbert", "{k: 5}, {l: 2, of: illness}, {l: 2, of: mood}", "numeric", "public.guests:",
			[]string{"one constraint over sensitive values at a time", "choose a method that does: rounded-partition"},
		},
		"single value": {
			"alpha-k-single", "{k: 5}, {alpha: 0.5, of: illness, values: [flu, gout]}", "numeric", "public.guests:",
			[]string{"exactly one sensitive value", "alpha-k-multi"},
		},
		"no order": {
			"rounded-partition", "{k: 5}, {t: 0.2, of: mood, distance: ordered}", "numeric", "mood: sensitive",
			[]string{"needs an order of its values", "hierarchy of kind ordered with the values from the least to the greatest"},
		},
		"not the type": {"rounded-partition", "{k: 5}", "date", "age: {role", []string{"a date hierarchy cannot stand over a column of integer values"}},
	} {
		t.Run(name, func(t *testing.T) {
			config := s.edit(t, strings.ReplaceAll(name, " ", "_")+".yaml", "method: rounded-partition", "method: "+c.method,
				"[{k: 5}]", "["+c.constraints+"]", "hierarchy: numeric", "hierarchy: "+c.hierarchy)
			words := slices.Concat(c.says, []string{at(t, config, c.place), "fix: "})
			s.serveFails(t, config).speaks(t, 1, 8, words...)
			o := run(t, "", nil, program, "check", "--config", config)
			o.stderr += o.stdout
			o.speaks(t, 1, 20, words...)
		})
	}
}
