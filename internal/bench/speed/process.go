package main

import (
	"os"
	"os/exec"
	"os/user"
	"time"

	"github.com/kproxy/kproxy/integration/child"
)

// patienceAtEnd is how long a proxy may take to end.
const patienceAtEnd = 10 * time.Second

// launch starts a program, with a log of that name.
func (b *bench) launch(name, program string, environment []string, arguments ...string) (*child.Process, error) {
	cmd := exec.Command(program, arguments...)
	cmd.Env = append(os.Environ(), environment...)
	return child.Start(cmd, b.path(name+".log"))
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
