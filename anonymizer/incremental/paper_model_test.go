package incremental_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// patient is a row of table 1(a) of Song, Zhao, Liu et al. 2010.
func patient(id incremental.RecordID, age, zip float64) incremental.Record {
	return incremental.Record{ID: id, Cells: []hierarchy.Cell{age, zip}}
}

// patients is table 1: t1 to t7 in the classes 1 to 3 of table 1(b), where t5 is in
// class 2, k = 2.
func patients(t *testing.T) *incremental.Partition {
	t.Helper()
	whole := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	attributes := []anonymizer.Attribute{workload.Attribute("age", whole), workload.Attribute("zip", whole)}
	p := incremental.New(attributes, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, partition.RoundedPartition{}, incremental.Options{})
	for class, records := range map[incremental.ClassID][]incremental.Record{
		1: {patient(1, 21, 12000), patient(2, 23, 18000)},
		2: {patient(3, 48, 28000), patient(4, 42, 23000), patient(5, 49, 25000)},
		3: {patient(6, 52, 52000), patient(7, 53, 59000)},
	} {
		mustAll(t, p.Load(class, records))
	}
	p.Settle()
	return p
}

func mustAll(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// standing describes the class of a record: its members and what is published.
func standing(p *incremental.Partition, id incremental.RecordID) string {
	class := p.ClassOf(id)
	box := p.Generalize(class)
	return fmt.Sprintf("%v [%s,%s] [%s,%s]", p.Members(class), box[0].Lower, box[0].Upper, box[1].Lower, box[1].Upper)
}

// TestPaperTables compares the tables that examples 8 to 10 end with. Classes cover
// exactly their members, where the paper keeps intervals of a grid: its [21,25] is
// [21,24] here. Each example begins with table 1.
func TestPaperTables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(p *incremental.Partition) []error
		want   []string // of classes, in the order of their records
	}{
		"table 1": {
			func(*incremental.Partition) []error { return nil },
			[]string{"[1 2] [21,23] [12000,18000]", "[3 4 5] [42,49] [23000,28000]", "[6 7] [52,53] [52000,59000]"},
		},
		"example 8, table 2": {
			func(p *incremental.Partition) []error {
				return []error{p.Insert(patient(8, 24, 17000)), p.Insert(patient(9, 55, 62000))}
			},
			[]string{"[1 2 8] [21,24] [12000,18000]", "[3 4 5] [42,49] [23000,28000]", "[6 7 9] [52,55] [52000,62000]"},
		},
		"example 9, table 3(a): insomnia": {
			func(p *incremental.Partition) []error { return []error{p.Delete(5)} },
			[]string{"[1 2] [21,23] [12000,18000]", "[3 4] [42,48] [23000,28000]", "[6 7] [52,53] [52000,59000]"},
		},
		// The printed class of t1, t3, t4 and t5 has 2k members, and INSERT's rule for
		// such classes holds after a merge as well: it is split.
		"example 9, table 3(b): below 25 and above 15000": {
			func(p *incremental.Partition) []error { return []error{p.Delete(2)} },
			[]string{"[1 4] [21,42] [12000,23000]", "[3 5] [48,49] [25000,28000]", "[6 7] [52,53] [52000,59000]"},
		},
		// The printed [31,35] cannot come from INSERT, which would widen [21,25]. As in the
		// paper each record is placed before the next one leaves; had both left in one
		// transaction, their class would be gone and they would join t4.
		"example 10, table 4: ten years older": {
			func(p *incremental.Partition) []error {
				first := p.Modify(patient(1, 31, 12000))
				p.Settle()
				return []error{first, p.Modify(patient(2, 33, 18000))}
			},
			[]string{"[1 2] [31,33] [12000,18000]", "[3 4 5] [42,49] [23000,28000]", "[6 7] [52,53] [52000,59000]"},
		},
	} {
		p := patients(t)
		mustAll(t, c.change(p)...)
		p.Settle()
		var got []string
		for id := range incremental.RecordID(10) {
			if p.ClassOf(id) == 0 {
				continue
			}
			if s := standing(p, id); !slices.Contains(got, s) {
				got = append(got, s)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %q expected", name, got, c.want)
		}
	}
}
