package sync

import (
	"cmp"
	"slices"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// departed are the records whose rows the open transaction of the source has deleted. Until it
// commits they stay as they are: a row that is inserted with the key of one of them is that
// record, changed. So a row that is deleted and inserted, as some applications update and as a
// table is emptied and loaded anew, is nobody who has left, nor anybody who has come.
type departed struct {
	in pglogrepl.LSN // where the commit of the transaction begins; 0 between two
	// own is the number from which on records were inserted by the transaction itself. They
	// are forgotten as soon as they are deleted, since nobody has ever seen them, and so that
	// what is held here does not grow with the transaction beyond the records of the table.
	own  incremental.RecordID
	keys *keys // nil where none was deleted
	room *keys // for the next transaction, empty
	// emptied says that the table was truncated: unless a row has come since, it needs not
	// be emptied record by record.
	emptied bool
	// arrived are the transaction's own records, in a table of persons, as far as their rows
	// are held in memory.
	arrived []incremental.RecordID
}

// open begins a transaction of the source for the table.
func (t *table) open(in pglogrepl.LSN) {
	t.left.in, t.left.own, t.left.arrived = in, t.nextRecord, t.left.arrived[:0]
}

// takeRoom is where keys can be noted, empty.
func (t *table) takeRoom() *keys {
	room := t.left.room
	t.left.room = nil
	if room == nil {
		room = newKeys(t.layout.publication.Relation.KeyRepeats)
	}
	return room
}

// depart notes that the row of a record was deleted.
func (t *table) depart(key []byte, id incremental.RecordID) error {
	if id >= t.left.own {
		return t.remove(key, id)
	}
	t.pending.any = true
	t.keys.remove(key, id)
	if t.left.keys == nil {
		t.left.keys = t.takeRoom()
	}
	if t.left.keys.add(key, id) {
		return nil
	}
	// A record that has left had the key before this one was given it.
	earlier, _ := t.left.keys.find(key)
	t.left.keys.remove(key, earlier)
	t.left.keys.add(key, id)
	return t.forget(earlier, t.stage.hash(key))
}

// departAll notes that all rows were deleted. What is known of their keys is set aside as it
// is, but for a table that the transaction has deleted rows of before.
func (t *table) departAll() error {
	t.pending.any, t.left.emptied, t.left.arrived = true, true, t.left.arrived[:0]
	gone := t.keys
	t.keys = t.takeRoom()
	if t.left.keys == nil {
		t.left.keys = gone
		return nil
	}
	return gone.each(t.depart)
}

// comeBack applies a new row of a record that has left within the transaction; false where
// there is none of its key.
func (t *table) comeBack(key []byte, values []value) (bool, error) {
	if t.left.keys == nil {
		return false, nil
	}
	id, left := t.left.keys.find(key)
	if !left {
		return false, nil
	}
	t.left.keys.remove(key, id)
	if !t.keys.add(key, id) {
		return true, t.layout.errOutOfStep("a row was inserted twice")
	}
	if id >= t.left.own { // deleted by a TRUNCATE
		t.arrive(id)
	}
	return true, t.modify(id, values)
}

// committed lets go of the records that have not come back when the transaction ends. Spill
// writes what has been gathered, where that is much.
func (t *table) committed(spill func() error) error {
	t.left.in = 0
	if t.left.keys == nil {
		return nil
	}
	if t.left.emptied && t.keys.none() {
		t.truncate()
		t.closeLeft()
		return nil
	}
	if err := t.pairPersons(); err != nil {
		return err
	}
	type leaver struct {
		id   incremental.RecordID
		hash keyHash
	}
	var gone []leaver
	_ = t.left.keys.each(func(key []byte, id incremental.RecordID) error {
		gone = append(gone, leaver{id, t.stage.hash(key)})
		return nil
	})
	t.closeLeft()
	// Keys come in an order of their own in each process.
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

// closeLeft forgets who has left.
func (t *table) closeLeft() {
	t.left.room = t.left.keys
	t.left.room.clear()
	t.left.keys, t.left.emptied = nil, false
}

// arrive notes one of the transaction's own records.
func (t *table) arrive(id incremental.RecordID) {
	if t.layout.subject >= 0 {
		t.left.arrived = append(t.left.arrived, id)
	}
}

// pairPersons has the transaction's own records take the places of those that left of the same
// persons: a person whose row was replaced by one with another key has not come anew.
func (t *table) pairPersons() error {
	if len(t.left.arrived) == 0 {
		return nil
	}
	comers := map[uint32][]incremental.RecordID{}
	for _, id := range t.left.arrived {
		if _, pending := t.pending.rows[id]; pending { // it was not deleted, and is held in memory
			of := t.stage.row(id).subject
			comers[of] = append(comers[of], id)
		}
	}
	type place struct {
		key []byte
		id  incremental.RecordID
		of  uint32
	}
	var places []place
	_ = t.left.keys.each(func(key []byte, id incremental.RecordID) error {
		if of := t.stage.row(id).subject; id < t.left.own && len(comers[of]) > 0 {
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
		t.left.keys.remove(p.key, p.id)
		t.keys.add(key, p.id)
		if err := t.modify(p.id, values); err != nil {
			return err
		}
	}
	return nil
}
