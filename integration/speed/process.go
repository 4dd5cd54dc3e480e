package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a program that serves until it is ended.
type process struct {
	cmd    *exec.Cmd
	log    *record
	exited chan struct{}
}

// record keeps what is written to it.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// starts are the programs to be started, each by a function. One thread calls
// all, and lives as long as this process: a child ends with the thread that made it.
var starts = sync.OnceValue(func() chan<- func() {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread()
		for do := range jobs {
			do()
		}
	}()
	return jobs
})

// launch starts a program.
func launch(program string, environment []string, arguments ...string) (*process, error) {
	p := &process{cmd: exec.Command(program, arguments...), log: &record{}, exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.Env = append(os.Environ(), environment...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	dieWithUs(p.cmd.SysProcAttr)
	started := make(chan error)
	starts() <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	go func() {
		_ = p.cmd.Wait() // that it ended is all that is asked for
		close(p.exited)
	}()
	return p, nil
}

// end has the program end, within seconds.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.exited
	}
}

// unprivileged is a user for programs that refuse to run as root; empty for the own one.
func unprivileged() string {
	if os.Getuid() != 0 {
		return ""
	}
	for _, name := range []string{"postgres", "nobody"} {
		if _, err := user.Lookup(name); err == nil {
			return name
		}
	}
	return ""
}

// ticksPerSecond is the unit of times in /proc, which Linux keeps at 100 for programs.
const ticksPerSecond = 100

// seconds sums times of /proc/PID/stat that stand at positions first to last, counted as
// in proc(5).
func seconds(fields []string, first, last int) float64 {
	sum := 0.0
	for _, field := range fields[first-3 : last-2] {
		ticks, _ := strconv.ParseFloat(field, 64) // the kernel writes numbers
		sum += ticks
	}
	return sum / ticksPerSecond
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

// cpu is the processor time of a process so far, in seconds.
func cpu(pid int) float64 {
	if fields := stat(pid); fields != nil {
		return seconds(fields, 14, 15)
	}
	return 0
}

// resident is the memory of a process in bytes.
func resident(pid int) (int64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, fmt.Errorf("no VmRSS of process %d", pid)
}

// family is the processor time of this process and all its descendants so far, those
// that have ended included.
func family() float64 {
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
	for pending := []int{os.Getpid()}; len(pending) > 0; {
		pid := pending[0]
		pending = append(pending[1:], children[pid]...)
		sum += seconds(stats[pid], 14, 17)
	}
	return sum
}

// machine is the processor time that all processes have used so far.
func machine() float64 {
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

// load is the machine's load average of the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
