package sync

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

// TestNeededColumns tells which columns matter: those that the policy names, and those that the
// store keeps.
func TestNeededColumns(t *testing.T) {
	t.Parallel()
	of := boundTable(t)
	of.layout.publication.Policy.Columns = append(slices.Clone(of.layout.publication.Policy.Columns), catalog.ColumnPolicy{Name: "person", Role: catalog.Identifying})
	for column, want := range map[string]bool{"id": true, "age": true, "illness": true, "person": true, "unknown": false} {
		if of.layout.source().needs(column) != want {
			t.Errorf("%s is needed: %t", column, !want)
		}
	}
}

// TestConfiguredColumns changes one column of a table at a time: it is as the policy was compared
// with it unless something of a needed one has changed.
func TestConfiguredColumns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(c []accept.Column) []accept.Column
		want   bool
	}{
		"nothing":               {func(c []accept.Column) []accept.Column { return c }, true},
		"a column more":         {func(c []accept.Column) []accept.Column { return append(c, accept.Column{Number: 99, Name: "more"}) }, true},
		"a column less":         {func(c []accept.Column) []accept.Column { return c[:len(c)-1] }, false},
		"another number":        {func(c []accept.Column) []accept.Column { c[2].Number = 77; return c }, false},
		"another type":          {func(c []accept.Column) []accept.Column { c[2].TypeOID = 20; return c }, false},
		"another modifier":      {func(c []accept.Column) []accept.Column { c[2].Modifier = 20; return c }, false},
		"of what nobody needs":  {func(c []accept.Column) []accept.Column { c[1].TypeOID, c[1].Modifier = 20, 5; return c }, true},
		"without what is spare": {func(c []accept.Column) []accept.Column { return slices.Delete(c, 1, 2) }, true},
	} {
		of := boundTable(t)
		now := of.definition.bound
		now.Columns = test.change(slices.Clone(now.Columns))
		if of.layout.source().isAsConfigured(now) != test.want {
			t.Errorf("%s: it is as it was configured: %t", name, !test.want)
		}
	}
}

// TestJudgement compares a table with what was accepted of it: another name, and other columns,
// halt it until they are again what they were.
func TestJudgement(t *testing.T) {
	t.Parallel()
	for _, guarded := range []bool{false, true} {
		of := boundTable(t)
		if guarded {
			of.layout.publication.Policy.Updates.Mode = catalog.Guarded
		}
		now := accept.Named{Name: of.layout.name(), Table: of.definition.bound}
		if err := of.layout.source().judge(now, of.definition.bound); err != nil {
			t.Errorf("it is taken for changed: %v", err)
		}
		renamed := now
		renamed.Name.Relation = "others"
		halt := (*TableError)(nil)
		if err := of.layout.source().judge(renamed, of.definition.bound); !errors.As(err, &halt) || !halt.heals || !strings.Contains(halt.What, "others") || strings.Contains(halt.Fix, "--new-lineage") != guarded {
			t.Errorf("it was renamed: %v", err)
		}
		now.Table.Columns = slices.Clone(now.Table.Columns)
		now.Table.Columns[2].TypeOID = 20
		if err := of.layout.source().judge(now, of.definition.bound); !errors.As(err, &halt) || !halt.heals || halt.Table != of.layout.name() || !strings.Contains(halt.advice(), "'kproxy accept public.visits'") {
			t.Errorf("it was altered: %v", err)
		}
	}
}

// TestIdentities tells which replica identities lead to the records of changed rows.
func TestIdentities(t *testing.T) {
	t.Parallel()
	of := boundTable(t)
	of.layout.publication.Relation.Key = []string{"id", "age"}
	for identity, want := range map[string]bool{
		`"*"`: true, `["id","age"]`: true, `["age","id"]`: true, `["id"]`: false, `["id","age","zip"]`: false, `["id","zip"]`: false, `[]`: false, `"id"`: false, `["id`: false,
	} {
		if of.layout.source().identifiedBy(identity) != want {
			t.Errorf("rows are identified by %s: %t", identity, !want)
		}
	}
	if !slices.Equal(of.layout.publication.Relation.Key, []string{"id", "age"}) {
		t.Error("the key's order has changed")
	}
	if of.layout.publication.Relation.KeyRepeats = true; of.layout.source().identifiedBy(`["id","age"]`) || !of.layout.source().identifiedBy(`"*"`) {
		t.Error("rows are identified by a key that repeats")
	}
}

