package privacy_test

import (
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// person has these values.
type person struct {
	number uint32
	codes  []uint32
}

func (p person) join(s *privacy.Summary) {
	for _, code := range p.codes {
		s.AddOf(p.number, []uint32{code})
	}
}

func (p person) leave(s *privacy.Summary) {
	for _, code := range p.codes {
		s.RemoveOf(p.number, []uint32{code})
	}
}

// TestReserveOfOne: a table of so few persons that at most one change is in reserve has it
// exactly if nobody's becoming somebody else violates the constraint; where entropy is
// estimated, only if.
func TestReserveOfOne(t *testing.T) {
	t.Parallel()
	kept, lost := map[int]int{}, map[int]int{}
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 19))
		table := privacy.NewSubjectSummary(1)
		var persons []person
		others := random.IntN(6)
		for i := range 64 + random.IntN(20) {
			// All but few have one of the first two values, and some have further ones.
			p := person{uint32(i), []uint32{min(1, random.Uint32N(4))}}
			if i < others {
				p.codes[0] = 2 + uint32(i)%3
			}
			if random.IntN(3) == 0 {
				p.codes = append(p.codes, random.Uint32N(5))
			}
			p.join(&table)
			persons = append(persons, p)
		}
		c := []privacy.Constraint{
			privacy.DistinctDiversity{L: 2 + random.IntN(3)},
			privacy.RecursiveDiversity{C: float64(1 + random.IntN(80)), L: 1 + random.IntN(3)},
			privacy.EntropyDiversity{L: 1 + random.Float64()},
		}
		for i, c := range c {
			if !c.Satisfied(table, nil) {
				if (privacy.ConstraintSet{c}).Reserve(table) != 0 {
					t.Fatalf("seed %d: %v is violated, with a reserve", seed, c)
				}
				continue
			}
			endures := enduresChange(c, &table, persons)
			switch reserve := (privacy.ConstraintSet{c}).Reserve(table); {
			case reserve > 1 || reserve == 1 && !endures || reserve == 0 && endures && i < 2:
				t.Fatalf("seed %d: %v has a reserve of %d, and endures a change: %v; %v", seed, c, reserve, endures, persons)
			case reserve == 1:
				kept[i]++
			case !endures:
				lost[i]++
			}
		}
	}
	for i := range 3 {
		if kept[i] < 20 || lost[i] < 20 {
			t.Errorf("constraint %d: %d tables with a reserve, and %d without: nothing is tested", i, kept[i], lost[i])
		}
	}
}

// enduresChange reports whether the constraint holds whoever becomes somebody with whichever
// value, or goes.
func enduresChange(c privacy.Constraint, table *privacy.Summary, persons []person) bool {
	for _, p := range persons {
		p.leave(table)
		holds := c.Satisfied(*table, nil)
		for code := uint32(0); code < 5 && holds; code++ {
			other := person{1000, []uint32{code}}
			other.join(table)
			holds = c.Satisfied(*table, nil)
			other.leave(table)
		}
		p.join(table)
		if !holds {
			return false
		}
	}
	return true
}

// TestReserveOfRecords: the sizes of a table and of its most frequent value leave as much room
// as they say, whatever else is demanded.
func TestReserveOfRecords(t *testing.T) {
	t.Parallel()
	for records := range 40 {
		table := privacy.NewSummary(1)
		for i := range records {
			table.Add([]uint32{uint32(i % 3)})
		}
		for k := range 45 {
			set := privacy.ConstraintSet{privacy.KAnonymity{K: k}}
			if got, want := set.Reserve(table), max(0, records-max(1, k)); got != want {
				t.Errorf("%v of %d records: a reserve of %d, %d expected", set, records, got, want)
			}
			// Every change may add to the most frequent value and take from what it is a share of.
			bound := privacy.AlphaBound{Alpha: 0.6}
			both := privacy.ConstraintSet{privacy.Restricted{Constraint: bound, Over: []int{0}}, privacy.KAnonymity{K: k}}
			room := 0
			if both.Satisfied(table, nil) {
				room = min(records-max(1, k), (bound.Most(records)-(records+2)/3)/2)
			}
			if got := both.Reserve(table); got != room {
				t.Errorf("%v of %d records: a reserve of %d, %d expected", both, records, got, room)
			}
			if relative := (privacy.ConstraintSet{set[0], privacy.TCloseness{T: 1}}); relative.Reserve(table) != 0 {
				t.Errorf("%v: a reserve of %d", relative, relative.Reserve(table))
			}
		}
	}
}

// TestReserveOfASecondAttribute: each constraint looks at the values of its own attribute.
func TestReserveOfASecondAttribute(t *testing.T) {
	t.Parallel()
	const records = 640
	table := privacy.NewSummary(2) // of the first attribute, all records have one value
	other := privacy.NewSummary(1)
	for i := range uint32(records) {
		table.Add([]uint32{0, i % 8})
		other.Add([]uint32{i % 8})
	}
	for _, pair := range [][2]privacy.Constraint{
		{privacy.DistinctDiversity{L: 4}, privacy.DistinctDiversity{L: 4, Attribute: 1}},
		{privacy.EntropyDiversity{L: 4}, privacy.EntropyDiversity{L: 4, Attribute: 1}},
		{privacy.RecursiveDiversity{L: 4, C: 2}, privacy.RecursiveDiversity{L: 4, C: 2, Attribute: 1}},
		{privacy.AlphaBound{Alpha: 0.5}, privacy.AlphaBound{Alpha: 0.5, Attribute: 1}},
	} {
		alone, second := privacy.ConstraintSet{pair[0]}.Reserve(other), privacy.ConstraintSet{pair[1]}.Reserve(table)
		if alone == 0 || second != alone {
			t.Errorf("%v: the reserve is %d, and %d of a second attribute with the same values", pair[0], alone, second)
		}
	}
}

// TestInfeasibleSecondAttribute: what a constraint could be at the most is told of its own attribute.
func TestInfeasibleSecondAttribute(t *testing.T) {
	t.Parallel()
	table, other := privacy.NewSummary(2), privacy.NewSummary(1)
	for i := range uint32(64) {
		table.Add([]uint32{0, i % 4})
		other.Add([]uint32{i % 4})
	}
	for _, pair := range [][2]privacy.Constraint{
		{privacy.DistinctDiversity{L: 9}, privacy.DistinctDiversity{L: 9, Attribute: 1}},
		{privacy.EntropyDiversity{L: 9}, privacy.EntropyDiversity{L: 9, Attribute: 1}},
		{privacy.RecursiveDiversity{L: 9, C: 2}, privacy.RecursiveDiversity{L: 9, C: 2, Attribute: 1}},
	} {
		alone, second := privacy.ConstraintSet{pair[0]}.Feasible(other), privacy.ConstraintSet{pair[1]}.Feasible(table)
		if alone == nil || second == nil || alone.Error() != second.Error() {
			t.Errorf("%v: %v; of a second attribute with the same values: %v", pair[0], alone, second)
		}
	}
}
