package eval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/dataset"
)

// Options of a measurement; the zero value is valid.
type Options struct {
	// Seed decides ties and the query workload.
	Seed uint64
	// Population, if not nil, is the table of which the evaluated one is a sample.
	Population *anonymizer.Table
	// Progress is told how many records have found their class.
	Progress func(done, total int)
}

// Measure runs one case on the table. Infeasible constraints are an outcome, not
// an error; the errors are the context's and that of a population which does not
// fit the table.
func Measure(ctx context.Context, t *dataset.Table, c Case, o Options) (Measurement, error) {
	m := Measurement{
		Method: c.Method, K: c.K, L: c.L, Alpha: c.Alpha, Constraints: c.Constraints(),
		Records: t.Records.Len(), Sizes: []SizeCount{}, Classification: -1, Journalist: -1,
	}
	if err := c.constraints.Feasible(t.Records.Population().Summary); err != nil {
		m.Refused = err.Error()
		return m, nil
	}
	method, err := methods.Named(c.Method)
	if err != nil {
		return m, err
	}
	heap := watchHeap()
	start := time.Now()
	parts, err := anonymizer.Anonymize(ctx, method, t.Records, c.constraints, anonymizer.Options{
		Seed: o.Seed, Progress: o.Progress, Suppression: t.Publication.Policy.Suppression,
	})
	m.Seconds, m.PeakBytes = time.Since(start).Seconds(), heap.stop()
	if err != nil {
		return m, err
	}
	m.classes(parts)
	m.quality(parts, t.Label, o.Seed)
	return m, m.risks(parts, o.Population)
}

// classes counts the classes of all parts.
func (m *Measurement) classes(parts []anonymizer.Part) {
	counts := map[int]int{}
	released := 0
	for _, p := range parts {
		m.Withheld = max(m.Withheld, len(p.Release.Withheld))
		m.Discernibility += metric.Discernibility(p.Release)
		for _, class := range p.Release.Classes {
			counts[len(class)]++
			released += len(class)
		}
	}
	for size, classes := range counts {
		m.Sizes = append(m.Sizes, SizeCount{size, classes})
		m.Classes += classes
	}
	if m.Classes == 0 {
		return
	}
	slices.SortFunc(m.Sizes, func(a, b SizeCount) int { return cmp.Compare(a.Size, b.Size) })
	m.Smallest, m.Largest = m.Sizes[0].Size, m.Sizes[len(m.Sizes)-1].Size
	m.Average = float64(released) / float64(m.Classes)
}

func (m *Measurement) quality(parts []anonymizer.Part, label int, seed uint64) {
	m.Loss = metric.MeanOfParts(parts, metric.GCP)
	m.TaxonomyLoss = metric.MeanOfParts(parts, metric.TaxonomyGCP)
	m.Precision = metric.MeanOfParts(parts, metric.Precision)
	m.QueryError = metric.MeanOfParts(parts, func(t *anonymizer.Table, r *anonymizer.Release) float64 {
		return metric.QueryError(t, r, metric.Queries{Seed: seed})
	})
	m.Divergence = metric.MeanOfParts(parts, meanDivergence)
	if label >= 0 {
		m.Classification = 0
		for _, p := range parts {
			m.Classification = max(m.Classification, metric.Classification(p.Table, p.Release, label))
		}
	}
}

// meanDivergence is the mean over the counts grouped by each two neighboring
// attributes, by the only one where there is one.
func meanDivergence(t *anonymizer.Table, r *anonymizer.Release) float64 {
	d := len(t.Attributes())
	if d < 2 {
		return metric.Divergence(t, r, upTo(d))
	}
	sum := 0.0
	for a := 1; a < d; a++ {
		sum += metric.Divergence(t, r, []int{a - 1, a})
	}
	return sum / float64(d-1)
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

func (m *Measurement) risks(parts []anonymizer.Part, population *anonymizer.Table) error {
	for _, p := range parts {
		risk := metric.Prosecutor(p.Table, p.Release)
		m.Prosecutor, m.MeanRisk = math.Max(m.Prosecutor, risk.Highest), math.Max(m.MeanRisk, risk.Average)
		if population == nil {
			continue
		}
		risk, err := metric.Journalist(p.Table, p.Release, population.Project(p.Attributes))
		if err != nil {
			return fmt.Errorf("comparing with the population: %w", err)
		}
		m.Journalist = math.Max(m.Journalist, risk.Highest)
	}
	return nil
}
