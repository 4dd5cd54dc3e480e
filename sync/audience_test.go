package sync

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/verify"
)

// audiencePolicy has two audiences see the people, the second of whom does not see the zip codes and the
// illnesses.
func audiencePolicy(database string) catalog.Policy {
	policy := testPolicy()
	policy.Audiences = []catalog.Audience{{Name: "partners", Roles: []string{"partner_" + database}}, {Name: "public", Roles: []string{"public_" + database}}}
	policy.Tables[0].Audiences = []catalog.AudiencePolicy{
		{Audience: "partners", Role: "partner_" + database, Constraints: []privacy.Spec{{Model: privacy.K, K: 3 * testK}}},
		{Audience: "public", Role: "public_" + database, Constraints: []privacy.Spec{{Model: privacy.K, K: 9 * testK}, {Model: privacy.DistinctL, L: 3, Of: "illness"}}, Hidden: []string{"zip", "illness"}},
	}
	return policy
}

func newAudienceBench(t *testing.T) *bench {
	t.Helper()
	return audienceBench(t, func(*catalog.TablePolicy) {})
}

// audienceBench is newAudienceBench with another policy of the people.
func audienceBench(t *testing.T, change func(*catalog.TablePolicy)) *bench {
	t.Helper()
	server := pgtest.Shared(t)
	b := &bench{t: t, dsn: pgtest.Database(t, server)}
	b.source = b.connect()
	b.exec(sourceTables)
	policy := audiencePolicy(scanned[string](b, "SELECT current_database()"))
	change(&policy.Tables[0])
	return b.provide(server, policy)
}

// releases are what the table's own readers and the audiences see of the people, of each: rows that look
// alike in the quasi-identifying columns, as the records that they are of.
func (b *bench) releases() (groups []map[string][]int64) {
	b.t.Helper()
	generation := b.generationOf("people")
	for _, name := range []string{"packed", "packed_partners", "packed_public"} {
		relation := storeTable(name, int64(generation)).SQL()
		rows, err := b.store().Query(b.t.Context(), fmt.Sprintf("SELECT p.kproxy_class::text, array_agg(m.kproxy_record) FROM %s p, unnest(p.kproxy_members) m GROUP BY 1", relation))
		if err != nil {
			b.t.Fatal(err)
		}
		found := map[string][]int64{}
		for rows.Next() {
			var class string
			var records []int64
			if err := rows.Scan(&class, &records); err != nil {
				b.t.Fatal(err)
			}
			slices.Sort(records)
			found[class] = records
		}
		if rows.Err() != nil {
			b.t.Fatal(rows.Err())
		}
		groups = append(groups, found)
	}
	return groups
}

// checkAudiences holds what is stored for audiences against what they are promised: unions of the finer
// classes, of all records, each of which has as many as its constraints say.
func (b *bench) checkAudiences() {
	b.t.Helper()
	groups := b.releases()
	least := []int{testK, 3 * testK, 9 * testK}
	for i := 1; i < len(groups); i++ {
		of, records := map[int64]string{}, 0
		for group, members := range groups[i] {
			if len(members) < least[i] {
				b.t.Errorf("group %s of release %d has %d records", group, i, len(members))
			}
			for _, id := range members {
				of[id] = group
				records++
			}
		}
		finer := 0
		for class, members := range groups[i-1] {
			finer += len(members)
			for _, id := range members {
				if of[id] != of[members[0]] || of[id] == "" {
					b.t.Errorf("class %s of release %d is in the groups %q and %q of the next", class, i-1, of[id], of[members[0]])
					break
				}
			}
		}
		if finer != records || len(of) != records {
			b.t.Errorf("release %d has %d rows of %d records, and the one before %d", i, records, len(of), finer)
		}
	}
	for _, schema := range []string{"kproxy_audience_partners_public", "kproxy_audience_public_public"} {
		if n, all := scanned[int](b, "SELECT count(*) FROM "+schema+".people"), scanned[int](b, "SELECT count(*) FROM kproxy_release_public.people"); n != all {
			b.t.Errorf("%s shows %d of %d rows", schema, n, all)
		}
	}
	b.checkSummaries()
}

