package sync

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// axis is a table with one quasi-identifier of a type that rounds.
type axis struct {
	sqlType string
	rows    string // id, person, x, illness
	spec    hierarchy.Spec
	persons bool
}

// twoPersons are persons A and B, each with flu and with a cold, in two classes
// that satisfy the constraints alone but not as one. Further on is a crowd.
func twoPersons(first, second, crowd string) string {
	return fmt.Sprintf(`VALUES (101, 'A', %[1]s, 'flu'), (102, 'B', %[2]s, 'cold'), (103, 'A', %[2]s, 'cold'), (104, 'B', %[2]s, 'flu')
		UNION ALL SELECT i, 'P' || i, %[3]s, 's' || i FROM generate_series(1, 20) i`, first, second, crowd)
}

// alike is a range of records all at one place.
func alike(x string) string {
	return fmt.Sprintf(`SELECT i, 'P' || i, %s, 's' || i %% 3 FROM generate_series(1, 6) i`, x)
}

var axes = map[string]axis{
	"whole":   {"numeric(4,0)", twoPersons("10", "11", "1000 + i"), hierarchy.Spec{Kind: hierarchy.Numeric}, true},
	"cents":   {"numeric(10,2)", twoPersons("10.01", "10.02", "1000 + i"), hierarchy.Spec{Kind: hierarchy.Numeric}, true},
	"hundred": {"numeric(4,-2)", twoPersons("1000", "1100", "100000 + 100 * i"), hierarchy.Spec{Kind: hierarchy.Numeric}, true},
	"single":  {"real", twoPersons("16777218::real", "16777220::real", "50000000 + 64 * i"), hierarchy.Spec{Kind: hierarchy.Numeric}, true},
	"second": {
		"timestamp(0)", twoPersons("'2000-01-01 00:00:10'::timestamp", "'2000-01-01 00:00:11'", "'2000-02-01'::timestamp + i * interval '1 h'"),
		hierarchy.Spec{Kind: hierarchy.Date},
		true,
	},
	"milli": {
		"timestamptz(3)", twoPersons("'1999-01-01 00:00:10.002+00'::timestamptz", "'1999-01-01 00:00:10.001+00'", "'2000-02-01 00:00:00+00'::timestamptz + i * interval '1 h'"),
		hierarchy.Spec{Kind: hierarchy.Date},
		true,
	},
	"small_scale": {"numeric(3,5)", alike("0.00001 * i"), hierarchy.Spec{Kind: hierarchy.Numeric, Steps: []float64{0.1}}, false},
	"large_scale": {"numeric(5,-2)", alike("100 * i"), hierarchy.Spec{Kind: hierarchy.Numeric, Steps: []float64{1e8}}, false},
	"edge":        {"real", alike("99999.9::real"), hierarchy.Spec{Kind: hierarchy.Numeric, Steps: []float64{0.01}}, false},
	"half":        {"numeric(4,0)", alike("i % 2"), hierarchy.Spec{Kind: hierarchy.Numeric, Steps: []float64{1, 3}}, false},
	"last_second": {"timestamp(0)", alike("'1999-12-31 23:59:59'::timestamp"), hierarchy.Spec{Kind: hierarchy.Date, Units: []hierarchy.Unit{hierarchy.Day, hierarchy.Century}}, false},
}

// TestTypesThatRound publishes representatives alone, in types that round them:
// classes that differ in memory become one to readers.
func TestTypesThatRound(t *testing.T) {
	t.Parallel()
	var setup strings.Builder
	var policy catalog.Policy
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(axes)), func(name string) bool { return !declarable(t, axes[name].sqlType) })
	for _, name := range names {
		a := axes[name]
		fmt.Fprintf(&setup, "CREATE TABLE %[1]s (id int PRIMARY KEY, person text, x %[2]s, illness text); INSERT INTO %[1]s %[3]s;", name, a.sqlType, a.rows)
		table := catalog.TablePolicy{
			Table: catalog.Name{Schema: "public", Relation: name}, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate},
			Constraints: []privacy.Spec{{Model: privacy.K, K: 2}},
			Columns: []catalog.ColumnPolicy{
				{Name: "x", Role: catalog.QuasiIdentifying, Hierarchy: &a.spec, Publish: catalog.FormValue},
				{Name: "illness", Role: catalog.Sensitive},
			},
		}
		if a.persons {
			table.Subject = "person"
			table.Constraints = append(table.Constraints, privacy.Spec{Model: privacy.AlphaK, Alpha: 0.5, Of: "illness"})
		}
		policy.Tables = append(policy.Tables, table)
	}
	b := &bench{t: t, dsn: pgtest.Database(t, pgtest.Shared(t))}
	b.source = b.connect()
	if _, err := b.source.Exec(t.Context(), setup.String(), pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	b.provide(pgtest.Shared(t), policy)
	s, _ := b.run()
	b.checkStore(s)
	for name, status := range s.Status().Tables {
		if status.Classes == 0 || status.Withheld > 0 {
			t.Errorf("%s: %+v", name, status)
		}
	}
	for _, name := range names {
		if !axes[name].persons {
			continue
		}
		b.exec(fmt.Sprintf("CREATE TABLE back_%[1]s AS SELECT * FROM %[1]s WHERE id > 100", name))
		b.exec(fmt.Sprintf("DELETE FROM %s WHERE id > 100", name))
		b.caughtUp(s)
		for _, ids := range []string{"101, 102", "103, 104"} { // the two classes, one by one
			b.exec(fmt.Sprintf("INSERT INTO %[1]s SELECT * FROM back_%[1]s WHERE id IN (%[2]s)", name, ids))
			b.caughtUp(s)
		}
	}
	b.checkStore(s)
}
