package incremental_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// careless is a method that keeps only part of what methods promise.
type careless struct {
	partition.RoundedPartition
	anonymize func(t *anonymizer.Table, c privacy.ConstraintSet, random *rand.Rand) (*anonymizer.Release, error)
}

func (m careless) Anonymize(_ context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) (*anonymizer.Release, error) {
	return m.anonymize(t, c, rand.New(rand.NewPCG(o.Seed, uint64(t.Len()))))
}

// carelessMethods leave out records, or make classes that violate what is asked
// for, as methods do that suppress outliers or honor <QI, K> by projections.
var carelessMethods = map[string]anonymizer.Method{
	"fails": careless{anonymize: func(*anonymizer.Table, privacy.ConstraintSet, *rand.Rand) (*anonymizer.Release, error) {
		return nil, errors.New("cannot")
	}},
	"one class": careless{anonymize: func(t *anonymizer.Table, _ privacy.ConstraintSet, _ *rand.Rand) (*anonymizer.Release, error) {
		return &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{everybody(t)}}, nil
	}},
	"withholds all": careless{anonymize: func(t *anonymizer.Table, _ privacy.ConstraintSet, _ *rand.Rand) (*anonymizer.Release, error) {
		return &anonymizer.Release{Withheld: everybody(t)}, nil
	}},
	"single records": careless{anonymize: func(t *anonymizer.Table, _ privacy.ConstraintSet, _ *rand.Rand) (*anonymizer.Release, error) {
		r := &anonymizer.Release{}
		for _, i := range everybody(t) {
			r.Classes = append(r.Classes, anonymizer.EquivalenceClass{i})
		}
		return r, nil
	}},
	"by chance": careless{anonymize: func(t *anonymizer.Table, c privacy.ConstraintSet, random *rand.Rand) (*anonymizer.Release, error) {
		r := &anonymizer.Release{Classes: make([]anonymizer.EquivalenceClass, 1+t.Len()/(c.K()+2))}
		for _, i := range everybody(t) {
			if class := random.IntN(len(r.Classes)); random.IntN(9) > 0 {
				r.Classes[class] = append(r.Classes[class], i)
			} else {
				r.Withheld = append(r.Withheld, i)
			}
		}
		return r, nil
	}},
}

func everybody(t *anonymizer.Table) []int32 {
	all := make([]int32, t.Len())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// models are the constraints that a live table can have, over 6 sensitive values
// of which the small ones are frequent.
var models = map[string]privacy.ConstraintSet{
	"k": {privacy.KAnonymity{K: 3}},
	"sizes": {
		privacy.KAnonymity{K: 4, Over: []int{0, 1}}, privacy.KAnonymity{K: 3, Over: []int{1, 2}}, privacy.KAnonymity{K: 2, Over: []int{0, 2}},
	},
	"distinct":  {privacy.KAnonymity{K: 3}, privacy.DistinctDiversity{L: 3, Name: "s"}},
	"entropy":   {privacy.KAnonymity{K: 2}, privacy.EntropyDiversity{L: 2.5, Name: "s"}},
	"recursive": {privacy.KAnonymity{K: 2}, privacy.RecursiveDiversity{L: 2, C: 2, Name: "s"}},
	"alpha":     {privacy.KAnonymity{K: 3}, privacy.AlphaBound{Alpha: 0.5, Name: "s"}},
	"alpha of one value": {
		privacy.KAnonymity{K: 3}, privacy.AlphaBound{Alpha: 0.4, Name: "s", Values: []uint32{0}},
	},
	"closeness":  {privacy.KAnonymity{K: 3}, privacy.TCloseness{T: 0.3, Name: "s"}},
	"ordered":    {privacy.KAnonymity{K: 3}, privacy.TCloseness{T: 0.2, Name: "s", Distance: privacy.OrderedDistance, Scale: numbers()}},
	"likeness":   {privacy.KAnonymity{K: 2}, privacy.BetaLikeness{Beta: 1.2, Name: "s"}},
	"enhanced":   {privacy.KAnonymity{K: 2}, privacy.BetaLikeness{Beta: 2, Enhanced: true, Name: "s"}},
	"disclosure": {privacy.KAnonymity{K: 3}, privacy.DeltaDisclosurePrivacy{Delta: 1.5, Name: "s"}},
	"together":   {privacy.KAnonymity{K: 3}, privacy.DistinctDiversity{L: 2, Name: "s"}, privacy.AlphaBound{Alpha: 0.6, Name: "s"}, privacy.TCloseness{T: 0.4, Name: "s"}},
}

var modelShape = workload.Shape{Attributes: 3, Distinct: 20, Nulls: 0.03, Sensitive: 6}

// operate drives a model through growth, change, decline and truncation.
func operate(m *model, rounds int) {
	for i := range rounds {
		growth := []int{20, 20, 2, 0}[i*8/rounds%4]
		for range 1 + m.random.IntN(1+i%9) {
			m.step(growth)
		}
		if i == rounds/2 {
			m.truncate()
		}
		m.settle()
	}
	if again := m.settle(); len(again.Moved)+len(again.Rewrite)+len(again.Retired) > 0 {
		m.t.Fatalf("nothing happened and %+v changed", again)
	}
}

// TestEveryModelOfEveryMethod maintains each kind of constraint with each method
// that accepts it, records of persons among them.
func TestEveryModelOfEveryMethod(t *testing.T) {
	t.Parallel()
	all := map[string]anonymizer.Method{}
	for _, name := range methods.Names() {
		all[name], _ = methods.Named(name)
	}
	for name, m := range carelessMethods {
		all[name] = m
	}
	rounds := 40
	if testing.Short() {
		rounds = 20
	}
	for name, method := range all {
		for what, constraints := range models {
			for seed, persons := range []int{0, 25} {
				t.Run(fmt.Sprintf("%s/%s/persons=%d", name, what, persons), func(t *testing.T) {
					t.Parallel()
					shape := modelShape
					if persons > 0 {
						shape.Distinct = 2 // so that classes look alike
					}
					m := newModelOf(t, uint64(seed), shape, constraints, method, persons)
					if method.Accepts(m.data.Attributes, constraints) != nil {
						return // such a table is refused before it is published
					}
					if len(what)%2 == 0 {
						incremental.SetScanLimit(m.partition, 40)
					}
					operate(m, rounds)
				})
			}
		}
	}
}

// numbers is the scale of codes that stand for themselves.
func numbers() *privacy.Scale {
	values := privacy.NewDictionary()
	for code := range modelShape.Sensitive {
		values.Code(strconv.Itoa(code))
	}
	h, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	if err != nil {
		panic(err)
	}
	return privacy.NewScale(values, h)
}
