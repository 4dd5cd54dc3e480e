package dataset

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// CheckNearlyUnique reports the columns that are published as they are and tell most records apart by their values,
// unless the policy acknowledges them, as package inspect does of a database. Persons are those of the records, nil
// where each record counts for itself. Different values that have the same hash count as one: of a million values, some in
// less than one of ten million runs.
func (f *File) CheckNearlyUnique(p catalog.Publication, policy *config.PolicyFile, persons []uint32) error {
	var found []error
	for _, c := range p.Copied() {
		column := slices.Index(f.Columns, c.Source)
		if column < 0 || slices.Contains(p.Policy.Joinable, c.Source) {
			continue
		}
		counts := f.values(p, c.Source).counts(persons)
		if share, fewer := p.Policy.Distinguishing(counts, float64(len(counts))); share >= catalog.Most {
			what, fix := p.Policy.NearlyUnique(c.Source, share, fewer)
			found = append(found, fmt.Errorf("%s: %s.%s: %s (%s)", policy.Locate(p.Policy.Table, c.Source), p.Policy.Table, c.Source, what, fix))
		}
	}
	return errors.Join(found...)
}

// holding is a value that a person, or record, has.
type holding struct {
	value  uint64
	person uint32
}

// counts are how many persons, or records, have each value; missing ones are left out.
func (f *fields) counts(persons []uint32) (counts []int64) {
	if persons == nil && f.isNumbered() {
		for _, n := range f.tally() {
			counts = append(counts, int64(n))
		}
		return counts
	}
	seed := maphash.MakeSeed()
	held := make([]holding, 0, f.length)
	for record, text := range f.all() {
		if text == "" {
			continue
		}
		person := uint32(record)
		if persons != nil {
			person = persons[record]
		}
		held = append(held, holding{maphash.String(seed, text), person})
	}
	slices.SortFunc(held, func(a, b holding) int {
		switch {
		case a.value != b.value && a.value < b.value, a.value == b.value && a.person < b.person:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	held = slices.Compact(held)
	for i, h := range held {
		if i == 0 || h.value != held[i-1].value {
			counts = append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	return counts
}
