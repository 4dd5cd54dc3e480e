package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/kproxy/kproxy/internal/bench/host"
)

// result is the day in figures.
type result struct {
	Options  options  `json:"options"`
	Machine  machine  `json:"machine"`
	Counts   counts   `json:"counts"`
	Failures []string `json:"failures"`
	// Interrupted says that the day was not lived through, or not proved.
	Interrupted bool `json:"interrupted"`
	// LivedSeconds are those of the day that have passed.
	LivedSeconds float64 `json:"livedSeconds"`
	// LoadSeconds fill the source table, PublishSeconds pass from kproxy's start until its
	// release is there.
	LoadSeconds    float64 `json:"loadSeconds"`
	PublishSeconds float64 `json:"publishSeconds"`
	// PeakBytes is the most memory that kproxy ever had, which is while it publishes.
	PeakBytes float64 `json:"peakBytes"`
	// PartSeconds is the length of each of Parts, which a day of 24 hours is divided into.
	PartSeconds float64 `json:"partSeconds"`
	// Whole is the whole day; Parts are the parts in their order. Keys are measures,
	// which name their units.
	Whole map[measure]summary   `json:"whole"`
	Parts []map[measure]summary `json:"parts"`
}

// machine is what was measured on.
type machine struct {
	Cores      int    `json:"cores"`
	System     string `json:"system"`
	PostgreSQL string `json:"postgresql"`
	Go         string `json:"go"`
	Date       string `json:"date"`
	// MemoryLimit is GOMEMLIMIT, which kproxy is given; empty is none.
	MemoryLimit string `json:"memoryLimit"`
}

// measures are all, in the order in which they are printed.
var measures = []measure{
	askedChanges, changes, commits, appliedLag, dueLag, newcomers, waiting, stale, ghosts,
	logins, queries, refreshes, sessions, checks, versions,
	kproxyBytes, kproxyCores, postgresBytes, postgresCores, keptWAL,
}

// result sums the diary up.
func (s *site) result(d *diary) result {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := result{
		Options: s.options, Counts: d.counts, Failures: d.failures,
		Machine: machine{
			Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, PostgreSQL: s.server.Version().String(),
			Go: runtime.Version(), Date: time.Now().UTC().Format(time.DateOnly), MemoryLimit: os.Getenv("GOMEMLIMIT"),
		},
		LoadSeconds: s.loaded.Seconds(), PublishSeconds: s.published.Seconds(),
		PeakBytes: host.Peak(s.kproxy.PID()), PartSeconds: d.part.Seconds(), LivedSeconds: d.lived.Seconds(),
		Whole: map[measure]summary{},
	}
	for _, m := range measures {
		r.Whole[m] = summarize(d.whole(m))
	}
	for _, p := range d.parts {
		part := map[measure]summary{}
		for _, m := range measures {
			part[m] = summarize(p[m])
		}
		r.Parts = append(r.Parts, part)
	}
	return r
}

// wrong are the promises that were not kept.
func (r result) wrong() []error {
	var wrong []error
	if r.Interrupted {
		wrong = append(wrong, fmt.Errorf("interrupted after %.1f hours of the day", r.hours()))
	}
	for _, text := range r.Failures {
		wrong = append(wrong, errors.New(text))
	}
	if more := r.Counts.Violations + r.Counts.Errors - len(r.Failures); more > 0 {
		wrong = append(wrong, fmt.Errorf("and %d more", more))
	}
	// A day on which nobody looked proves nothing.
	for _, m := range []measure{changes, appliedLag, newcomers, queries, checks, versions} {
		if r.Whole[m].N == 0 && !r.Interrupted {
			wrong = append(wrong, fmt.Errorf("nothing was measured of %q", m))
		}
	}
	return wrong
}

// hours are how many of the day's have passed.
func (r result) hours() float64 { return 24 * r.LivedSeconds / (60 * r.Options.Minutes) }

// print writes the whole day as a table in Markdown.
func (r result) print(out io.Writer) {
	fmt.Fprintf(out, "%d patients, %g minutes, %d dashboards; %d cores, PostgreSQL %s, %s. Loaded in %.0f s, published in %.0f s with at most %s bytes of kproxy.\n\n",
		r.Options.Patients, r.Options.Minutes, r.Options.Dashboards, r.Machine.Cores, r.Machine.PostgreSQL, r.Machine.Go, r.LoadSeconds, r.PublishSeconds, short(r.PeakBytes))
	fmt.Fprintf(out, "| %-18s | %9s | %12s | %12s | %12s | %12s |\n| --- | ---: | ---: | ---: | ---: | ---: |\n", "", "n", "mean", "p50", "p99", "max")
	for _, m := range measures {
		v := r.Whole[m]
		fmt.Fprintf(out, "| %-18s | %9d | %12s | %12s | %12s | %12s |\n", m, v.N, short(v.Mean), short(v.P50), short(v.P99), short(v.Max))
	}
	fmt.Fprintf(out, "\n%.0f changes, %.0f a second; %d states and %d versions checked, %d sets of rows told apart: %d violations, %d errors.\n",
		r.Whole[changes].Sum, r.Whole[changes].Sum/max(r.LivedSeconds, 1), r.Whole[checks].N, r.Whole[versions].N, r.Counts.Apart, r.Counts.Violations, r.Counts.Errors)
}

// short writes a number with as many digits as tell something.
func short(x float64) string {
	switch {
	case x >= 1e9:
		return fmt.Sprintf("%.2fe9", x/1e9)
	case x >= 1e6:
		return fmt.Sprintf("%.1fe6", x/1e6)
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
