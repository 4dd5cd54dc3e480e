package sync

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// visits is a table of visits, in which persons come several times.
const visits = `CREATE TABLE %s (id int PRIMARY KEY, person text, age int, zip text, sex text, job text, illness text, cost numeric);`

// visitsPolicy protects a table of visits.
func visitsPolicy(table, method, subject string, constraints ...privacy.Spec) catalog.TablePolicy {
	qi := func(name string, kind hierarchy.Kind) catalog.ColumnPolicy {
		return catalog.ColumnPolicy{Name: name, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: kind}}
	}
	cost := catalog.ColumnPolicy{Name: "cost", Role: catalog.Sensitive}
	for _, c := range constraints {
		if c.Distance != privacy.EqualDistance {
			cost.Hierarchy = &hierarchy.Spec{Kind: hierarchy.Numeric}
		}
	}
	return catalog.TablePolicy{
		Table: catalog.Name{Schema: "public", Relation: table}, Method: method, Updates: catalog.Updates{Mode: catalog.Immediate}, Subject: subject, Constraints: constraints, Suppression: 0.05,
		Columns: []catalog.ColumnPolicy{
			qi("age", hierarchy.Numeric), qi("zip", hierarchy.Prefix), qi("sex", hierarchy.Categorical), qi("job", hierarchy.Categorical),
			{Name: "illness", Role: catalog.Sensitive},
			cost,
		},
	}
}

var (
	ofSize  = privacy.Spec{Model: privacy.K, K: 3}
	homes   = privacy.Spec{Model: privacy.K, K: 4, Over: []string{"age", "zip"}}
	persons = privacy.Spec{Model: privacy.K, K: 3, Over: []string{"sex", "job"}}
	joined  = privacy.Spec{Model: privacy.K, K: 2, Over: []string{"zip", "sex"}}
)

// models are the constraints beside the size that a live table can have.
var models = map[string][]privacy.Spec{
	"distinct":      {{Model: privacy.DistinctL, L: 3, Of: "illness"}},
	"entropy":       {{Model: privacy.EntropyL, L: 2, Of: "illness"}},
	"recursive":     {{Model: privacy.RecursiveCL, L: 2, C: 3, Of: "illness"}},
	"alpha":         {{Model: privacy.AlphaK, Alpha: 0.6, Of: "illness"}},
	"alpha_one":     {{Model: privacy.AlphaK, Alpha: 0.5, Of: "illness", Values: []string{"flu"}}},
	"closeness":     {{Model: privacy.TClose, T: 0.4, Of: "illness"}},
	"ordered":       {{Model: privacy.TClose, T: 0.3, Of: "cost", Distance: privacy.OrderedDistance}},
	"likeness":      {{Model: privacy.BetaLike, Beta: 2, Of: "illness"}},
	"disclosure":    {{Model: privacy.DeltaDisclosure, Delta: 2, Of: "illness"}},
	"two_sensitive": {{Model: privacy.DistinctL, L: 2, Of: "illness"}, {Model: privacy.DistinctL, L: 2, Of: "cost"}},
}

// liveTables are tables of visits with every method, every model, several
// independent parts, and persons that count once.
func liveTables() map[string]catalog.TablePolicy {
	tables := map[string]catalog.TablePolicy{}
	add := func(name, method, subject string, constraints ...privacy.Spec) {
		tables[name] = visitsPolicy(name, method, subject, constraints...)
	}
	recommended := methods.Names()[0]
	for model, specs := range models {
		add("model_"+model, recommended, "", append([]privacy.Spec{ofSize}, specs...)...)
		add("persons_"+model, recommended, "person", append([]privacy.Spec{ofSize}, specs...)...)
	}
	for _, method := range methods.Names() {
		short := strings.ReplaceAll(method, "-", "_")
		add("method_"+short, method, "", ofSize)
		add("parts_"+short, method, "", homes, persons)
	}
	longer := visitsPolicy("effort_good", "lookahead-partition", "", ofSize, models["distinct"][0])
	longer.Effort = anonymizer.Good
	tables["effort_good"] = longer
	add("sizes", recommended, "", homes, persons, joined)
	add("parts_persons", recommended, "person", homes, persons, over(models["alpha"][0], homes), over(models["closeness"][0], homes), over(models["alpha"][0], persons))
	add("parts_diverse", recommended, "", homes, persons, over(models["distinct"][0], homes), over(models["closeness"][0], persons), over(models["likeness"][0], homes))
	add("sizes_diverse", recommended, "", homes, persons, models["distinct"][0])
	return tables
}

