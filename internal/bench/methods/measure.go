package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/internal/bench/host"
	"github.com/kproxy/kproxy/internal/bench/result"
	"github.com/kproxy/kproxy/internal/eval"
)

// measuring goes through the cases.
type measuring struct {
	options
	out     io.Writer
	figures []result.Figure
	slow    map[contestant]int // who would take too long, by the number of records from which on

	table *anonymizer.Table // the one of the last case
	of    source
}

// outcome is what came of one case.
type outcome struct {
	release                             *anonymizer.Release
	runs                                [][]metric.Run // that a peer publishes
	constraints                         privacy.ConstraintSet
	seconds, cpu, growth, peak, objects []float64
	version                             string // of a peer
}

// quick is how long runs take at most of which there are several rounds, in seconds.
const quick = 1

// another reports whether one more round is to be run.
func (m *measuring) another(done []float64) bool {
	return len(done) == 0 || len(done) < m.rounds && done[0] < quick
}

// measure runs a case and notes its figures. A method that takes longer than the patience,
// or would with the next number of records, is left out from there on.
func (m *measuring) measure(ctx context.Context, s sample) error {
	if from, slow := m.slow[s.contestant]; slow && s.folder == "" && s.records >= from {
		return nil
	}
	if m.table == nil || m.of != s.source {
		var err error
		if m.table, err = s.read(); err != nil {
			return err
		}
		m.of = s.source
	}
	var o outcome
	var err error
	limited, cancel := context.WithTimeout(ctx, 4*m.patience)
	defer cancel()
	if command := m.peers.command(s.method); command != "" {
		o, err = m.runPeer(limited, command, s)
	} else {
		o, err = m.runMethod(limited, s)
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		m.slow[s.contestant] = s.records
		fmt.Fprintf(m.out, "%s: left out after %v\n", s, 4*m.patience)
		return nil
	}
	if err != nil {
		return err
	}
	if err := check(m.table.Len(), o.release, s.k); err != nil {
		return err
	}
	m.note(s, o)
	next := m.nextOf(s.records)
	if s.folder == "" && s.k == usualK && s.attributes == usualAttributes && o.seconds[0]*float64(next)/float64(s.records) > m.patience.Seconds() {
		m.slow[s.contestant] = next
	}
	return nil
}

// nextOf is the next greater number of records, or one beyond the greatest.
func (m *measuring) nextOf(records int) int {
	for _, n := range m.records {
		if n > records {
			return n
		}
	}
	return records + 1
}

// constraintsFor are k alone, or with a bound for the sensitive value where the method is
// for that.
func constraintsFor(method anonymizer.Method, t *anonymizer.Table, k int) (privacy.ConstraintSet, error) {
	alone := privacy.ConstraintSet{privacy.KAnonymity{K: k}}
	if methods.Refusal(method, t.Attributes(), alone) == nil {
		return alone, nil
	}
	bounded := privacy.ConstraintSet{alone[0], privacy.AlphaBound{Alpha: 0.5, Name: "sensitive"}}
	return bounded, methods.Refusal(method, t.Attributes(), bounded)
}

