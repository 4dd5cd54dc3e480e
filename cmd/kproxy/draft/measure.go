package draft

import (
	"context"
	"fmt"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/sample"
	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/propose"
)

// Effect is the effect of a table's draft on its records with one k.
type Effect struct {
	K int `json:"k"`
	// Proposed says that this is the draft's own k.
	Proposed bool `json:"proposed"`
	// Refused says why no release can be made; other fields are then zero.
	Refused string `json:"refused,omitempty"`
	// Classes are the equivalence classes, with their sizes in records.
	Classes  int `json:"classes"`
	Smallest int `json:"smallest_class"`
	Median   int `json:"median_class"`
	Largest  int `json:"largest_class"`
	Withheld int `json:"withheld"`
	// Loss is the information loss, Risk the highest risk of a record to be identified,
	// MeanRisk that of all together: 0 to 1.
	Loss     float64 `json:"information_loss"`
	Risk     float64 `json:"highest_risk"`
	MeanRisk float64 `json:"mean_risk"`
	// Columns are the losses of the quasi-identifying columns, Reached what classes tell at
	// most of the sensitive ones that constraints speak of.
	Columns []eval.ColumnLoss `json:"columns,omitempty"`
	Reached []eval.Reached    `json:"reached,omitempty"`
}

// neighbors are the k to compare a proposed one with.
func neighbors(k int) []int {
	switch {
	case k <= 5:
		return []int{3, k, 10}
	case k <= 10:
		return []int{5, k, 20}
	default:
		return []int{10, k, 50}
	}
}

// measure measures the drafts on a sample of each table. It drops an l that no release can
// satisfy.
func (p *proposing) measure(ctx context.Context) (map[catalog.Name][]Effect, error) {
	effects := make(map[catalog.Name][]Effect)
	for i := range p.proposals {
		one := &p.proposals[i]
		if one.Verdict != propose.Protect || one.Draft.Kind != "" {
			continue
		}
		found, err := p.measureOne(ctx, one)
		if err != nil {
			return nil, fmt.Errorf("trying the draft of %s: %w", one.Table, err)
		}
		if giveUp(&one.Draft, found) {
			if err := p.fitOne(ctx, one); err != nil {
				return nil, err
			}
			if found, err = p.measureOne(ctx, one); err != nil {
				return nil, fmt.Errorf("trying the draft of %s: %w", one.Table, err)
			}
		}
		effects[one.Table] = found
	}
	return effects, nil
}

// giveUp gives up every l of a table that has enough records and no release.
func giveUp(d *propose.Draft, effects []Effect) (changed bool) {
	for _, e := range effects {
		if !e.Proposed || e.Refused == "" || d.Records < d.K {
			continue
		}
		for i, l := range d.Diversities {
			if l.L > 0 {
				d.Diversities[i].L, d.Diversities[i].Why, changed = 0, e.Refused, true
			}
		}
	}
	return changed
}

func (p *proposing) measureOne(ctx context.Context, one *propose.Proposal) ([]Effect, error) {
	tell := p.tell("trying the draft of %s", one.Table)
	tell(0, 1)
	table, _, err := sample.Records(ctx, p.tx, p.publications[one.Table], p.Sample, p.Seed, nil)
	if err != nil {
		return nil, err
	}
	grid := eval.Grid{Methods: []string{p.publications[one.Table].Policy.Method}, K: neighbors(one.Draft.K), Seed: p.Seed}
	cases, err := grid.Cases(table)
	if err != nil {
		return nil, err
	}
	var effects []Effect
	for i, c := range cases {
		progress := func(_ string, done, total int) { tell(i*total+done, len(cases)*total) }
		m, err := eval.Measure(ctx, table, c, eval.Options{Seed: p.Seed, Progress: progress})
		if err != nil {
			return nil, err
		}
		effects = append(effects, Effect{
			K: c.K, Proposed: c.K == one.Draft.K, Refused: m.Refused,
			Classes: m.Classes, Smallest: m.Smallest, Median: median(m.Sizes), Largest: m.Largest, Withheld: m.Withheld,
			Loss: m.Loss, Risk: m.Prosecutor, MeanRisk: m.MeanRisk, Columns: m.Columns, Reached: m.Reached,
		})
	}
	return effects, nil
}

// median is the size of the middle one of the classes, the lower of two.
func median(sizes []eval.SizeCount) int {
	classes := 0
	for _, s := range sizes {
		classes += s.Classes
	}
	before := 0
	for _, s := range sizes {
		if before += s.Classes; 2*before >= classes {
			return s.Size
		}
	}
	return 0
}
