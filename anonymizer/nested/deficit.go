package nested

import (
	"math"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// mostCodes is how many different sensitive values the table has at most of which every group has a count.
const mostCodes = 1 << 7

// deficits say how far groups are from what the constraints demand, in records: by how many a value is too
// frequent, how many are missing. They decide which groups are tried together; whether these satisfy the constraints,
// the constraints say.
type deficits struct {
	k      int
	terms  []term
	places []map[uint32]int // of the codes of each sensitive attribute among all counts
	codes  int
}

// term is the deficit of one constraint by the size and all counts of a group; up to 0 where there is none.
type term func(size int32, counts []int32) float64

// newDeficits is nil where no deficit is known of a constraint, or the values are too many.
func (d *division) newDeficits() *deficits {
	f := &deficits{k: d.k}
	if d.sizeDecides {
		return f
	}
	for a := range d.table.SensitiveLen() {
		places := make(map[uint32]int)
		for _, code := range d.table.Sensitive(a) {
			if _, known := places[code]; !known {
				places[code] = f.codes
				f.codes++
			}
		}
		f.places = append(f.places, places)
	}
	if f.codes > mostCodes {
		return nil
	}
	for _, c := range d.constraints {
		if r, is := c.(privacy.Restricted); is {
			c = r.Constraint
		}
		if _, is := c.(privacy.KAnonymity); is {
			continue
		}
		t := f.termOf(c, d.table.Population())
		if t == nil {
			return nil
		}
		f.terms = append(f.terms, t)
	}
	return f
}

func (f *deficits) termOf(c privacy.Constraint, whole *privacy.Population) term {
	switch c := c.(type) {
	case privacy.DistinctDiversity:
		return f.distinct(c)
	case privacy.EntropyDiversity:
		return f.entropy(c)
	case privacy.RecursiveDiversity:
		return f.recursive(c)
	case privacy.AlphaBound:
		return f.bounded(c.Attribute, func(code uint32, _ float64) float64 {
			if c.Binds(code) {
				return c.Alpha
			}
			return 1
		}, whole)
	case privacy.BetaLikeness:
		return f.bounded(c.Attribute, func(_ uint32, p float64) float64 {
			if c.Enhanced {
				return p * (1 + min(c.Beta, -math.Log(p)))
			}
			return p * (1 + c.Beta)
		}, whole)
	case privacy.TCloseness:
		return f.close(c, whole)
	case privacy.DeltaDisclosurePrivacy:
		return f.disclosed(c, whole)
	}
	return nil
}

// bounded is by how many records the value is too frequent that is so most.
func (f *deficits) bounded(attribute int, most func(code uint32, p float64) float64, whole *privacy.Population) term {
	bounds, from, to := f.shares(attribute, whole)
	if from == to {
		return nil
	}
	for code, place := range f.places[attribute] {
		bounds[place-from] = most(code, bounds[place-from])
	}
	return func(size int32, counts []int32) float64 {
		worst := 0.0
		for i, count := range counts[from:to] {
			worst = max(worst, float64(count)-bounds[i]*float64(size))
		}
		return worst
	}
}

// shares are those of the values of an attribute in the table, by place from the first to the last.
func (f *deficits) shares(attribute int, whole *privacy.Population) (shares []float64, from, to int) {
	from, to = f.span(attribute)
	shares = make([]float64, to-from)
	if from < to && whole.Records > 0 {
		for code, place := range f.places[attribute] {
			shares[place-from] = float64(whole.Sensitive[attribute][code]) / float64(whole.Records)
		}
	}
	return shares, from, to
}

func (f *deficits) distinct(c privacy.DistinctDiversity) term {
	from, to := f.span(c.Attribute)
	return func(_ int32, counts []int32) float64 {
		missing := c.MinRecords()
		for _, count := range counts[from:to] {
			if count > 0 {
				missing--
			}
		}
		return float64(missing)
	}
}

// span are the places of the values of an attribute.
func (f *deficits) span(attribute int) (from, to int) {
	if attribute < 0 || attribute >= len(f.places) {
		return 0, 0
	}
	for _, places := range f.places[:attribute] {
		from += len(places)
	}
	return from, from + len(f.places[attribute])
}

func (f *deficits) entropy(c privacy.EntropyDiversity) term {
	from, to := f.span(c.Attribute)
	least := math.Log(max(1, c.L))
	return func(size int32, counts []int32) float64 {
		sum := float64(size) * (least - math.Log(float64(size)))
		for _, count := range counts[from:to] {
			if count > 1 {
				sum += float64(count) * math.Log(float64(count))
			}
		}
		return sum
	}
}

func (f *deficits) recursive(c privacy.RecursiveDiversity) term {
	from, to := f.span(c.Attribute)
	return func(size int32, counts []int32) float64 {
		top := make([]int32, max(1, c.L-1)) // the greatest counts
		for _, count := range counts[from:to] {
			for i := range top {
				if count > top[i] {
					top[i], count = count, top[i]
				}
			}
		}
		tail := size
		if c.L > 1 {
			for _, count := range top {
				tail -= count
			}
		}
		return float64(top[0]) - c.C*float64(tail)
	}
}

func (f *deficits) close(c privacy.TCloseness, whole *privacy.Population) term {
	shares, from, to := f.shares(c.Attribute, whole)
	return func(size int32, counts []int32) float64 {
		sum := 0.0
		for i, count := range counts[from:to] {
			sum += max(0, float64(count)-shares[i]*float64(size))
		}
		return sum - c.T*float64(size)
	}
}

func (f *deficits) disclosed(c privacy.DeltaDisclosurePrivacy, whole *privacy.Population) term {
	shares, from, to := f.shares(c.Attribute, whole)
	up, down := math.Exp(c.Delta), math.Exp(-c.Delta)
	return func(size int32, counts []int32) float64 {
		worst := 0.0
		for i, count := range counts[from:to] {
			even := shares[i] * float64(size)
			worst = max(worst, float64(count)-up*even, down*even-float64(count))
		}
		return worst
	}
}

// of is the deficit of a group.
func (f *deficits) of(size int32, counts []int32) float64 {
	sum := float64(max(0, int32(f.k)-size))
	for _, t := range f.terms {
		sum += max(0, t(size, counts))
	}
	return sum
}
