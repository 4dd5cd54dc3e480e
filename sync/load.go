package sync

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// codedColumns are the indexes of the columns that the stage or the key map
// needs, each once: what has to travel from the server into memory.
func (t *layout) codedColumns() []int {
	wanted := make([]bool, len(t.columns))
	for _, list := range [][]int{t.key, t.qi, t.sensitive, t.subjectColumn(), t.copied} {
		for _, i := range list {
			wanted[i] = true
		}
	}
	var columns []int
	for i, w := range wanted {
		if w {
			columns = append(columns, i)
		}
	}
	return columns
}

// subjectColumn is the index of the column that names the person, if there is one.
func (t *layout) subjectColumn() []int {
	if t.subject < 0 {
		return nil
	}
	return []int{t.subject}
}

// codedList are the coded columns, for a COPY.
func (t *layout) codedList() string { return t.listOf(t.codedColumns()) }

// listOf quotes and joins some columns.
func (t *layout) listOf(columns []int) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = catalog.QuoteIdentifier(t.columns[c].Name)
	}
	return strings.Join(names, ", ")
}

// spread puts the values of the coded columns at their places in a row.
func spread(row []value, coded []int, values []value) {
	for i, c := range coded {
		row[c] = values[i]
	}
}

// loadGeneration fills the table from a generation of the store as it stands.
func (t *table) loadGeneration(ctx context.Context, from *storeView, g generation, seed uint64, progress func(done int)) error {
	t.release.position, t.release.showAt, t.release.previous = g.lsn, g.shows, g.previous
	if err := t.begin(g.number, g.nextRecord, g.nextClass, seed); err != nil {
		return err
	}
	if s, guards := t.mode.(*guarded); guards {
		s.returns.resume(g)
	}
	err := t.mode.load(ctx, from, progress)
	if err != nil {
		return fmt.Errorf("loading the store of %s: %w", t.layout.name(), t.layout.unloadable(withoutValues(err)))
	}
	return nil
}

// unloadable says what heals a table whose store does not fit together: a difference to the
// source could only be applied to just that.
func (t *layout) unloadable(err error) error {
	server, stop, halt := (*pgconn.PgError)(nil), (*StopError)(nil), (*TableError)(nil)
	switch {
	case transient(err) || errors.As(err, &server) && server.Code == insufficientPrivilege:
		return err
	case errors.As(err, &stop):
		if stop.Fix != fixResync {
			return err
		}
		err = stop.Err
	case errors.As(err, &halt):
		err = errors.New(halt.What)
	}
	fix := fixStore
	if t.publication.Policy.Updates.Mode == catalog.Guarded {
		fix = fixEnded
	}
	return &TableError{Table: t.name(), What: "its private store cannot be loaded", Err: err, Fix: fix}
}
