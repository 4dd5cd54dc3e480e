package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// Wish is what an operator asks the process for that applies.
type Wish int

const (
	// Rebuild publishes tables afresh, whatever readers may conclude from that.
	Rebuild Wish = iota
	// Resync applies the difference between source and private store.
	Resync
)

// Wished is what became of a wish for one table.
type Wished struct {
	Table string
	// Ended says that it was done, or that it could not be, for Problem.
	Ended        bool
	Problem, Fix string
	Generation   int64
}

// ErrNobodyApplies says that a wish is kept for the next kproxy that applies.
var ErrNobodyApplies = errors.New("no kproxy applies on this database and slot now: the next 'kproxy serve' does it")

// wishPace is how often the store is looked at.
const wishPace = 500 * time.Millisecond

// Ask asks for named tables of the policy, or all. Where it is to wait, it tells how far
// the wishes are and returns when they have ended; ErrNobodyApplies where nobody is
// there for that.
func Ask(ctx context.Context, c *config.Config, wish Wish, named []catalog.Name, wait bool, tell func([]Wished)) ([]Wished, error) {
	tables, err := wishedFor(c.Policy, named)
	if err != nil {
		return nil, err
	}
	conn, err := connectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	owner, err := ownerConfig(c)
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
		wished, ended, err := readWished(ctx, conn, tables)
		if err != nil || ended {
			return wished, err
		}
		tell(wished)
		applier, err := readApplier(ctx, conn, c.Slot)
		if err != nil {
			return wished, err
		}
		others, err := serving(ctx, conn, c.Slot)
		switch {
		case err != nil:
			return wished, err
		case applier != nil:
			alone = time.Time{}
		case len(others) == 0:
			return wished, ErrNobodyApplies
		case alone.IsZero():
			alone = time.Now() // one of the others may be about to take over
		case time.Since(alone) > takeOverTime:
			return wished, ErrNobodyApplies
		}
		select {
		case <-time.After(wishPace):
		case <-ctx.Done():
			return wished, ctx.Err()
		}
	}
	return nil, nil
}

// takeOverTime is how long it can take until another process applies: a lease and more.
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

// Hint says which tables there are.
func (e *noTableError) Hint() string {
	var names []string
	for _, t := range e.policy.Tables {
		names = append(names, t.Table.String())
	}
	return "it protects " + strings.Join(names, ", ")
}

// wishedFor are the named tables of the policy, all where none is named.
func wishedFor(p catalog.Policy, named []catalog.Name) ([]catalog.Name, error) {
	for _, name := range named {
		if !protects(p, name) {
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

// Lineages are those of the named tables of the policy, or of all, of which the store has a
// guarded release or the mark of one, whatever the configuration says by now.
func Lineages(ctx context.Context, c *config.Config, named []catalog.Name) ([]string, error) {
	tables, err := wishedFor(c.Policy, named)
	if err != nil {
		return nil, err
	}
	conn, err := connectOwner(ctx, c)
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
			return nil, fmt.Errorf("asking which tables are guarded: %w", unprepared(err))
		}
		if guarded {
			lineages = append(lineages, name.String())
		}
	}
	return lineages, nil
}

// readWished reads what became of the wishes. A table that the store does not know was
// never published, and is not among those that were asked for.
func readWished(ctx context.Context, conn *pgx.Conn, tables []catalog.Name) (wished []Wished, ended bool, err error) {
	ended = true
	for _, name := range tables {
		w := Wished{Table: name.String()}
		err := conn.QueryRow(ctx, `SELECT generation, asked IS NULL, coalesce(halted, ''), coalesce(halted_fix, '')
			FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2`, name.Schema, name.Relation).
			Scan(&w.Generation, &w.Ended, &w.Problem, &w.Fix)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			continue
		case err != nil:
			return nil, false, fmt.Errorf("reading what became of it: %w", unprepared(err))
		case !w.Ended:
			w.Problem, w.Fix = "", ""
		}
		wished = append(wished, w)
		ended = ended && w.Ended
	}
	return wished, ended, nil
}
