package sync

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// audienceKeepers keep all versions of what each audience ever saw of the people, under the names that these had, and
// know whose rows these are.
type audienceKeepers struct {
	b        *bench
	seen     map[string]map[int64]map[int]string // by link of the lineage, person and version: the class
	least    map[string]int                      // the least k of what a link was to keep, while it was seen
	persons  map[int64]int64                     // by row
	versions int
}

// stages are the audiences of the people, one policy after the other, as name:k. All follow from those before.
var stages = []string{"", "partners:12", "partners:12 public:36", "public:36", "press:12 public:36", "press:8 world:36", "", "late:40", "press:8 late:40"}

// audiencesAt are the audiences of a stage.
func (b *bench) audiencesAt(stage string) (all []catalog.AudiencePolicy) {
	for _, one := range strings.Fields(stage) {
		name, k, _ := strings.Cut(one, ":")
		a := catalog.AudiencePolicy{Audience: name, Role: b.roleOf(name), Constraints: []privacy.Spec{{Model: privacy.K}}}
		if _, err := fmt.Sscan(k, &a.Constraints[0].K); err != nil {
			b.t.Fatal(err)
		}
		if a.Constraints[0].K > 20 {
			a.Constraints = append(a.Constraints, privacy.Spec{Model: privacy.DistinctL, L: 3, Of: "illness"})
			a.Hidden = []string{"zip", "illness"}
		}
		all = append(all, a)
	}
	return all
}

func (b *bench) roleOf(audience string) string {
	return audience + "_" + scanned[string](b, "SELECT current_database()")
}

// newStagesBench provides for all audiences of all stages, and has the people shown to none.
func newStagesBench(t *testing.T) (*bench, *audienceKeepers) {
	t.Helper()
	server := pgtest.Shared(t)
	b := &bench{t: t, dsn: pgtest.Database(t, server)}
	b.source = b.connect()
	b.exec(sourceTables)
	policy := testPolicy()
	policy.Tables[0].Updates = catalog.Updates{Mode: catalog.Guarded, Crowd: 1}
	for _, name := range []string{"partners", "press", "public", "world", "late"} {
		policy.Audiences = append(policy.Audiences, catalog.Audience{Name: name, Roles: []string{b.roleOf(name)}})
	}
	policy.Tables[0].Audiences = b.audiencesAt("partners:12 press:12 public:36 world:36 late:40")
	b.provide(server, policy)
	b.config.Tables = b.policed("")
	return b, &audienceKeepers{b: b, seen: map[string]map[int64]map[int]string{}, least: map[string]int{}, persons: map[int64]int64{}}
}

// policed are the tables with the audiences of a stage.
func (b *bench) policed(stage string) []catalog.Publication {
	changed := slices.Clone(b.config.Tables)
	changed[0].Policy.Audiences = b.audiencesAt(stage)
	return changed
}

// lineageOf is what the store has of the people's lineage.
func (b *bench) lineageOf() (of catalog.Lineage) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(scanned[string](b, "SELECT lineage FROM kproxy_store.generation WHERE table_name = 'people'")), &of); err != nil {
		b.t.Fatal(err)
	}
	return of
}

