package sync

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/verify"
)

// crossedPolicy has two audiences see visits whose homes are protected apart from their persons.
func crossedPolicy(database string, change func(visits *catalog.TablePolicy)) catalog.Policy {
	table := visitsPolicy("visits", "rounded-partition", "", homes, persons, over(models["distinct"][0], homes))
	wider := func(k int, other privacy.Spec) privacy.Spec {
		return over(privacy.Spec{Model: privacy.K, K: k}, other)
	}
	table.Audiences = []catalog.AudiencePolicy{
		{Audience: "partners", Role: "partner_" + database, Constraints: []privacy.Spec{wider(10, homes)}},
		{Audience: "public", Role: "public_" + database, Constraints: []privacy.Spec{wider(25, homes), wider(20, persons), over(models["alpha"][0], persons)}, Hidden: []string{"cost"}},
	}
	change(&table)
	return catalog.Policy{
		Tables:    []catalog.TablePolicy{table},
		Audiences: []catalog.Audience{{Name: "partners", Roles: []string{"partner_" + database}}, {Name: "public", Roles: []string{"public_" + database}}},
	}
}

func newCrossedBench(t *testing.T, change func(visits *catalog.TablePolicy)) *bench {
	t.Helper()
	server := pgtest.Shared(t)
	b := &bench{t: t, dsn: pgtest.Database(t, server)}
	b.source = b.connect()
	b.script(fmt.Sprintf("SELECT setseed(0.3); "+visits+" INSERT INTO visits SELECT %s FROM generate_series(1, 200) i", "visits", visit("i")))
	return b.provide(server, crossedPolicy(scanned[string](b, "SELECT current_database()"), change))
}

// visitPlaces are, for the table's own readers and each audience: of each record, by its number, the
// class in each part. Records that are not published have none.
func (b *bench) visitPlaces() (all []map[int64][2]int64) {
	b.t.Helper()
	generation := int64(b.generationOf("visits"))
	for _, name := range []string{"records", "records_partners", "records_public"} {
		rows, err := b.store().Query(b.t.Context(), "SELECT kproxy_record, coalesce(kproxy_class, 0), coalesce(kproxy_class_2, 0) FROM "+storeTable(name, generation).SQL())
		if err != nil {
			b.t.Fatal(err)
		}
		places := map[int64][2]int64{}
		for rows.Next() {
			var id int64
			var at [2]int64
			if err := rows.Scan(&id, &at[0], &at[1]); err != nil {
				b.t.Fatal(err)
			}
			if at[0]*at[1] == 0 && at[0]+at[1] != 0 {
				b.t.Errorf("in %s, record %d is in a class of one part alone", name, id)
			}
			places[id] = at
		}
		if rows.Err() != nil {
			b.t.Fatal(rows.Err())
		}
		all = append(all, places)
	}
	return all
}

// checkCrossed holds what readers see against what they are promised: each release by itself, counted over the rows
// that its readers have, and all of them pooled: what each class of a part has become in the coarser release says
// nothing that the finer one does not.
func (b *bench) checkCrossed(hides bool) {
	b.t.Helper()
	least := map[string][2]int{ownSchema: {4, 3}, partnersSchema: {10, 3}, publicSchema: {25, 20}}
	for schema, k := range least {
		for part, columns := range []string{"age_range, zip", "sex, job"} {
			if hides && schema == publicSchema {
				columns = []string{"zip", "sex"}[part]
			}
			if n := scanned[int](b, fmt.Sprintf("SELECT coalesce(min(n), 1000) FROM (SELECT count(*) AS n FROM %s.visits GROUP BY %s) g", schema, columns)); n < k[part] {
				b.t.Errorf("%s has a group of %d rows by %s", schema, n, columns)
			}
		}
	}
	illness := map[int64]string{}
	rows, err := b.store().Query(b.t.Context(), "SELECT kproxy_record, coalesce(illness, '') FROM "+storeTable("records", int64(b.generationOf("visits"))).SQL())
	if err != nil {
		b.t.Fatal(err)
	}
	for rows.Next() {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			b.t.Fatal(err)
		}
		illness[id] = text
	}
	places := b.visitPlaces()
	for i, of := range places {
		for part := range 2 {
			members := map[int64][]int64{}
			for id, at := range of {
				if at[part] != 0 {
					members[at[part]] = append(members[at[part]], id)
				}
			}
			for class, ids := range members {
				b.checkVisits(i, part, class, ids, illness)
				if i+1 == len(places) {
					continue
				}
				for _, id := range ids { // all readers together cannot tell the members of a class apart
					if next := places[i+1]; next[id][part] != next[ids[0]][part] {
						b.t.Errorf("class %d of part %d of release %d is in two groups of the next", class, part, i)
						break
					}
				}
			}
		}
	}
}

