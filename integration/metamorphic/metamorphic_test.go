package metamorphic

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// listedMajor is the version of PostgreSQL of which testdata/open.txt is true.
const listedMajor = 15

// TestNothingHiddenShows changes what is hidden in one of two worlds that are the same. Until
// then, and after, readers of both are answered by the same bytes.
func TestNothingHiddenShows(t *testing.T) {
	began := time.Now()
	since := func() time.Duration { return time.Since(began).Round(100 * time.Millisecond) }
	if found, err := pgserver.Find(t.Context(), ""); err == nil && found.Version.Major != listedMajor {
		t.Skipf("what is known to differ is listed of PostgreSQL %d, and this is %s", listedMajor, found.Version)
	}
	changes, err := mutations()
	if err != nil {
		t.Fatal(err)
	}
	left, right := pair(t)
	every, err := left.facts.observables()
	if err != nil {
		t.Fatal(err)
	}
	known := openFindings(t)
	list := every
	if *sample > 0 {
		list = draw(every, *sample, *seed, known.always)
	}
	t.Logf("%d of %d observables (%s), %d mutations; both worlds stand after %v", len(list), len(every), counted(every), len(changes), since())
	c := compareThrough(left, right, list, false)
	differ := make(map[string]bool)
	for i := range len(changes) + 1 {
		after := "no mutation"
		if i > 0 {
			after = changes[i-1].name
			if err := changes[i-1].apply(t.Context(), right); err != nil {
				t.Fatal(err)
			}
			if !due(changes, i) {
				continue
			}
			if err := right.catchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		found := fresh(c.differences(t), differ, after)
		if i > 0 && *each != "mutation" {
			attribute(t, found, changes, known)
		}
		known.judge(t, found)
		t.Logf("after %d mutations %d observables differ, %v", i, len(differ), since())
	}
	known.finish(t)
	t.Logf("%d observables, %d mutations, %d answers compared, %d differ (%d in passing), %v", len(list), len(changes), c.asked, len(differ), c.passing, since())
	t.Run("what shows is seen", func(t *testing.T) { detects(t, left, right) })
}

// counted tells how many observables there are of each family.
func counted(list []observable) string {
	families := make(map[string]int)
	for _, o := range list {
		families[o.family]++
	}
	var parts []string
	for _, family := range slices.Sorted(maps.Keys(families)) {
		parts = append(parts, fmt.Sprintf("%s %d", family, families[family]))
	}
	return strings.Join(parts, ", ")
}

// due says whether observables are tried after so many mutations.
func due(changes []mutation, done int) bool {
	return done == len(changes) || *each == "mutation" || *each == "file" && changes[done].file != changes[done-1].file
}

// fresh are the differences that have not been there before.
func fresh(found []difference, before map[string]bool, after string) []difference {
	var fresh []difference
	for _, d := range found {
		if name := d.observable.String(); !before[name] {
			before[name] = true
			d.mutation = after
			fresh = append(fresh, d)
		}
	}
	return fresh
}

// attribute finds after which mutation observables that are not known to differ begin to,
// in two more worlds. Of many it looks at some.
func attribute(t *testing.T, found []difference, changes []mutation, known *findings) {
	t.Helper()
	const most = 40
	var unknown []observable
	for _, d := range found {
		if !known.matches(d) && len(unknown) < most {
			unknown = append(unknown, d.observable)
		}
	}
	if len(unknown) == 0 || *open != "" {
		return
	}
	left, right := pair(t)
	c := compareThrough(left, right, unknown, false)
	c.differences(t)
	first := make(map[string]difference)
	seen := make(map[string]bool)
	for _, m := range changes {
		if err := m.apply(t.Context(), right); err != nil {
			t.Fatal(err)
		}
		if err := right.catchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, d := range fresh(c.differences(t), seen, m.name) {
			first[d.observable.String()] = d
		}
	}
	for i, d := range found {
		if alone, ok := first[d.observable.String()]; ok {
			found[i] = alone
		}
	}
}