// TestEndedTransactionsAreAwaited looks at a table as long as a transaction that may have altered
// it has not ended for everybody.
func TestEndedTransactionsAreAwaited(t *testing.T) {
	t.Parallel()
	of := boundTable(t)
	m := newMemoryServer(t, answer{words: "What a table is:", rows: [][]any{{"public", "visits", identityOf(of), false}}})
	s := m.session()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := of.layout.source().examine(ctx, s.store.conn, accept.Whole, 7)
		ended <- err
	}()
	for looks := 0; looks < 3; time.Sleep(time.Millisecond) {
		looks = strings.Count(m.log(), "What a table is:")
	}
	if cancel(); <-ended == nil {
		t.Error("it was altered by nobody, it seems")
	}
	if !strings.Contains(m.log(), "[7]") {
		t.Errorf("another transaction is awaited: %s", m.log())
	}
	m = newMemoryServer(t, answer{words: "What a table is:", state: refusedState})
	if _, err := of.layout.source().examine(t.Context(), m.session().store.conn, accept.Whole); err == nil {
		t.Error("a table that cannot be looked at is nothing")
	}
}

// TestNothingIsFoundOnFailures has looks fail: whatever they return is no finding.
func TestNothingIsFoundOnFailures(t *testing.T) {
	t.Parallel()
	of := boundTable(t)
	conn := newMemoryServer(t, answer{words: "SELECT NOT EXISTS", state: refusedState}).session().store.conn
	if published, err := of.layout.source().stillPublished(t.Context(), conn, "kproxy"); published || err == nil {
		t.Errorf("it is published: %t, %v", published, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	m := newMemoryServer(t, answer{words: "SELECT NOT EXISTS", rows: [][]any{{false}}})
	conn = m.session().store.conn
	go func() {
		for !strings.Contains(m.log(), "SELECT NOT EXISTS") {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if published, err := of.layout.source().stillPublished(ctx, conn, "kproxy"); published || !errors.Is(err, context.Canceled) {
		t.Errorf("it is published: %t, %v", published, err)
	}
}

// TestPartitionsAreThoseOfNow reads a definition of a table that has got a partition since it was
// accepted, and settles it: its columns are those that were accepted, and its partitions those that
// there are, with a detached one, and without one that was dropped.
func TestPartitionsAreThoseOfNow(t *testing.T) {
	t.Parallel()
	of, now := boundTable(t), boundTable(t)
	of.definition.bound.Leaves = []accept.Leaf{{OID: 1003}, {OID: 1000}, {OID: 1001}}
	now.definition.bound.Leaves = []accept.Leaf{{OID: 1001}, {OID: 1002}}
	m := newMemoryServer(t, append([]answer{
		{words: "What a table is:", rows: [][]any{{"public", "visits", identityOf(now), true}}},
		{words: "SELECT array_agg(c.oid)", rows: [][]any{{[]uint32{1003}}}},
	}, usualAnswers(of)...)...)
	on := m.session().store.conn
	check := func(bound accept.Table, err error) {
		t.Helper()
		var leaves []catalog.OID
		for _, l := range bound.Leaves {
			leaves = append(leaves, l.OID)
		}
		if want := []catalog.OID{1001, 1002, 1003}; err != nil || !slices.Equal(leaves, want) || len(bound.Columns) != len(now.definition.bound.Columns) {
			t.Errorf("it is bound as %+v: %v", bound, err)
		}
	}
	d, absent, err := of.layout.source().readDefinition(t.Context(), on, "kproxy", of.definition.bound)
	if check(d.bound, err); absent || len(of.definition.bound.Leaves) != 3 {
		t.Errorf("it is absent, or what was accepted has changed: %+v", of.definition.bound)
	}
	err = of.settle(t.Context(), on, now.definition.bound)
	check(of.definition.bound, err)
}