// checkSummaries holds the summaries of the people against what the table's own readers and the audiences see: they count the
// rows that look alike in the columns that classes show, all of these and no others.
func (b *bench) checkSummaries() {
	b.t.Helper()
	people := catalog.Name{Schema: "public", Relation: "people"}
	for _, audience := range []string{"", "partners", "public"} {
		seen, summary := catalog.PublishedFor(audience, people).SQL(), catalog.ClassesFor(audience, people).SQL()
		columns := scanned[string](b, "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND attname <> 'kproxy_count' AND attrelid = '"+summary+"'::regclass")
		counted := fmt.Sprintf("SELECT %s, sum(kproxy_count)::bigint FROM %s GROUP BY %[1]s", columns, summary)
		shown := fmt.Sprintf("SELECT %s, count(*) FROM %s GROUP BY %[1]s", columns, seen)
		if n := scanned[int](b, fmt.Sprintf("SELECT count(*) FROM ((%[1]s EXCEPT %[2]s) UNION ALL (%[2]s EXCEPT %[1]s)) AS different", counted, shown)); n != 0 {
			b.t.Errorf("the summary for %q and what is seen differ in %d groups of rows", audience, n)
		}
	}
}

func (b *bench) insertPeople(random *rand.Rand, from, to int) {
	for i := from; i < to; i++ {
		b.exec(`INSERT INTO people (id, name, age, weight, born, seen, zip, job, mood, ward, tags, note, illness)
			VALUES ($1, 'n', $2, 50, '1980-01-01', now(), $3, $4, 'calm', 'w', '{}', 'note', $5)`,
			i, random.IntN(90), fmt.Sprintf("1%04d", random.IntN(10000)), fmt.Sprint("job", random.IntN(3)), fmt.Sprint("illness", random.IntN(5)))
	}
}

// TestSpilledAudiences has transactions that are written before they end, and whose records are settled
// before, and members that have rows of their own.
func TestSpilledAudiences(t *testing.T) {
	rows, unplaced := spillRows, maxUnplaced
	spillRows, maxUnplaced = 20, 30
	t.Cleanup(func() { spillRows, maxUnplaced = rows, unplaced })
	b := newAudienceBench(t)
	random := rand.New(rand.NewPCG(3, 4))
	b.insertPeople(random, 1, 200)
	s, _ := b.run()
	for _, sql := range []string{
		"INSERT INTO people (id, age, zip, job, illness) SELECT i, i % 80, '2' || i % 900, 'job' || i % 4, 'illness' || i % 4 FROM generate_series(1000, 1300) i",
		"BEGIN; UPDATE people SET age = 90 - age WHERE id % 3 = 0; DELETE FROM people WHERE id % 7 = 1; UPDATE people SET zip = '9' || zip WHERE id % 5 = 0; COMMIT",
		"UPDATE people SET note = repeat('long ', 300) WHERE id % 11 = 0",
		"BEGIN; DELETE FROM people WHERE id > 1100; INSERT INTO people (id, age, zip, job, illness) SELECT i, i % 60, '3' || i % 700, 'job', 'illness' || i % 4 FROM generate_series(2000, 2150) i; COMMIT",
		"UPDATE people SET illness = 'illness8' WHERE id % 11 = 0",
		"DELETE FROM people WHERE id % 2 = 0",
	} {
		b.script(sql)
		b.caughtUp(s)
		b.checkStore(s)
		b.checkAudiences()
	}
}