// look keeps what is shown now to the table's own readers, and to each audience through its view.
func (r *audienceKeepers) look() {
	b := r.b
	b.t.Helper()
	generation := int64(b.generationOf("people"))
	each := func(sql string, take func(row, class int64)) {
		rows, err := b.store().Query(b.t.Context(), sql)
		if err != nil {
			b.t.Fatal(err)
		}
		var row, class int64
		if _, err := pgx.ForEachRow(rows, []any{&row, &class}, func() error { take(row, class); return nil }); err != nil {
			b.t.Fatal(err)
		}
	}
	each("SELECT kproxy_row, id FROM "+storeTable("records", generation).SQL()+" WHERE kproxy_row IS NOT NULL", func(row, id int64) { r.persons[row] = id })
	keep := func(link, table string, k int) {
		if r.seen[link] == nil {
			r.seen[link], r.least[link] = map[int64]map[int]string{}, k
		}
		r.least[link] = min(r.least[link], k)
		each("SELECT kproxy_row, kproxy_class FROM "+table, func(row, class int64) {
			person, known := r.persons[row]
			if !known {
				b.t.Fatalf("nobody has been seen in row %d", row)
			}
			if r.seen[link][person] == nil {
				r.seen[link][person] = map[int]string{}
			}
			r.seen[link][person][r.versions] = fmt.Sprint(class)
		})
	}
	keep("", storeTable("release", generation).SQL(), testK)
	for _, l := range b.lineageOf().Links {
		if l.Audience == "" {
			continue
		}
		view := catalog.PublishedFor(l.Audience, publicTable("people")).SQL()
		release := storeTable("release_"+l.Store, generation).SQL()
		if shown, stored := scanned[int](b, "SELECT count(*) FROM "+view), scanned[int](b, "SELECT count(*) FROM "+release); shown != stored {
			b.t.Errorf("%s sees %d rows of %d", l.Audience, shown, stored)
		}
		keep(l.Store, release, l.Constraints[0].K)
	}
	r.versions++
}

// check holds whoever kept what some links showed to the constraints of the finest of them, whatever audiences they were in.
func (r *audienceKeepers) check() {
	r.b.t.Helper()
	var links []string
	for link := range r.seen {
		links = append(links, link)
	}
	for pool := 1; pool < 1<<len(links); pool++ {
		least, finest, atoms := 1<<30, "", map[string]int{}
		persons := map[int64]bool{}
		for i, link := range links {
			if pool&(1<<i) == 0 {
				continue
			}
			if r.least[link] < least {
				least, finest = r.least[link], link
			}
			for person := range r.seen[link] {
				persons[person] = true
			}
		}
		for person := range persons {
			history := ""
			for i, link := range links {
				if pool&(1<<i) != 0 {
					history += fmt.Sprint(link, r.seen[link][person], ";")
				}
			}
			atoms[history]++
		}
		for history, n := range atoms {
			if n < least {
				r.b.t.Errorf("pool %b, the finest of which is %q: %d persons have the history %s", pool, finest, n, history)
			}
		}
	}
}

// TestAudiencesOfALineageChange adds, removes, renames and loosens audiences of a guarded table, with all kinds of changes between, and
// restarts: nobody, in whatever audiences, tells people apart in smaller sets than the finest of these may; the table's own release
// is the same throughout, and audiences that stay read on.
func TestAudiencesOfALineageChange(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			b, keepers := newStagesBench(t)
			random := rand.New(rand.NewPCG(seed, 31))
			b.insertPeople(random, 1, 300)
			l := b.start()
			next := 1000
			generation := 0
			for _, stage := range stages {
				b.config.Tables = b.policed(stage)
				if random.IntN(2) == 0 {
					l.stop()
					l = b.start()
				} else {
					l.Reload(b.config.Tables)
				}
				l.inStep()
				l.eventually("audiences of "+stage+" see the people", func() bool {
					s := l.Status().Tables[publicTable("people")]
					for _, a := range b.audiencesAt(stage) {
						if s.Audiences[a.Audience].Classes == 0 {
							return false
						}
					}
					return s.State == Published && !s.Preparing
				})
				if generation == 0 {
					generation = b.generationOf("people")
				}
				if now := b.generationOf("people"); now != generation {
					t.Fatalf("at %q a new lineage is begun", stage)
				}
				look := func() {
					b.caughtUp(l.Syncer)
					b.checkStore(l.Syncer)
					keepers.look()
				}
				look()
				if got := scanned[string](b, "SELECT coalesce(string_agg(n.nspname, ' ' ORDER BY 1), '') FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = 'v' AND relname = 'people' AND nspname ~ '^kproxy_audience_'"); len(strings.Fields(got)) != len(strings.Fields(stage)) {
					t.Errorf("at %q there are views in %s", stage, got)
				}
				for range 2 {
					from := random.IntN(90)
					b.exec(fmt.Sprintf([]string{
						"DELETE FROM people WHERE age BETWEEN %d AND %d",
						"UPDATE people SET age = age + 3 WHERE age BETWEEN %d AND %d",
						"UPDATE people SET note = note || 'x' WHERE age BETWEEN %d AND %d",
						"UPDATE people SET illness = 'illness' || (id * 7 + 1) %% 5 WHERE age BETWEEN %d AND %d",
					}[random.IntN(4)], from, from+random.IntN(40)))
					n := 20 + random.IntN(60)
					b.insertPeople(random, next, next+n)
					next += n
					look()
				}
			}
			keepers.check()
		})
	}
}