// over is the constraint over the columns of another one.
func over(c, other privacy.Spec) privacy.Spec {
	c.Over = other.Over
	return c
}

func newLiveBench(t *testing.T, tables map[string]catalog.TablePolicy, rows int) *bench {
	t.Helper()
	var setup strings.Builder
	setup.WriteString("SELECT setseed(0.3);")
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		fmt.Fprintf(&setup, visits, name)
		fmt.Fprintf(&setup, `INSERT INTO %s SELECT %s FROM generate_series(1, %d) i;`, name, visit("i"), rows)
	}
	b := &bench{t: t, dsn: pgtest.Database(t, pgtest.Shared(t))}
	b.source = b.connect()
	if _, err := b.source.Exec(t.Context(), setup.String(), pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	relations, err := inspect.Relations(t.Context(), b.source, "postgres")
	if err != nil {
		t.Fatal(err)
	}
	var policy catalog.Policy
	for _, r := range relations {
		table, ours := tables[r.Name.Relation]
		if !ours {
			continue
		}
		_, problems := catalog.Publish(table, r)
		if len(problems) == 0 {
			policy.Tables = append(policy.Tables, table)
		} else {
			t.Logf("%s is left out: %v", r.Name.Relation, problems)
		}
	}
	return b.provide(pgtest.Shared(t), policy)
}

// visit is a visit's columns by SQL; small numbers make frequent values.
func visit(id string) string {
	return fmt.Sprintf(`%s, 'p' || (random() * 150)::int, (random() * 80)::int, (10000 + (random() * 900)::int)::text,
		(ARRAY['f', 'm', NULL])[1 + (random() * random() * 3)::int %% 3], 'job ' || (random() * random() * 6)::int,
		(ARRAY['flu', 'gout', 'mumps', 'asthma'])[1 + (random() * 4)::int %% 4], round((random() * 5)::numeric, 0)`, id)
}

// revisit makes some random changes of a table in one transaction.
func (b *bench) revisit(r *rand.Rand, table string, changes int) {
	b.t.Helper()
	var sql strings.Builder
	for range changes {
		id := r.IntN(200)
		switch r.IntN(6) {
		case 0, 1:
			fmt.Fprintf(&sql, "INSERT INTO %s SELECT %s ON CONFLICT DO NOTHING;", table, visit(fmt.Sprint(id)))
		case 2:
			fmt.Fprintf(&sql, "DELETE FROM %s WHERE id BETWEEN %d AND %d;", table, id, id+r.IntN(3))
		case 3:
			fmt.Fprintf(&sql, "UPDATE %s SET age = %d, zip = '%d' WHERE id = %d;", table, r.IntN(90), 10000+r.IntN(900), id)
		case 4:
			fmt.Fprintf(&sql, "UPDATE %s SET illness = 'rare', person = 'p%d' WHERE id = %d;", table, r.IntN(60), id)
		case 5:
			fmt.Fprintf(&sql, "UPDATE %s SET illness = 'flu', cost = cost + 1 WHERE id = %d;", table, id)
		}
	}
	if _, err := b.source.Exec(b.t.Context(), sql.String(), pgx.QueryExecModeSimpleProtocol); err != nil {
		b.t.Fatal(err)
	}
}

