package sync

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
)

// load takes the keys of the table's records. With the first of its tables, the group takes over
// what the store has of all of them.
func (s *linkedGuarded) load(ctx context.Context, from *storeView, progress func(done int)) error {
	if err := s.group.restore(ctx, from, s.t.clock(), progress); err != nil {
		return err
	}
	row := make([]value, len(s.t.layout.columns))
	return copyOut(ctx, from.first, 1+len(s.t.layout.key), func(values []value) error {
		record, err := storedID(values[0])
		if err != nil {
			return err
		}
		spread(row, s.t.layout.key, values[1:])
		if !s.t.keys.add(s.t.keyOf(row), incremental.RecordID(record)) {
			return internal(errors.New("two records have the same key"))
		}
		return nil
	}, fmt.Sprintf("SELECT %s FROM %s ORDER BY 1", strings.Join(append([]string{recordColumn}, quotedColumns(s.t.layout.columns, s.t.layout.key)...), ", "), s.t.recordsTable()))
}

func quotedColumns(columns storedColumns, indexes []int) []string {
	names := make([]string, len(indexes))
	for i, index := range indexes {
		names[i] = catalog.QuoteIdentifier(columns[index].Name)
	}
	return names
}

// restore takes over the release and the records of all tables, once in a session.
func (g *linkedGroup) restore(ctx context.Context, from *storeView, now time.Time, progress func(done int)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.restored {
		return nil
	}
	next := int64(1)
	for _, of := range g.found.stored {
		next = max(next, int64(of.nextClass))
	}
	restoring, err := g.guarded.Restore(next)
	if err != nil {
		return internal(err)
	}
	r := &groupLoading{group: g, from: from, restoring: restoring, progress: progress}
	for _, number := range g.numbers() {
		if err := r.table(ctx, number); err != nil {
			return err
		}
	}
	if err := restoring.End(now); err != nil {
		return internal(err)
	}
	if err := r.followers(ctx); err != nil {
		return err
	}
	g.restored = true
	return nil
}

// groupLoading takes over what the store has of a group.
type groupLoading struct {
	group     *linkedGroup
	from      *storeView
	restoring *people.Restoring
	progress  func(done int)
	read      int
}

// stored is a table of the group as the store has it, empty in memory.
func (r *groupLoading) stored(number int) (*linkedGuarded, error) {
	t, err := newTable(r.group.people.Of(number))
	if err != nil {
		return nil, err
	}
	t.join(r.group)
	t.release.generation = r.group.found.stored[number].number
	return &linkedGuarded{linked: *linkedOf(t)}, nil
}

func (r *groupLoading) table(ctx context.Context, number int) error {
	s, err := r.stored(number)
	if err != nil {
		return err
	}
	if r.group.pseudonyms[number] != nil {
		if state := r.group.found.stored[number].secret; state != nil { // else nothing was published
			if err := r.group.resumePseudonyms(number, state); err != nil {
				return internal(err)
			}
		}
	}
	keys, err := r.departed(ctx, s)
	if err != nil {
		return err
	}
	if err := r.rows(ctx, s, keys); err != nil {
		return err
	}
	if err := r.weighed(ctx, s); err != nil {
		return err
	}
	if r.group.guarded.KeepsVanished() {
		if err := r.vanished(ctx, s); err != nil {
			return err
		}
	}
	return r.records(ctx, s)
}

// departed are the keys by which rows are found that stand for nobody.
func (r *groupLoading) departed(ctx context.Context, s *linkedGuarded) (map[incremental.RecordID]people.Key, error) {
	keys := make(map[incremental.RecordID]people.Key)
	err := copyOut(ctx, r.from.first, 2, func(values []value) error {
		row, err := storedID(values[0])
		if err != nil {
			return err
		}
		key, err := hex.DecodeString(values[1].text)
		if err != nil || len(key) != len(people.Key{}) {
			return errCopyText
		}
		keys[incremental.RecordID(row)] = r.group.pseudonyms[people.Root].Unsealed(people.Key(key))
		return nil
	}, fmt.Sprintf("SELECT row, encode(hash, 'hex') FROM kproxy_store.departed WHERE generation = %d", s.t.release.generation))
	return keys, err
}

// rows takes the published rows.
func (r *groupLoading) rows(ctx context.Context, s *linkedGuarded, keys map[incremental.RecordID]people.Key) error {
	columns, marks := r.rowColumns(s), len(s.marks())
	return copyOut(ctx, r.from.first, len(columns), func(values []value) error {
		row, err := markedRow(values)
		if err != nil {
			return err
		}
		row.Sensitive, row.Key = s.codes(values[marks:]), keys[row.ID]
		r.restoring.Row(s.number, row)
		return nil
	}, fmt.Sprintf("SELECT %s FROM %s", strings.Join(columns, ", "), s.t.release.releaseTable()))
}

