package sync

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// table is one protected table: its records in memory, the mode of updates that decides what
// readers see of them, and what has changed since the store was last written. It belongs to one
// goroutine: the worker's until the table joins the stream, then the applier's.
type table struct {
	layout layout

	group   *linkedGroup          // nil for a table that is released by itself
	values  []*privacy.Dictionary // of each sensitive attribute; they grow with every new value until the next start
	persons *privacy.Dictionary

	release releaseState

	definition definition // of the source when its rows were compared last
	nextRecord incremental.RecordID
	parts      []*part
	mode       updateMode
	keys       *keys
	keyBuffers [2][]byte // for the keys of the old and the new row
	sealing    sealing
	copies     *copies // nil where members are written inside the server
	now        func() time.Time
	logger     *slog.Logger

	deletes transactionDeletes // records whose rows the open transaction of the source has deleted

	pending pendingChanges

	// describedBy are the source's transactions in which the stream has described the table
	// since a group was sent on its way: they may have altered it.
	describedBy []uint32
	truncations truncations
}

// pendingChanges are the changes since the store was last written. They belong to the
// goroutine that applies to the table.
type pendingChanges struct {
	dirty     bool // since the store was last written
	count     int  // in rows and deleted
	bytes     int  // of the values in rows
	rows      map[incremental.RecordID]*pendingRow
	deleted   []incremental.RecordID
	truncated bool
	// spilled means that rows were written since the last settling, so that it is not known
	// which records have changed.
	spilled bool
}

// releaseState is where a table's release stands. It belongs to the goroutine that applies to
// the table, except shown, which the batch's goroutine writes before the batch ends.
type releaseState struct {
	generation int64
	previous   int64         // the generation that readers see while this one catches up; 0 for none
	position   pglogrepl.LSN // changes whose commit lies before are applied
	shown      bool          // by the transaction that is being written
	postponed  time.Time     // when readers kept it from being shown
	showAt     pglogrepl.LSN // from this position on readers see the generation; 0 where they do
}

// pendingRow has the values of one record that are not in the store yet.
type pendingRow struct {
	inserted bool
	shown    bool // what the release shows of it alone may have changed
	values   []value
}

func newTable(p catalog.Publication) (*table, error) {
	t := &table{layout: layout{publication: p, kept: keptOf(p, p)}, pending: pendingChanges{rows: make(map[incremental.RecordID]*pendingRow)}, persons: privacy.NewDictionary(), now: time.Now, logger: slog.New(slog.DiscardHandler)}
	t.layout.layOut()
	var err error
	if t.layout.digest, err = digest(p, t.layout.columns); err != nil {
		return nil, err
	}
	if t.layout.former, err = formerDigest(p, t.layout.columns); err != nil {
		return nil, err
	}
	if t.layout.lineageDigest, err = lineageDigest(p, t.layout.columns); err != nil {
		return nil, err
	}
	if t.layout.promise, err = promiseOf(p); err != nil {
		return nil, err
	}
	if t.layout.attributes, err = p.NewAttributes(); err != nil {
		return nil, err
	}
	schema, err := p.NewSchema()
	if err != nil {
		return nil, err
	}
	for _, s := range schema.Sensitive {
		t.values = append(t.values, s.Values)
	}
	if t.layout.constraints, err = p.ConstraintSet(schema); err != nil {
		return nil, err
	}
	if t.layout.isMirrored() {
		t.layout.audiences = viewersOf(p)
		return t, t.errUnsealable() // it has no classes
	}
	if t.layout.audiences, err = audiencesOf(p, schema, t.layout.attributes); err != nil {
		return nil, err
	}
	if t.layout.method, err = methods.Trying(p.Policy.Method, p.Policy.Effort); err != nil {
		return nil, fmt.Errorf("table %s: %w", p.Policy.Table, err)
	}
	if err := t.divide(); err != nil {
		return nil, err
	}
	return t, t.errUnsealable()
}

// begin makes the table empty in memory: the state that load and the initial
// publication fill.
func (t *table) begin(generation int64, nextRecord incremental.RecordID, nextClass incremental.ClassID, seed uint64) (err error) {
	t.release.generation, t.nextRecord = generation, nextRecord
	t.keys, t.deletes = newKeys(t.layout.publication.Relation.KeyRepeats), transactionDeletes{}
	if t.mode, err = t.newMode(nextClass, seed); err == nil {
		t.copies = t.newCopies()
	}
	return err
}

