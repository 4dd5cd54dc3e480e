package sync

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// loadPacked fills the partition of a packed table. The records come in the order in which
// they lie, without a class, and each class with the numbers of its records, so that the
// server has nothing to sort or to join; where there are several connections, at the same
// time. What leads to records, keys and members is made when all are there.
func (s *immediate) loadPacked(ctx context.Context, from *storeView, progress func(done int)) error {
	loading, err := s.parts[0].partition.BeginLoading(from.records)
	if err != nil {
		return internal(err)
	}
	l := &packedLoading{
		s: s, from: from, loading: loading, keys: s.t.keys.gather(from.records), progress: progress,
	}
	if err := from.read(ctx, l.readRecords, l.readClasses); err != nil {
		return err
	}
	if err := s.t.endLoading(l.keys, l.loading.End); err != nil {
		return err
	}
	if err := s.checkLoaded(); err != nil {
		return err
	}
	l.sections.put(s.packed)
	if err := s.loadAudiences(ctx, from); err != nil {
		return err
	}
	s.stored()
	s.packed.summary = s.t.summary()
	return nil
}

// checkLoaded refuses classes of a sealed store that are smaller than any that kproxy has written. Nothing binds packed
// rows, which are published, to where they are: whoever writes there could have kproxy publish what one record is.
func (s *immediate) checkLoaded() error {
	if !s.t.layout.isSealed() {
		return nil
	}
	partition, k := s.parts[0].partition, s.t.layout.constraints.K()
	for place := range partition.Classes() {
		if partition.Size(partition.ClassAt(place)) < k {
			return s.t.layout.errSmallClass()
		}
	}
	return nil
}

// packedLoading is the loading of a packed table.
type packedLoading struct {
	s        *immediate
	from     *storeView
	loading  *incremental.Loading
	keys     *keyGathering
	progress func(done int)
	sections loadedSections
}

// loadedSection is a section with the numbers of its records.
type loadedSection struct {
	packedKey
	ids []incremental.RecordID
}

// loadedSections are those of a packed release.
type loadedSections []loadedSection

// note keeps what is to be known of a row besides its class.
func (l *loadedSections) note(release *packedRelease, row packedKey, ids []incremental.RecordID) {
	if row.section != onlySection {
		*l = append(*l, loadedSection{row, slices.Clone(ids)})
	}
	if len(ids) == 1 { // there may be other rows of the section; see packing
		release.sections.single[row.class] = struct{}{}
	}
}

// put has the release know its sections, when the records are there.
func (l loadedSections) put(release *packedRelease) {
	made := map[packedKey]int32{}
	for _, one := range l {
		index, known := made[one.packedKey]
		if !known {
			index = release.sections.add(one.class, one.section)
			made[one.packedKey] = index
		}
		for _, id := range one.ids {
			release.sections.put(release.classes.SlotOf(id), index)
		}
	}
}

// readRecords takes the records, with what is published of them as it is: one goroutine hands
// them to the partition, and one takes what is held beside it.
func (l *packedLoading) readRecords(ctx context.Context, conns []*pgconn.PgConn) error {
	selected := l.s.t.selectHeld(l.from.outOfLine)
	return l.from.readRecords(ctx, conns, l.s.t, selected, l.from.counting(l.recordTaker(selected), l.progress), l.copyTaker(selected))
}

// recordTaker hands rows to the partition, which gives them slots in their order.
func (l *packedLoading) recordTaker(selected selection) func(*rowBatch) error {
	t := l.s.t
	part, row, taken := l.s.parts[0].part, make([]value, len(t.layout.columns)), t.layout.newCoded()
	columns := slices.Concat(t.layout.qi, t.layout.sensitive, t.layout.subjectColumn())
	places := selected.places(columns)
	return func(b *rowBatch) error {
		for i := range b.rows {
			record, err := b.number(i, 0)
			if err != nil {
				return err
			}
			if err := b.fill(row, i, columns, places); err != nil {
				return err
			}
			t.encodeInto(&taken, row, nil)
			if err := l.loading.Record(part.record(incremental.RecordID(record), taken)); err != nil {
				return internal(err)
			}
		}
		return nil
	}
}

// copyTaker takes the keys of rows, and what is copied of them into the slots that their
// records get.
func (l *packedLoading) copyTaker(selected selection) func(*rowBatch) error {
	t := l.s.t
	row, slot := make([]value, len(t.layout.columns)), int32(-1)
	columns := t.layout.key
	if t.copies != nil {
		columns = slices.Concat(columns, t.copies.columns)
	}
	places := selected.places(columns)
	return func(b *rowBatch) error {
		for i := range b.rows {
			record, err := b.number(i, 0)
			if err != nil {
				return err
			}
			if err := b.fill(row, i, columns, places); err != nil {
				return err
			}
			slot++
			l.keys.add(t.keyOf(row), incremental.RecordID(record))
			wide := value{}
			if selected.wide {
				if wide, err = b.field(i, 1); err != nil {
					return err
				}
			}
			if wide.text != "t" {
				t.copies.put(slot, row)
			}
		}
		return nil
	}
}

// readClasses takes the classes.
func (l *packedLoading) readClasses(ctx context.Context) error {
	return readPacked(ctx, l.from.first, l.s.packed.classesQuery(), func(row packedKey, ids []incremental.RecordID) error {
		if err := l.loading.Assign(row.class, ids); err != nil {
			return internal(err)
		}
		l.sections.note(l.s.packed, row, ids)
		return nil
	})
}

// readPacked reads packed rows with the numbers of their records, ascending, until the next row.
func readPacked(ctx context.Context, conn *pgconn.PgConn, query string, take func(row packedKey, ids []incremental.RecordID) error) error {
	var ids []incremental.RecordID
	return copyOut(ctx, conn, 3, func(values []value) error {
		class, err := storedID(values[0])
		if err != nil {
			return err
		}
		section, err := storedID(values[1])
		if err != nil {
			return err
		}
		if ids, err = appendStoredIDs(ids[:0], values[2].text); err != nil {
			return err
		}
		slices.Sort(ids)
		return take(packedKey{incremental.ClassID(class), int32(section)}, ids)
	}, query)
}

// classesQuery selects packed rows' classes and sections with the numbers of their records.
func (s *packedRelease) classesQuery() string {
	return fmt.Sprintf("SELECT p.%s, p.%s, ARRAY(SELECT (unnest(p.%s)).%s) FROM %s AS p", s.part.column, catalog.SectionColumn, catalog.MembersColumn, recordColumn, s.table())
}

// appendStoredIDs reads an array of numbers, "{1,2,3}".
func appendStoredIDs(ids []incremental.RecordID, text string) ([]incremental.RecordID, error) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, errCopyText
	}
	for more := len(text) > 2; more; {
		end := 1
		id := int64(0)
		for ; text[end] >= '0' && text[end] <= '9'; end++ {
			id = 10*id + int64(text[end]-'0')
		}
		if digits := end - 1; digits == 0 || digits > 18 {
			return nil, errCopyText
		}
		ids = append(ids, incremental.RecordID(id))
		if text = text[end:]; text[0] != ',' && text != "}" {
			return nil, errCopyText
		}
		more = text[0] == ','
	}
	return ids, nil
}