func (m *measuring) runMethod(ctx context.Context, s sample) (outcome, error) {
	var o outcome
	method, err := methodOf(s.method)
	if err != nil {
		return o, err
	}
	if o.constraints, err = constraintsFor(method, m.table, s.k); err != nil {
		return o, err
	}
	defer limit(s.cores)()
	for m.another(o.seconds) {
		var before, after runtime.MemStats
		debug.FreeOSMemory()
		resets := host.ResetPeak()
		heap := eval.WatchHeap()
		runtime.ReadMemStats(&before)
		began, cpu := time.Now(), processorTime()
		o.release, err = method.Anonymize(ctx, m.table, o.constraints, anonymizer.Options{Seed: seed})
		o.seconds = append(o.seconds, time.Since(began).Seconds())
		o.cpu = append(o.cpu, (processorTime() - cpu).Seconds())
		runtime.ReadMemStats(&after)
		o.growth = append(o.growth, float64(heap.Stop())/float64(s.records))
		if resets == nil {
			o.peak = append(o.peak, host.Peak(os.Getpid())/1e6)
		}
		o.objects = append(o.objects, float64(after.Mallocs-before.Mallocs)/float64(s.records))
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// limit has Go run on so many cores, on those that there are for 0, until it is undone.
func limit(cores int) (undo func()) {
	before := runtime.GOMAXPROCS(cores)
	return func() { runtime.GOMAXPROCS(before) }
}

// note prints and keeps the figures of a case.
func (m *measuring) note(s sample, o outcome) {
	parameters := map[string]string{
		"method": s.method, "records": strconv.Itoa(s.records), "attributes": strconv.Itoa(s.attributes), "k": strconv.Itoa(s.k),
	}
	for _, c := range o.constraints[min(1, len(o.constraints)):] {
		parameters["beside"] = c.String()
	}
	if s.folder != "" {
		parameters["table"] = "adult"
	}
	if s.cores > 0 {
		parameters["cores"] = strconv.Itoa(s.cores)
	}
	if o.version != "" {
		parameters["version"] = o.version
	}
	way := "kproxy"
	if m.peers.command(s.method) != "" {
		way = s.method
	}
	add := func(name, unit string, rounds ...float64) {
		if len(rounds) > 0 {
			m.figures = append(m.figures, result.New(name, way, parameters, unit, rounds...))
		}
	}
	loss, read := 100*m.loss(o), m.asRead(o)
	add("time", "s", o.seconds...)
	add("cpu", "s", o.cpu...)
	add("peak", "MB", o.peak...)
	add("memory", "B/record", o.growth...)
	add("objects", "1/record", o.objects...)
	add("loss", "%", loss)
	if o.runs == nil {
		add("NCP", "%", 100*metric.GCP(m.table, o.release))
	}
	if len(m.peers) > 0 {
		add("query-error", "%", 100*m.queryError(o))
	}
	add("discernibility", "", float64(metric.Discernibility(read)))
	add("classes", "", float64(metric.Classes(read)))
	add("largest-class", "records", float64(metric.LargestClass(read)))
	add("withheld", "records", float64(len(read.Withheld)))
	fmt.Fprintf(m.out, "%s: %.3f s, loss %.2f %%, %d classes\n", s, o.seconds[0], loss, len(read.Classes))
}

// loss is the share of the information that readers lose, 0 to 1.
func (m *measuring) loss(o outcome) float64 {
	if o.runs != nil {
		return metric.RunsLoss(m.table, o.release, o.runs)
	}
	return metric.PublishedLoss(m.table, o.release)
}

// queryError is the median error of the same counts of all releases of a table.
func (m *measuring) queryError(o outcome) float64 {
	asked := metric.Queries{Seed: seed}
	if o.runs != nil {
		return metric.RunsQueryError(m.table, o.release, o.runs, asked)
	}
	return metric.QueryError(m.table, o.release, asked)
}

// asRead is the release with classes that read the same as one; those of a peer are such.
func (m *measuring) asRead(o outcome) *anonymizer.Release {
	if o.runs != nil || o.release.Levels != nil {
		return o.release
	}
	return metric.Merged(m.table, o.release, nil)
}

// check looks that each record is in one class of at least k, or withheld.
func check(records int, r *anonymizer.Release, k int) error {
	seen := make([]bool, records)
	mark := func(of []int32) error {
		for _, record := range of {
			if record < 0 || int(record) >= records || seen[record] {
				return errors.New("a record is in two places, or is none of the table's")
			}
			seen[record] = true
		}
		return nil
	}
	for _, class := range r.Classes {
		if len(class) < k {
			return fmt.Errorf("a class of %d records", len(class))
		}
		if err := mark(class); err != nil {
			return err
		}
	}
	if err := mark(r.Withheld); err != nil {
		return err
	}
	for _, found := range seen {
		if !found {
			return errors.New("a record is nowhere")
		}
	}
	return nil
}

// processorTime is what this process has taken, in user mode and in the system's.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
