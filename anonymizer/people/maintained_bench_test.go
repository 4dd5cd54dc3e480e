package people_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// rowKey is the key of a row of a table of generated data.
func rowKey(table, row int) people.Key {
	var key people.Key
	key[0] = byte(table + 2)
	binary.BigEndian.PutUint32(key[4:], uint32(row))
	return key
}

// maintain inserts generated data into a maintained release.
func maintain(t testing.TB, d *people.Data, knows people.Knows) *people.Maintained {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	m, err := people.NewMaintained(shapeOf(d), privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, knows, people.MaintainedOptions{
		Method: method, Random: random, Pseudonym: func(int) uint64 { return random.Uint64() },
	})
	if err != nil {
		t.Fatal(err)
	}
	insertAll(t, d, m.Insert)
	return m
}

// settled is a release of generated data, and what is published at first.
func settled(t testing.TB, d *people.Data, knows people.Knows, k int, random *rand.Rand) (*people.Maintained, *people.MaintainedChanges) {
	t.Helper()
	m, err := people.NewMaintained(shapeOf(d), privacy.ConstraintSet{privacy.KAnonymity{K: k}}, knows, people.MaintainedOptions{
		Method: method, Random: random, Pseudonym: func(int) uint64 { return random.Uint64() },
	})
	if err != nil {
		t.Fatal(err)
	}
	insertAll(t, d, m.Insert)
	changes, err := m.Settle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m, changes
}

func shapeOf(d *people.Data) people.Shape {
	shape := people.Shape{Root: d.Root.Attributes()}
	for _, table := range d.Tables {
		shape.Tables = append(shape.Tables, people.TableShape{Name: table.Name, Attributes: table.Rows.Attributes(), Sensitive: table.Rows.SensitiveLen(), Parent: table.Parent, Order: table.Order})
	}
	return shape
}

// insertAll inserts generated data.
func insertAll(t testing.TB, d *people.Data, insert func(table int, r people.Row) error) {
	t.Helper()
	for p := range d.Root.Len() {
		if err := insert(people.Root, people.Row{ID: incremental.RecordID(p + 1), Key: rowKey(people.Root, p), Cells: cellsOf(d.Root.Attributes(), d.Root.Cells, p)}); err != nil {
			t.Fatal(err)
		}
	}
	for i, table := range d.Tables {
		for row := range table.Rows.Len() {
			r := people.Row{ID: incremental.RecordID(row + 1), Key: rowKey(i, row), Of: rowKey(table.Parent, int(table.Of[row])), Cells: cellsOf(table.Rows.Attributes(), table.Rows.Cells, row)}
			if table.Window != nil {
				r.Window = table.Window[row]
			}
			for a := range table.Rows.SensitiveLen() {
				r.Sensitive = append(r.Sensitive, table.Rows.Sensitive(a)[row])
			}
			if err := insert(i, r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func cellsOf[A any](attributes []A, columns func(int) []hierarchy.Cell, row int) []hierarchy.Cell {
	cells := make([]hierarchy.Cell, len(attributes))
	for a := range cells {
		cells[a] = columns(a)[row]
	}
	return cells
}

// BenchmarkMaintained measures Settle of single new visits, and of 200 at once, in three
// windows; rows/op is how many published rows are replaced.
func BenchmarkMaintained(b *testing.B) {
	for name, knows := range map[string]people.Knows{"one": {}, "all": {All: true}} {
		for _, persons := range []int{2_000, 20_000} {
			for _, changes := range []int{1, 200} {
				b.Run(fmt.Sprintf("knows=%s/persons=%d/changes=%d", name, persons, changes), func(b *testing.B) {
					d := hospital{persons: persons, visits: 3, windows: 3}.data(1)
					m := maintain(b, d, knows)
					if _, err := m.Settle(b.Context()); err != nil {
						b.Fatal(err)
					}
					random, next, written := rand.New(rand.NewPCG(1, 1)), d.Tables[0].Rows.Len(), 0
					b.ResetTimer()
					for range b.N {
						for range changes {
							next++
							r := people.Row{ID: incremental.RecordID(next), Of: rowKey(people.Root, random.IntN(persons)), Window: 2, Cells: []hierarchy.Cell{float64(8800 + random.IntN(250))}}
							if err := m.Insert(0, r); err != nil {
								b.Fatal(err)
							}
						}
						changed, err := m.Settle(b.Context())
						if err != nil {
							b.Fatal(err)
						}
						for _, t := range changed.Tables {
							for _, cell := range t.Cells {
								written += len(cell.Rows)
							}
						}
					}
					b.ReportMetric(float64(written)/float64(b.N), "rows/op")
					b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*changes), "µs/change")
				})
			}
		}
	}
}

// BenchmarkOrphans deletes rows that wait for one key, such as that of a person who does not exist.
func BenchmarkOrphans(b *testing.B) {
	for _, rows := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			d := hospital{persons: 100, visits: 1, windows: 1}.data(1)
			m := maintain(b, d, people.Knows{})
			first := d.Tables[0].Rows.Len()
			for b.Loop() {
				for i := range rows {
					r := people.Row{ID: incremental.RecordID(first + i + 1), Of: people.Key{255}, Cells: []hierarchy.Cell{8800}}
					if err := m.Insert(0, r); err != nil {
						b.Fatal(err)
					}
				}
				if err := m.Truncate(0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}
