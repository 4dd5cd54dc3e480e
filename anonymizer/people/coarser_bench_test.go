package people_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

var benchmarked = flag.Int("people.benchmarked", 20_000, "persons of the hospital of which releases for audiences are measured")

// lossOf is the share of the information that cells lose, by what is published; keyed is the share of the rows that
// keep their keys.
func lossOf(attributes []anonymizer.Attribute, cells []people.PublishedCell) (loss, keyed float64) {
	rows, with := 0, 0
	for _, cell := range cells {
		if rows += len(cell.Rows); !cell.Pooled {
			with += len(cell.Rows)
		}
	}
	for a, attribute := range attributes {
		labels := make([]hierarchy.Generalization, len(cells))
		for i, cell := range cells {
			labels[i] = cell.Values[a]
		}
		spans := hierarchy.SpansOf(attribute.Hierarchy, labels)
		for i, s := range spans.Of {
			if s.Hidden {
				loss += float64(len(cells[i].Rows))
			} else if s.Least < s.Greatest {
				loss += float64(len(cells[i].Rows)) * spans.Share(s.Least, s.Greatest)
			}
		}
	}
	return loss / float64(max(1, rows*len(attributes))), float64(with) / float64(max(1, rows))
}

// BenchmarkCoarser measures releases for audiences, of k = 10, 25 and 50 over 5, beside ones that are made alone at the same
// k, one of them with an alpha of conditions besides: what root rows and visits lose, and how many visits keep their keys; and what one new visit replaces.
func BenchmarkCoarser(b *testing.B) {
	d := hospital{persons: *benchmarked, visits: 3, windows: 3}.data(1)
	shape := shapeOf(d)
	for name, knows := range map[string]people.Knows{"one": {}, "all": {All: true}} {
		random := rand.New(rand.NewPCG(5, 6))
		for _, of := range []struct {
			name   string
			k      int
			stated privacy.ConstraintSet
		}{
			{"k=10", 10, nil},
			{"k=25", 25, nil},
			{"k=25,alpha=0.7", 25, privacy.ConstraintSet{privacy.AlphaBound{Alpha: 0.7}}},
			{"k=50", 50, nil},
		} {
			b.Run(fmt.Sprintf("knows=%s/%s", name, of.name), func(b *testing.B) {
				k := of.k
				m, fine := settled(b, d, knows, 5, random)
				c, err := people.NewCoarser(m, people.CoarserOptions{K: k, Constraints: of.stated, Random: random, Pseudonym: func(int) uint64 { return random.Uint64() }})
				if err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				coarse, err := c.Settle(b.Context(), fine)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				_, alone := settled(b, d, knows, k, random)
				for what, changes := range map[string]*people.MaintainedChanges{"united": coarse, "alone": alone} {
					root, _ := lossOf(shape.Root, changes.Root.Cells)
					visits, keyed := lossOf(shape.Tables[0].Attributes, changes.Tables[0].Cells)
					b.ReportMetric(100*root, what+"-root-%")
					b.ReportMetric(100*visits, what+"-visits-%")
					b.ReportMetric(100*keyed, what+"-keyed-%")
				}
				if !knows.All {
					b.ReportMetric(100*leastOfUnions(d, fine, coarse, k), "least-visits-%")
				}
				if err := m.Insert(0, people.Row{ID: 1 << 40, Of: rowKey(people.Root, 7), Window: 2, Cells: []hierarchy.Cell{8900}}); err != nil {
					b.Fatal(err)
				}
				if fine, err = m.Settle(b.Context()); err != nil {
					b.Fatal(err)
				}
				if coarse, err = c.Settle(b.Context(), fine); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(replaced(fine)), "finer-replaced")
				b.ReportMetric(float64(replaced(coarse)), "united-replaced")
			})
		}
	}
}

// replaced counts the rows that are published anew.
func replaced(c *people.MaintainedChanges) int {
	rows := map[incremental.RecordID]bool{}
	n := 0
	for _, of := range append([]people.TableChanges{c.Root}, c.Tables...) {
		clear(rows)
		for _, cell := range of.Cells {
			for _, r := range cell.Rows {
				rows[r.ID] = true
			}
		}
		n += len(rows)
	}
	return n
}
