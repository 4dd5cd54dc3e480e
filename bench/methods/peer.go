package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

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
func runPeer(ctx context.Context, command string, t *anonymizer.Table, k int) (o outcome, err error) {
	dir, err := os.MkdirTemp("", "kproxy-methods-")
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "table.csv")
	if err := writeCSV(path, t); err != nil {
		return o, err
	}
	words := append(strings.Fields(command), path, strconv.Itoa(k))
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var failure bytes.Buffer
	cmd.Stderr = &failure
	answer, err := cmd.Output()
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if err != nil {
		return o, fmt.Errorf("the peer: %w: %s", err, failure.Bytes())
	}
	return readAnswer(answer)
}

// readAnswer reads what a peer writes.
func readAnswer(answer []byte) (outcome, error) {
	var seconds float64
	lines := bufio.NewScanner(bytes.NewReader(answer))
	if !lines.Scan() {
		return outcome{}, errors.New("the peer has written nothing")
	}
	if _, err := fmt.Sscanf(lines.Text(), "seconds %g", &seconds); err != nil {
		return outcome{}, fmt.Errorf("the peer's first line is not \"seconds S\": %w", err)
	}
	var release anonymizer.Release
	for record := int32(0); lines.Scan(); record++ {
		class, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		if err != nil {
			return outcome{}, fmt.Errorf("the peer's class of record %d: %w", record, err)
		}
		switch {
		case class < 0:
			release.Withheld = append(release.Withheld, record)
		case class > len(release.Classes)+1<<20:
			return outcome{}, fmt.Errorf("the peer's classes are not numbered from 0: %d", class)
		default:
			for len(release.Classes) <= class {
				release.Classes = append(release.Classes, nil)
			}
			release.Classes[class] = append(release.Classes[class], record)
		}
	}
	return outcome{release: &release, seconds: []float64{seconds}}, lines.Err()
}
