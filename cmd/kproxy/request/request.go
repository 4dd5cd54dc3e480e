// Package request asks the process that applies changes to do something with tables: to publish
// them afresh, to compare them with their source, or to make their classes anew.
package request

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// Kind is what an operator requests.
type Kind int

const (
	// Rebuild publishes tables afresh. Readers can compare the new classes with the old ones.
	Rebuild Kind = iota
	// Resync applies the difference between source and private store.
	Resync
)

// Outcome is that of a request for one table.
type Outcome struct {
	Table string
	// Ended says that the request was done, or failed with Problem.
	Ended        bool
	Problem, Fix string
	Generation   int64
}

// ErrNoApplier says that the request waits for the next kproxy that applies changes.
var ErrNoApplier = errors.New("no kproxy applies changes on this database and slot now; the next 'kproxy serve' does it")

// pollInterval is how often Submit reads the private store.
const pollInterval = 500 * time.Millisecond

// Submit requests something for the named tables of the policy, or for all. With wait, it
// reports progress to tell and returns when the requests have ended, or ErrNoApplier if no
// process applies changes.
func Submit(ctx context.Context, c *config.Config, wish Kind, named []catalog.Name, wait bool, tell func([]Outcome)) ([]Outcome, error) {
	tables, err := Tables(c.Policy, named)
	if err != nil {
		return nil, err
	}
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	owner, err := upstream.OwnerConfig(c)
	if err != nil {
		return nil, err
	}
	ask := ksync.Rebuild
	if wish == Resync {
		ask = ksync.Resynchronize
	}
	if err := ask(ctx, owner, c.Slot, named); err != nil {
		return nil, err
	}
	var alone time.Time // since when nobody applies
	for wait {
		wished, ended, err := readOutcomes(ctx, conn, tables)
		if err != nil || ended {
			return wished, err
		}
		tell(wished)
		applier, err := processes.ReadApplier(ctx, conn, c.Slot)
		if err != nil {
			return wished, err
		}
		others, err := processes.Serving(ctx, conn, c.Slot)
		switch {
		case err != nil:
			return wished, err
		case applier != nil:
			alone = time.Time{}
		case len(others) == 0:
			return wished, ErrNoApplier
		case alone.IsZero():
			alone = time.Now() // one of the others may be about to take over
		case time.Since(alone) > takeOverTime:
			return wished, ErrNoApplier
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return wished, ctx.Err()
		}
	}
	return nil, nil
}

// takeOverTime is how long another process can take to apply changes: more than a lease.
const takeOverTime = 15 * time.Second

// noTableError says that the policy has no table of a name, and which it has.
type noTableError struct {
	name   catalog.Name
	policy catalog.Policy
}

func (e *noTableError) Error() string {
	return fmt.Sprintf("the configuration protects no table %s: %s", e.name, e.Hint())
}

// Code names the kind of error for scripts.
func (e *noTableError) Code() string { return "missing" }

// Hint names the protected tables.
func (e *noTableError) Hint() string {
	var names []string
	for _, t := range e.policy.Tables {
		names = append(names, t.Table.String())
	}
	return "it protects " + strings.Join(names, ", ")
}

// Tables returns the named tables of the policy, or all if none is named.
func Tables(p catalog.Policy, named []catalog.Name) ([]catalog.Name, error) {
	for _, name := range named {
		if !upstream.Protects(p, name) {
			return nil, &noTableError{name: name, policy: p}
		}
	}
	if len(named) > 0 {
		return named, nil
	}
	var all []catalog.Name
	for _, t := range p.Tables {
		all = append(all, t.Table)
	}
	return all, nil
}

// Lineages returns those of the named tables of the policy, or of all, that have a lineage in
// the private store, whatever the configuration says now.
func Lineages(ctx context.Context, c *config.Config, named []catalog.Name) ([]string, error) {
	tables, err := Tables(c.Policy, named)
	if err != nil {
		return nil, err
	}
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var lineages []string
	for _, name := range tables {
		var guarded bool
		err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2 AND updates = $3)",
			name.Schema, name.Relation, catalog.Guarded.String()).Scan(&guarded)
		if err != nil {
			return nil, fmt.Errorf("asking which tables are guarded: %w", upstream.Unprepared(err))
		}
		if guarded {
			lineages = append(lineages, name.String())
		}
	}
	return lineages, nil
}

// readOutcomes reads the outcomes of requests. A table without a generation was never
// published, and has no request.
func readOutcomes(ctx context.Context, conn *pgx.Conn, tables []catalog.Name) (wished []Outcome, ended bool, err error) {
	ended = true
	for _, name := range tables {
		w := Outcome{Table: name.String()}
		err := conn.QueryRow(ctx, `SELECT generation, asked IS NULL, coalesce(halted, ''), coalesce(halted_fix, '')
			FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2`, name.Schema, name.Relation).
			Scan(&w.Generation, &w.Ended, &w.Problem, &w.Fix)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			continue
		case err != nil:
			return nil, false, fmt.Errorf("reading the outcome: %w", upstream.Unprepared(err))
		case !w.Ended:
			w.Problem, w.Fix = "", ""
		}
		wished = append(wished, w)
		ended = ended && w.Ended
	}
	return wished, ended, nil
}
