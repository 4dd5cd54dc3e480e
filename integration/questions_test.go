package integration

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/shop"
)

// question is a question of an analyst's, as it is typed for the source. Its answer are numbers by
// labels.
type question struct {
	name, sql string
	// lost says why it cannot be answered; empty where it can.
	lost string
}

// questions reads a file of them, with a comment above each.
func questions(t *testing.T, of string) []question {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "questions", of+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	var list []question
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		var q question
		for line := range strings.Lines(part) {
			switch comment, is := strings.CutPrefix(strings.TrimSpace(line), "-- "); {
			case !is:
				q.sql += line
			case strings.HasPrefix(comment, "lost: "):
				q.lost = strings.TrimPrefix(comment, "lost: ")
			default:
				q.name = comment
			}
		}
		list = append(list, q)
	}
	return list
}

func labeled(t *testing.T, conn *pgx.Conn, sql string) map[string]float64 {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT label::text, number::float8 FROM ("+strings.TrimSuffix(strings.TrimSpace(sql), ";")+") AS a (label, number)")
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	found := make(map[string]float64)
	var label *string
	var number *float64
	if _, err := pgx.ForEachRow(rows, []any{&label, &number}, func() error {
		if label != nil && number != nil {
			found[*label] = *number
		}
		return nil
	}); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return found
}

// errorOf is how far the numbers are from the truth, all labels together, relative to it.
func errorOf(truth, got map[string]float64) float64 {
	off, whole := 0.0, 0.0
	for label, number := range truth {
		off += math.Abs(got[label] - number)
		whole += number
	}
	for label, number := range got {
		if _, known := truth[label]; !known {
			off += number
		}
	}
	return off / whole
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	for name, load := range map[string]func(context.Context, *pgx.Conn, int, uint64) error{"hospital": hospital.LoadHistories, "shop": shop.Load} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy, err := os.ReadFile(filepath.Join("testdata", "questions", name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			s := ready(t, siteOptions{tables: string(policy), load: func(ctx context.Context, conn *pgx.Conn) error { return load(ctx, conn, 5000, 1) }})
			admin, conn := connect(t, s.admin), connect(t, s.url())
			t.Log(labeled(t, conn, "SELECT coalesce(row_to_json(p)::jsonb - 'person_id', '{}')::text, count(*) FROM persons p GROUP BY 1 LIMIT 5"))
			var errs []float64
			for _, q := range questions(t, name) {
				truth, got := labeled(t, admin, q.sql), labeled(t, conn, q.sql)
				var text strings.Builder
				for _, label := range slices.Sorted(maps.Keys(truth)) {
					fmt.Fprintf(&text, " %s %.6g/%.6g", label, truth[label], got[label])
				}
				e := errorOf(truth, got)
				if q.lost == "" {
					errs = append(errs, e)
				}
				t.Logf("%5.1f %% %s:%s", 100*e, q.name, text.String())
			}
			slices.Sort(errs)
			t.Logf("median %.1f %%, worst %.1f %%", 100*errs[len(errs)/2], 100*errs[len(errs)-1])
		})
	}
}
