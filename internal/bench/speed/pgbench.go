package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// work is what pgbench is asked to do.
type work struct {
	clients  int
	protocol string
	script   string // SQL; :stay is a random number of a record
	// reconnect has each transaction make a connection of its own.
	reconnect bool
	tls       bool
	page      bool // read a thousand rows, not one
}

// sample is one run of pgbench by one way.
type sample struct {
	rate          float64 // transactions a second
	mean          float64 // of a transaction, in milliseconds
	median, worst float64 // the same; worst is the 99th percentile
	processor     float64 // microseconds of the proxy's processor time a transaction
}

// logged is the share of the transactions whose times pgbench logs.
const logged = "0.1"

// errNone says that all the time went into connecting.
var errNone = errors.New("pgbench made no transaction")

// pgbench runs for the time that was asked for, and again where a busy machine left it no
// time for a transaction.
func (b *bench) pgbench(ctx context.Context, w *way, job work) (s sample, err error) {
	const (
		attempts = 5
		abreast  = 16 // connections that surely can be made in a second
	)
	for attempt := range attempts {
		// The time that pgbench counts begins before it connects.
		whole := b.time + time.Duration(attempt*job.clients)*time.Second/abreast
		if s, err = b.pgbenchOnce(ctx, w, job, whole); !errors.Is(err, errNone) {
			break
		}
	}
	return s, err
}

func (b *bench) pgbenchOnce(ctx context.Context, w *way, job work, whole time.Duration) (sample, error) {
	// stay = patient_id * 611953 % 15485863, as in addStays.
	script := fmt.Sprintf("\\set id random(1, %d)\n\\set stay :id * 611953 %% 15485863\n%s;\n", b.records, job.script)
	if !strings.Contains(job.script, ":stay") {
		script = job.script + ";\n"
	}
	if err := b.write("script.sql", script); err != nil {
		return sample{}, err
	}
	arguments := []string{
		"--no-vacuum", "--file", b.path("script.sql"), "--client", strconv.Itoa(job.clients), "--jobs", "1",
		"--protocol", job.protocol, "--time", strconv.Itoa(int(math.Ceil(whole.Seconds()))),
	}
	if job.reconnect {
		arguments = append(arguments, "--connect")
	} else {
		arguments = append(arguments, "--log", "--log-prefix", b.path("transactions"), "--sampling-rate", logged)
	}
	cmd := exec.CommandContext(ctx, "pgbench", arguments...)
	cmd.Env = append(os.Environ(), w.environment(job.tls)...)
	before := w.processor()
	output, err := cmd.CombinedOutput()
	if err != nil {
		return sample{}, fmt.Errorf("pgbench: %w: %s", err, output)
	}
	s, transactions, err := parseReport(string(output))
	if err != nil {
		return s, err
	}
	s.processor = (w.processor() - before) / transactions * 1e6
	if job.reconnect {
		return s, nil
	}
	s.median, s.worst, err = b.latencies()
	return s, err
}

var (
	rateLine  = regexp.MustCompile(`(?m)^tps = ([0-9.]+) `)
	meanLine  = regexp.MustCompile(`(?m)^latency average = ([0-9.]+) ms`)
	noneLine  = regexp.MustCompile(`(?m)^number of transactions actually processed: 0\b`)
	countLine = regexp.MustCompile(`(?m)^number of transactions actually processed: ([0-9]+)`)
)

// parseReport reads what pgbench says at its end.
func parseReport(text string) (s sample, transactions float64, err error) {
	if noneLine.MatchString(text) {
		return s, 0, errNone
	}
	for _, part := range []struct {
		line *regexp.Regexp
		to   *float64
	}{{rateLine, &s.rate}, {meanLine, &s.mean}, {countLine, &transactions}} {
		found := part.line.FindStringSubmatch(text)
		if found == nil {
			return s, 0, fmt.Errorf("pgbench reports nothing like %s:\n%s", part.line, text)
		}
		if *part.to, err = strconv.ParseFloat(found[1], 64); err != nil {
			return s, 0, fmt.Errorf("reading pgbench's report: %w", err)
		}
	}
	return s, transactions, nil
}

// latencies reads pgbench's logs, in milliseconds, and removes them.
func (b *bench) latencies() (middle, worst float64, err error) {
	files, err := filepath.Glob(b.path("transactions*"))
	if err != nil {
		return 0, 0, err
	}
	var all []float64
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			return 0, 0, err
		}
		all, err = readLog(file, all)
		if err := file.Close(); err != nil {
			return 0, 0, err
		}
		if err != nil {
			return 0, 0, err
		}
		if err := os.Remove(path); err != nil {
			return 0, 0, err
		}
	}
	slices.Sort(all)
	return quantile(all, 0.5), quantile(all, 0.99), nil
}

// readLog appends the times of the transactions in a log of pgbench, whose third field
// is in microseconds.
func readLog(log io.Reader, to []float64) ([]float64, error) {
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 {
			return to, fmt.Errorf("a line of pgbench's log has %d fields", len(fields))
		}
		microseconds, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			return to, fmt.Errorf("reading pgbench's log: %w", err)
		}
		to = append(to, microseconds/1000)
	}
	return to, lines.Err()
}
