// Package drift measures what becomes of a maintained release in the long run: how
// much more it loses than one made afresh from the same records, and what
// re-anonymization at a threshold makes of that.
//
// Two partitions are led through the same operations: one is only maintained, the
// other is made anew in between (incremental.Renewal). Setup.Run is the entry
// point.
package drift

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Setup says what is run: each method with each k and each seed.
type Setup struct {
	Data       string   `json:"data"`       // one of Workloads
	Records    int      `json:"records"`    // at the start, at least 1
	Operations int      `json:"operations"` // at least 1
	Mix        Mix      `json:"mix"`
	Group      int      `json:"group"`     // operations in a commit, at least 1
	Points     int      `json:"points"`    // places at which the curves are measured, besides the start; at least 1
	Threshold  float64  `json:"threshold"` // share by which loss may grow before a renewal
	Methods    []string `json:"methods"`
	K          []int    `json:"k"`
	Seeds      []uint64 `json:"seeds"`
	// Report, if not nil, is called with what is being done.
	Report func(text string) `json:"-"`
}

// Curve is one run: a method with a k and a seed.
type Curve struct {
	Method   string  `json:"method"`
	K        int     `json:"k"`
	Seed     uint64  `json:"seed"`
	Points   []Point `json:"points"`
	Measured int     `json:"measured"` // renewals that were run
	Adopted  int     `json:"adopted"`  // renewals that were adopted
}

// Point is one place of a curve. Losses are those of incremental.Partition.Loss, 0
// to 1.
type Point struct {
	Operations int     `json:"operations"`
	Records    int     `json:"records"`
	Afresh     float64 `json:"afresh"` // loss of a release made afresh of the same records
	Maintained Release `json:"maintained"`
	Renewed    Release `json:"renewed"`
}

// Release describes one of the partitions at a point.
type Release struct {
	Loss    float64 `json:"loss"`
	Drift   float64 `json:"drift"` // its loss by that of a release made afresh
	Classes int     `json:"classes"`
	Largest int     `json:"largest"` // records in the largest class
}

// Validate says what of a setup cannot be run.
func (s Setup) Validate() error {
	var mistakes []error
	require := func(ok bool, format string, arguments ...any) {
		if !ok {
			mistakes = append(mistakes, fmt.Errorf(format, arguments...))
		}
	}
	require(slices.Contains(Workloads(), s.Data), "there are no data %q: there are %q", s.Data, Workloads())
	require(s.Records > 0 && s.Operations > 0 && s.Group > 0 && s.Points > 0, "records, operations, the operations in a commit and points must be at least 1")
	require(s.Mix.Insert >= 0 && s.Mix.Delete >= 0 && s.Mix.Modify >= 0 && s.Mix.sum() > 0, "a mix is of three numbers that are not negative, one of them positive")
	require(s.Threshold > 0, "the threshold must be positive: 0.1 for a tenth")
	require(len(s.Methods) > 0 && len(s.K) > 0 && len(s.Seeds) > 0, "there must be a method, a k and a seed")
	for _, k := range s.K {
		require(k > 0, "k must be at least 1")
	}
	for _, name := range s.Methods {
		_, err := methods.Named(name)
		require(err == nil, "%w", err)
	}
	return errors.Join(mistakes...)
}

// Run runs everything; the error is the context's, or that a method cannot honor
// the constraints.
func (s Setup) Run(ctx context.Context) ([]Curve, error) {
	var curves []Curve
	for _, name := range s.Methods {
		for _, k := range s.K {
			for _, seed := range s.Seeds {
				curve := Curve{Method: name, K: k, Seed: seed}
				if err := s.follow(ctx, &curve); err != nil {
					return nil, fmt.Errorf("running %s with k = %d: %w", name, k, err)
				}
				curves = append(curves, curve)
			}
		}
	}
	return curves, nil
}

// pair are the two partitions of a run.
type pair struct {
	maintained, renewed *incremental.Partition
	threshold           incremental.RenewalThreshold
}

// both does the same to both partitions.
func (p *pair) both(do func(*incremental.Partition) error) error {
	if err := do(p.maintained); err != nil {
		return err
	}
	return do(p.renewed)
}

