// Package host tells what benchmarks run on, and what runs beside them: what proc(5) of
// Linux says. Elsewhere it says little.
package host

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/kproxy/kproxy/internal/bench/result"
)

// Machine describes the machine; what the system does not tell is zero.
func Machine() result.Machine {
	m := result.Machine{Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.Processor = valueOf(string(text), "model name")
	}
	m.Memory = int64(sizes("/proc/meminfo")["MemTotal"])
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(text))
	}
	return m
}

// valueOf is what stands behind the first "name:" at a line's beginning.
func valueOf(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Others is the share of the machine, 0 to 1, that other processes than this one and its
// descendants take while do runs, and the time that it takes.
func Others(do func() error) (share float64, took time.Duration, err error) {
	begin, all, own := time.Now(), Used(), Family()
	err = do()
	took = time.Since(begin)
	used := (Used() - all) - (Family() - own)
	return min(1, max(0, used/took.Seconds()/float64(runtime.NumCPU()))), took, err
}

// Family is the processor time of this process and all its descendants so far, those
// that have ended included, in seconds.
func Family() float64 { return Lineage(os.Getpid(), true) }

// Lineage is the processor time of a process and all its descendants so far, in seconds,
// with or without those that have ended; 0 where the system does not tell.
func Lineage(of int, ended bool) float64 {
	last := 15
	if ended {
		last = 17
	}
	stats, children := map[int][]string{}, map[int][]int{}
	entries, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, entry := range entries {
		pid, _ := strconv.Atoi(filepath.Base(entry)) // digits alone
		if fields := stat(pid); fields != nil {
			parent, _ := strconv.Atoi(fields[1]) // the kernel writes numbers
			stats[pid] = fields
			children[parent] = append(children[parent], pid)
		}
	}
	sum := 0.0
	for pending := []int{of}; len(pending) > 0; {
		pid := pending[0]
		pending = append(pending[1:], children[pid]...)
		if fields := stats[pid]; fields != nil {
			sum += seconds(fields, 14, last)
		}
	}
	return sum
}

// Used is the processor time that all processes of the machine have used so far, in
// seconds; 0 where the system does not tell.
func Used() float64 {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	sum := 0.0
	for i, field := range strings.Fields(line)[1:9] {
		if ticks, err := strconv.ParseFloat(field, 64); err == nil && i != 3 && i != 4 { // idle, waiting
			sum += ticks
		}
	}
	return sum / ticksPerSecond
}

// Load is the machine's load average of the last minute, or "unknown".
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
