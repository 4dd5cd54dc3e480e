package sync

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// guardedPolicy has audiences see columns coarser, in other forms, and some that the table's own readers do not see.
func guardedPolicy(people *catalog.TablePolicy) {
	coarserPolicy(people)
	people.Hidden = []string{"illness", "note"}
	people.Audiences[0].Hidden = []string{"note"}
	people.Audiences[1].Constraints = []privacy.Spec{{Model: privacy.K, K: 9 * testK}, {Model: privacy.DistinctL, L: 3, Of: "illness"}}
	people.Audiences[1].Hidden = []string{"illness"}
	people.Constraints = append(people.Constraints, privacy.Spec{Model: privacy.DistinctL, L: 3, Of: "illness"})
}

// checkGuardedCoarser holds what audiences see against their limits, and the rows that stand for the same as in the
// release before against the labels there.
func (b *bench) checkGuardedCoarser() {
	b.t.Helper()
	b.checkCoarseLabels()
	generation := int64(b.generationOf("people"))
	for _, pair := range [][3]string{
		{"release_partners", "release", "c.age @> f.age_range AND c.born_range @> f.born_range AND starts_with(f.zip, rtrim(c.zip, '*')) AND c.weight IS NOT NULL"},
		{"release_public", "release_partners", "c.age @> f.age AND starts_with(f.zip, rtrim(c.zip, '*')) AND (c.job = f.job OR c.job = '*' OR c.job = 'work' AND f.job IN ('easy', 'job2'))"},
	} {
		same := fmt.Sprintf("%s c JOIN %s f USING (kproxy_row)", storeTable(pair[0], generation).SQL(), storeTable(pair[1], generation).SQL())
		if n := scanned[int](b, "SELECT count(*) FROM "+same+" WHERE NOT ("+pair[2]+")"); n > 0 {
			b.t.Errorf("%d rows of %s have labels that do not cover those of %s", n, pair[0], pair[1])
		}
		if n := scanned[int](b, "SELECT count(*) FROM "+same+" WHERE (c.illness, c.note) IS DISTINCT FROM (f.illness, f.note)"); n > 0 {
			b.t.Errorf("%d rows of %s have other values than %s", n, pair[0], pair[1])
		}
	}
}

// TestGuardedAudiencesHaveColumnsOfTheirOwn: what audiences of a guarded table see is as coarse as the policy says, and covers what
// finer readers see; columns that these do not see are published to those who may. Constraints hold for all columns over all
// versions, each audience alone and all together, with every kind of change and restarts.
func TestGuardedAudiencesHaveColumnsOfTheirOwn(t *testing.T) {
	t.Parallel()
	b, readers := newGuardedAudienceBench(t, guardedPolicy)
	random := rand.New(rand.NewPCG(21, 22))
	b.insertPeople(random, 1, 400)
	b.exec("UPDATE people SET born = '1950-01-01'::date + id::int % 3 * 370")
	s, stop := b.run()
	look := func() {
		b.t.Helper()
		b.caughtUp(s)
		b.checkStore(s)
		b.checkGuardedCoarser()
		readers.look()
	}
	look()
	for schema, want := range map[string][2]string{
		ownSchema: {"integer int4range", "illness note"}, partnersSchema: {"int4range", "note"}, publicSchema: {"int4range", "illness"},
	} {
		columns, _ := b.seen(schema)
		for _, hidden := range strings.Fields(want[1]) {
			if slices.Contains(strings.Fields(columns), hidden) {
				t.Errorf("%s shows %s", schema, columns)
			}
		}
		for _, shown := range []string{"illness", "note"} {
			if !strings.Contains(want[1], shown) && !slices.Contains(strings.Fields(columns), shown) {
				t.Errorf("%s shows %s", schema, columns)
			}
		}
		got := scanned[string](b, "SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute WHERE attname ~ '^age' AND attrelid = '"+schema+".people'::regclass")
		if got != want[0] {
			t.Errorf("%s shows ages as %s, not %s", schema, got, want[0])
		}
	}
	next := 1000
	for round := range 9 {
		from := random.IntN(90)
		b.exec(fmt.Sprintf([]string{
			"DELETE FROM people WHERE age BETWEEN %d AND %d",
			"UPDATE people SET age = age + 3, born = born + 400 WHERE age BETWEEN %d AND %d",
			"UPDATE people SET note = note || 'x' WHERE age BETWEEN %d AND %d",
			"UPDATE people SET illness = 'illness' || (id * 7 + 1) %% 5 WHERE age BETWEEN %d AND %d",
		}[round%4], from, from+random.IntN(40)))
		n := random.IntN(60)
		b.insertPeople(random, next, next+n)
		next += n
		if round == 4 {
			b.exec("UPDATE people SET note = 'all', zip = '77' || zip")
		}
		look()
		if round%3 == 2 {
			const next = "SELECT string_agg(value ->> 'NextClass', ' ' ORDER BY key) FROM kproxy_store.generation, jsonb_each(audiences::jsonb) WHERE table_name = 'people'"
			releases, numbers := b.guardedReleases(), scanned[string](b, next)
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			s, stop = b.run()
			look()
			if b.guardedReleases() != releases || scanned[string](b, next) != numbers {
				t.Errorf("a restart changes releases, or the numbers of the next classes from %s to %s", numbers, scanned[string](b, next))
			}
		}
	}
	readers.check()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	generation := int64(b.generationOf("people"))
	b.exec("UPDATE " + storeTable("release", generation).SQL() + " SET illness = 'the same'")
	if got := b.failedChecks("public.people"); !strings.Contains(got, "distinct 3-diversity of illness, with hidden columns") || !strings.Contains(got, "values published as they are are those of the record") {
		t.Errorf("of hidden columns it says %q", got)
	}
}

// guardedReleases are the rows of all releases.
func (b *bench) guardedReleases() (all string) {
	b.t.Helper()
	for _, schema := range []string{ownSchema, partnersSchema, publicSchema} {
		_, rows := b.seen(schema)
		all += rows + "\n"
	}
	return all
}
