package rig

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
)

// Demonstration is a running `kproxy demo`.
type Demonstration struct {
	// Analyst is the URL of kproxy, with the analyst's password.
	Analyst *url.URL
	// Source is the URL of the hospital, as its server's superuser.
	Source string
	// Console is the URL of the console, where admin logs in with Password.
	Console, Password string
	// Program is the path of kproxy.
	Program string

	dir     string
	process *exec.Cmd
	told    Log
}

// said is what a demonstration prints: the analyst's URL, the source's, the operator's
// password and the console's URL.
var said = regexp.MustCompile(`(?s)psql '(postgresql://analyst[^']+)'.*psql '(postgres://[^']+)'.*as admin with the password (\S+):\s+(http://\S+)`)

// persons is how many persons a demonstration has.
const persons = "500"

// StartDemonstration builds kproxy and starts a demonstration with so many patients, which
// the caller stops.
func StartDemonstration(patients int) (_ *Demonstration, err error) {
	d := &Demonstration{}
	if d.dir, err = os.MkdirTemp("", "kproxy-demonstration-"); err != nil {
		return nil, fmt.Errorf("starting the demonstration: %w", err)
	}
	if err := d.start(patients); err != nil {
		d.Stop()
		return nil, fmt.Errorf("starting the demonstration: %w", err)
	}
	return d, nil
}

func (d *Demonstration) start(patients int) error {
	// The server's user must get there, whoever it is.
	if err := os.Chmod(d.dir, os.ModeSticky|0o777); err != nil {
		return err
	}
	var err error
	if d.Program, err = Build(d.dir); err != nil {
		return err
	}
	cmd := exec.Command(d.Program, "demo", "--patients", strconv.Itoa(patients), "--persons", persons, "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "TMPDIR="+d.dir)
	cmd.Stdout, cmd.Stderr = &d.told, &d.told
	if err := cmd.Start(); err != nil {
		return err
	}
	d.process = cmd
	found, err := d.told.Await(said)
	if err != nil {
		return err
	}
	d.Source, d.Password, d.Console = found[2], found[3], found[4]
	d.Analyst, err = url.Parse(found[1])
	return err
}

// Stop ends the demonstration, which takes its server with it.
func (d *Demonstration) Stop() {
	if d.process != nil {
		_ = d.process.Process.Signal(syscall.SIGTERM) // it may have ended by itself
		_ = d.process.Wait()
	}
	_ = os.RemoveAll(d.dir)
}
