package lineage_test

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestNumbersOfPersons loads four classes of ten persons each, of whom one leaves each class. That four persons
// have left is told of the table, unless one number is several persons', or one person has several, as in stores that number
// persons within each class.
func TestNumbersOfPersons(t *testing.T) {
	t.Parallel()
	const classes, size = 4, 10
	for name, local := range map[string]bool{"of the table": false, "of each class": true, "of each row": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := bare(t, lineage.Options{Least: 1, Subjects: true}, privacy.KAnonymity{K: classes})
			var rows []lineage.StoredRow
			var records []lineage.StoredRecord
			for id := range classes * size {
				class, person := incremental.ClassID(1+id/size), uint32(id)
				if name == "of each class" {
					person = uint32(id % size)
				}
				rows = append(rows, lineage.StoredRow{ID: lineage.RowID(id + 1), Class: class, Person: person, Sensitive: []uint32{0}})
				r := ill(incremental.RecordID(id+1), 0)
				r.Subject = uint32(100 + id)
				if name == "of each row" && id == 2*size-1 { // a person has two numbers
					r.Subject = 100 + size - 1
				}
				records = append(records, lineage.StoredRecord{Record: r, Place: lineage.Place{Class: class, Row: lineage.RowID(id + 1)}})
			}
			must(t, l.Load(rows, nil, records))
			for class := range classes {
				must(t, l.Delete(incremental.RecordID(1+class*size+class)))
			}
			changes, err := l.Publish(t.Context(), began)
			must(t, err)
			told := changes.Weights[0].Ghosts
			if want := map[bool]int{false: classes, true: 0}[local]; told != want || l.Freshness().Untold != classes-want {
				t.Errorf("%d rows are told of, and %d untold, want %d", told, l.Freshness().Untold, want)
			}
			// Persons who come later have numbers that no other has.
			for id := range classes {
				r := ill(incremental.RecordID(1000+id), 0)
				r.Subject = uint32(200 + id)
				must(t, l.Insert(r, began))
			}
			changes, err = l.Publish(t.Context(), began)
			must(t, err)
			if len(changes.Rows) != classes {
				t.Fatalf("%d rows are new", len(changes.Rows))
			}
			seen := map[uint32]bool{}
			for _, r := range rows {
				seen[r.Person] = true
			}
			for _, r := range changes.Rows {
				if seen[r.Person] {
					t.Errorf("a new person has the number %d of another", r.Person)
				}
				seen[r.Person] = true
			}
		})
	}
}
