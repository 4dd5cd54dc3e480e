package integration

import (
	"strings"
	"testing"
)

// researchGuarded and pressGuarded are the audiences of guardedAudienceSite.
const (
	researchGuarded = `  research:
    readers: [researchers, more]
    tables:
      folk: {constraints: [{k: 25}], hide: [town]}
`
	pressGuarded = `  press:
    readers: [press]
    tables:
      folk: {constraints: [{k: 50}], hide: [town, illness]}
`
)

// TestAudiencesOfGuardedTablesChange takes an audience away from a guarded table, puts its reader into another one, and adds a coarser one
// behind, while users of psql keep all versions: the table is not halted, others see what they saw, and nobody tells apart fewer rows than the finest
// audience that he was in may.
func TestAudiencesOfGuardedTablesChange(t *testing.T) {
	t.Parallel()
	s := guardedAudienceSite(t)
	s.serve(t)
	admin := connect(t, s.admin)
	fine, research, press := &seenVersions{user: clientUser, least: 5}, &seenVersions{user: "researchers", least: 25}, &seenVersions{user: "press", least: 25}
	look := func() {
		t.Helper()
		eventually(t, "all see the table", func() bool {
			for _, user := range []string{clientUser, "researchers", "press"} {
				if run(t, "SELECT FROM folk LIMIT 1", nil, "psql", "-XAt", "-v", "ON_ERROR_STOP=1", s.of(user)).code != 0 {
					return false
				}
			}
			return true
		})
		for _, v := range []*seenVersions{fine, research, press} {
			v.look(t, s)
		}
	}
	generation := func() int {
		return scalar[int](t, admin, "SELECT generation FROM kproxy_store.generation WHERE table_name = 'folk'")
	}
	look()
	first := generation()
	text := contents(t, s.config)
	for i, stage := range []struct{ what, config string }{
		{"the press is removed, and its reader joins research", strings.NewReplacer(pressGuarded, "", "readers: [researchers, more]", "readers: [researchers, more, press]").Replace(text)},
		{"the press sees another release, behind the one that it saw", strings.NewReplacer(pressGuarded, strings.NewReplacer("press:\n", "media:\n", "k: 50", "k: 60").Replace(pressGuarded)).Replace(text)},
		{"the first audience is removed", strings.NewReplacer(pressGuarded, strings.NewReplacer("press:\n", "media:\n", "k: 50", "k: 60", "[press]", "[press, researchers, more]").Replace(pressGuarded), researchGuarded, "").Replace(text)},
	} {
		s.write(t, "kproxy.yaml", stage.config)
		s.kproxy(t, "setup").must(t)
		if o := s.kproxy(t, "reload").must(t); !strings.Contains(o.stdout, "go on with other audiences") || strings.Contains(o.stdout, "halted for all readers") {
			t.Errorf("%s: reload says %s", stage.what, o.stdout)
		}
		s.kproxy(t, "check").must(t)
		look()
		execute(t, admin, []string{"DELETE FROM folk WHERE age < 20", "UPDATE folk SET age = age + 1 WHERE age > 50", "DELETE FROM folk WHERE age > 70"}[i])
		execute(t, admin, "INSERT INTO folk SELECT i, i % 90, 'Bonn', 'illness ' || i % 7, i FROM generate_series($1::int, $1::int + 119) i", 1000*(i+1))
		look()
		if now := generation(); now != first {
			t.Fatalf("%s: a new lineage is begun", stage.what)
		}
		s.kproxy(t, "verify").must(t)
	}
	sets := fine.check(t)
	press.check(t)
	research.check(t, press)
	if pooled := fine.check(t, research, press); pooled != sets {
		t.Errorf("%d sets for the finest, %d for all together", sets, pooled)
	}
}
