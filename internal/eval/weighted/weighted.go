// Package weighted measures how well counts and sums over a release answer: by the helpers
// for analysts, which weigh each row with the share of its class's values that is meant,
// against plain filtering on what stands for the class.
//
// Queries are drawn over one to three quasi-identifiers, as in the evaluations of
// LeFevre, DeWitt and Ramakrishnan 2006 and of Xiao and Tao 2006: intervals, nodes of
// taxonomies and beginnings of codes, between 0.1 and 50 percent of the records. The values
// of several columns are taken to be independent within a class, as analysts do who
// multiply the shares.
//
// Entry points: [Hospital] and [NewData], [Setup.Run], [Report].
package weighted

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/internal/dataset"
)

// Setup says what is run.
type Setup struct {
	Methods []string `json:"methods"`
	K       []int    `json:"k"`
	// Queries is how many are drawn of each number of columns.
	Queries int    `json:"queries"`
	Seed    uint64 `json:"seed"`
	// Report, if not nil, is called with what is being done.
	Report func(string) `json:"-"`
}

// Validate returns all that is wrong with the setup, joined.
func (s Setup) Validate() error {
	var errs []error
	for _, name := range s.Methods {
		_, err := methods.Named(name)
		errs = append(errs, err)
	}
	if len(s.K) == 0 || slices.ContainsFunc(s.K, func(k int) bool { return k < 1 }) {
		errs = append(errs, errors.New("--k must be at least 1"))
	}
	if s.Queries < 1 {
		errs = append(errs, errors.New("--queries must be at least 1"))
	}
	return errors.Join(errs...)
}

// Data are records, and what is summed of each.
type Data struct {
	Name  string
	Table *dataset.Table
	// Measure is a number of each record, published as it is; nil for counts alone.
	Measure []float64
}

// Run anonymizes the data by every method and k and answers the queries from each release.
// The error is the context's, or that of a method that cannot honor the constraints.
func (s Setup) Run(ctx context.Context, d Data) (Report, error) {
	r := Report{Setup: s, Data: d.Name, Records: d.Table.Records.Len()}
	axes := newAxes(d.Table)
	queries := draw(axes, s.Queries, s.Seed)
	truths := make([]answer, len(queries))
	for i, q := range queries {
		truths[i] = q.truth(axes, d.Measure)
	}
	for _, name := range s.Methods {
		for _, k := range s.K {
			if s.Report != nil {
				s.Report(fmt.Sprintf("%s: %s, k = %d", d.Name, name, k))
			}
			classes, err := anonymize(ctx, d.Table, name, k, s.Seed)
			if err != nil {
				return r, err
			}
			rows := publish(d, axes, classes)
			sums := newSummaries(name, k)
			for i, q := range queries {
				if ctx.Err() != nil {
					return r, fmt.Errorf("answering queries: %w", ctx.Err())
				}
				sums.add(truths[i], q.plain(rows), q.weighted(rows), len(axes[0].positions))
			}
			r.Summaries = append(r.Summaries, sums.done()...)
		}
	}
	return r, nil
}

// anonymize makes the classes of one release under k-anonymity alone.
func anonymize(ctx context.Context, t *dataset.Table, name string, k int, seed uint64) ([]anonymizer.EquivalenceClass, error) {
	method, err := methods.Named(name)
	if err != nil {
		return nil, err
	}
	p := t.Publication
	p.Policy.Constraints = []privacy.Spec{{Model: privacy.K, K: k}} // over all, so that there is one part
	set, err := p.ConstraintSet(t.Schema)
	if err != nil {
		return nil, err
	}
	parts, err := anonymizer.Anonymize(ctx, method, t.Records, set, anonymizer.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	return parts[0].Release.Classes, nil
}

// answer is what a query comes to: how many records, and the sum over them.
type answer struct{ count, sum float64 }

// row is a class as it is published.
type row struct {
	cells  []cell // by axis
	size   float64
	amount float64
}

func publish(d Data, axes []axis, classes []anonymizer.EquivalenceClass) []row {
	rows := make([]row, len(classes))
	for i, class := range classes {
		published := d.Table.Records.Generalize(class)
		rows[i] = row{cells: make([]cell, len(axes)), size: float64(len(class))}
		for a := range axes {
			rows[i].cells[a] = axes[a].read(published[a])
		}
		for _, record := range class {
			if d.Measure != nil {
				rows[i].amount += d.Measure[record]
			}
		}
	}
	return rows
}

// truth counts the records themselves.
func (q query) truth(axes []axis, measure []float64) (a answer) {
	for record := range axes[0].positions {
		if !slices.ContainsFunc(q, func(c condition) bool { return !c.holds(axes[c.axis], record) }) {
			a.count++
			if measure != nil {
				a.sum += measure[record]
			}
		}
	}
	return a
}

// plain filters on what stands for the class: all of its rows, or none.
func (q query) plain(rows []row) (a answer) {
	for _, r := range rows {
		if !slices.ContainsFunc(q, func(c condition) bool { return !c.represented(r.cells[c.axis]) }) {
			a.count += r.size
			a.sum += r.amount
		}
	}
	return a
}

// weighted weighs each row with the product of the shares.
func (q query) weighted(rows []row) (a answer) {
	for _, r := range rows {
		share := 1.0
		for _, c := range q {
			share *= c.share(r.cells[c.axis])
		}
		a.count += share * r.size
		a.sum += share * r.amount
	}
	return a
}

// off is by how much an answer is off, relative to the truth.
func off(got, truth float64) float64 { return math.Abs(got-truth) / math.Abs(truth) }