// TestAudiencesOfGuardedPeopleChange adds, removes and adds audiences again of tables about one kind of person: the lineage goes on, what was
// shown to an audience is shown to it on as if it had never been removed, and the verifier is content with all that is kept.
func TestAudiencesOfGuardedPeopleChange(t *testing.T) {
	t.Parallel()
	const patients = 150
	h := guardedAudienceHospital(t, "1/1y:3", patients)
	h.visitAgain(patients)
	h.visitAgain(patients)
	all := slices.Clone(h.config.Tables)
	shownTo := func(names string) {
		h.config.Tables = slices.Clone(all)
		for i := range h.config.Tables {
			p := &h.config.Tables[i].Policy
			p.Audiences = slices.DeleteFunc(slices.Clone(p.Audiences), func(a catalog.AudiencePolicy) bool { return !strings.Contains(names, a.Audience) })
		}
	}
	seen, generations := map[string]map[string]shownTable{}, ""
	const made = "SELECT string_agg(generation::text, ' ' ORDER BY table_name) FROM kproxy_store.generation"
	for _, names := range []string{"", "partners", "partners public", "public", "", "partners public", "partners public, loosened"} {
		shownTo(names)
		if strings.Contains(names, "loosened") {
			for i := range h.config.Tables {
				h.config.Tables[i].Policy.Audiences[0].Constraints = []privacy.Spec{{Model: privacy.K, K: h.config.Tables[i].Policy.Audiences[0].Constraints[0].K - 1}}
			}
		}
		s, stop := h.run()
		h.inStep(s)
		h.checkRelease()
		for range 30 {
			h.changeHospital(patients)
		}
		h.visitAgain(patients)
		h.inStep(s)
		h.checkRelease()
		if generations == "" {
			generations = scanned[string](h.bench, made)
		}
		if now := scanned[string](h.bench, made); now != generations {
			t.Fatalf("for %q a new lineage is begun: %s, not %s", names, now, generations)
		}
		for _, name := range []string{"partners", "public"} {
			of := "release_" + name
			if seen[of] != nil {
				seen[of] = h.followsIn(of, seen[of])
			} else if strings.Contains(names, name) {
				seen[of] = h.versionsIn(of)
			}
			shown := scanned[bool](h.bench, "SELECT to_regclass('kproxy_audience_"+name+"_public.patients') IS NOT NULL")
			if shown != strings.Contains(names, name) {
				t.Errorf("for %q, %s sees patients: %v", names, name, shown)
			}
			if status := s.Status().Tables[publicTable("patients")]; status.State != Published || shown && status.Audiences[name].Classes == 0 {
				t.Errorf("for %q, %s sees %+v", names, name, status)
			}
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
	if visits := seen["release_partners"]["visits"]; len(visits.rows) < 30 || len(visits.keyed) < len(visits.rows) {
		t.Errorf("partners see %d visits, %d of them with keys", len(visits.rows), len(visits.keyed))
	}
}