// keyOf joins the key's values into one text, until the next call; lengths keep values
// apart.
func (t *table) keyOf(values []value) []byte { return t.keyIn(0, values) }

func (t *table) keyIn(room int, values []value) []byte {
	key := t.keyBuffers[room][:0]
	for _, i := range t.layout.key {
		if values[i].null {
			key = append(key, '-')
			continue
		}
		key = append(strconv.AppendInt(key, int64(len(values[i].text)), 10), ':')
		key = append(key, values[i].text...)
	}
	t.keyBuffers[room] = key
	return key
}

// cell codes a quasi-identifying value.
func (t *layout) cell(attribute int, v value) hierarchy.Cell {
	if v.null {
		return math.NaN()
	}
	return t.attributes[attribute].Hierarchy.Encode(v.text)
}

// code numbers a value of a sensitive attribute.
func (t *table) code(attribute int, v value) uint32 {
	return number(t.values[attribute], t.layout.columns[t.layout.sensitive[attribute]], v)
}

// person numbers the person that a row is about. Rows without one count as one person, since
// nothing distinguishes them.
func (t *table) person(v value) uint32 {
	return number(t.persons, t.layout.columns[t.layout.subject], v)
}

// number distinguishes values exactly as SQL does; NULL is a value of its own.
func number(d *privacy.Dictionary, column catalog.Column, v value) uint32 {
	if v.null {
		return d.Null()
	}
	return d.Code(catalog.Canonical(column.BaseType, v.text))
}

// encode codes a row for the partitions. Values that the stream left out are taken
// from the row as it stood.
func (t *table) encode(values []value, before *coded) coded {
	row := t.layout.newCoded()
	t.encodeInto(&row, values, before)
	return row
}

func (t *layout) newCoded() coded {
	return coded{cells: make([]hierarchy.Cell, len(t.qi)), sensitive: make([]uint32, len(t.sensitive))}
}

func (t *table) encodeInto(row *coded, values []value, before *coded) {
	for a, column := range t.layout.qi {
		if v := values[column]; v.kept && before != nil {
			row.cells[a] = before.cells[a]
		} else {
			row.cells[a] = t.layout.cell(a, v)
		}
	}
	for a, column := range t.layout.sensitive {
		if v := values[column]; v.kept && before != nil {
			row.sensitive[a] = before.sensitive[a]
		} else {
			row.sensitive[a] = t.code(a, v)
		}
	}
	switch {
	case t.layout.subject < 0:
	case values[t.layout.subject].kept && before != nil:
		row.subject = before.subject
	default:
		row.subject = t.person(values[t.layout.subject])
	}
	row.copied = t.layout.fingerprints(row.copied, values, before)
	row.kin = t.layout.kinOf(values, before)
}

// fingerprintSeed is unpredictable, so that no values can be chosen to have the same
// fingerprint. Fingerprints are not stored.
var fingerprintSeed = maphash.MakeSeed()

// fingerprints are hashes of the texts that are published without generalization, in prints if
// that is not nil. Values that SQL calls equal can have different fingerprints.
func (t *layout) fingerprints(prints []uint64, values []value, before *coded) []uint64 {
	if t.copied == nil {
		return nil
	}
	if prints == nil {
		prints = make([]uint64, len(t.copied))
	}
	for i, column := range t.copied {
		switch v := values[column]; {
		case v.kept && before != nil:
			prints[i] = before.copied[i]
		case v.null: // as no text, but for a freak of chance
			prints[i] = 1
		default:
			prints[i] = maphash.String(fingerprintSeed, v.text)
		}
	}
	return prints
}

// clock is the time as the store can keep it.
func (t *table) clock() time.Time { return t.now().Truncate(time.Microsecond) }

// insert applies a new row, whose values become the table's. A record of its key that the
// same transaction has deleted is changed.
func (t *table) insert(values []value) error {
	t.pending.dirty = true
	id, key := t.nextRecord, t.keyOf(values)
	if back, err := t.reinsert(key, values); back || err != nil {
		return err
	}
	if !t.keys.add(key, id) {
		return errOutOfStep(t.layout.name(), "a row was inserted twice")
	}
	returned, err := t.mode.insert(id, key, t.encode(values, nil), t.clock())
	if err != nil {
		return internal(fmt.Errorf("inserting into %s: %w", t.layout.name(), err))
	}
	t.nextRecord++
	t.copies.note(id, values)
	t.pending.rows[id] = &pendingRow{inserted: true, values: values}
	t.pending.count++
	t.pending.addBytes(values)
	if !returned { // a person's new record takes the place of another one
		t.noteInserted(id)
	}
	return nil
}

