package sync

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// load takes over the published rows, with what they show of the sensitive attributes, and
// the records.
func (s *guarded) load(ctx context.Context, from *storeView, progress func(done int)) error {
	loading, err := s.lineage.BeginLoading(from.records)
	if err != nil {
		return internal(err)
	}
	l := &guardedLoading{
		s: s, from: from, loading: loading, keys: s.t.keys.gather(from.records), progress: progress,
		weights: make(map[incremental.ClassID]lineage.Weight), sizes: make(map[incremental.ClassID]int),
	}
	for range s.t.layout.sensitive {
		l.shown = append(l.shown, privacy.NewDictionary())
	}
	if err := from.read(ctx, l.readRecords, l.readRows); err != nil {
		return err
	}
	codes := renumbered(l.shown, s.t.values)
	if err := s.t.endLoading(l.keys, func() error { return loading.End(l.weights, codes) }); err != nil {
		return err
	}
	if err := s.checkLoaded(l.sizes); err != nil {
		return err
	}
	if err := s.loadDeparted(ctx, from); err != nil {
		return err
	}
	return s.loadAudiences(ctx, from)
}

// guardedLoading is the loading of a guarded table.
type guardedLoading struct {
	s        *guarded
	from     *storeView
	loading  *lineage.Loading
	keys     *keyGathering
	shown    []*privacy.Dictionary // of the rows' sensitive values, which come while the records' are numbered
	weights  map[incremental.ClassID]lineage.Weight
	sizes    map[incremental.ClassID]int // in rows, of a sealed store
	progress func(done int)
}

// readRows takes the weights and the published rows.
func (l *guardedLoading) readRows(ctx context.Context) error {
	t := l.s.t
	err := readWeights(ctx, l.from.first, t.release.weightTable(), l.s.part.column, func(class int64, share float64, ghosts, persons int) {
		l.weights[incremental.ClassID(class)] = lineage.Weight{Share: share, Ghosts: ghosts, Persons: persons}
	})
	if err != nil {
		return err
	}
	columns := columnNames(l.s.marks())
	for _, i := range t.layout.sensitive {
		columns = append(columns, catalog.QuoteIdentifier(t.layout.columns[i].Name))
	}
	marks, sensitive := len(l.s.marks()), make([]uint32, len(t.layout.sensitive))
	return copyOut(ctx, l.from.first, len(columns), func(values []value) error {
		var ids [3]int64
		for i := range ids {
			var err error
			if ids[i], err = storedID(values[i]); err != nil {
				return err
			}
		}
		r := lineage.StoredRow{Class: incremental.ClassID(ids[0]), ID: lineage.RowID(ids[1]), Person: uint32(ids[2]), Sealed: values[3].text == "t", Sensitive: sensitive}
		for a, column := range t.layout.sensitive {
			sensitive[a] = number(l.shown[a], t.layout.columns[column], values[marks+a])
		}
		if err := l.loading.Row(r); err != nil {
			return internal(err)
		}
		if t.layout.isSealed() {
			l.sizes[r.Class]++
		}
		return nil
	}, fmt.Sprintf("SELECT %s FROM %s", strings.Join(columns, ", "), t.release.releaseTable()))
}

// renumbered are the numbers in some dictionaries of what others have, by their numbers.
func renumbered(from, to []*privacy.Dictionary) [][]uint32 {
	numbers := make([][]uint32, len(from))
	for a, d := range from {
		numbers[a] = make([]uint32, d.Len())
		for code := range numbers[a] {
			if text, is := d.Text(uint32(code)); is {
				numbers[a][code] = to[a].Code(text)
			} else {
				numbers[a][code] = to[a].Null()
			}
		}
	}
	return numbers
}

// readRecords takes the records: one goroutine hands them to the lineage, and one takes their
// keys.
func (l *guardedLoading) readRecords(ctx context.Context, conns []*pgconn.PgConn) error {
	t := l.s.t
	selected := selection{
		own: []string{
			recordColumn, l.s.part.column, catalog.RowColumn, "(extract(epoch FROM " + catalog.SinceColumn + ") * 1000000)::bigint",
			catalog.ChangedColumn, catalog.ExpiredColumn,
		},
		columns: t.layout.codedColumns(), list: t.layout.columns.listOf(t.layout.codedColumns()), table: t.recordsTable(),
	}
	if t.layout.isSealed() {
		selected.list, selected.sealed = sealedField, true
	}
	return l.from.readRecords(ctx, conns, t, selected, l.from.counting(l.recordTaker(selected), l.progress), l.keyTaker(selected))
}

// recordTaker hands rows to the lineage, with where they stand.
func (l *guardedLoading) recordTaker(selected selection) func(*rowBatch) error {
	t := l.s.t
	row := make([]value, len(t.layout.columns))
	columns := slices.Concat(t.layout.qi, t.layout.sensitive, t.layout.subjectColumn(), t.layout.copied)
	places := selected.places(columns)
	return func(b *rowBatch) error {
		for i := range b.rows {
			record, at, err := b.standing(i)
			if err != nil {
				return err
			}
			if err := b.fill(row, i, columns, places); err != nil {
				return err
			}
			if err := l.loading.Record(lineage.StoredRecord{Record: l.s.record(record, *l.s.code(row)), Place: at}); err != nil {
				return internal(err)
			}
		}
		return nil
	}
}

// standing is what kproxy has noted of a record of a guarded table, in the first fields.
func (b *rowBatch) standing(row int) (id incremental.RecordID, at lineage.Place, err error) {
	var own [6]value
	for i := range own {
		if own[i], err = b.field(row, i); err != nil {
			return 0, at, err
		}
	}
	var numbers [4]int64
	for i := range numbers {
		if numbers[i], err = storedID(own[i]); err != nil {
			return 0, at, err
		}
	}
	at = lineage.Place{
		Class: incremental.ClassID(numbers[1]), Row: lineage.RowID(numbers[2]), Changed: own[4].text, Withheld: own[5].text == "t",
	}
	if !own[3].null {
		at.Since = time.UnixMicro(numbers[3])
	}
	return incremental.RecordID(numbers[0]), at, nil
}

// keyTaker takes the keys of rows.
func (l *guardedLoading) keyTaker(selected selection) func(*rowBatch) error {
	t := l.s.t
	row, places := make([]value, len(t.layout.columns)), selected.places(t.layout.key)
	return func(b *rowBatch) error {
		for i := range b.rows {
			record, err := b.number(i, 0)
			if err != nil {
				return err
			}
			if err := b.fill(row, i, t.layout.key, places); err != nil {
				return err
			}
			l.keys.add(t.keyOf(row), incremental.RecordID(record))
		}
		return nil
	}
}
