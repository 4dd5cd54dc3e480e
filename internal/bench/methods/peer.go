package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
)

// peers are other programs, by name.
type peers [][2]string

// String implements flag.Value.
func (p *peers) String() string { return fmt.Sprint(*p) }

// Set implements flag.Value.
func (p *peers) Set(text string) error {
	name, command, found := strings.Cut(text, "=")
	if !found || name == "" || strings.TrimSpace(command) == "" {
		return errors.New("want name=command")
	}
	*p = append(*p, [2]string{name, command})
	return nil
}

func (p *peers) names() (names []string) {
	for _, peer := range *p {
		names = append(names, peer[0])
	}
	return names
}

// command of a peer; empty of what is none.
func (p *peers) command(name string) string {
	for _, peer := range *p {
		if peer[0] == name {
			return peer[1]
		}
	}
	return ""
}

// runPeer has a peer make the classes.
func (m *measuring) runPeer(ctx context.Context, command string, s sample) (o outcome, err error) {
	dir, err := os.MkdirTemp("", "kproxy-methods-")
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "table.csv")
	if err := errors.Join(writeCSV(path, m.table), writeHierarchies(dir, m.table)); err != nil {
		return o, err
	}
	words := append(strings.Fields(command), path, strconv.Itoa(s.k))
	for m.another(o.seconds) {
		answered, err := ask(ctx, words, m.table)
		if err != nil {
			return o, err
		}
		o.release, o.runs, o.version = &answered.release, answered.runs, answered.version
		o.seconds = append(o.seconds, answered.seconds)
		if answered.cpu > 0 {
			o.cpu = append(o.cpu, answered.cpu)
		}
		if answered.memory > 0 {
			o.peak = append(o.peak, answered.memory/1e6)
		}
	}
	return o, nil
}

// ask runs a peer once and reads its answer.
func ask(ctx context.Context, words []string, t *anonymizer.Table) (answer, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(running, words[0], words[1:]...)
	// An adapter's own programs end with it: one that stays would take the processor from
	// what is measured next, and hold the output open.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var complaint tail
	cmd.Stderr = &complaint
	output, err := cmd.StdoutPipe()
	if err != nil {
		return answer{}, err
	}
	if err := cmd.Start(); err != nil {
		return answer{}, fmt.Errorf("the peer: %w", err)
	}
	a, wrong := readAnswer(output, t)
	early := wrong == nil || errors.Is(wrong, io.ErrUnexpectedEOF)
	if !early {
		stop() // it may go on for ever
	}
	failed := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return a, ctx.Err()
	case early && failed != nil: // which is why the answer ends
		return a, fmt.Errorf("the peer: %w: %s", failed, complaint)
	case wrong != nil:
		return a, fmt.Errorf("the peer: %w: %s", wrong, complaint)
	}
	return a, nil
}

// tail is the end of what was written.
type tail []byte

// Write implements io.Writer.
func (t *tail) Write(text []byte) (int, error) {
	const enough = 4000
	*t = append(*t, text...)
	*t = (*t)[max(0, len(*t)-enough):]
	return len(text), nil
}
