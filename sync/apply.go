package sync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

const (
	// groupRows and groupTime bound how many source transactions go into one
	// transaction of the store while more are waiting.
	groupRows = 2000
	groupTime = 50 * time.Millisecond
	// idleBytes and idleTime bound how far an idle stream may run ahead of the
	// stored position, so that the slot does not hold WAL that concerns nobody.
	idleBytes = 16 << 20
	idleTime  = 30 * time.Second
)

// applier turns the stream's messages into changes of the tables and writes
// them at commit boundaries of the source.
type applier struct {
	*session
	messages  <-chan message
	stored    *atomic.Uint64
	relations map[uint32]*relation

	inTransaction bool
	skip          bool          // the transaction is in the store already
	end           pglogrepl.LSN // end of the last transaction in the group
	rows          int           // changes in the group
	since         time.Time     // when the group began
	moved         time.Time     // when the position was last moved
	mixer         *mixer
	due           *time.Timer // for tables that publish by the clock
	renewer       *renewer
}

// relation is one relation as the stream describes it.
type relation struct {
	table *table
	place []int // for each stored column, its place in the stream's tuple
}

func (a *applier) run(ctx context.Context) error {
	a.moved, a.mixer, a.due = time.Now(), newMixer(), time.NewTimer(0)
	defer a.mixer.timer.Stop()
	defer a.due.Stop()
	a.renewer = newRenewer(a)
	defer a.renewer.close()
	for {
		select {
		case <-a.due.C:
			if err := a.publishDue(ctx); err != nil {
				return err
			}
		case <-a.mixer.timer.C:
			if err := a.mix(ctx); err != nil {
				return err
			}
		case <-a.renewer.look.C:
			if err := a.renewer.lookForRequests(ctx); err != nil {
				return err
			}
			if err := a.renewer.step(ctx); err != nil {
				return err
			}
		case a.renewer.ready = <-a.renewer.ended:
			if err := a.renewer.step(ctx); err != nil {
				return err
			}
		case m, open := <-a.messages:
			if !open {
				return nil // the receiver says why
			}
			if err := a.handle(ctx, m); err != nil {
				return err
			}
			if err := a.flushIfDue(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (a *applier) handle(ctx context.Context, m message) error {
	if m.data == nil {
		return a.keepalive(ctx, m.keepalive)
	}
	parsed, err := pglogrepl.Parse(m.data)
	if err != nil {
		return &StopError{What: "a replication message cannot be read", Fix: "report this with the server's version", Err: err}
	}
	switch m := parsed.(type) {
	case *pglogrepl.BeginMessage:
		a.inTransaction = true
		// A transaction's end lies beyond its final LSN: one that starts to commit
		// before the stored position was stored whole.
		a.skip = m.FinalLSN < a.position
		return nil
	case *pglogrepl.CommitMessage:
		if a.inTransaction = false; !a.skip {
			a.end = m.TransactionEndLSN
		}
		a.skip = false
		return nil
	case *pglogrepl.RelationMessage:
		return a.describe(m)
	}
	if a.skip {
		return nil
	}
	return a.change(parsed)
}

// change applies one row change, or a truncation, to the tables in memory.
func (a *applier) change(parsed pglogrepl.Message) error {
	switch m := parsed.(type) {
	case *pglogrepl.InsertMessage:
		r, err := a.relation(m.RelationID)
		if r == nil || err != nil {
			return err
		}
		a.count()
		return r.apply(m.Tuple, nil, func(_, values []value) error { return r.table.insert(values) })
	case *pglogrepl.UpdateMessage:
		r, err := a.relation(m.RelationID)
		if r == nil || err != nil {
			return err
		}
		a.count()
		return r.apply(m.NewTuple, m.OldTuple, r.table.update)
	case *pglogrepl.DeleteMessage:
		r, err := a.relation(m.RelationID)
		if r == nil || err != nil {
			return err
		}
		a.count()
		return r.apply(nil, m.OldTuple, func(old, _ []value) error { return r.table.delete(old) })
	case *pglogrepl.TruncateMessage:
		for _, id := range m.RelationIDs {
			r, err := a.relation(id)
			if err != nil {
				return err
			}
			if r != nil {
				a.count()
				r.table.truncate()
			}
		}
	}
	return nil // types, origins and logical messages change no row
}

func (a *applier) count() {
	if a.rows == 0 {
		a.since = time.Now()
	}
	a.rows++
}

// describe takes note of a relation. A protected table must be the one that was
// published, with the columns that the store keeps.
func (a *applier) describe(m *pglogrepl.RelationMessage) error {
	a.relations[m.RelationID] = nil // published, but not ours
	named := catalog.Name{Schema: m.Namespace, Relation: m.RelationName}
	for _, t := range a.tables {
		ours := t.publication.Relation.OID == catalog.OID(m.RelationID)
		switch {
		case ours && t.name() != named:
			return &StopError{
				What: fmt.Sprintf("table %s was renamed to %s", t.name(), named),
				Fix:  "name it so in the policy and start again",
			}
		case !ours && t.name() == named:
			return &StopError{What: fmt.Sprintf("table %s was replaced by another of that name", t.name()), Fix: fixRestart}
		case ours:
			r, err := newRelation(t, m.Columns)
			if err != nil {
				return err
			}
			a.relations[m.RelationID] = r
		}
	}
	return nil
}

// newRelation finds the stored columns among those of the stream.
func newRelation(t *table, columns []*pglogrepl.RelationMessageColumn) (*relation, error) {
	places := make(map[string]int, len(columns))
	for i, c := range columns {
		places[c.Name] = i
	}
	r := &relation{table: t}
	for _, c := range t.columns {
		place, ok := places[c.Name]
		if !ok {
			return nil, &StopError{
				What: fmt.Sprintf("column %s of %s, which the policy needs, is gone or no longer replicated", c.Name, t.name()),
				Fix:  "correct the policy and start again",
			}
		}
		if now := columns[place]; catalog.OID(now.DataType) != c.TypeOID || now.TypeModifier != c.Modifier {
			return nil, &StopError{What: fmt.Sprintf("column %s of %s changed its type", c.Name, t.name()), Fix: fixRestart}
		}
		r.place = append(r.place, place)
	}
	return r, nil
}

func (a *applier) relation(id uint32) (*relation, error) {
	r, described := a.relations[id]
	if !described {
		return nil, internal(errors.New("the stream speaks of a relation it did not describe"))
	}
	return r, nil
}

// apply hands the old and the new row to a table. Where the stream sends no old
// row, the key is unchanged and stands in the new one.
func (r *relation) apply(newTuple, oldTuple *pglogrepl.TupleData, do func(old, values []value) error) error {
	values, err := r.row(newTuple)
	if err != nil {
		return err
	}
	old := values
	if oldTuple != nil {
		if old, err = r.row(oldTuple); err != nil {
			return err
		}
	}
	return do(old, values)
}

func (r *relation) row(tuple *pglogrepl.TupleData) ([]value, error) {
	if tuple == nil {
		return nil, nil
	}
	values := make([]value, len(r.place))
	for i, place := range r.place {
		if place >= len(tuple.Columns) {
			return nil, internal(errors.New("a row of the stream is shorter than its relation"))
		}
		switch c := tuple.Columns[place]; c.DataType {
		case pglogrepl.TupleDataTypeNull:
			values[i].null = true
		case pglogrepl.TupleDataTypeToast:
			values[i].kept = true
		case pglogrepl.TupleDataTypeText:
			values[i].text = string(c.Data)
		default:
			return nil, internal(fmt.Errorf("a row of the stream has a value of kind %q", c.DataType))
		}
	}
	return values, nil
}

// flushIfDue writes the group at a commit boundary, unless the next transaction
// is here already and the group is still small and young.
func (a *applier) flushIfDue(ctx context.Context) error {
	if a.inTransaction || a.rows == 0 {
		return nil
	}
	if len(a.messages) > 0 && a.rows < groupRows && time.Since(a.since) < groupTime {
		return nil
	}
	if err := a.flush(ctx, a.end); err != nil {
		return err
	}
	a.mixer.changed(a.moved)
	a.waitForDue()
	return a.renewer.step(ctx)
}

// publishDue settles the tables whose time has come, at a commit boundary.
func (a *applier) publishDue(ctx context.Context) error {
	if a.inTransaction || a.rows > 0 {
		a.due.Reset(mixIdle)
		return nil
	}
	now, any := clock(), false
	for _, t := range a.tables {
		if due := t.stage.due(); !due.IsZero() && !due.After(now) {
			t.changed, any = true, true
		}
	}
	if any {
		if err := a.flush(ctx, a.position); err != nil {
			return err
		}
	}
	a.waitForDue()
	return nil
}

// leastWait is between two looks at what is due.
const leastWait = 100 * time.Millisecond

// waitForDue sets the timer to when the first table has something to publish although
// nothing changes.
func (a *applier) waitForDue() {
	a.due.Stop()
	var first time.Time
	for _, t := range a.tables {
		if due := t.stage.due(); !due.IsZero() && (first.IsZero() || due.Before(first)) {
			first = due
		}
	}
	if !first.IsZero() {
		a.due.Reset(max(leastWait, time.Until(first)))
	}
}

// keepalive moves the position over WAL that holds nothing for the tables.
func (a *applier) keepalive(ctx context.Context, end pglogrepl.LSN) error {
	if a.inTransaction || a.rows > 0 {
		return nil
	}
	if end <= a.position || (end-a.position < idleBytes && time.Since(a.moved) < idleTime) {
		return nil
	}
	return a.flush(ctx, end)
}

// flush writes store, release and position up to a commit boundary.
func (a *applier) flush(ctx context.Context, to pglogrepl.LSN) error {
	tx, err := a.control.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return fmt.Errorf("opening a transaction on the store: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	if err := a.movePosition(ctx, tx, to); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, t := range a.tables {
		if !t.changed {
			continue
		}
		if err := t.write(ctx, batch); err != nil {
			return err
		}
	}
	a.renewer.writeOutcomes(batch)
	if batch.Len() > 0 {
		if err := send(ctx, tx, batch); err != nil {
			return err
		}
	}
	a.Failpoint(FailBeforeCommit)
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing the store: %w", err)
	}
	a.Failpoint(FailAfterCommit)
	a.position, a.rows, a.moved = to, 0, time.Now()
	for _, t := range a.tables {
		t.written()
	}
	a.renewer.outcomes = nil
	a.stored.Store(uint64(to))
	a.report()
	return nil
}

func quotePublication(name string) string {
	return `'` + strings.ReplaceAll(catalog.QuoteIdentifier(name), `'`, `''`) + `'`
}