// TestHiddenWidths: an audience cannot tell, by where packed rows end, which records have a long value in a column that it does not see.
func TestHiddenWidths(t *testing.T) {
	t.Parallel()
	b := newAudienceBench(t)
	b.insertPeople(rand.New(rand.NewPCG(5, 6)), 1, 300)
	b.exec("UPDATE people SET illness = illness || repeat('x', 1000) WHERE id % 11 = 0")
	s, stop := b.run()
	check := func() {
		t.Helper()
		b.caughtUp(s)
		b.checkStore(s)
		b.checkAudiences()
		alone := func(name string) int {
			return scanned[int](b, "SELECT count(*) FROM "+storeTable(name, int64(b.generationOf("people"))).SQL()+" WHERE cardinality(kproxy_members) = 1")
		}
		wide := scanned[int](b, "SELECT count(*) FROM people WHERE length(illness) > 1000")
		if seen, hidden := alone("packed_partners"), alone("packed_public"); seen != wide || hidden != 0 {
			t.Errorf("of %d wide members, %d have rows of their own where they are seen, and %d where not", wide, seen, hidden)
		}
	}
	check()
	for _, sql := range []string{
		"UPDATE people SET age = age + 7 WHERE id % 17 = 3",
		"UPDATE people SET illness = illness || repeat('x', 1000) WHERE id % 13 = 0 AND id % 11 <> 0",
		"UPDATE people SET age = 95 - age WHERE id % 2 = 0",
	} {
		b.exec(sql)
		check()
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, _ = b.run()
	b.exec("UPDATE people SET age = age + 3 WHERE id % 5 = 3")
	check()
}

// TestHiddenWidthsDoNotOrder: an audience cannot tell, by the order of rows, which classes have a long value in a column that it
// does not see.
func TestHiddenWidthsDoNotOrder(t *testing.T) {
	t.Parallel()
	b := audienceBench(t, func(p *catalog.TablePolicy) {
		for i, c := range p.Columns {
			if c.Name == "mood" || c.Name == "ward" {
				p.Columns[i].Role = catalog.Identifying // members with their types would be in no memory
			}
		}
	})
	b.insertPeople(rand.New(rand.NewPCG(7, 8)), 1, 3000)
	b.exec("UPDATE people SET illness = illness || repeat('x', 1000) WHERE id % 140 = 0")
	s, _ := b.run()
	b.caughtUp(s)
	// Of twenty classes in random order, sixteen lie in the last third once in a million runs.
	var classes, wide, last int
	b.scan([]any{&classes, &wide, &last}, fmt.Sprintf(`SELECT count(*), count(*) FILTER (WHERE wide), count(*) FILTER (WHERE wide AND late) FROM
		(SELECT bool_or(length(r.illness) > 1000) AS wide, cume_dist() OVER (ORDER BY max(p.ctid)) > 2 / 3.0 AS late
		FROM %s AS r JOIN %s AS p USING (kproxy_class) GROUP BY kproxy_class) AS c`,
		storeTable("records_public", int64(b.generationOf("people"))).SQL(), storeTable("packed_public", int64(b.generationOf("people"))).SQL()))
	if wide < 15 || classes < 3*wide {
		t.Fatalf("of %d classes, %d have wide members: too many or too few to tell", classes, wide)
	}
	if 5*last >= 4*wide {
		t.Errorf("of %d classes with wide members, %d are in the last third", wide, last)
	}
}

// TestAudiences: releases of audiences follow every kind of change, a restart and a removal, in the
// same transactions as the table's own.
func TestAudiences(t *testing.T) {
	t.Parallel()
	b := newAudienceBench(t)
	random := rand.New(rand.NewPCG(1, 2))
	insert := func(from, to int) { b.insertPeople(random, from, to) }
	insert(1, 300)
	s, stop := b.run()
	b.caughtUp(s)
	b.checkStore(s)
	b.checkAudiences()
	if groups := b.releases(); len(groups[1]) < 5 || len(groups[2]) < 2 || len(groups[0]) <= len(groups[1]) {
		t.Errorf("there are %d classes, and %d and %d groups", len(groups[0]), len(groups[1]), len(groups[2]))
	}
	if status := s.Status().Tables[catalog.Name{Schema: "public", Relation: "people"}].Audiences; status["partners"].Classes == 0 || status["public"].Reason != "" {
		t.Errorf("the status is %+v", status)
	}
	columns := scanned[string](b, "SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'kproxy_audience_public_public.people'::regclass")
	if strings.Contains(columns, "zip") || strings.Contains(columns, "illness") || !strings.Contains(columns, "age") {
		t.Errorf("the public sees %s", columns)
	}
	change := func() {
		for _, sql := range []string{
			"UPDATE people SET age = age + 7 WHERE id % 17 = 3",
			"DELETE FROM people WHERE id % 13 = 5",
			"UPDATE people SET note = 'changed', illness = 'illness9' WHERE id % 19 = 1",
			"DELETE FROM people WHERE age > 80",
		} {
			b.exec(sql)
			b.caughtUp(s)
			b.checkAudiences()
		}
		from := scanned[int](b, "SELECT max(id) + 1 FROM people")
		insert(from, from+80)
		b.caughtUp(s)
		b.checkStore(s)
		b.checkAudiences()
	}
	change()
	before := b.releases()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, stop = b.run()
	b.caughtUp(s)
	if after := b.releases(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("a restart changes releases")
	}
	change()
	b.exec("TRUNCATE people")
	insert(1, 100)
	b.caughtUp(s)
	b.checkStore(s)
	b.checkAudiences()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// TestVerifierRefusesSpoiledAudiences: a record that lies in another group than its class is found, and
// only there.
func TestVerifierRefusesSpoiledAudiences(t *testing.T) {
	t.Parallel()
	b := newAudienceBench(t)
	b.insertPeople(rand.New(rand.NewPCG(5, 6)), 1, 200)
	s, stop := b.run()
	b.caughtUp(s)
	b.checkStore(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	partners := storeTable("packed_partners", int64(b.generationOf("people"))).SQL()
	b.exec(fmt.Sprintf(`WITH two AS (SELECT min(kproxy_class) AS one, max(kproxy_class) AS other FROM %[1]s),
		taken AS (UPDATE %[1]s p SET kproxy_members = kproxy_members[2:] FROM two, (SELECT p.kproxy_members[1:1] AS first, p.kproxy_class, p.kproxy_section FROM %[1]s p, two WHERE kproxy_class = one LIMIT 1) f
			WHERE p.kproxy_class = f.kproxy_class AND p.kproxy_section = f.kproxy_section RETURNING f.first)
		UPDATE %[1]s p SET kproxy_members = kproxy_members || taken.first FROM two, taken WHERE p.kproxy_class = two.other
			AND p.kproxy_section = (SELECT min(kproxy_section) FROM %[1]s WHERE kproxy_class = two.other)`, partners))
	report, err := verify.Run(t.Context(), connectTo(t, b.store().Config().ConnString()), b.config.Tables, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	people := report[slices.IndexFunc(report, func(r verify.TableReport) bool { return r.Table == "public.people" })]
	if slices.ContainsFunc(people.Checks, func(c verify.Check) bool { return !c.Passed }) {
		t.Errorf("the table's own release is refused: %+v", people.Checks)
	}
	unions := people.Audiences[0].Checks[len(people.Audiences[0].Checks)-1]
	if unions.Name != "classes are unions of the finer ones" || unions.Passed || report.Passed() {
		t.Errorf("it says %+v", people.Audiences[0])
	}
}

// TestPromisesToAudiences: whatever audiences are promised, the table's own readers read on. So does an audience that sees the
// same as before and is promised no more; one that is promised more does where any release may stand.
func TestPromisesToAudiences(t *testing.T) {
	t.Parallel()
	of := func(audiences ...catalog.AudiencePolicy) promise {
		p := catalog.Publication{Policy: catalog.TablePolicy{Constraints: []privacy.Spec{{Model: privacy.K, K: 5}}, Audiences: audiences}}
		p.Columns = []catalog.PublishedColumn{{Name: "age", Source: "age"}, {Name: "zip", Source: "zip"}}
		p.Policy.Columns = []catalog.ColumnPolicy{{Name: "age"}, {Name: "zip"}}
		made, err := promiseOf(p)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	partners := func(k int, hidden ...string) catalog.AudiencePolicy {
		return catalog.AudiencePolicy{Audience: "partners", Constraints: []privacy.Spec{{Model: privacy.K, K: k}}, Hidden: hidden}
	}
	press := catalog.AudiencePolicy{Audience: "press", Constraints: []privacy.Spec{{Model: privacy.K, K: 100}}}
	const both = "partners press"
	for name, c := range map[string]struct {
		kept, wanted promise
		strong, any  string // audiences
	}{
		"the same":             {of(partners(25)), of(partners(25)), "partners", "partners"},
		"none, then one":       {of(), of(partners(25)), "", ""},
		"a further one":        {of(partners(25)), of(partners(25), press), "partners", "partners"},
		"a smaller k":          {of(partners(25)), of(partners(20)), "partners", "partners"},
		"a greater k":          {of(partners(25)), of(partners(30)), "", "partners"},
		"a greater k of one":   {of(partners(25), press), of(partners(30), press), "press", both},
		"more than the next":   {of(partners(25), press), of(partners(150), press), "", both},
		"one is removed":       {of(partners(25), press), of(partners(25)), "partners", "partners"},
		"a hidden column":      {of(partners(25)), of(partners(25, "zip")), "", ""},
		"a shown one":          {of(partners(25, "zip")), of(partners(25)), "", ""},
		"other columns of one": {of(partners(25), press), of(partners(25, "zip"), press), "press", "press"},
	} {
		for by, want := range map[Superseded]string{KeepStrong: c.strong, KeepAny: c.any} {
			if !c.kept.mayStand(c.wanted, by) {
				t.Errorf("%s, superseded %d: the table's own readers have nothing", name, by)
			}
			if got := strings.Join(c.kept.standing(c.wanted, by), " "); got != want {
				t.Errorf("%s, superseded %d: %q read on, not %q", name, by, got, want)
			}
			var all []string
			for _, a := range c.kept.Audiences {
				all = append(all, a.Name)
			}
			if got := slices.Sorted(slices.Values(slices.Concat(c.kept.standing(c.wanted, by), c.kept.overtaken(c.wanted, by)))); !slices.Equal(got, all) {
				t.Errorf("%s, superseded %d: %v read on or do not, of %v", name, by, got, all)
			}
		}
		if c.kept.mayStand(c.wanted, KeepNone) {
			t.Errorf("%s: it stands where none may", name)
		}
	}
}

// TestAChangedAudienceTakesNothingFromOthers changes what one audience is promised, or sees: until the new release is ready it
// has nothing, and the table's own readers and the other audience have what they had.
func TestAChangedAudienceTakesNothingFromOthers(t *testing.T) {
	t.Parallel()
	b := newAudienceBench(t)
	b.insertPeople(rand.New(rand.NewPCG(6, 7)), 1, 400)
	people := b.config.Tables[0].Policy.Table
	var published atomic.Pointer[live]
	during := make(chan TableStatus, 1)
	var view atomic.Int64
	b.config.Failpoint = func(name string) {
		l := published.Load()
		if l == nil {
			return
		}
		switch name {
		case FailRecordsFilled:
			during <- l.Status().Tables[people]
		case FailAfterJoin:
			view.Store(int64(scanned[int](b, "SELECT 4 * count(to_regclass('kproxy_release_public.people')) + 2 * count(to_regclass('kproxy_audience_partners_public.people')) + count(to_regclass('kproxy_audience_public_public.people')) FROM (SELECT) x")))
		}
	}
	l := b.start()
	l.inStep()
	published.Store(l)
	sees := func(s TableStatus) string {
		var names []string
		for name := range s.Audiences {
			names = append(names, name)
		}
		slices.Sort(names)
		return fmt.Sprint(s.State, " ", names)
	}
	for _, c := range []struct {
		name   string
		change func(*catalog.TablePolicy)
		want   string
		views  int64
	}{
		{"more for partners", func(p *catalog.TablePolicy) {
			p.Audiences[0].Constraints = []privacy.Spec{{Model: privacy.K, K: 4 * testK}}
		}, "published [public]", 5},
		{"less for both", func(p *catalog.TablePolicy) {
			p.Audiences[0].Constraints = []privacy.Spec{{Model: privacy.K, K: 3 * testK}}
			p.Audiences[1].Constraints = []privacy.Spec{{Model: privacy.K, K: 8 * testK}}
		}, "published [partners public]", 7},
		{"other columns for the public", func(p *catalog.TablePolicy) { p.Audiences[1].Hidden = []string{"illness"} }, "published [partners]", 6},
	} {
		before := b.generationOf("people")
		changed := slices.Clone(b.config.Tables)
		policy := &changed[0].Policy
		policy.Audiences = slices.Clone(policy.Audiences)
		c.change(policy)
		b.config.Tables = changed
		l.Reload(changed)
		at := l.Status().Tables[people]
		b.exec("UPDATE people SET age = age + 1 WHERE id < 20")
		then := <-during
		l.eventually("the release of the changed policy is shown", func() bool {
			s := l.Status().Tables[people]
			return s.State == Published && !s.Preparing && b.generationOf("people") > before
		})
		if sees(at) != c.want || sees(then) != c.want || !then.Preparing {
			t.Errorf("%s: %s at once, and %s while the release is made; %s expected", c.name, sees(at), sees(then), c.want)
		}
		if got := view.Load(); got != c.views {
			t.Errorf("%s: of the views, these were there before the new ones: %b, not %b", c.name, got, c.views)
		}
		if got := sees(l.Status().Tables[people]); got != "published [partners public]" {
			t.Errorf("%s: then %s", c.name, got)
		}
	}
}

// TestStatusOfAudiences: while a generation catches up, what the store tells of audiences is of it, and not of
// the one that they see.
func TestStatusOfAudiences(t *testing.T) {
	t.Parallel()
	g := generation{number: 4, audiences: `{"partners":{"Classes":2}}`}
	if got := g.status(true, true).Audiences; got["partners"].Classes != 2 {
		t.Errorf("it is %+v", got)
	}
	g.shows, g.previous = 9, 3
	if got := g.status(true, true).Audiences; got != nil {
		t.Errorf("while it catches up it is %+v", got)
	}
}
