package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ticksPerSecond is the unit of times in /proc, which Linux keeps at 100 for programs.
const ticksPerSecond = 100

// usage is what a process, or a family of them, has of the machine. It is zero where
// there is no /proc.
type usage struct {
	bytes   float64 // memory in RAM; what processes share counts once
	seconds float64 // processor time so far, with that of children that have ended
}

// use is what one process has.
func use(pid int) usage {
	anonymous, shared := memory(pid)
	return usage{bytes: anonymous + shared, seconds: times(stat(pid), 14, 15)}
}

// familyUse is what a process and its children have: of a postmaster, the whole server.
// What they share is the shared memory, of which the process that has touched most tells
// the size.
func familyUse(pid int) usage {
	var u usage
	greatest := 0.0
	for _, member := range append(children(pid), pid) {
		anonymous, shared := memory(member)
		u.bytes += anonymous
		greatest = max(greatest, shared)
		u.seconds += times(stat(member), 14, 15)
	}
	u.bytes += greatest
	u.seconds += times(stat(pid), 16, 17)
	return u
}

// children are the processes that a process has started.
func children(pid int) []int {
	var found []int
	entries, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, entry := range entries {
		child, _ := strconv.Atoi(filepath.Base(entry)) // digits alone
		if fields := stat(child); fields != nil && fields[1] == strconv.Itoa(pid) {
			found = append(found, child)
		}
	}
	return found
}

// stat are the fields of /proc/PID/stat from the third on; the second is the program's
// name in parentheses, which may contain spaces.
func stat(pid int) []string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 15 {
		return nil
	}
	return fields
}

// times adds the fields of a stat that stand at two positions, counted as in proc(5), in
// seconds.
func times(fields []string, first, last int) float64 {
	if fields == nil {
		return 0
	}
	sum := 0.0
	for _, field := range fields[first-3 : last-2] {
		ticks, _ := strconv.ParseFloat(field, 64) // the kernel writes numbers
		sum += ticks
	}
	return sum / ticksPerSecond
}

// memory is what a process has of its own and what of memory that it shares, in bytes.
// Files that are mapped, as programs are, do not count.
func memory(pid int) (anonymous, shared float64) {
	sizes := status(pid)
	return sizes["RssAnon"], sizes["RssShmem"]
}

// peak is the most memory that a process ever had, mapped files included, in bytes.
func peak(pid int) float64 { return status(pid)["VmHWM"] }

// status are the sizes of /proc/PID/status, in bytes.
func status(pid int) map[string]float64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return nil
	}
	sizes := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if value, isSize := strings.CutSuffix(value, " kB"); isSize {
			kilobytes, _ := strconv.ParseFloat(strings.TrimSpace(value), 64) // the kernel writes numbers
			sizes[name] = 1024 * kilobytes
		}
	}
	return sizes
}
