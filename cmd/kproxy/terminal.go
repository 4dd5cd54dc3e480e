package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// terminal is where an operator is asked questions.
type terminal struct {
	in          io.Reader
	out         io.Writer
	interactive bool // somebody can answer
}

func dialog(c *cobra.Command) terminal { return terminal{c.InOrStdin(), c.ErrOrStderr(), isTerminal()} }

// confirm asks a question, and returns refused unless the answer is yes.
func (t terminal) confirm(ctx context.Context, question string, refused failure) error {
	fmt.Fprint(t.out, question)
	answer, err := lineOf(ctx, t.in)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if strings.TrimSpace(answer) != "yes" {
		return refused
	}
	return nil
}

// lineOf reads a line, unless ctx ends before. Nothing interrupts the reading of a terminal:
// it is left behind then, and ends with the program.
func lineOf(ctx context.Context, in io.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(in).ReadString('\n')
		read <- answer{line, err}
	}()
	select {
	case a := <-read:
		return a.line, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