// TestEveryModelAndMethodLive publishes a table for each method and each model,
// changes all of them, restarts in between and verifies.
func TestEveryModelAndMethodLive(t *testing.T) {
	t.Parallel()
	tables := liveTables()
	b := newLiveBench(t, tables, 130)
	r := rand.New(rand.NewPCG(5, 0))
	s, stop := b.run()
	b.checkStore(s)
	for name, status := range s.Status().Tables {
		if status.Withheld > 0 {
			t.Errorf("%s: %s", name, status.Reason)
		}
	}
	for round := range 3 {
		for _, p := range b.config.Tables {
			for range 3 {
				b.revisit(r, p.Relation.Name.Relation, 1+r.IntN(4))
			}
		}
		if round == 1 {
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			s, _ = b.run()
		}
		b.caughtUp(s)
		b.checkStore(s)
		b.checkParts()
	}
}

// checkParts counts what is published by hand: a record is published exactly if it
// has a class in every part, and classes are counted over published rows.
func (b *bench) checkParts() {
	b.t.Helper()
	for _, p := range b.config.Tables {
		table, err := newTable(p)
		if err != nil {
			b.t.Fatal(err)
		}
		var generation int64
		b.scan([]any{&generation}, "SELECT generation FROM kproxy_store.generation WHERE table_name = $1", table.layout.name().Relation)
		table.release.generation = generation
		var some, all []string
		for _, part := range table.parts {
			some, all = append(some, part.column+" IS NOT NULL"), append(all, part.column+" IS NULL")
		}
		var records, between, published int
		b.scan([]any{&records, &between, &published}, fmt.Sprintf("SELECT count(*), count(*) FILTER (WHERE NOT (%s) AND NOT (%s)), (SELECT count(*) FROM %s) FROM %s",
			strings.Join(some, " AND "), strings.Join(all, " AND "), table.release.releaseTable(), table.release.placedRecords()))
		if between > 0 {
			b.t.Errorf("%s: %d records have a class in some parts only", table.layout.name(), between)
		}
		if published != 0 && published != records {
			b.t.Errorf("%s: %d of %d records are published", table.layout.name(), published, records)
		}
		for i, part := range table.parts {
			var least int
			b.scan([]any{&least}, fmt.Sprintf("SELECT coalesce(min(n), 1000) FROM (SELECT count(*) AS n FROM %s GROUP BY %s) c", table.release.releaseTable(), part.column))
			if k := part.constraints.K(); least < k {
				b.t.Errorf("%s: a class of part %d has %d rows, %d expected", table.layout.name(), i+1, least, k)
			}
		}
	}
}

func (b *bench) scan(into []any, sql string, arguments ...any) {
	b.t.Helper()
	if err := b.source.QueryRow(b.t.Context(), sql, arguments...).Scan(into...); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

// TestOnePartInfeasible has one part lose its feasibility and regain it: nothing
// is published meanwhile, by any part, and a restart changes nothing.
func TestOnePartInfeasible(t *testing.T) {
	t.Parallel()
	few := privacy.Spec{Model: privacy.K, K: 100, Over: []string{"sex", "job"}}
	b := newLiveBench(t, map[string]catalog.TablePolicy{"visits": visitsPolicy("visits", "rounded-partition", "", homes, few)}, 120)
	s, stop := b.run()
	name := catalog.Name{Schema: "public", Relation: "visits"}
	expect := func(withheld bool) {
		t.Helper()
		b.caughtUp(s)
		b.checkStore(s)
		b.checkParts()
		status := s.Status().Tables[name]
		if all := status.Withheld == status.Records && status.Classes == 0 && status.Reason != ""; all != withheld {
			t.Fatalf("status %+v, withheld expected: %v", status, withheld)
		}
	}
	expect(false)
	b.exec("DELETE FROM visits WHERE id > 90")
	expect(true)
	b.exec("UPDATE visits SET age = 7 WHERE id < 5")
	expect(true)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, _ = b.run()
	expect(true)
	b.exec("INSERT INTO visits SELECT " + visit("i") + " FROM generate_series(200, 240) i")
	expect(false)
	b.exec("TRUNCATE visits")
	b.caughtUp(s)
	b.checkStore(s)
}
