// Package linked evaluates how several tables about the same persons are released
// together: what is lost, how well questions that join tables are answered, and what is
// left of the persons' protection for outsiders who know more and more rows.
package linked

import (
	"context"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/persons"
)

// Evaluation is what is run: a release for each knowledge and each k.
type Evaluation struct {
	Records *persons.Builder
	// Values gives the values of a sensitive column, one for each record and "" for NULL. Without
	// it no questions are asked.
	Values func(table catalog.Name, column string) []string
	// Knows are alternatives to what the policy says, which they replace; empty for the
	// policy's own.
	Knows []catalog.Knowledge
	// K replaces the policy's k; empty leaves it.
	K []int
	// Targets is how many persons are looked for in each attack.
	Targets int
	Seed    uint64
	// Progress, if not nil, is called with the step that begins, and how many there are.
	Progress func(what string, done, of int)
}

// DefaultTargets is a number of targets whose mean risk is known to about a hundredth.
const DefaultTargets = 1000

// Run makes the releases and measures them. Constraints that cannot be met are an
// outcome, not an error.
func (e Evaluation) Run(ctx context.Context) (*Report, error) {
	kind := e.Records.Publication().People
	if len(e.Knows) == 0 {
		e.Knows = []catalog.Knowledge{kind.Knows}
	}
	if len(e.K) == 0 {
		e.K = []int{kind.K()}
	}
	r := newReport(kind, e)
	for _, knows := range e.Knows {
		p, err := e.Records.Persons(knows)
		if err != nil {
			return nil, err
		}
		if r.Tables == nil {
			r.describe(p.Data)
		}
		w := newWorld(e, p.Data)
		for _, k := range e.K {
			if e.Progress != nil {
				e.Progress(fmt.Sprintf("knows %v, k = %d", knows, k), len(r.Measurements), len(e.Knows)*len(e.K))
			}
			m, err := e.measure(ctx, w, p, knows, k)
			if err != nil {
				return nil, err
			}
			r.Measurements = append(r.Measurements, m)
		}
	}
	return r, nil
}

// measure makes one release and measures it.
func (e Evaluation) measure(ctx context.Context, w *world, p *persons.Persons, knows catalog.Knowledge, k int) (Measurement, error) {
	constraints := withK(p.Constraints, k)
	kind := w.kind
	kind.Knows, kind.Constraints = knows, []privacy.Spec{{Model: privacy.K, K: k}}
	m := Measurement{Knows: knows.String(), K: k, Explained: kind.Explain(), Constraints: []string{}, Tables: []TableFigures{}, Risks: []RiskFigures{}, Queries: []Summary{}}
	for _, c := range constraints {
		m.Constraints = append(m.Constraints, c.String())
	}
	method, err := methods.Trying(e.Records.Publication().Root.Policy.Method, e.Records.Publication().Root.Policy.Effort)
	if err != nil {
		return m, err
	}
	release, err := people.Anonymize(ctx, p.Data, constraints, knows.Granted(), people.Options{Options: anonymizer.Options{Seed: e.Seed}, Method: method})
	if err != nil {
		return m, err
	}
	if len(release.Classes) == 0 {
		m.Refused = "the constraints cannot be met: all persons together violate them"
		return m, nil
	}
	m.classes(p.Data, release)
	for _, known := range []int{0, 1, 2, 3, people.AllRows} {
		m.Risks = append(m.Risks, riskOf(people.Attack(p.Data, release, known, k, e.Targets, e.Seed), known))
	}
	m.Answers = w.answers(release)
	m.Queries = summarize(m.Answers)
	return m, ctx.Err()
}

// withK is the set with another k.
func withK(set privacy.ConstraintSet, k int) privacy.ConstraintSet {
	set = slices.Clone(set)
	for i, c := range set {
		if _, is := c.(privacy.KAnonymity); is {
			set[i] = privacy.KAnonymity{K: k}
		}
	}
	return set
}