// rowColumns are the columns of published rows that the group takes over: their marks and, where these count, their values.
func (r *groupLoading) rowColumns(s *linkedGuarded) []string {
	columns := columnNames(s.marks())
	if r.group.guarded.KeepsValues() {
		columns = append(columns, quotedColumns(s.t.layout.columns, s.t.layout.sensitive)...)
	}
	return columns
}

// markedRow is a published row by its marks, which come first.
func markedRow(values []value) (row people.StoredRow, err error) {
	var n [8]int64
	if err := numbersIn(n[:], values); err != nil {
		return row, err
	}
	row.Cell, row.Class, row.Window, row.Pooled = n[0], n[2], int32(n[4]), values[2].null
	row.PublishedRow = people.PublishedRow{
		ID: incremental.RecordID(n[1]), Member: int32(n[3]), Parent: incremental.RecordID(n[5]), Own: uint64(n[6]), Person: uint64(n[7]),
	}
	return row, nil
}

// weighed takes the weights of cells.
func (r *groupLoading) weighed(ctx context.Context, s *linkedGuarded) error {
	return readWeights(ctx, r.from.first, s.t.release.weightTable(), s.part.column, func(cell int64, share float64, ghosts, persons int) {
		r.restoring.Weight(s.number, people.Weight{Cells: []int64{cell}, Share: share, Ghosts: ghosts, Persons: persons})
	})
}

// numbersIn reads numbers that are NULL where they are 0.
func numbersIn(numbers []int64, from []value) (err error) {
	for i := range numbers {
		if numbers[i], err = storedID(from[i]); err != nil {
			return err
		}
	}
	return nil
}

// codes are the numbers of sensitive values, if some are there.
func (s *linkedGuarded) codes(values []value) []uint32 {
	if len(values) == 0 {
		return nil
	}
	codes := make([]uint32, len(s.t.layout.sensitive))
	for a := range codes {
		codes[a] = s.t.code(a, values[a])
	}
	return codes
}

// vanished takes the rows that are not published any more, and whose values count.
func (r *groupLoading) vanished(ctx context.Context, s *linkedGuarded) error {
	if s.number == people.Root {
		return nil
	}
	columns := []string{"v.cell", "v.row", "v.persons", "v.person", "v.win", "v.parent"}
	marks := len(columns)
	for i := range s.t.layout.sensitive {
		columns = append(columns, fmt.Sprintf("v.sensitive[%d]", i+1))
	}
	root := storeTable("release", r.group.found.stored[people.Root].number).SQL()
	return copyOut(ctx, r.from.first, len(columns), func(values []value) error {
		var n [6]int64
		if err := numbersIn(n[:], values); err != nil {
			return err
		}
		r.restoring.Row(s.number, people.StoredRow{
			Cell: n[0], Class: n[2], Window: int32(n[4]), Vanished: true, Sensitive: s.codes(values[marks:]),
			PublishedRow: people.PublishedRow{ID: incremental.RecordID(n[1]), Member: int32(n[3]), Parent: incremental.RecordID(n[5])},
		})
		return nil
	}, fmt.Sprintf("SELECT %s FROM kproxy_store.vanished AS v WHERE v.generation = %d AND EXISTS (SELECT FROM %s AS p WHERE p.%s = v.persons)",
		strings.Join(columns, ", "), s.t.release.generation, root, catalog.PersonsColumn))
}

// records takes the records, with where each stands.
func (r *groupLoading) records(ctx context.Context, s *linkedGuarded) error {
	indexes, row := s.t.layout.codedColumns(), make([]value, len(s.t.layout.columns))
	own := []string{
		recordColumn, catalog.RowColumn, "(extract(epoch FROM " + catalog.SinceColumn + ") * 1000000)::bigint",
		catalog.ExpiredColumn, catalog.PoolingColumn, catalog.StaleColumn,
	}
	return copyOut(ctx, r.from.first, len(own)+len(indexes), func(values []value) error {
		var n [3]int64
		if err := numbersIn(n[:], values); err != nil {
			return err
		}
		at := people.Place{Row: incremental.RecordID(n[1]), Withheld: values[3].text == "t", Pooling: values[4].text == "t", Stale: values[5].text == "t"}
		if !values[2].null {
			at.Since = time.UnixMicro(n[2])
		}
		spread(row, indexes, values[len(own):])
		if err := r.restoring.Record(s.number, s.personRow(incremental.RecordID(n[0]), *s.code(row)), at); err != nil {
			return internal(err)
		}
		if r.read++; r.read%progressRows == 0 {
			r.progress(r.read)
		}
		return nil
	}, fmt.Sprintf("SELECT %s FROM %s ORDER BY 1", strings.Join(slices.Concat(own, quotedColumns(s.t.layout.columns, indexes)), ", "), s.t.recordsTable()))
}
