package recoding

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// sieve finds the maximal anonymous subset of tuples: the largest set of which
// every member satisfies the demands within the set. It is unique, as the union
// of two anonymous sets is anonymous (theorem 4 of Yang et al. 2006).
//
// A tuple that violates a demand is dropped. This lowers the counts of the
// tuples alike in some attributes, which may be dropped in turn; each tuple is
// taken from each count once, so that the cost is linear whatever the order.
type sieve struct {
	table       *anonymizer.Table
	tuples      *tuples
	kept        []bool
	projections []*projection
	short       []shortage
}

// projection counts the kept tuples by a constraint's attributes.
type projection struct {
	k      int
	group  []uint32 // tuple
	counts []int32  // group: kept records, or their persons
	heads  []int32  // group: first of its tuples, -1 for none
	next   []int32  // tuple: the next one of its group, -1 for the last
	// Where persons are counted: kept records by group and person.
	pair   []uint32 // record
	copies []int32  // pair
}

// shortage is a group with too few records.
type shortage struct {
	of    *projection
	group uint32
}

// anonymous marks the tuples of the maximal anonymous subset. Stepwise adds the
// counted demands one by one in ascending order of K and drops what violates
// those so far (partial IndepCSet); otherwise all are looked at together
// (complete IndepCSet). The subset is the same.
func anonymous(ctx context.Context, table *anonymizer.Table, t *tuples, d demands, stepwise bool) ([]bool, error) {
	s := &sieve{table: table, tuples: t, kept: slices.Repeat([]bool{true}, t.len())}
	if err := s.dropViolating(ctx, d); err != nil {
		return nil, err
	}
	for _, k := range d.counted {
		if k.Over == nil && table.Subjects() == nil {
			continue // d.least
		}
		if err := s.project(ctx, k.K, k.Over); err != nil {
			return nil, err
		}
		if stepwise {
			if err := s.settle(ctx); err != nil {
				return nil, err
			}
		}
	}
	return s.kept, s.settle(ctx)
}

// dropViolating drops tuples that violate, each for itself, what looks at all
// attributes.
func (s *sieve) dropViolating(ctx context.Context, d demands) error {
	summarize := s.summaries()
	seen := 0
	for tuple, count := range s.tuples.counts {
		if int(count) < d.least {
			s.kept[tuple] = false
			continue
		}
		if len(d.whole) == 0 {
			continue
		}
		if seen += int(count); seen >= checkEvery {
			seen = 0
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		s.kept[tuple] = d.whole.Satisfied(summarize(int32(tuple)), s.table.Population())
	}
	return ctx.Err()
}

// summaries gives summaries of tuples, each for use before the next.
func (s *sieve) summaries() func(tuple int32) privacy.Summary {
	if s.tuples.strata != nil {
		var scratch privacy.Summary
		return func(tuple int32) privacy.Summary { return s.tuples.strata.summarize(tuple, &scratch) }
	}
	var members []int32
	return func(tuple int32) privacy.Summary {
		members = members[:0]
		s.tuples.of(tuple, func(r int32) { members = append(members, r) })
		return s.table.Summarize(members)
	}
}

// project adds a demand over some attributes, nil for all, and notes its
// shortages.
func (s *sieve) project(ctx context.Context, k int, over []int) error {
	if over == nil {
		over = upTo(len(s.tuples.nodes))
	}
	var some []int32
	for tuple, kept := range s.kept {
		if kept {
			some = append(some, int32(tuple))
		}
	}
	if len(some) == 0 {
		return nil
	}
	of, firsts, err := s.tuples.group(ctx, over, some)
	if err != nil {
		return err
	}
	p := &projection{
		k: k, group: make([]uint32, s.tuples.len()), next: make([]int32, s.tuples.len()),
		counts: make([]int32, len(firsts)), heads: slices.Repeat([]int32{-1}, len(firsts)),
	}
	for i, tuple := range some {
		group := of[i]
		p.group[tuple] = group
		p.next[tuple], p.heads[group] = p.heads[group], tuple
		p.counts[group] += s.tuples.counts[tuple]
	}
	if s.table.Subjects() != nil {
		if err := s.countPersons(ctx, p, some); err != nil {
			return err
		}
	}
	for group, count := range p.counts {
		if int(count) < k {
			s.short = append(s.short, shortage{p, uint32(group)})
		}
	}
	s.projections = append(s.projections, p)
	return nil
}

// countPersons replaces the counts of records by those of persons.
func (s *sieve) countPersons(ctx context.Context, p *projection, some []int32) error {
	subjects := s.table.Subjects()
	var keys []uint64
	var records []int32
	for _, tuple := range some {
		s.tuples.of(tuple, func(r int32) {
			keys = append(keys, uint64(p.group[tuple])<<32|uint64(subjects[r]))
			records = append(records, r)
		})
	}
	pairs, firsts, err := s.tuples.numbering.number(ctx, keys)
	if err != nil {
		return err
	}
	p.pair, p.copies = make([]uint32, len(subjects)), make([]int32, len(firsts))
	clear(p.counts)
	for i, pair := range pairs {
		p.pair[records[i]] = pair
		p.copies[pair]++
	}
	for _, first := range firsts {
		p.counts[keys[first]>>32]++
	}
	return nil
}

// settle drops tuples until no group is short.
func (s *sieve) settle(ctx context.Context) error {
	dropped := 0
	for len(s.short) > 0 {
		last := s.short[len(s.short)-1]
		s.short = s.short[:len(s.short)-1]
		for tuple := last.of.heads[last.group]; tuple >= 0; tuple = last.of.next[tuple] {
			if !s.kept[tuple] {
				continue
			}
			s.drop(tuple)
			if dropped++; dropped%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return ctx.Err()
}

func (s *sieve) drop(tuple int32) {
	s.kept[tuple] = false
	for _, p := range s.projections {
		group := p.group[tuple]
		before := int(p.counts[group])
		if p.pair == nil {
			p.counts[group] -= s.tuples.counts[tuple]
		} else {
			s.tuples.of(tuple, func(r int32) {
				if p.copies[p.pair[r]]--; p.copies[p.pair[r]] == 0 {
					p.counts[group]--
				}
			})
		}
		if before >= p.k && int(p.counts[group]) < p.k {
			s.short = append(s.short, shortage{p, group})
		}
	}
}