// update applies a changed row, whose values become the table's; old holds the values of
// the key before the change.
func (t *table) update(old, values []value) error {
	t.pending.dirty = true
	oldKey := t.keyOf(old)
	id, known := t.keys.find(oldKey)
	if !known {
		return errOutOfStep(t.layout.name(), "an unknown row was updated")
	}
	for _, i := range t.layout.key {
		if values[i].kept {
			values[i] = old[i]
		}
	}
	if key := t.keyIn(1, values); !bytes.Equal(key, oldKey) {
		if !t.keys.add(key, id) {
			return errOutOfStep(t.layout.name(), "a row's key was changed to one that exists")
		}
		t.keys.remove(oldKey, id)
	}
	return t.modify(id, values)
}

// modify gives a record other values. Its key is known already.
func (t *table) modify(id incremental.RecordID, values []value) error {
	t.pending.dirty = true
	before, shown := t.mode.row(id), !t.copies.same(id, values)
	if after := t.encode(values, &before); !t.showsSame(id, before, after, values) {
		if err := t.mode.modify(id, after, t.clock()); err != nil {
			return internal(fmt.Errorf("modifying a record of %s: %w", t.layout.name(), err))
		}
		t.copies.note(id, values)
	}
	t.pending.merge(id, values)
	t.pending.rows[id].shown = t.pending.rows[id].shown || shown
	return nil
}

// showsSame reports whether a change of a record has no effect on the release. Its class is then
// not rewritten, so that readers do not see that there was a change. This is known for
// records whose copied values are held in memory.
func (t *table) showsSame(id incremental.RecordID, before, after coded, values []value) bool {
	return slices.Equal(before.cells, after.cells) && slices.Equal(before.sensitive, after.sensitive) && before.kin == after.kin &&
		before.subject == after.subject && t.copies.same(id, values)
}

// addBytes counts what values take in memory.
func (t *pendingChanges) addBytes(values []value) {
	for _, v := range values {
		t.bytes += len(v.text)
	}
}

func (t *pendingChanges) merge(id incremental.RecordID, values []value) {
	t.addBytes(values)
	row, pending := t.rows[id]
	if !pending {
		t.rows[id] = &pendingRow{values: values}
		t.count++
		return
	}
	for i, v := range values {
		if !v.kept {
			row.values[i] = v
		}
	}
}

func (t *table) delete(old []value) error {
	key := t.keyOf(old)
	id, known := t.keys.findLast(key)
	if !known {
		return errOutOfStep(t.layout.name(), "an unknown row was deleted")
	}
	return t.deleteUntilCommit(key, id)
}

// remove deletes the record with that key.
func (t *table) remove(key []byte, id incremental.RecordID) error {
	t.keys.remove(key, id)
	return t.forget(id, t.mode.hash(key))
}

// forget deletes a record whose key was removed already; hash is that of the key.
func (t *table) forget(id incremental.RecordID, hash keyHash) error {
	t.pending.dirty = true
	t.copies.forget(id)
	if err := t.mode.remove(id, hash); err != nil {
		return internal(fmt.Errorf("deleting from %s: %w", t.layout.name(), err))
	}
	row, pending := t.pending.rows[id]
	delete(t.pending.rows, id)
	if !pending || !row.inserted {
		t.pending.deleted = append(t.pending.deleted, id)
		t.pending.count++
	}
	return nil
}

func (t *table) truncate() {
	t.pending.dirty = true
	t.mode.truncate()
	t.keys.clear()
	t.copies.clear()
	t.forgetRows()
	t.pending.truncated = true
}

// forgetRows discards the pending rows, which the store has or no longer needs.
func (t *table) forgetRows() {
	clear(t.pending.rows)
	t.deletes.inserted = t.deletes.inserted[:0]
	t.pending.deleted = t.pending.deleted[:0]
	t.pending.truncated, t.pending.count, t.pending.bytes = false, 0, 0
}

// written discards the pending changes after they were queued for the store.
func (t *table) written() {
	t.mode.written()
	t.forgetRows()
	t.pending.dirty, t.pending.spilled = false, false
}
