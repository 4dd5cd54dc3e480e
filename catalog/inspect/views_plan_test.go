package inspect

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// planNode is a node of a plan that ran (PostgreSQL, chapter "Using EXPLAIN").
type planNode struct {
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Removed float64 `json:"Rows Removed by Filter"`
	Joined  float64 `json:"Rows Removed by Join Filter"`
	Plans   []planNode
}

// touched is how many rows a plan went through.
func (n planNode) touched() float64 {
	rows := (n.Rows + n.Removed + n.Joined) * n.Loops
	for _, inner := range n.Plans {
		rows += inner.touched()
	}
	return rows
}

// TestReadingViewsIsLinear counts the rows that are touched for few and for many views, by the
// query that finds them and by the one that reads their definitions.
func TestReadingViewsIsLinear(t *testing.T) {
	t.Parallel()
	admin, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	if _, err := admin.Exec(t.Context(), "CREATE TABLE patients (id int PRIMARY KEY, age int)"); err != nil {
		t.Fatal(err)
	}
	touched := func(name string, arguments ...any) float64 {
		t.Helper()
		var text string
		if err := admin.QueryRow(t.Context(), "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "+query(name), arguments...).Scan(&text); err != nil {
			t.Fatal(err)
		}
		var plans []struct{ Plan planNode }
		if err := json.Unmarshal([]byte(text), &plans); err != nil || len(plans) != 1 {
			t.Fatalf("reading the plan: %d, %v", len(plans), err)
		}
		return plans[0].Plan.touched()
	}
	made := 0
	read := func(views int) (found, definitions float64) {
		t.Helper()
		var schemas, names []string
		sql := ""
		for i := range views {
			schemas, names = append(schemas, "public"), append(names, fmt.Sprintf("v%d", i))
			if i >= made {
				sql += fmt.Sprintf("CREATE VIEW v%d AS SELECT age FROM patients;", i)
			}
		}
		made = views
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		var oids []uint32
		if err := admin.QueryRow(t.Context(), "SELECT array_agg(n::regclass::oid) FROM unnest($1::text[]) n", names).Scan(&oids); err != nil {
			t.Fatal(err)
		}
		return touched("views", []string{"public"}, []string{"patients"}, schemas, names, catalog.ReleaseSchema("")), touched("definitions", oids)
	}
	few, fewDefinitions := read(100)
	many, manyDefinitions := read(800)
	if many > 10*few || manyDefinitions > 10*fewDefinitions {
		t.Errorf("%.0f rows are touched for 100 views, and %.0f for 800; for their definitions %.0f and %.0f", few, many, fewDefinitions, manyDefinitions)
	}
	t.Logf("for definitions %.0f and %.0f rows are touched", fewDefinitions, manyDefinitions)
}
