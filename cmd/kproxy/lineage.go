package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// guardedAmong are the guarded tables among those that are named, or among all where none is.
func guardedAmong(p catalog.Policy, named []catalog.Name) []string {
	asked := make(map[catalog.Name]bool)
	for _, name := range named {
		asked[name] = true
	}
	var guarded []string
	for _, t := range p.Tables {
		if t.Updates.Mode == catalog.Guarded && (len(named) == 0 || asked[t.Table]) {
			guarded = append(guarded, t.Table.String())
		}
	}
	return guarded
}

// tablesOf are the protected tables.
func tablesOf(p catalog.Policy) []catalog.Name {
	var names []catalog.Name
	for _, t := range p.Tables {
		names = append(names, t.Table)
	}
	return names
}

// permitLineages asks whether guarded tables are to begin new lineages; where nobody can be
// asked it is refused. It is nil without such tables. The end of ctx ends the waiting.
func permitLineages(ctx context.Context, guarded []string, in io.Reader, out io.Writer, terminal bool) error {
	if len(guarded) == 0 {
		return nil
	}
	are := "is guarded and begins"
	if len(guarded) > 1 {
		are = "are guarded and begin"
	}
	price := fmt.Sprintf("%s %s a new lineage, by which readers who kept the old classes can single people out", strings.Join(guarded, ", "), are)
	if !terminal {
		return usageError{errors.New(price + "; if that is meant, give --new-lineage")}
	}
	fmt.Fprintf(out, "%s.\nType yes if that is meant: ", price)
	answer, err := lineOf(ctx, in)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if strings.TrimSpace(answer) != "yes" {
		return failure{codeRefused, "'kproxy resync' keeps the lineage", errors.New("nothing was asked for: the answer was not yes")}
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
