package recoding

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// strata count the records of tuples by their sensitive values, so that classes
// can be summarized without a look at the records. Those of a tuple stand
// together.
type strata struct {
	tuple  []uint32   // stratum
	codes  [][]uint32 // sensitive attribute, stratum
	counts []int32    // stratum: number of its records
	starts []int32    // tuple: its first stratum; one more entry for the end
}

// newStrata reads the sensitive values of the records that hang on tuples.
func newStrata(ctx context.Context, table *anonymizer.Table, t *tuples) (*strata, error) {
	n := table.Len()
	s := &strata{tuple: make([]uint32, n), counts: slices.Repeat([]int32{1}, n)}
	for tuple := range t.counts {
		t.of(int32(tuple), func(r int32) { s.tuple[r] = uint32(tuple) })
	}
	for a := range table.Population().Sensitive {
		s.codes = append(s.codes, slices.Clone(table.Sensitive(a)))
	}
	return s, s.merge(ctx, t.len(), t.numbering)
}

// clone copies what may change; starts are replaced as a whole.
func (s *strata) clone() *strata {
	c := &strata{tuple: slices.Clone(s.tuple), counts: slices.Clone(s.counts), starts: s.starts}
	for _, codes := range s.codes {
		c.codes = append(c.codes, slices.Clone(codes))
	}
	return c
}

// move gives the strata to the tuples that theirs have become.
func (s *strata) move(ctx context.Context, of []uint32, tuples int, n *numbering) error {
	for i, tuple := range s.tuple {
		s.tuple[i] = of[tuple]
	}
	return s.merge(ctx, tuples, n)
}

// merge makes one stratum of those of a tuple with equal values.
func (s *strata) merge(ctx context.Context, tuples int, n *numbering) error {
	keys := make([]uint64, len(s.tuple))
	for i, tuple := range s.tuple {
		keys[i] = uint64(tuple)
	}
	of, firsts, err := n.number(ctx, keys)
	for a := 0; err == nil && a < len(s.codes); a++ {
		for i, code := range s.codes[a] {
			keys[i] = uint64(of[i])<<32 | uint64(code)
		}
		of, firsts, err = n.number(ctx, keys)
	}
	if err != nil {
		return err
	}
	s.gather(of, firsts, tuples)
	return nil
}

// gather puts the strata in the order of their tuples, equal ones as one.
func (s *strata) gather(of []uint32, firsts []int32, tuples int) {
	starts := make([]int32, tuples+1)
	for _, first := range firsts {
		starts[s.tuple[first]+1]++
	}
	for tuple := range tuples {
		starts[tuple+1] += starts[tuple]
	}
	at := slices.Clone(starts)
	place := make([]int32, len(firsts))
	gathered := &strata{tuple: make([]uint32, len(firsts)), counts: make([]int32, len(firsts)), starts: starts}
	for number, first := range firsts {
		tuple := s.tuple[first]
		place[number] = at[tuple]
		gathered.tuple[at[tuple]] = tuple
		at[tuple]++
	}
	for i, number := range of {
		gathered.counts[place[number]] += s.counts[i]
	}
	for _, codes := range s.codes {
		of := make([]uint32, len(firsts))
		for number, first := range firsts {
			of[place[number]] = codes[first]
		}
		gathered.codes = append(gathered.codes, of)
	}
	*s = *gathered
}

// summarize is the summary of a tuple's records; it may be used until the next
// call with the same scratch.
func (s *strata) summarize(tuple int32, scratch *privacy.Summary) privacy.Summary {
	if scratch.Sensitive == nil {
		*scratch = privacy.NewSummary(len(s.codes))
	}
	scratch.Records = 0
	for a := range s.codes {
		clear(scratch.Sensitive[a])
	}
	for i := s.starts[tuple]; i < s.starts[tuple+1]; i++ {
		scratch.Records += int(s.counts[i])
		for a, codes := range s.codes {
			scratch.Sensitive[a][codes[i]] += int(s.counts[i])
		}
	}
	return *scratch
}
