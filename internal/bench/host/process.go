package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ticksPerSecond is the unit of times in /proc, which Linux keeps at 100 for programs.
const ticksPerSecond = 100

// Usage is what a process, or a family of them, has of the machine. It is zero where
// there is no /proc.
type Usage struct {
	Bytes   float64 // memory in RAM; what processes share counts once
	Seconds float64 // processor time so far, with that of children that have ended
}

// Use is what one process has, without its children.
func Use(pid int) Usage {
	anonymous, shared := memory(pid)
	return Usage{Bytes: anonymous + shared, Seconds: seconds(stat(pid), 14, 15)}
}

// FamilyUse is what a process and its children have: of a postmaster, the whole server.
// What they share is the shared memory, of which the process that has touched most tells
// the size, and what children have not changed of their parent's own, of which each has its
// part (proc(5), Pss_Anon).
func FamilyUse(pid int) Usage {
	var u Usage
	greatest := 0.0
	for _, member := range append(children(pid), pid) {
		anonymous, shared := memory(member)
		if part, known := sizes(filepath.Join("/proc", strconv.Itoa(member), "smaps_rollup"))["Pss_Anon"]; known {
			anonymous = part
		}
		u.Bytes += anonymous
		greatest = max(greatest, shared)
		u.Seconds += seconds(stat(member), 14, 15)
	}
	u.Bytes += greatest
	u.Seconds += seconds(stat(pid), 16, 17)
	return u
}

// Resident is the memory of a process in bytes, mapped files included. The error says that
// it has ended, or that the system does not tell.
func Resident(pid int) (int64, error) {
	bytes, known := status(pid)["VmRSS"]
	if !known {
		return 0, fmt.Errorf("no VmRSS of process %d", pid)
	}
	return int64(bytes), nil
}

// Peak is the most memory that a process ever had, mapped files included, in bytes; 0 of
// one that has ended.
func Peak(pid int) float64 { return status(pid)["VmHWM"] }

// ResetPeak makes what this process has now its peak (proc(5), clear_refs). The error says that
// the system does not.
func ResetPeak() error { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

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

// seconds sums times of a stat that stand at positions first to last, counted as in
// proc(5); 0 of a process that has ended.
func seconds(fields []string, first, last int) float64 {
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

// status are the sizes of /proc/PID/status.
func status(pid int) map[string]float64 {
	return sizes(filepath.Join("/proc", strconv.Itoa(pid), "status"))
}

// sizes are those of a file of /proc whose lines name sizes in kilobytes, in bytes.
func sizes(file string) map[string]float64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	found := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if value, isSize := strings.CutSuffix(value, " kB"); isSize {
			kilobytes, _ := strconv.ParseFloat(strings.TrimSpace(value), 64) // the kernel writes numbers
			found[name] = 1024 * kilobytes
		}
	}
	return found
}
