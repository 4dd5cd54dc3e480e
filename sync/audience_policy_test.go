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

// newPolicyBench is a bench whose policy of people for two audiences is changed.
func newPolicyBench(t *testing.T, change func(people *catalog.TablePolicy)) *bench {
	t.Helper()
	server := pgtest.Shared(t)
	b := &bench{t: t, dsn: pgtest.Database(t, server)}
	b.source = b.connect()
	b.exec(sourceTables)
	policy := audiencePolicy(scanned[string](b, "SELECT current_database()"))
	change(&policy.Tables[0])
	return b.provide(server, policy)
}

// seen are the rows of the view that readers of a schema have, in order; columns are those of the view.
func (b *bench) seen(schema string) (columns string, rows string) {
	b.t.Helper()
	columns = scanned[string](b, "SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND attrelid = '"+schema+".people'::regclass")
	return columns, scanned[string](b, "SELECT string_agg(p::text, '|' ORDER BY p::text) FROM "+schema+".people p")
}

const (
	ownSchema      = "kproxy_release_public"
	partnersSchema = "kproxy_audience_partners_public"
	publicSchema   = "kproxy_audience_public_public"
)

// TestReservedColumns: columns that only audiences see follow every kind of change, keep the table's
// constraints in the classes of readers who do not see them, and change nothing of what these see.
func TestReservedColumns(t *testing.T) {
	t.Parallel()
	b := newPolicyBench(t, func(people *catalog.TablePolicy) {
		people.Hidden = []string{"illness", "note", "born"}
		people.Constraints = append(people.Constraints, privacy.Spec{Model: privacy.AlphaK, Alpha: 0.8, Of: "illness"})
		people.Audiences[0].Hidden = []string{"note", "born"}
		people.Audiences[1].Constraints = []privacy.Spec{{Model: privacy.K, K: 9 * testK}}
		people.Audiences[1].Hidden = []string{"zip", "illness"}
	})
	b.insertPeople(rand.New(rand.NewPCG(7, 8)), 1, 300)
	s, stop := b.run()
	b.caughtUp(s)
	b.checkStore(s)
	b.checkAudiences()
	for schema, want := range map[string]string{
		ownSchema: "ward tags age", partnersSchema: "ward illness", publicSchema: "note born born_range",
	} {
		columns, _ := b.seen(schema)
		for _, name := range strings.Fields(want) {
			if !strings.Contains(" "+columns+" ", " "+name+" ") {
				t.Errorf("%s does not show %s, but %s", schema, name, columns)
			}
		}
	}
	columns, before := b.seen(ownSchema)
	for _, name := range []string{"illness", "note", "born"} {
		if strings.Contains(columns, name) {
			t.Errorf("the table's own readers see %s", columns)
		}
	}
	_, partners := b.seen(partnersSchema)
	_, public := b.seen(publicSchema)
	b.exec("UPDATE people SET note = 'note of ' || id")
	b.caughtUp(s)
	b.checkStore(s)
	if _, after := b.seen(ownSchema); after != before {
		t.Error("a change of a hidden column changes what the table's own readers see")
	}
	if _, after := b.seen(partnersSchema); after != partners {
		t.Error("a change of a hidden column changes what an audience sees that does not see it")
	}
	if _, after := b.seen(publicSchema); after == public {
		t.Error("an audience does not see a change of a column that it sees")
	}
	for _, sql := range []string{
		"UPDATE people SET age = age + 7, illness = 'illness7' WHERE id % 17 = 3",
		"UPDATE people SET born = '1990-02-03' WHERE id % 5 = 3",
		"DELETE FROM people WHERE id % 13 = 5",
		"UPDATE people SET note = repeat('long ', 300) WHERE id % 11 = 0",
		"INSERT INTO people (id, age, zip, job, illness, born) SELECT i, i % 80, '2' || i % 900, 'job' || i % 4, 'illness' || i % 4, '1970-01-01'::date + i FROM generate_series(1000, 1100) i",
	} {
		b.exec(sql)
		b.caughtUp(s)
		b.checkStore(s)
		b.checkAudiences()
	}
	releases := fmt.Sprint(b.releases())
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, stop = b.run()
	b.caughtUp(s)
	b.checkStore(s)
	if fmt.Sprint(b.releases()) != releases {
		t.Error("a restart changes releases")
	}
	b.exec("DELETE FROM people WHERE age > 60")
	b.caughtUp(s)
	b.checkStore(s)
	b.checkAudiences()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.exec("UPDATE " + storeTable("stored", int64(b.generationOf("people"))).SQL() + " SET illness = 'the same'")
	if got := b.failedChecks("public.people"); got != "distinct 2-diversity of illness, with hidden columns; (0.8,k)-anonymity of illness, with hidden columns" {
		t.Errorf("of hidden columns it says %q", got)
	}
}

