package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// guardedAmong are the guarded tables among those that are named, with those that are released together
// with them, or among all where none is.
func guardedAmong(p catalog.Policy, named []catalog.Name) []string {
	asked := make(map[catalog.Name]bool)
	for _, name := range named {
		asked[name] = true
	}
	for _, kind := range p.People {
		if slices.ContainsFunc(kind.Names(), func(name catalog.Name) bool { return asked[name] }) {
			for _, name := range kind.Names() {
				asked[name] = true
			}
		}
	}
	var guarded []string
	for _, t := range p.Tables {
		if t.Updates.Mode == catalog.Guarded && (len(named) == 0 || asked[t.Table]) {
			guarded = append(guarded, t.Table.String())
		}
	}
	return guarded
}

// permitLineages asks whether guarded tables are to begin new lineages. Without a terminal it
// refuses. It returns nil if there are no such tables. The end of ctx ends the waiting.
func permitLineages(ctx context.Context, guarded []string, t terminal) error {
	if len(guarded) == 0 {
		return nil
	}
	are := "is guarded and begins"
	if len(guarded) > 1 {
		are = "are guarded and begin"
	}
	price := fmt.Sprintf("%s %s a new lineage, by which readers who kept the old classes can single people out", strings.Join(guarded, ", "), are)
	if !t.interactive {
		return usageError{errors.New(price + "; if that is meant, give --new-lineage")}
	}
	return t.confirm(ctx, price+".\nType yes if that is meant: ",
		failure{codeRefused, "'kproxy resync' keeps the lineage", errors.New("nothing was asked for: the answer was not yes")})
}
