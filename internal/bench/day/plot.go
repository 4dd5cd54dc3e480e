package main

import (
	"fmt"

	"github.com/kproxy/kproxy/internal/eval/chart"
)

// plot draws the day, one chart above the other over its hours.
func (r result) plot() ([]byte, error) {
	perSecond := func(s summary) float64 { return s.Sum / r.PartSeconds }
	p50 := func(unit float64) func(summary) float64 { return func(s summary) float64 { return s.P50 / unit } }
	p99 := func(unit float64) func(summary) float64 { return func(s summary) float64 { return s.P99 / unit } }
	greatest := func(unit float64) func(summary) float64 { return func(s summary) float64 { return s.Max / unit } }
	mean := func(s summary) float64 { return s.Mean }
	charts := []chart.Chart{
		{Title: "Changes at the source", Y: "a second", Lines: []chart.Line{
			r.line("asked for", askedChanges, perSecond), r.line("committed", changes, perSecond),
		}},
		{Title: "From a commit until …", Y: "s", LogY: true, Lines: []chart.Line{
			r.line("applied, p50", appliedLag, p50(1000)), r.line("applied, p99", appliedLag, p99(1000)),
			r.line("newcomers, p50", newcomers, p50(1)), r.line("due batch, p99", dueLag, p99(1000)),
		}},
		{Title: "Queries of dashboards", Y: "s", LogY: true, Lines: []chart.Line{
			r.line("query, p50", queries, p50(1000)), r.line("query, p99", queries, p99(1000)), r.line("login, p99", logins, p99(1000)),
		}},
		{Title: "Memory, and WAL that the slot keeps", Y: "GB", Lines: []chart.Line{
			r.line("kproxy", kproxyBytes, greatest(1e9)), r.line("PostgreSQL", postgresBytes, greatest(1e9)), r.line("WAL kept", keptWAL, greatest(1e9)),
		}},
		{Title: "Processor", Y: "cores", Lines: []chart.Line{
			r.line("kproxy", kproxyCores, mean), r.line("PostgreSQL", postgresCores, mean),
		}},
		{Title: "Checks: every state that was looked at, 0 violations", Y: "since midnight", LogY: true, Lines: []chart.Line{
			r.sum("states checked", checks), r.sum("versions compared", versions), r.line("newcomers waiting", waiting, greatest(1)),
		}},
	}
	if n := r.Counts.Violations; n > 0 {
		charts[len(charts)-1].Title = fmt.Sprintf("Checks: %d VIOLATIONS", n)
	}
	title := fmt.Sprintf("A day in %g minutes: %d patients, %.0f changes/s, %d dashboards, %d cores",
		r.Options.Minutes, r.Options.Patients, r.Options.Rate, r.Options.Dashboards, r.Machine.Cores)
	if r.Interrupted {
		charts[0].Title += fmt.Sprintf("; interrupted after %.1f hours", r.hours())
	}
	svg, err := chart.Stack{Title: title, X: "hour of the day", Marks: []float64{0, 3, 6, 9, 12, 15, 18, 21, 24}, Charts: charts}.SVG()
	if err != nil {
		return nil, fmt.Errorf("drawing the day: %w", err)
	}
	return svg, nil
}

// line is a measure over the day; parts in which it was not measured are left out.
func (r result) line(name string, m measure, of func(summary) float64) chart.Line {
	line := chart.Line{Name: name, Plain: true}
	for i, part := range r.Parts {
		if s := part[m]; s.N > 0 {
			line.Points = append(line.Points, chart.Point{X: r.hour(i), Y: of(s)})
		}
	}
	return line
}

// sum counts how often something was measured up to the end of each part.
func (r result) sum(name string, m measure) chart.Line {
	line := chart.Line{Name: name, Plain: true}
	n := 0
	for i, part := range r.Parts {
		if r.hour(i) > r.hours()+24/float64(len(r.Parts)) {
			break // the day did not come to this
		}
		n += part[m].N
		line.Points = append(line.Points, chart.Point{X: r.hour(i), Y: float64(n)})
	}
	return line
}

// hour is the middle of a part of the day.
func (r result) hour(part int) float64 { return 24 * (float64(part) + 0.5) / float64(len(r.Parts)) }
