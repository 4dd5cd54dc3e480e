package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// measure is one thing that is measured all day. Its name says the unit.
type measure string

// What is measured.
const (
	askedChanges measure = "changes asked for" // by the hour of the day
	changes      measure = "changes"           // that have been committed at the source
	commits      measure = "transactions"

	appliedLag measure = "applied, ms"  // from the source's commit until the private store has it
	dueLag     measure = "visible, ms"  // of the newcomer who completes a batch: until readers see it
	newcomers  measure = "newcomers, s" // from the commit of each admission until readers see it
	waiting    measure = "waiting"      // records that readers do not see yet, guarded as they are
	stale      measure = "stale"        // records that are published as they were
	ghosts     measure = "ghosts"       // rows that stand for nobody

	logins    measure = "logins, ms"
	queries   measure = "queries, ms"  // from sending one to the end of its answer
	refreshes measure = "refreshes, s" // of whole dashboards, with the time in Cube's queue
	sessions  measure = "sessions"     // through kproxy

	checks   measure = "checks, ms"   // of all classes of the release
	versions measure = "versions, ms" // of a part of it, each compared with the one before

	kproxyBytes   measure = "kproxy, bytes"
	kproxyCores   measure = "kproxy, cores"
	postgresBytes measure = "PostgreSQL, bytes"
	postgresCores measure = "PostgreSQL, cores"
	keptWAL       measure = "WAL kept, bytes"
)

// parts is into how many equal parts a day is divided: with an hour of length, minutes.
const parts = 60

// shortestPart of a day.
const shortestPart = time.Second

// diary takes down what is measured, part by part of the day.
type diary struct {
	length time.Duration
	part   time.Duration

	mu       sync.Mutex
	begin    time.Time
	lived    time.Duration // of the length; less than that where the day was interrupted
	parts    []map[measure][]float64
	failures []string
	counts   counts
}

// counts are what must not be forgotten in the end.
type counts struct {
	// Violations are the checked states that broke a promise, Errors the statements and
	// sessions that failed.
	Violations int `json:"violations"`
	Errors     int `json:"errors"`
	// Apart are the sets of rows that comparing versions told apart, each of which
	// satisfied the constraints.
	Apart int `json:"apart"`
}

// mostFailures are kept as texts; the others are counted.
const mostFailures = 10

func newDiary(o options) *diary {
	d := &diary{length: o.length(), part: max(o.length()/parts, shortestPart), begin: time.Now()}
	d.parts = make([]map[measure][]float64, max(1, int(d.length/d.part)))
	for i := range d.parts {
		d.parts[i] = map[measure][]float64{}
	}
	return d
}

// now is the part of the day that it is; the last one goes on after its end.
func (d *diary) now() int { return min(int(time.Since(d.begin)/d.part), len(d.parts)-1) }

func (d *diary) note(m measure, values ...float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.parts[d.now()]
	p[m] = append(p[m], values...)
}

// took notes how long something took, in milliseconds or, where the measure says so,
// seconds.
func (d *diary) took(m measure, since time.Time) {
	t := time.Since(since)
	if m == refreshes || m == newcomers {
		d.note(m, t.Seconds())
		return
	}
	d.note(m, float64(t)/float64(time.Millisecond))
}

// wrong notes a broken promise, failed what could not be done.
func (d *diary) wrong(format string, arguments ...any) {
	d.fail(&d.counts.Violations, fmt.Sprintf(format, arguments...))
}

func (d *diary) failed(format string, arguments ...any) {
	d.fail(&d.counts.Errors, fmt.Sprintf(format, arguments...))
}

func (d *diary) fail(count *int, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*count++
	if len(d.failures) < mostFailures {
		hour := 24 * moment(d.begin, d.length, time.Now())
		d.failures = append(d.failures, fmt.Sprintf("at %.1f: %s", hour, text))
	}
}

// summary is what a measure came to.
type summary struct {
	N    int     `json:"n"`
	Sum  float64 `json:"sum"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

func summarize(values []float64) summary {
	if len(values) == 0 {
		return summary{}
	}
	sorted := slices.Sorted(slices.Values(values))
	sum := 0.0
	for _, v := range sorted {
		sum += v
	}
	n := len(sorted)
	return summary{N: n, Sum: sum, Mean: sum / float64(n), P50: quantile(sorted, 0.5), P99: quantile(sorted, 0.99), Max: sorted[n-1]}
}

// quantile is the least of the sorted values that at least a share of them do not exceed.
func quantile(sorted []float64, share float64) float64 {
	at := int(share*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}

// whole puts the values of a measure of all parts together.
func (d *diary) whole(m measure) []float64 {
	var all []float64
	for _, p := range d.parts {
		all = append(all, p[m]...)
	}
	return all
}
