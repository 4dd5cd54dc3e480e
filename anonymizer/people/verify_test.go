package people_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// verifier judges a release by its definition, without the code that makes it.
type verifier struct {
	data    *people.Data
	release *people.Release
	k       int
	all     bool
	of      [][]int32 // table, row: the person, or Nobody
	class   []int32   // of each person
	cell    [][]int   // table, row: number of its cell, -1 for none
}

func verify(d *people.Data, r *people.Release, k int, all bool, alpha float64) error {
	v := &verifier{data: d, release: r, k: k, all: all}
	v.attribute()
	checks := []func() error{v.everyPersonOnce, v.everyRowOnce, v.enoughPersons, v.parentsLinked, v.unknownKept, v.aliasesWithinClasses}
	if all {
		checks = append(checks, v.treesAlike)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	if alpha < 1 {
		return v.frequencies(alpha)
	}
	return nil
}

func (v *verifier) attribute() {
	for i, t := range v.data.Tables {
		of := slices.Clone(t.Of)
		for row, parent := range of {
			if parent != people.Nobody && t.Parent != people.Root {
				of[row] = v.of[t.Parent][parent]
			}
		}
		v.of = append(v.of, of)
		cells := make([]int, t.Rows.Len())
		for row := range cells {
			cells[row] = -1
		}
		for number, cell := range v.release.Tables[i].Cells {
			for _, row := range cell.Rows {
				cells[row] = number
			}
		}
		v.cell = append(v.cell, cells)
	}
}

func once(n int, lists ...[]int32) error {
	times := make([]int, n)
	for _, rows := range lists {
		for _, row := range rows {
			times[row]++
		}
	}
	for row, n := range times {
		if n != 1 {
			return fmt.Errorf("row %d stands in %d places", row, n)
		}
	}
	return nil
}

func (v *verifier) everyPersonOnce() error {
	lists := [][]int32{v.release.Withheld}
	v.class = make([]int32, v.data.Root.Len())
	for i, class := range v.release.Classes {
		lists = append(lists, class)
		for _, p := range class {
			v.class[p] = int32(i)
		}
		if len(class) < v.k {
			return fmt.Errorf("class %d has %d persons", i, len(class))
		}
	}
	return once(v.data.Root.Len(), lists...)
}

func (v *verifier) everyRowOnce() error {
	for i, t := range v.release.Tables {
		lists := [][]int32{t.Withheld}
		for _, cell := range t.Cells {
			lists = append(lists, cell.Rows)
		}
		for _, class := range t.Pooled {
			lists = append(lists, class)
		}
		if err := once(v.data.Tables[i].Rows.Len(), lists...); err != nil {
			return fmt.Errorf("table %d: %w", i, err)
		}
	}
	return nil
}

func (v *verifier) persons(table int, rows []int32) map[int32]bool {
	persons := map[int32]bool{}
	for _, row := range rows {
		persons[v.of[table][row]] = true
	}
	return persons
}

func (v *verifier) enoughPersons() error {
	for i, t := range v.release.Tables {
		for n, cell := range t.Cells {
			persons := v.persons(i, cell.Rows)
			if persons[people.Nobody] || len(persons) < v.k && !v.data.Tables[i].Unknown {
				return fmt.Errorf("table %d: cell %d has %d persons", i, n, len(persons))
			}
			for p := range persons {
				if v.class[p] != cell.Class {
					return fmt.Errorf("table %d: cell %d holds rows of several classes", i, n)
				}
			}
		}
		for n, class := range t.Pooled {
			if persons := v.persons(i, class); persons[people.Nobody] || len(persons) < v.k {
				return fmt.Errorf("table %d: pooled class %d has %d persons", i, n, len(persons))
			}
		}
	}
	return nil
}

// parentsLinked: the rows of a cell lie in one window, and hang on rows of one cell.
func (v *verifier) parentsLinked() error {
	for i, t := range v.data.Tables {
		for n, cell := range v.release.Tables[i].Cells {
			for _, row := range cell.Rows {
				switch {
				case t.Parent == people.Root && t.Window != nil && !v.all && t.Window[row] != cell.Window:
					return fmt.Errorf("table %d: cell %d holds rows of several windows", i, n)
				case t.Parent == people.Root:
				case v.cell[t.Parent][t.Of[row]] < 0 || v.cell[t.Parent][t.Of[row]] != v.cell[t.Parent][t.Of[cell.Rows[0]]]:
					return fmt.Errorf("table %d: cell %d hangs on several cells, or on none", i, n)
				}
			}
		}
	}
	return nil
}

// unknownKept: rows of which no outsider knows any keep their keys where their parents do.
func (v *verifier) unknownKept() error {
	for i, t := range v.data.Tables {
		for row, of := range t.Of {
			kept := of != people.Nobody && (t.Parent == people.Root || v.cell[t.Parent][of] >= 0)
			if t.Unknown && (v.cell[i][row] >= 0) != kept {
				return fmt.Errorf("table %d: row %d is in cell %d, and keeps its keys: %t", i, row, v.cell[i][row], kept)
			}
		}
	}
	return nil
}

func (v *verifier) aliasesWithinClasses() error {
	for w, of := range v.release.Aliases {
		taken := map[int32]bool{}
		for p, alias := range of {
			if taken[alias] {
				return fmt.Errorf("window %d: two persons are %d", w, alias)
			}
			taken[alias] = true
			if len(v.release.Classes) > 0 && v.class[p] != v.class[alias] {
				return fmt.Errorf("window %d: person %d has the pseudonym of another class", w, p)
			}
		}
	}
	return nil
}

// treesAlike: what is published of each person of a class is the same, as a tree of
// cells.
func (v *verifier) treesAlike() error {
	for n, class := range v.release.Classes {
		first := v.tree(people.Root, class[0])
		for _, p := range class[1:] {
			if tree := v.tree(people.Root, p); tree != first {
				return fmt.Errorf("class %d: one tree is %s, another %s", n, first, tree)
			}
		}
	}
	return nil
}

func (v *verifier) tree(table int, parent int32) string {
	var below []string
	for i, t := range v.data.Tables {
		if t.Parent != table || t.Unknown {
			continue
		}
		for row, of := range t.Of {
			if of == parent && v.cell[i][row] >= 0 {
				below = append(below, fmt.Sprintf("%d:%d%s", i, v.cell[i][row], v.tree(i, int32(row))))
			}
		}
	}
	slices.Sort(below)
	return "(" + strings.Join(below, " ") + ")"
}

// frequencies: no value of a table is held by more than alpha of the persons of a
// class, or of a cell in its window.
func (v *verifier) frequencies(alpha float64) error {
	for n, class := range v.release.Classes {
		persons := map[int32]bool{}
		for _, p := range class {
			persons[p] = true
		}
		if err := v.frequency(persons, -1, alpha); err != nil {
			return fmt.Errorf("class %d: %w", n, err)
		}
	}
	for i, t := range v.release.Tables {
		if v.data.Tables[i].Unknown {
			continue
		}
		for n, cell := range t.Cells {
			window := cell.Window
			if v.all {
				window = -1
			}
			if err := v.frequency(v.persons(i, cell.Rows), window, alpha); err != nil {
				return fmt.Errorf("table %d: cell %d: %w", i, n, err)
			}
		}
	}
	return nil
}

func (v *verifier) frequency(persons map[int32]bool, window int32, alpha float64) error {
	for i, t := range v.data.Tables {
		for a := range t.Rows.SensitiveLen() {
			holders := map[uint32]map[int32]bool{}
			for row, code := range t.Rows.Sensitive(a) {
				p := v.of[i][row]
				if persons[p] && (window < 0 || v.windowOf(i, int32(row)) == window) {
					if holders[code] == nil {
						holders[code] = map[int32]bool{}
					}
					holders[code][p] = true
				}
			}
			for code, by := range holders {
				if float64(len(by)) > alpha*float64(len(persons)) {
					return fmt.Errorf("value %d of table %d is held by %d of %d persons", code, i, len(by), len(persons))
				}
			}
		}
	}
	return nil
}

func (v *verifier) windowOf(table int, row int32) int32 {
	t := v.data.Tables[table]
	if t.Parent != people.Root {
		return v.windowOf(t.Parent, t.Of[row])
	}
	if t.Window == nil {
		return 0
	}
	return t.Window[row]
}

func TestReleasesHold(t *testing.T) {
	t.Parallel()
	for name, knows := range map[string]people.Knows{"all": {All: true}, "one row": {}, "one row, crowd of 3": {Crowd: 3}} {
		for _, alpha := range []float64{1, 0.6} {
			for seed := range uint64(4) {
				t.Run(fmt.Sprintf("%s, alpha %g, seed %d", name, alpha, seed), func(t *testing.T) {
					t.Parallel()
					d := hospital{persons: 160, visits: 3, windows: int(seed) % 3}.data(seed)
					orphan(d)
					d.Tables[1].Unknown, d.Tables[2].Unknown = seed > 2, seed > 1
					constraints := privacy.ConstraintSet{privacy.KAnonymity{K: 3}}
					if alpha < 1 {
						constraints = append(constraints, privacy.AlphaBound{Attribute: d.SensitiveOf(1), Alpha: alpha}, privacy.AlphaBound{Attribute: d.SensitiveOf(2), Alpha: alpha})
					}
					r := release(t, d, constraints, knows)
					if len(r.Classes) < 2 && alpha == 1 {
						t.Fatalf("%d classes", len(r.Classes))
					}
					if err := verify(d, r, 3, knows.All, alpha); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// orphan takes some visits from their persons, and prescriptions from their visits.
func orphan(d *people.Data) {
	d.Tables[0].Of[3], d.Tables[0].Of[50], d.Tables[2].Of[9] = people.Nobody, people.Nobody, people.Nobody
}

func release(t testing.TB, d *people.Data, c privacy.ConstraintSet, knows people.Knows) *people.Release {
	t.Helper()
	r, err := people.Anonymize(t.Context(), d, c, knows, people.Options{Options: anonymizer.Options{Seed: 1}, Method: method})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
