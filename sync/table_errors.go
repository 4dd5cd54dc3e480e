package sync

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

func errChanged(table catalog.Name, changes []string) error {
	return &TableError{
		Table: table, What: "it is not the table that was accepted: " + strings.Join(changes, "; "),
		Fix: fixAccept, heals: true,
	}
}

func errDropped(table catalog.Name) error {
	return &TableError{Table: table, What: "it was dropped, or replaced by another of its name", Fix: fixReload, heals: true}
}

func errRenamed(of *layout, to catalog.Name) error {
	fix := "name it so in the policy and run 'kproxy reload'"
	if of.isGuarded() {
		fix = "rename it back; or name it so in the policy, run 'kproxy reload', and 'kproxy rebuild TABLE --new-lineage' to start a new lineage"
	}
	return &TableError{Table: of.name(), What: fmt.Sprintf("it was renamed to %s", to), Fix: fix, heals: true}
}

func errColumnGone(table catalog.Name, column string) error {
	return &TableError{Table: table, What: fmt.Sprintf("column %s, which the policy needs, is gone or no longer replicated", column), Fix: fixPolicy}
}

func errRetyped(table catalog.Name, column string) error {
	return &TableError{Table: table, What: fmt.Sprintf("column %s changed its type", column), Fix: fixReload}
}

// errDifferent means that the stream does not carry all that happened to the table.
func errDifferent(table catalog.Name, what string) error {
	return &TableError{Table: table, What: what, Fix: fixResync, resync: true}
}

// errOutOfStep means that the stream changes a row that the store does not have, or inserts one
// that it has: store and source have diverged.
func errOutOfStep(table catalog.Name, what string) error {
	return &TableError{Table: table, What: "the private store is out of step with the source: " + what, Fix: fixResync}
}

// errHalted wraps an error as one that concerns the table alone.
func errHalted(table catalog.Name, err error) *TableError {
	return &TableError{Table: table, What: "its store or its release does not take what it should", Err: withoutValues(err), Fix: fixOf(err)}
}

// errUnloadable says how to repair a table whose store is inconsistent. A comparison with the
// source cannot, as its difference would be applied to that store.
func errUnloadable(of *layout, err error) error {
	stop, halt := (*StopError)(nil), (*TableError)(nil)
	switch {
	case transient(err) || hasState(err, insufficientPrivilege):
		return err
	case errors.As(err, &stop):
		if stop.Fix != fixResync {
			return err
		}
		err = stop.Err
	case errors.As(err, &halt):
		err = errors.New(halt.What)
	}
	return &TableError{Table: of.name(), What: "its private store cannot be loaded", Err: err, Fix: of.fixStore()}
}

// fixStore is what heals a store that cannot be loaded.
func (t *layout) fixStore() string {
	if t.isGuarded() {
		return fixEnded
	}
	return fixStore
}
