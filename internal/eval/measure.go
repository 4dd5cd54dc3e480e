package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/dataset"
)

// Options of a measurement; the zero value is valid.
type Options struct {
	// Seed decides ties and the query workload.
	Seed uint64
	// Population, if not nil, is the table that the evaluated one is a sample of.
	Population *anonymizer.Table
	// Progress is called with how far a stage of the run is: while Anonymizing how many
	// records have found their class, while Measuring how many metrics are done.
	Progress func(stage string, done, total int)
}

// The stages of a run.
const (
	Anonymizing = "anonymizing"
	Measuring   = "measuring"
)

func (o Options) tell(stage string) func(done, total int) {
	return func(done, total int) {
		if o.Progress != nil {
			o.Progress(stage, done, total)
		}
	}
}

// Measure runs one case on the table. Infeasible constraints are an outcome, not
// an error; the errors are the context's and that of a population which does not
// fit the table. When the context ends, a metric that has begun is left behind
// and ends by itself, after seconds on a table of millions.
func Measure(ctx context.Context, t *dataset.Table, c Case, o Options) (Measurement, error) {
	m := Measurement{
		Method: c.Method, K: c.K, L: c.L, Alpha: c.Alpha, Constraints: c.Constraints(),
		Records: t.Records.Len(), Sizes: []SizeCount{}, Columns: []ColumnLoss{}, Reached: []Reached{},
		Classification: None, LevelLoss: None, Divergence: None, QueryError: None, Joint: None, Journalist: None,
	}
	if methods.Varies(c.Method) {
		m.Effort = c.Effort.String()
	}
	if err := c.constraints.Feasible(t.Records.Population().Summary); err != nil {
		m.Refused = err.Error()
		return m, nil
	}
	method, err := methods.Trying(c.Method, c.Effort)
	if err != nil {
		return m, err
	}
	heap := WatchHeap()
	start := time.Now()
	parts, err := anonymizer.Anonymize(ctx, method, t.Records, c.constraints, anonymizer.Options{
		Seed: o.Seed, Progress: o.tell(Anonymizing), Suppression: t.Publication.Policy.Suppression,
	})
	m.Seconds, m.HeapGrowth = time.Since(start).Seconds(), heap.Stop()
	if err != nil {
		return m, err
	}
	return m.measure(ctx, t, parts, o)
}

// measure adds what the metrics say, one after the other; those that have begun
// do not look at the context.
func (m Measurement) measure(ctx context.Context, t *dataset.Table, parts []anonymizer.Part, o Options) (Measurement, error) {
	whole := &m
	before := m
	steps := whole.steps(t, parts, o)
	measured := make(chan int, len(steps))
	var failed error
	go func() {
		defer close(measured)
		for i, step := range steps {
			if ctx.Err() != nil || failed != nil {
				return
			}
			failed = step()
			measured <- i + 1
		}
	}()
	tell := o.tell(Measuring)
	tell(0, len(steps))
	for {
		select {
		case done, more := <-measured:
			if more {
				tell(done, len(steps))
				continue
			}
			if ctx.Err() == nil {
				return *whole, failed
			}
		case <-ctx.Done():
		}
		return before, fmt.Errorf("measuring the release of %s: %w", m.Method, ctx.Err())
	}
}

// steps are the metrics, each of which takes a while on a large table.
func (m *Measurement) steps(t *dataset.Table, parts []anonymizer.Part, o Options) []func() error {
	live := published(parts)
	seen := merged(t, live)
	steps := []func() error{
		func() error { m.classes(seen); return nil },
		func() error { m.Loss = metric.MeanOfParts(live, metric.PublishedLoss); return nil },
		func() error { m.AxisLoss = metric.MeanOfParts(live, metric.GCP); return nil },
		func() error { m.levels(parts); return nil },
		func() error { m.risks(t.Records, seen); return nil },
		func() error { m.Columns = columnLosses(t, live); return nil },
		func() error { m.Reached = reached(t, seen); return nil },
	}
	if len(parts) == 1 {
		table, release := live[0].Table, live[0].Release
		steps = append(steps,
			func() error {
				m.QueryError = metric.QueryError(table, release, metric.Queries{Seed: o.Seed})
				return nil
			},
			func() error { m.Divergence = metric.NeighborDivergence(table, release); return nil })
	}
	if t.Label >= 0 {
		steps = append(steps, func() error { m.classification(seen, t.Label); return nil })
	}
	if o.Population != nil {
		steps = append(steps, func() error { return m.journalist(seen, o.Population) })
	}
	return steps
}

