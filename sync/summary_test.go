package sync

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// summarizedPolicy has a stored summary of one table, of people in small classes and of many in one.
func summarizedPolicy(summary catalog.SummaryForm) catalog.Policy {
	of := catalog.TablePolicy{
		Table: catalog.Name{Schema: "public", Relation: "folk"}, Method: "rounded-partition", Summary: summary,
		Constraints: sizeOnly(3).Constraints, Updates: catalog.Updates{Mode: catalog.Immediate}, Joinable: []string{"id", "cost"},
		Columns: []catalog.ColumnPolicy{
			{Name: "age", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}, Publish: catalog.FormBoth},
			{Name: "id", Role: catalog.Insensitive},
			{Name: "cost", Role: catalog.Insensitive},
			{Name: "Odd \"n\"", Role: catalog.Insensitive},
			{Name: "visits", Role: catalog.Insensitive},
			{Name: "points", Role: catalog.Insensitive},
			{Name: "mark", Role: catalog.Insensitive},
			{Name: "illness", Role: catalog.Insensitive},
		},
	}
	return catalog.Policy{Tables: []catalog.TablePolicy{of}}
}

const folkTable = `CREATE DOMAIN grade AS int CHECK (VALUE < 100); CREATE TABLE folk (id bigint PRIMARY KEY, age int, cost numeric(8,2), "Odd ""n""" smallint, visits int, points numeric, mark grade, illness text)`

// insertFolk inserts people with numbers from a sequence: half of them are 40 years old.
func (b *bench) insertFolk(r *rand.Rand, from, n int) {
	b.t.Helper()
	b.exec(`INSERT INTO folk SELECT i, CASE WHEN i % 2 = 0 THEN 40 ELSE (i * 7919) % 90 END, nullif(i % 500, 7) * 1.25, i % 100 - 50, nullif(i % 30, 3), (ARRAY[1.5, 1.500, 'NaN', NULL, 'Infinity', -2])[1 + i % 6], i % 9,
		repeat('x', CASE WHEN i % 17 = $3::int THEN 900 ELSE i % 9 END) FROM generate_series($1::int, $1::int + $2::int - 1) i`, from, n, r.IntN(30))
}

// changeFolk makes a change or many.
func (b *bench) changeFolk(r *rand.Rand, next *int) {
	b.t.Helper()
	switch some := 1 + r.IntN(5)*r.IntN(5); r.IntN(8) {
	case 0, 1:
		b.insertFolk(r, *next, some)
		*next += some
	case 2:
		b.exec("DELETE FROM folk WHERE id % 37 = $1::int", r.IntN(37))
	case 3:
		b.exec("UPDATE folk SET age = (age + 11) % 90 WHERE id % 29 = $1::int", r.IntN(29))
	case 4:
		b.exec("UPDATE folk SET illness = repeat('y', 1 + (id % 3)::int * 400) WHERE id % 31 = $1::int", r.IntN(31))
	case 5:
		b.exec("UPDATE folk SET cost = cost + 0.5, points = points * 1.1, visits = NULL WHERE id % 3 = $1::int", r.IntN(3))
	case 6:
		b.exec("UPDATE folk SET visits = $1::int WHERE id = (SELECT max(id) FROM folk)", r.IntN(50))
	default:
		if r.IntN(4) > 0 {
			return
		}
		b.exec("BEGIN")
		b.exec("TRUNCATE folk")
		b.insertFolk(r, *next, 300)
		*next += 300
		b.exec("COMMIT")
	}
}

// isStored tells whether the summary that readers are shown has sums.
func (b *bench) isStored() bool {
	b.t.Helper()
	return scanned[bool](b, "SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2)", catalog.Classes(catalog.Name{Schema: "public", Relation: "folk"}).SQL(), catalog.KnownColumn("cost"))
}

