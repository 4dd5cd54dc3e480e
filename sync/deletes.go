package sync

import (
	"cmp"
	"slices"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// transactionDeletes are the records whose rows the open transaction of the source has deleted. Until it
// commits they stay as they are: a row that is inserted with the key of one of them changes that
// record. So a row that is deleted and inserted, as some applications update rows and reload
// tables, counts neither as a deleted record nor as a new one.
type transactionDeletes struct {
	commitAt pglogrepl.LSN // where the commit of the transaction begins; 0 between two
	// firstOwn is the first number of the records that the transaction itself inserted. These
	// are removed as soon as they are deleted, since no reader has seen them, and so that keys
	// does not grow beyond the records that the table had.
	firstOwn  incremental.RecordID
	keys      *keys // nil where none was deleted
	spareKeys *keys // for the next transaction, empty
	// truncated says that the table was truncated: unless a row has come since, it needs not
	// be emptied record by record.
	truncated bool
	// inserted are the transaction's own records, in a table of persons, as far as their rows
	// are held in memory.
	inserted []incremental.RecordID
}

// beginTransaction begins a transaction of the source for the table.
func (t *table) beginTransaction(in pglogrepl.LSN) {
	t.deletes.commitAt, t.deletes.firstOwn, t.deletes.inserted = in, t.nextRecord, t.deletes.inserted[:0]
}

// takeSpareKeys returns an empty key table, the spare one if there is one.
func (t *table) takeSpareKeys() *keys {
	room := t.deletes.spareKeys
	t.deletes.spareKeys = nil
	if room == nil {
		room = newKeys(t.layout.publication.Relation.KeyRepeats)
	}
	return room
}

// deleteUntilCommit notes that the row of a record was deleted.
func (t *table) deleteUntilCommit(key []byte, id incremental.RecordID) error {
	if id >= t.deletes.firstOwn {
		return t.remove(key, id)
	}
	t.pending.dirty = true
	t.keys.remove(key, id)
	if t.deletes.keys == nil {
		t.deletes.keys = t.takeSpareKeys()
	}
	if t.deletes.keys.add(key, id) {
		return nil
	}
	// A record that has left had the key before this one was given it.
	earlier, _ := t.deletes.keys.find(key)
	t.deletes.keys.remove(key, earlier)
	t.deletes.keys.add(key, id)
	return t.forget(earlier, t.mode.hash(key))
}

// deleteAllUntilCommit notes that all rows were deleted. What is known of their keys is set aside as it
// is, but for a table that the transaction has deleted rows of before.
func (t *table) deleteAllUntilCommit() error {
	t.pending.dirty, t.deletes.truncated, t.deletes.inserted = true, true, t.deletes.inserted[:0]
	gone := t.keys
	t.keys = t.takeSpareKeys()
	if t.deletes.keys == nil {
		t.deletes.keys = gone
		return nil
	}
	return gone.each(t.deleteUntilCommit)
}

// reinsert applies a new row of a record that has left within the transaction; false where
// there is none of its key.
func (t *table) reinsert(key []byte, values []value) (bool, error) {
	if t.deletes.keys == nil {
		return false, nil
	}
	id, left := t.deletes.keys.find(key)
	if !left {
		return false, nil
	}
	t.deletes.keys.remove(key, id)
	if !t.keys.add(key, id) {
		return true, errOutOfStep(t.layout.name(), "a row was inserted twice")
	}
	if id >= t.deletes.firstOwn { // deleted by a TRUNCATE
		t.noteInserted(id)
	}
	return true, t.modify(id, values)
}

// endTransaction removes the records whose rows were deleted and not inserted again. It calls
// spill when many changes are pending.
func (t *table) endTransaction(spill func() error) error {
	t.deletes.commitAt = 0
	if t.deletes.keys == nil {
		return nil
	}
	if t.deletes.truncated && t.keys.none() {
		t.truncate()
		t.clearDeletes()
		return nil
	}
	if err := t.matchSubjects(); err != nil {
		return err
	}
	type leaver struct {
		id   incremental.RecordID
		hash keyHash
	}
	var gone []leaver
	_ = t.deletes.keys.each(func(key []byte, id incremental.RecordID) error {
		gone = append(gone, leaver{id, t.mode.hash(key)})
		return nil
	})
	t.clearDeletes()
	// The order of keys differs between processes.
	slices.SortFunc(gone, func(a, b leaver) int { return cmp.Compare(a.id, b.id) })
	for _, one := range gone {
		if err := t.forget(one.id, one.hash); err != nil {
			return err
		}
		if t.pending.count >= spillRows {
			if err := spill(); err != nil {
				return err
			}
		}
	}
	return nil
}

// clearDeletes discards the keys of deleted rows.
func (t *table) clearDeletes() {
	t.deletes.spareKeys = t.deletes.keys
	t.deletes.spareKeys.clear()
	t.deletes.keys, t.deletes.truncated = nil, false
}

// noteInserted notes one of the transaction's own records.
func (t *table) noteInserted(id incremental.RecordID) {
	if t.layout.subject >= 0 {
		t.deletes.inserted = append(t.deletes.inserted, id)
	}
}

// matchSubjects replaces new records by deleted ones of the same persons: a row that replaces a
// person's row under another key is a change, not a new record.
func (t *table) matchSubjects() error {
	if len(t.deletes.inserted) == 0 {
		return nil
	}
	comers := map[uint32][]incremental.RecordID{}
	for _, id := range t.deletes.inserted {
		if _, pending := t.pending.rows[id]; pending { // it was not deleted, and is held in memory
			of := t.mode.row(id).subject
			comers[of] = append(comers[of], id)
		}
	}
	type place struct {
		key []byte
		id  incremental.RecordID
		of  uint32
	}
	var places []place
	_ = t.deletes.keys.each(func(key []byte, id incremental.RecordID) error {
		if of := t.mode.row(id).subject; id < t.deletes.firstOwn && len(comers[of]) > 0 {
			places = append(places, place{slices.Clone(key), id, of})
		}
		return nil
	})
	slices.SortFunc(places, func(a, b place) int { return int(a.id - b.id) })
	for _, p := range places {
		if len(comers[p.of]) == 0 {
			continue
		}
		comer := comers[p.of][0]
		comers[p.of] = comers[p.of][1:]
		values := t.pending.rows[comer].values
		key := slices.Clone(t.keyOf(values))
		if err := t.remove(key, comer); err != nil {
			return err
		}
		t.deletes.keys.remove(p.key, p.id)
		t.keys.add(key, p.id)
		if err := t.modify(p.id, values); err != nil {
			return err
		}
	}
	return nil
}