// published are the parts as a live table publishes them, without the levels of
// the method that made them.
func published(parts []anonymizer.Part) []anonymizer.Part {
	live := slices.Clone(parts)
	for i, p := range live {
		live[i].Release = &anonymizer.Release{Classes: p.Release.Classes, Withheld: p.Release.Withheld}
	}
	return live
}

// merged are the parts as readers see them, for whom classes that publish the same are one.
// Of a column that is published as a value alone they do not see the range.
func merged(t *dataset.Table, parts []anonymizer.Part) []anonymizer.Part {
	seen := slices.Clone(parts)
	for i, p := range parts {
		seen[i].Release = metric.Merged(p.Table, p.Release, func(a int, g hierarchy.Generalization) string {
			if attribute := t.Records.Attributes()[p.Attributes[a]]; formOf(t, attribute.Name) == catalog.FormValue {
				g.Lower, g.Upper = "", ""
			}
			return metric.Shown(g)
		})
	}
	return seen
}

func formOf(t *dataset.Table, column string) catalog.Form {
	for _, c := range t.Publication.Policy.Columns {
		if c.Name == column {
			return c.Publish
		}
	}
	return catalog.FormBoth
}

// classes counts the classes of all parts.
func (m *Measurement) classes(parts []anonymizer.Part) {
	var all anonymizer.Release
	for _, p := range parts {
		m.Withheld = max(m.Withheld, len(p.Release.Withheld))
		m.Discernibility += metric.Discernibility(p.Release)
		all.Classes = append(all.Classes, p.Release.Classes...)
	}
	m.Classes, m.Average, m.Largest = metric.Classes(&all), metric.AverageClassSize(&all), metric.LargestClass(&all)
	counts := map[int]int{}
	for _, class := range all.Classes {
		counts[len(class)]++
	}
	for size, classes := range counts {
		m.Sizes = append(m.Sizes, SizeCount{size, classes})
	}
	slices.SortFunc(m.Sizes, func(a, b SizeCount) int { return cmp.Compare(a.Size, b.Size) })
	if len(m.Sizes) > 0 {
		m.Smallest = m.Sizes[0].Size
	}
}

func (m *Measurement) levels(parts []anonymizer.Part) {
	m.Precision = metric.MeanOfParts(parts, metric.Precision)
	if slices.ContainsFunc(parts, func(p anonymizer.Part) bool { return p.Release.Levels != nil }) {
		m.LevelLoss = metric.MeanOfParts(parts, metric.GCP)
	}
}

func (m *Measurement) classification(parts []anonymizer.Part, label int) {
	m.Classification = 0
	for _, p := range parts {
		m.Classification = max(m.Classification, metric.Classification(p.Table, p.Release, label))
	}
}

func (m *Measurement) risks(whole *anonymizer.Table, parts []anonymizer.Part) {
	m.Prosecutor = metric.HighestOfParts(parts, func(t *anonymizer.Table, r *anonymizer.Release) float64 {
		return metric.Prosecutor(t, r).Highest
	})
	m.MeanRisk = metric.HighestOfParts(parts, func(t *anonymizer.Table, r *anonymizer.Release) float64 {
		return metric.Prosecutor(t, r).Average
	})
	if len(parts) > 1 {
		m.Joint = metric.Prosecutor(whole, metric.Joint(parts)).Highest
	}
}

func (m *Measurement) journalist(parts []anonymizer.Part, population *anonymizer.Table) error {
	m.Journalist, m.MeanRisk = 0, 0
	for _, p := range parts {
		risk, err := metric.Journalist(p.Table, p.Release, population.Project(p.Attributes))
		if err != nil {
			return fmt.Errorf("comparing with the population: %w", err)
		}
		m.Journalist, m.MeanRisk = max(m.Journalist, risk.Highest), max(m.MeanRisk, risk.Average)
	}
	return nil
}