// failedChecks are the names of the checks by which verify finds that a table is not as it should be.
func (b *bench) failedChecks(table string) string {
	b.t.Helper()
	report, err := verify.Run(b.t.Context(), connectTo(b.t, b.store().Config().ConnString()), b.config.Tables, verify.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	place := slices.IndexFunc(report, func(r verify.TableReport) bool { return r.Table == table })
	var failed []string
	for _, check := range report[place].Checks {
		if !check.Passed {
			failed = append(failed, check.Name)
		}
	}
	return strings.Join(failed, "; ")
}

// coarserPolicy has the audiences see columns coarser, in each kind of hierarchy that has limits, and in other forms.
func coarserPolicy(people *catalog.TablePolicy) {
	value, ranged := catalog.FormValue, catalog.FormRange
	for i, c := range people.Columns {
		if c.Name == "job" {
			people.Columns[i].Hierarchy = &hierarchy.Spec{Kind: hierarchy.Categorical, Taxonomy: []hierarchy.Node{
				{Label: "work", Children: []hierarchy.Node{{Label: "easy", Children: []hierarchy.Node{{Label: "job0"}, {Label: "job1"}}}, {Label: "job2"}}}, {Label: "job3"},
			}}
		}
	}
	people.Audiences[0].Columns = []catalog.AudienceColumn{
		{Name: "age", Limits: hierarchy.Coarseness{Steps: []float64{10, 50, 100}}, Publish: &ranged},
		{Name: "weight", Publish: &value},
		{Name: "born", Limits: hierarchy.Coarseness{Units: []hierarchy.Unit{hierarchy.Year, hierarchy.Century}}},
		{Name: "zip", Limits: hierarchy.Coarseness{Keep: []int{3, 1}}},
		{Name: "job", Limits: hierarchy.Coarseness{Depth: 2}},
	}
	people.Audiences[1].Hidden = []string{"illness"}
	people.Audiences[1].Columns = []catalog.AudienceColumn{
		{Name: "age", Limits: hierarchy.Coarseness{Steps: []float64{50, 100}}},
		{Name: "zip", Limits: hierarchy.Coarseness{Keep: []int{1}}},
		{Name: "job", Limits: hierarchy.Coarseness{Depth: 1}},
	}
}

// coarseLabels says, of columns that audiences see coarser, what no label may be.
var coarseLabels = map[string][]string{
	partnersSchema: {
		"upper(age) - lower(age) NOT IN (10, 50, 100) OR lower(age)::int % 10 <> 0", "born_range <> daterange(date_trunc('year', lower(born_range))::date, upper(born_range)) AND born_range IS NOT NULL",
		"rtrim(zip, '*') ~ '^(..|....+)$'", "job NOT IN ('work', 'easy', 'job2', 'job3', '*')",
	},
	publicSchema: {"upper(age) - lower(age) NOT IN (50, 100) OR lower(age)::int % 50 <> 0", "length(rtrim(zip, '*')) > 1", "job NOT IN ('work', 'job3', '*')"},
}

// checkCoarseLabels holds what audiences see against their limits.
func (b *bench) checkCoarseLabels() {
	b.t.Helper()
	for schema, forbidden := range coarseLabels {
		for _, condition := range forbidden {
			if n := scanned[int](b, "SELECT count(*) FROM "+schema+".people WHERE "+condition); n > 0 {
				b.t.Errorf("%d rows of %s are such that %s", n, schema, condition)
			}
		}
	}
}

// checkCoarser holds what audiences see against their limits, and against what finer readers see: each label covers
// the labels of all classes that are united.
func (b *bench) checkCoarser() {
	b.t.Helper()
	b.checkCoarseLabels()
	generation := int64(b.generationOf("people"))
	packed := func(name string) string {
		return "(SELECT p.*, m.kproxy_record FROM " + storeTable(name, generation).SQL() + " p, unnest(p.kproxy_members) m)"
	}
	for _, pair := range [][3]string{
		{"packed_partners", "packed", "c.age @> f.age_range AND c.born_range @> f.born_range AND starts_with(f.zip, rtrim(c.zip, '*'))"},
		{"packed_public", "packed_partners", "c.age @> f.age AND starts_with(f.zip, rtrim(c.zip, '*')) AND (c.job = f.job OR c.job = '*' OR c.job = 'work' AND f.job IN ('easy', 'job2'))"},
	} {
		if n := scanned[int](b, fmt.Sprintf("SELECT count(*) FROM %s c JOIN %s f USING (kproxy_record) WHERE NOT (%s)", packed(pair[0]), packed(pair[1]), pair[2])); n > 0 {
			b.t.Errorf("%d records of %s have labels that do not cover those of %s", n, pair[0], pair[1])
		}
	}
}

// TestCoarserAudiences: what audiences see is as coarse as the policy says and covers what finer readers see, after
// every kind of change and a restart.
func TestCoarserAudiences(t *testing.T) {
	t.Parallel()
	b := newPolicyBench(t, coarserPolicy)
	b.insertPeople(rand.New(rand.NewPCG(9, 8)), 1, 400)
	b.exec("UPDATE people SET born = '1950-01-01'::date + id::int % 3 * 370")
	s, stop := b.run()
	check := func() {
		b.t.Helper()
		b.caughtUp(s)
		b.checkStore(s)
		b.checkAudiences()
		b.checkCoarser()
	}
	check()
	for schema, want := range map[string]string{ownSchema: "integer int4range", partnersSchema: "int4range", publicSchema: "int4range"} {
		got := scanned[string](b, "SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute WHERE attname ~ '^age' AND attrelid = '"+schema+".people'::regclass")
		if got != want {
			t.Errorf("%s shows ages as %s, not %s", schema, got, want)
		}
	}
	if n := scanned[int](b, "SELECT count(DISTINCT (age, zip, job, born)) FROM "+partnersSchema+".people WHERE age IS NOT NULL"); n < 5 {
		t.Errorf("partners see %d different labels, which tests little", n)
	}
	for _, sql := range []string{
		"UPDATE people SET age = age + 7, zip = '2' || zip WHERE id % 17 = 3",
		"UPDATE people SET born = '1990-02-03', job = 'job' || id % 5 WHERE id % 5 = 3",
		"DELETE FROM people WHERE id % 13 = 5",
		"INSERT INTO people (id, age, weight, zip, job, illness, born) SELECT i, i % 80, 60 + i % 40, '2' || i % 900, 'job' || i % 4, 'illness' || i % 4, '1970-01-01'::date + i FROM generate_series(1000, 1150) i",
		"UPDATE people SET age = NULL WHERE id % 100 = 7",
	} {
		b.exec(sql)
		check()
	}
	releases := fmt.Sprint(b.releases())
	_, partners := b.seen(partnersSchema)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, stop = b.run()
	check()
	if _, after := b.seen(partnersSchema); fmt.Sprint(b.releases()) != releases || after != partners {
		t.Error("a restart changes releases")
	}
	b.exec("DELETE FROM people WHERE age > 60")
	check()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}