func (p *pair) settle(ctx context.Context) error {
	return p.both(func(one *incremental.Partition) error {
		_, err := one.SettleContext(ctx)
		return err
	})
}

// start inserts the first records.
func (s Setup) start(ctx context.Context, c *Curve, w *world) (*pair, error) {
	method, err := methods.Named(c.Method)
	if err != nil {
		return nil, err
	}
	constraints := privacy.ConstraintSet{privacy.KAnonymity{K: c.K}}
	attributes := w.pool.Attributes()
	if err := method.Accepts(attributes, constraints); err != nil {
		return nil, fmt.Errorf("the method %w", err)
	}
	fresh := func() *incremental.Partition { return newPartition(attributes, constraints, method, c.Seed) }
	p := &pair{fresh(), fresh(), incremental.RenewalThreshold{Share: s.Threshold}}
	for range s.Records {
		if err := w.insert(p.both); err != nil {
			return nil, err
		}
	}
	if err := p.settle(ctx); err != nil {
		return nil, err
	}
	p.threshold.Fresh(p.renewed.Loss())
	return p, nil
}

func newPartition(attributes []anonymizer.Attribute, constraints privacy.ConstraintSet, method anonymizer.Method, seed uint64) *incremental.Partition {
	return incremental.New(attributes, constraints, method, incremental.Options{Seed: seed})
}

// follow leads one pair of partitions through all operations.
func (s Setup) follow(ctx context.Context, c *Curve) error {
	w := newWorld(s, c.Seed)
	p, err := s.start(ctx, c, w)
	if err != nil {
		return err
	}
	if err := s.measure(ctx, c, p, 0); err != nil {
		return err
	}
	waiting := 0
	for done := 1; done <= s.Operations; done++ {
		if err := w.step(s.Mix, p.both); err != nil {
			return err
		}
		waiting++
		point := done*s.Points/s.Operations > (done-1)*s.Points/s.Operations
		if waiting < s.Group && !point {
			continue
		}
		if err := s.commit(ctx, c, p, waiting); err != nil {
			return err
		}
		waiting = 0
		if !point {
			continue
		}
		if err := s.measure(ctx, c, p, done); err != nil {
			return err
		}
	}
	return nil
}

// commit settles both partitions and makes one of them anew where that is due.
func (s Setup) commit(ctx context.Context, c *Curve, p *pair, changes int) error {
	if err := p.settle(ctx); err != nil {
		return err
	}
	p.threshold.Changed(changes)
	if !p.threshold.Due(p.renewed) {
		return nil
	}
	r := p.renewed.BeginRenewal()
	if err := r.Run(ctx, nil); err != nil {
		return err
	}
	c.Measured++
	if !p.threshold.Measured(r) {
		return nil
	}
	c.Adopted++
	if err := p.renewed.FinishRenewal(r); err != nil {
		return err
	}
	_, err := p.renewed.SettleContext(ctx)
	return err
}

// measure adds a point to the curve.
func (s Setup) measure(ctx context.Context, c *Curve, p *pair, operations int) error {
	if s.Report != nil {
		s.Report(fmt.Sprintf("%s, k = %d, seed %d: %d of %d operations", c.Method, c.K, c.Seed, operations, s.Operations))
	}
	r := p.maintained.BeginRenewal()
	if err := r.Run(ctx, nil); err != nil {
		return err
	}
	c.Points = append(c.Points, Point{
		Operations: operations, Records: p.maintained.Len(), Afresh: r.Loss(),
		Maintained: describe(p.maintained, r.Loss()), Renewed: describe(p.renewed, r.Loss()),
	})
	return nil
}

func describe(p *incremental.Partition, afresh float64) Release {
	r := Release{Loss: p.Loss(), Drift: 1, Classes: p.Classes()}
	if afresh > 0 {
		r.Drift = r.Loss / afresh
	}
	for place := range p.Classes() {
		r.Largest = max(r.Largest, len(p.Members(p.ClassAt(place))))
	}
	return r
}
