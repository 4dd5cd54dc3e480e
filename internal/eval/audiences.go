package eval

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// Audiences measures what nesting costs: releases for audiences, each of which is made of unions of
// classes of the one before (package nested), beside ones that are made alone under the same
// constraints.
type Audiences struct {
	Method    string     `json:"method"`
	Effort    string     `json:"effort,omitempty"`
	Seed      uint64     `json:"seed"`
	Records   int        `json:"records"`
	Audiences []Audience `json:"audiences"`
}

// Audience is one of a chain. Its constraints are its own and all of those before it.
type Audience struct {
	K             int      `json:"k"`
	L             float64  `json:"l"`
	Alpha         float64  `json:"alpha"`
	Constraints   []string `json:"constraints"`
	Nested        Quality  `json:"nested"`
	Alone         Quality  `json:"alone"`
	LossRatio     float64  `json:"loss_ratio"`  // of the nested one to that made alone; 0 where that loses nothing
	ErrorRatio    float64  `json:"error_ratio"` // likewise
	NestedSeconds float64  `json:"nested_seconds"`
	AloneSeconds  float64  `json:"alone_seconds"`
	// Refused says why there is no release.
	Refused string `json:"refused,omitempty"`
}

// Quality is what a release is worth.
type Quality struct {
	Classes    int     `json:"classes"`
	Loss       float64 `json:"loss"`
	QueryError float64 `json:"query_error"`
}

// MeasureAudiences makes the releases. Cases are of the same method, the finest audience first. The
// error is the context's, or that of the method.
func MeasureAudiences(ctx context.Context, t *dataset.Table, cases []Case, o Options) (*Audiences, error) {
	result := &Audiences{Method: cases[0].Method, Seed: o.Seed, Records: t.Records.Len()}
	if methods.Varies(result.Method) {
		result.Effort = cases[0].Effort.String()
	}
	var constraints privacy.ConstraintSet
	var finer []anonymizer.Part
	for _, c := range cases {
		constraints = append(slices.Clone(constraints), c.constraints...)
		one := Audience{K: c.K, L: c.L, Alpha: c.Alpha, Constraints: Case{constraints: constraints}.Constraints()}
		if err := constraints.Feasible(t.Records.Population().Summary); err != nil {
			one.Refused = err.Error()
			result.Audiences = append(result.Audiences, one)
			break // nor is a coarser one
		}
		start := time.Now()
		method, err := methods.Trying(c.Method, c.Effort)
		if err != nil {
			return nil, err
		}
		alone, err := anonymizer.Anonymize(ctx, method, t.Records, constraints, anonymizer.Options{
			Seed: o.Seed, Progress: o.tell(Anonymizing), Suppression: t.Publication.Policy.Suppression,
		})
		if err != nil {
			return nil, err
		}
		one.AloneSeconds = time.Since(start).Seconds()
		one.Alone = qualityOf(alone, o)
		if finer == nil {
			finer, one.Nested, one.NestedSeconds = alone, one.Alone, one.AloneSeconds
		} else {
			start = time.Now()
			if finer, err = unite(ctx, t.Records, finer, constraints, o); err != nil {
				return nil, err
			}
			one.NestedSeconds = time.Since(start).Seconds()
			one.Nested = qualityOf(finer, o)
		}
		one.LossRatio, one.ErrorRatio = ratio(one.Nested.Loss, one.Alone.Loss), ratio(one.Nested.QueryError, one.Alone.QueryError)
		result.Audiences = append(result.Audiences, one)
	}
	return result, nil
}

// unite makes the release of each part out of that of the finer audience. The parts are the same:
// audiences differ by the parameters of their constraints.
func unite(ctx context.Context, t *anonymizer.Table, finer []anonymizer.Part, constraints privacy.ConstraintSet, o Options) ([]anonymizer.Part, error) {
	parts, err := anonymizer.Split(t, constraints)
	if err != nil {
		return nil, err
	}
	if len(parts) != len(finer) {
		return nil, fmt.Errorf("an audience has %d parts and the one before %d", len(parts), len(finer))
	}
	for i := range parts {
		parts[i].Release, err = nested.Unite(ctx, parts[i].Table, finer[i].Release, parts[i].Constraints, anonymizer.Options{Seed: o.Seed})
		if err != nil {
			return nil, fmt.Errorf("uniting classes: %w", err)
		}
	}
	return parts, nil
}

func qualityOf(parts []anonymizer.Part, o Options) Quality {
	live := published(parts)
	q := Quality{
		Loss: metric.MeanOfParts(live, metric.PublishedLoss),
		QueryError: metric.MeanOfParts(live, func(t *anonymizer.Table, r *anonymizer.Release) float64 {
			return metric.QueryError(t, r, metric.Queries{Seed: o.Seed})
		}),
	}
	for _, part := range live {
		q.Classes += len(part.Release.Classes)
	}
	return q
}

func ratio(nested, alone float64) float64 {
	if alone == 0 {
		return 0
	}
	return nested / alone
}

// rows are the figures as a table, for people or with all their digits.
func (a *Audiences) rows(percent func(float64) string, number func(float64) string) [][]string {
	rows := [][]string{{"k", "l", "alpha", "classes", "loss", "alone", "ratio", "query error", "alone", "ratio", "seconds", "alone"}}
	for _, one := range a.Audiences {
		row := []string{strconv.Itoa(one.K), number(one.L), number(one.Alpha)}
		if one.Refused != "" {
			rows = append(rows, append(row, slices.Repeat([]string{"-"}, len(rows[0])-len(row))...))
			continue
		}
		rows = append(rows, append(row, strconv.Itoa(one.Nested.Classes),
			percent(one.Nested.Loss), percent(one.Alone.Loss), number(one.LossRatio),
			percent(one.Nested.QueryError), percent(one.Alone.QueryError), number(one.ErrorRatio),
			number(one.NestedSeconds), number(one.AloneSeconds)))
	}
	return rows
}

const aboutAudiences = `Each audience's classes are unions of classes of the one before. Beside each figure stands
that of a release made alone under the same constraints, and their ratio.

`

// WriteText writes the figures for a terminal.
func (a *Audiences) WriteText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s %s, %d records\n%s", a.Method, a.Effort, a.Records, aboutAudiences); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	percent := func(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', 2, 64) }
	if err := (report.Table{Rows: a.rows(percent, number)}).WriteText(w); err != nil {
		return err
	}
	for _, one := range a.Audiences {
		if one.Refused != "" {
			if _, err := fmt.Fprintf(w, "\nk = %d: %s\n", one.K, one.Refused); err != nil {
				return fmt.Errorf("writing the report: %w", err)
			}
		}
	}
	return nil
}

// WriteJSON writes all figures.
func (a *Audiences) WriteJSON(w io.Writer) error { return report.WriteJSON(w, a) }

// WriteCSV writes the table with all digits; loss and errors are shares.
func (a *Audiences) WriteCSV(w io.Writer) error {
	exact := func(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }
	rows := a.rows(exact, exact)
	rows[0] = []string{
		"k", "l", "alpha", "classes", "loss", "loss_alone", "loss_ratio",
		"query_error", "query_error_alone", "query_error_ratio", "seconds", "seconds_alone",
	}
	return report.WriteCSV(w, rows)
}
