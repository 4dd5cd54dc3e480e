package integration

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// seenVersions are what a user of psql has seen of a guarded table, version by version: the class of each row, which the
// test knows by the published number that is unique.
type seenVersions struct {
	user  string
	least int
	rows  []map[string]string
}

func (v *seenVersions) look(t *testing.T, s *site) {
	t.Helper()
	o := run(t, "SELECT nr, kproxy_class FROM folk", nil, "psql", "-X", "-A", "-t", "-F", " ", s.of(v.user)).must(t)
	rows, sizes := map[string]string{}, map[string]int{}
	for line := range strings.Lines(o.stdout) {
		nr, class, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			t.Fatalf("%s: %q", v.user, line)
		}
		rows[nr] = class
		sizes[class]++
	}
	for class, n := range sizes {
		if n < v.least {
			t.Errorf("%s sees class %s of %d rows in version %d", v.user, class, n, len(v.rows))
		}
	}
	v.rows = append(v.rows, rows)
}

// check compares all versions: rows that were in the same classes in all of them are as many as the constraints ask.
func (v *seenVersions) check(t *testing.T, others ...*seenVersions) (sets int) {
	t.Helper()
	courses := map[string]string{}
	for _, seen := range append([]*seenVersions{v}, others...) {
		for version, rows := range seen.rows {
			for nr, class := range rows {
				courses[nr] += fmt.Sprintf("%s %d: %s; ", seen.user, version, class)
			}
		}
	}
	alike := map[string]int{}
	for _, course := range courses {
		alike[course]++
	}
	for course, n := range alike {
		if n < v.least {
			t.Errorf("%s, with %d others: %d rows with the history %s", v.user, len(others), n, course)
		}
	}
	return len(alike)
}

// TestGuardedAudiences has users of psql compare all versions of a guarded table, for audiences at k = 5, 25 and 50,
// alone and together, while rows come and go and kproxy is killed.
func TestGuardedAudiences(t *testing.T) {
	t.Parallel()
	s := audienceSiteOf(t, strings.Replace(audienceSchema, "illness text NOT NULL);", "illness text NOT NULL, nr int);", 1)+"; UPDATE folk SET nr = id", strings.NewReplacer(
		"folk:\n    updates: immediate\n", "folk:\n    updates: {mode: guarded, crowd: 1}\n    acknowledge: {joinable: [nr]}\n", "illness: sensitive\n", "illness: sensitive\n      nr: insensitive\n", "k: 100", "k: 50",
	).Replace(audiencePolicy), "")
	p := s.serve(t)
	admin := connect(t, s.admin)
	fine, research, press := &seenVersions{user: clientUser, least: 5}, &seenVersions{user: "researchers", least: 25}, &seenVersions{user: "press", least: 50}
	look := func(rows int) {
		t.Helper()
		eventually(t, "the change is applied", func() bool {
			records := scalar[string](t, admin, "SELECT 'kproxy_store.records_' || generation FROM kproxy_store.generation WHERE table_name = 'folk'")
			return scalar[int](t, admin, "SELECT count(*) FROM "+records) == rows
		})
		for _, v := range []*seenVersions{fine, research, press} {
			v.look(t, s)
		}
	}
	look(600)
	if n := len(press.rows[0]); n != 600 {
		t.Errorf("the press sees %d rows", n)
	}
	for i, sql := range []string{
		"DELETE FROM folk WHERE age < 20",
		"INSERT INTO folk SELECT i, i % 90, 'Bonn', 'illness ' || i % 7, i FROM generate_series(1000, 1119) i",
		"DELETE FROM folk WHERE age > 60 AND id % 2 = 0",
		"UPDATE folk SET age = age + 1, town = 'Rom' WHERE age BETWEEN 20 AND 55",
		"DELETE FROM folk WHERE age > 60",
	} {
		execute(t, admin, sql)
		if i == 2 {
			p.end(t, syscall.SIGKILL)
			p = s.serve(t)
		}
		look(scalar[int](t, admin, "SELECT count(*) FROM folk"))
	}
	sets := fine.check(t)
	if research.check(t) < 3 || press.check(t) < 2 || fine.check(t, research, press) != sets {
		t.Errorf("%d sets for the finest, %d for all together", sets, fine.check(t, research, press))
	}
	if len(press.rows[len(press.rows)-1]) == len(press.rows[0]) {
		t.Error("the press sees no row come or go")
	}
	columns := run(t, `\d folk`, nil, "psql", "-X", s.of("press")).must(t).stdout
	if strings.Contains(columns, "town") || strings.Contains(columns, "illness") || !strings.Contains(columns, "kproxy_weight") {
		t.Errorf("the press sees %s", columns)
	}
	weighed, _ := strconv.ParseFloat(strings.TrimSpace(run(t, "SELECT sum(kproxy_weight) FROM folk", nil, "psql", "-XAt", s.of("press")).must(t).stdout), 64)
	t.Logf("the press: %d rows, %.1f by weights", len(press.rows[len(press.rows)-1]), weighed)
	s.kproxy(t, "verify").must(t)
	s.kproxy(t, "check").must(t)
	for _, sql := range []string{"TABLE kproxy_release_public.folk", "TABLE kproxy_audience_research_public.folk", "TABLE kproxy_store.release_1", "SELECT town FROM folk", "TABLE visits"} {
		if _, err := connect(t, s.of("press")).Exec(t.Context(), sql); sqlState(t, err) == "" {
			t.Errorf("the press may %s", sql)
		}
	}
}

// TestWhatWaitsForAnAudienceIsObserved: metrics and status count the records of a guarded table that an audience does not see,
// while the table's own readers do.
func TestWhatWaitsForAnAudienceIsObserved(t *testing.T) {
	t.Parallel()
	metrics := freeAddress(t)
	s := audienceSiteOf(t, audienceSchema, strings.NewReplacer("folk:\n    updates: immediate\n", "folk:\n    updates: {mode: guarded, crowd: 1}\n", "k: 100", "k: 50").Replace(audiencePolicy),
		fmt.Sprintf("metrics: {listen: %s, tables: true}\n", metrics))
	s.serve(t)
	want := func(own, research, press int) {
		t.Helper()
		wanted := fmt.Sprint(own, research, press)
		eventually(t, "withheld are "+wanted+", as metrics and status count", func() bool {
			var told struct {
				Tables []struct {
					Withheld  int
					Audiences []struct{ Withheld int }
				}
			}
			if err := json.Unmarshal([]byte(s.kproxy(t, "status", "--json").stdout), &told); err != nil {
				t.Fatal(err)
			}
			metric := func(audience string) float64 {
				return sample(t, metrics, fmt.Sprintf(`kproxy_table_audience_withheld{audience=%q,table="public.folk"}`, audience))
			}
			folk := told.Tables[0]
			return fmt.Sprint(folk.Withheld, folk.Audiences[0].Withheld, folk.Audiences[1].Withheld) == wanted && fmt.Sprint(own, metric("research"), metric("press")) == wanted
		})
	}
	want(0, 0, 0)
	admin := connect(t, s.admin)
	add := func(first, n int) {
		t.Helper()
		execute(t, admin, fmt.Sprintf("INSERT INTO folk SELECT i, i %% 90, 'Bonn', 'illness ' || i %% 7 FROM generate_series(%d, %d) i", first, first+n-1))
	}
	add(1000, 3)
	want(3, 3, 3)
	add(1100, 12)
	want(0, 15, 15)
	add(1200, 15)
	want(0, 0, 30)
	execute(t, admin, "DELETE FROM folk WHERE id = 1200")
	want(0, 0, 29)
}
