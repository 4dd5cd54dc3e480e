package sync

import "github.com/jackc/pglogrepl"

// transaction is the source's transaction that the stream is in, or the last one.
type transaction struct {
	open       bool
	number     uint32
	commitAt   pglogrepl.LSN // where its commit begins
	changed    []*table      // that it has changed
	hasChanges bool          // it has changes, of tables that are applied or not
}

// tableOf is the table that a relation's changes belong to: nil for one that is not applied, or
// that has the transaction already, as it begins to commit before the table's position.
func (x *transaction) tableOf(r *relation) (*table, error) {
	if r.table == nil || x.commitAt < r.table.release.position {
		return nil, nil
	}
	if r.table.deletes.commitAt != x.commitAt {
		r.table.beginTransaction(x.commitAt)
		x.changed = append(x.changed, r.table)
	}
	return r.table, r.err
}

// end ends the transaction for the tables that it has changed.
func (x *transaction) end(spill func(*table) error) error {
	for _, t := range x.changed {
		if err := t.endTransaction(func() error { return spill(t) }); err != nil {
			return err
		}
	}
	x.changed = x.changed[:0]
	return nil
}