// checkVisits holds a class against its constraints.
func (b *bench) checkVisits(release, part int, class int64, ids []int64, illness map[int64]string) {
	b.t.Helper()
	counts := map[string]int{}
	most := 0
	for _, id := range ids {
		counts[illness[id]]++
		most = max(most, counts[illness[id]])
	}
	k := [][2]int{{4, 3}, {10, 3}, {25, 20}}[release][part]
	if len(ids) < k || part == 0 && len(counts) < 3 || release == 2 && part == 1 && 10*most > 6*len(ids) {
		b.t.Errorf("class %d of part %d of release %d has %d records with %v", class, part, release, len(ids), counts)
	}
}

// TestAudiencesOfParts: what audiences see of a table of several parts follows every kind of change and a restart.
func TestAudiencesOfParts(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*catalog.TablePolicy){
		"alone": func(*catalog.TablePolicy) {},
		"with columns of their own": func(visits *catalog.TablePolicy) {
			ranged := catalog.FormRange
			visits.Hidden = []string{"cost"}
			visits.Audiences[0].Columns = []catalog.AudienceColumn{
				{Name: "age", Limits: hierarchy.Coarseness{Steps: []float64{10, 50, 100}}},
				{Name: "zip", Limits: hierarchy.Coarseness{Keep: []int{3, 1}}},
			}
			visits.Audiences[1].Columns = []catalog.AudienceColumn{{Name: "age", Publish: &ranged}}
			visits.Audiences[1].Hidden = []string{"age", "job"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hides := name != "alone"
			b := newCrossedBench(t, change)
			s, stop := b.run()
			check := func() {
				t.Helper()
				b.caughtUp(s)
				b.checkStore(s)
				b.checkCrossed(hides)
			}
			check()
			if n := scanned[int](b, "SELECT count(DISTINCT (zip, sex)) FROM "+publicSchema+".visits"); n < 2 {
				t.Errorf("the public sees %d different rows, which tests little", n)
			}
			random := rand.New(rand.NewPCG(11, 2))
			for range 12 {
				b.revisit(random, "visits", 1+random.IntN(6))
				check()
			}
			before := b.visitPlaces()
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			s, stop = b.run()
			check()
			// Groups that could not be divided are looked at once more.
			for i, places := range b.visitPlaces() {
				kept := 0
				for id, at := range places {
					if before[i][id] == at {
						kept++
					}
				}
				if kept < len(places)*2/3 || i == 0 && kept < len(places) {
					t.Errorf("after a restart, %d of %d records are where they were in release %d", kept, len(places), i)
				}
			}
			for range 4 {
				b.revisit(random, "visits", 8)
				check()
			}
			b.exec("TRUNCATE visits")
			b.script(fmt.Sprintf("INSERT INTO visits SELECT %s FROM generate_series(1, 90) i", visit("i")))
			check()
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestAudiencesOfPartsAreWithheld: where the records together violate an audience's constraints on one part, it sees
// nothing of any, and neither do those behind it; the others go on. It comes back when they do.
func TestAudiencesOfPartsAreWithheld(t *testing.T) {
	t.Parallel()
	b := newCrossedBench(t, func(visits *catalog.TablePolicy) {
		visits.Audiences[0].Constraints = append(visits.Audiences[0].Constraints, over(privacy.Spec{Model: privacy.DistinctL, L: 4, Of: "illness"}, persons))
	})
	s, stop := b.run()
	b.caughtUp(s)
	b.checkCrossed(false)
	b.exec("UPDATE visits SET illness = 'flu' WHERE illness = 'gout'")
	b.caughtUp(s)
	b.checkStore(s)
	b.checkCrossed(false)
	for schema, want := range map[string]int{ownSchema: 200, partnersSchema: 0, publicSchema: 0} {
		if n := scanned[int](b, "SELECT count(*) FROM "+schema+".visits"); n != want {
			t.Errorf("%s shows %d rows, not %d", schema, n, want)
		}
	}
	status := s.Status().Tables[catalog.Name{Schema: "public", Relation: "visits"}]
	for name, of := range status.Audiences {
		if of.Classes != 0 || !strings.Contains(of.Reason, "distinct 4-diversity") {
			t.Errorf("of %s it says %+v", name, of)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, stop = b.run()
	b.exec("UPDATE visits SET illness = 'gout' WHERE id % 4 = 0")
	b.caughtUp(s)
	b.checkStore(s)
	b.checkCrossed(false)
	if n := scanned[int](b, "SELECT count(*) FROM "+publicSchema+".visits"); n != 200 {
		t.Errorf("%d rows come back", n)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// TestHiddenColumnsOfParts: a change of what an audience does not see changes nothing of what it sees.
func TestHiddenColumnsOfParts(t *testing.T) {
	t.Parallel()
	b := newCrossedBench(t, func(visits *catalog.TablePolicy) { visits.Audiences[0].Hidden = []string{"cost"} })
	s, stop := b.run()
	b.caughtUp(s)
	seen := func() (texts []string) {
		for _, schema := range []string{partnersSchema, publicSchema, ownSchema} {
			texts = append(texts, scanned[string](b, "SELECT string_agg(v::text, '|' ORDER BY v::text) FROM "+schema+".visits v"))
		}
		return texts
	}
	before := seen()
	b.exec("UPDATE visits SET cost = cost + 1000 WHERE id % 3 = 0")
	b.caughtUp(s)
	b.checkStore(s)
	after := seen()
	if !slices.Equal(after[:2], before[:2]) || after[2] == before[2] {
		t.Error("audiences see a change of what is hidden from them, or the table's own readers do not see it")
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// TestVerifierRefusesSpoiledParts: a record that lies in another group than its class, in the second part alone, is
// found.
func TestVerifierRefusesSpoiledParts(t *testing.T) {
	t.Parallel()
	b := newCrossedBench(t, func(*catalog.TablePolicy) {})
	s, stop := b.run()
	b.caughtUp(s)
	b.checkStore(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	generation := int64(b.generationOf("visits"))
	records := storeTable("records", generation).SQL()
	b.exec(fmt.Sprintf(`UPDATE %[1]s r SET kproxy_class_2_partners = other.to FROM (SELECT min(kproxy_class_2_partners) AS from, max(kproxy_class_2_partners) AS to FROM %[1]s) other
		WHERE kproxy_record = (SELECT min(kproxy_record) FROM %[1]s WHERE kproxy_class_2_partners = other.from)`, records))
	report, err := verify.Run(t.Context(), connectTo(t, b.store().Config().ConnString()), b.config.Tables, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(report[0].Checks, func(c verify.Check) bool { return !c.Passed }) {
		t.Errorf("the table's own release is refused: %+v", report[0].Checks)
	}
	var failed []string
	for _, c := range report[0].Audiences[0].Checks {
		if !c.Passed {
			failed = append(failed, c.Name)
		}
	}
	if got := strings.Join(failed, "; "); !strings.Contains(got, "classes are unions of the finer ones, over sex, job") || strings.Contains(got, "over age, zip") {
		t.Errorf("it says %s", got)
	}
}