// checkSummary compares the summary, as the reader sees it, with what the published table is summed up to, and the store's rows with the packed ones.
func (b *bench) checkSummary(stored bool) {
	b.t.Helper()
	view := catalog.Classes(catalog.Name{Schema: "public", Relation: "folk"}).SQL()
	summed := []string{"sum(kproxy_count)"}
	asked := []string{"count(*)"}
	if stored {
		for _, name := range []string{"id", "cost", `Odd "n"`, "visits", "points"} {
			summed = append(summed, fmt.Sprintf("sum(%s), sum(%s)", catalog.KnownColumn(name), catalog.SumColumn(name)))
			asked = append(asked, fmt.Sprintf("count(%[1]s), sum(%[1]s)::numeric", catalog.QuoteIdentifier(name)))
			if name != "points" {
				summed = append(summed, fmt.Sprintf("min(%s), max(%s)", catalog.LeastColumn(name), catalog.GreatestColumn(name)))
				asked = append(asked, fmt.Sprintf("min(%[1]s), max(%[1]s)", catalog.QuoteIdentifier(name)))
			}
		}
	}
	ask := func(what, from string) string {
		return scanned[string](b, fmt.Sprintf("SELECT coalesce(string_agg(r::text, E'\\n' ORDER BY r::text), '') FROM (SELECT age, age_range, %s FROM %s GROUP BY age, age_range) AS r", what, from))
	}
	if got, want := ask(strings.Join(summed, ", "), view), ask(strings.Join(asked, ", "), "kproxy_release_public.folk"); got != want {
		b.t.Fatalf("the summary is\n%s\nand the release is summed up to\n%s", got, want)
	}
	if n := scanned[int](b, "SELECT count(*) FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = $2", view, catalog.KnownColumn("mark")); n > 0 {
		b.t.Error("there are sums of a domain's values")
	}
	generation := b.generationOf("folk")
	table := fmt.Sprintf("kproxy_store.summary_%d", generation)
	if there := scanned[bool](b, "SELECT to_regclass($1) IS NOT NULL", table); there != stored {
		b.t.Fatalf("that %s is there is %v", table, there)
	}
	if !stored {
		return
	}
	differ := scanned[int](b, fmt.Sprintf("SELECT count(*) FROM (SELECT kproxy_class, kproxy_section, kproxy_count, count(*) FROM %s GROUP BY 1, 2, 3) s FULL JOIN (SELECT kproxy_class, kproxy_section, cardinality(kproxy_members), count(*) FROM kproxy_store.packed_%d GROUP BY 1, 2, 3) p ON s::text = p::text WHERE s IS NULL OR p IS NULL", table, generation))
	if differ > 0 {
		b.t.Fatalf("%d rows of the summary and packed rows are not of the same sections", differ)
	}
	if n := scanned[int](b, "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname ~ '^summary_'"); n != 1 {
		b.t.Errorf("there are %d stored summaries", n)
	}
	if !scanned[bool](b, "SELECT has_table_privilege($1, $2, 'SELECT') AND NOT has_table_privilege($1, $3, 'SELECT')", b.config.Reader, view, table) {
		b.t.Error("the reader may not read the summary's view, or may read its table")
	}
}

// TestStoredSummaryFollows has a stored summary follow random changes, restarts, crashes, reloads that turn it off and on, and new
// generations.
func TestStoredSummaryFollows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 0))
			stored := seed == 0
			form := func() catalog.SummaryForm {
				if stored {
					return catalog.SummaryStored
				}
				return catalog.SummaryView
			}
			b := newBenchOf(t, pgtest.Shared(t), folkTable, summarizedPolicy(form()))
			b.insertFolk(r, 1, 500)
			next := 501
			s, stop := b.run()
			for round := range 24 {
				for range 8 {
					b.changeFolk(r, &next)
				}
				b.caughtUp(s)
				b.checkSummary(stored)
				switch round % 6 {
				case 1: // a restart, with changes meanwhile
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					b.changeFolk(r, &next)
					s, stop = b.run()
				case 3: // a reload
					stored = !stored
					b.config.Tables = b.publications(summarizedPolicy(form()), b.config.Reader)
					s.Reload(b.config.Tables)
					b.exec("UPDATE folk SET visits = 1 WHERE id = (SELECT min(id) FROM folk)")
					await(t, "the summary is the other one", func() bool { return b.isStored() == stored })
				case 5:
					before := b.generationOf("folk")
					if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
						t.Fatal(err)
					}
					b.changeFolk(r, &next)
					await(t, "the table is published afresh", func() bool {
						return b.generationOf("folk") > before && scanned[bool](b, "SELECT bool_and(shows IS NULL) FROM kproxy_store.generation")
					})
				}
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
