package pgserver

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// listsChildren says that childrenOf knows.
const listsChildren = true

// dieWithParent has the kernel order an immediate shutdown when the thread
// that started the server ends. Nobody is left then to wait for a slower one.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }

// childrenOf lists the children of a process from /proc.
func childrenOf(parent int) []int {
	folders, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	var children []int
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			continue
		}
		if _, of, ok := stat(pid); ok && of == strconv.Itoa(parent) {
			children = append(children, pid)
		}
	}
	return children
}

// halted reports whether a process is stopped, dead or gone.
func halted(pid int) bool {
	state, _, ok := stat(pid)
	return !ok || state == "T" || state == "Z" || state == "X"
}

// stat reads a process's state and its parent's id (proc_pid_stat(5)):
// pid (name) state ppid ...; the name may hold spaces and parentheses.
func stat(pid int) (state, parent string, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", "", false // it has ended
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return "", "", false
	}
	return string(fields[0]), string(fields[1]), true
}
