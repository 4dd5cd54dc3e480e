package sync

import (
	"context"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// updateMode decides which of the committed changes of a table readers see. It holds in memory
// what it needs of every record.
type updateMode interface {
	// insert reports whether the record has returned to the row that it had left.
	insert(id incremental.RecordID, key []byte, row coded, now time.Time) (returned bool, err error)
	modify(id incremental.RecordID, row coded, now time.Time) error
	// hash is the hash of the key of a record that is removed.
	hash(key []byte) keyHash
	remove(id incremental.RecordID, hash keyHash) error
	truncate()
	// row is what is known of a record.
	row(id incremental.RecordID) coded

	// settle decides what readers see from now on; the following methods write it.
	settle(ctx context.Context, now time.Time) error
	// places are the columns of the records with the place of each; place gives them
	// for some records, an array for each column. With a packed release they are there only
	// until it is made.
	places() []storeColumn
	place(ids []incremental.RecordID) []any
	// moved are the records whose places have changed since the last settling, without
	// deleted ones; new ones may be among them.
	moved() []incremental.RecordID
	// writeRelease queues what brings the release to where it was settled.
	writeRelease(batch *visibleStatements)
	// written discards the changes after they were queued for the store.
	written()

	// marks are the columns of the release beside those published from the source.
	marks() []storeColumn
	// indexed are the marks by which rows of the release are found.
	indexed() []string
	// publish makes the first release of the snapshot's records, and assignments yields
	// what cannot be told of it by place: the number of each published record and those of
	// its marks that are no places.
	publish(ctx context.Context, p *publisher, source *snapshot) error
	assignments() func() ([]any, error)
	// classes yields the classes of a part with what is published for them.
	classes(part int) func() ([]any, error)
	// load takes over what the store holds.
	load(ctx context.Context, from *storeView, progress func(done int)) error

	// due is the time at which settle has something to do without a change; zero for never.
	due() time.Time
	nextClass() incremental.ClassID
	status() TableStatus
}

// storeColumn is a column of kproxy's own in the tables of the private store.
type storeColumn struct{ name, sqlType string }

// newMode returns the mode that the table's policy asks for, empty.
func (t *table) newMode(nextClass incremental.ClassID, seed uint64) (updateMode, error) {
	switch {
	case t.layout.isMirrored():
		return &mirror{t: t}, nil
	case t.layout.isLinked() && t.layout.isGuarded():
		return newLinkedGuarded(t)
	case t.layout.isLinked():
		return newLinked(t)
	case t.layout.isGuarded():
		return newGuarded(t, nextClass, seed)
	}
	return newImmediate(t, nextClass, seed)
}

// union lists columns of both, each once.
func union(columns, more []storeColumn) []storeColumn {
	all := slices.Clone(columns)
	for _, c := range more {
		if !slices.Contains(columns, c) {
			all = append(all, c)
		}
	}
	return all
}
