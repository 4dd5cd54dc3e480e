package sync

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// writeRelease writes every row that shows a touched class of any part, in random
// order, so that neither the order of insertion nor which member changed can be
// seen. The rows deleted and the rows written are those of the same records but
// for new and deleted ones: a record that has left a class is in another one that
// is touched.
func (s *immediate) writeRelease(batch *visibleStatements) {
	t, changes := s.t, s.changes
	if s.packed != nil {
		s.packed.write(batch, changes[0])
		for _, a := range s.audiences {
			a.write(batch, a.changes)
		}
		return
	}
	for i, p := range s.parts {
		for chunk := range slices.Chunk(slices.Concat(changes[i].Retired, changes[i].Rewrite), writeChunk) {
			batch.Queue(fmt.Sprintf("DELETE FROM %s WHERE %s = ANY($1)", t.release.releaseTable(), p.part.column), numbers(chunk))
		}
	}
	for ids := range s.rowsOf() {
		s.writeRows(batch, ids)
	}
}

// rowsOf yields the records in touched classes, each once, some thousands at a
// time. Those of one part come by whole classes, as they lie in the release; those
// of several parts are shuffled, as classes cross and ids tell the order of
// insertion.
func (s *immediate) rowsOf() iter.Seq[[]incremental.RecordID] {
	changes := s.changes
	if len(s.parts) == 1 {
		return func(yield func([]incremental.RecordID) bool) {
			for classes := range slices.Chunk(changes[0].Rewrite, writeChunk) {
				var ids []incremental.RecordID
				for _, class := range classes {
					ids = append(ids, s.parts[0].partition.Members(class)...)
				}
				if !yield(ids) {
					return
				}
			}
		}
	}
	var ids []incremental.RecordID
	for i, p := range s.parts {
		for _, class := range changes[i].Rewrite {
			ids = append(ids, p.partition.Members(class)...)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return slices.Chunk(ids, writeChunk)
}

// writeRows writes the rows of some records, which are in a class of every part.
func (s *immediate) writeRows(batch queue, ids []incremental.RecordID) {
	t := s.t
	arguments := []any{recordNumbers(ids)}
	classes := make([][]int64, len(s.parts)) // of each part: of each record
	for i, p := range s.parts {
		classes[i] = make([]int64, len(ids))
		for j, id := range ids {
			classes[i][j] = int64(p.partition.ClassOf(id))
		}
		arguments = append(arguments, numbers(classes[i]))
	}
	var shown, joins []string
	for i, p := range s.parts {
		different := slices.Compact(slices.Sorted(slices.Values(classes[i])))
		columns := p.part.shown(different, p.partition.Generalize)
		first := len(arguments) + 1
		// Values are cast once for each class.
		shown = append(shown, fmt.Sprintf("c%d AS MATERIALIZED (SELECT %s FROM unnest($%d::bigint[]%s) AS u(%s))", i, p.part.castList(), first, textArrays(first+1, len(columns)),
			strings.Join(append([]string{p.part.column}, p.part.generalizedNames("", "")...), ", ")))
		joins = append(joins, fmt.Sprintf(" JOIN c%d USING (%s)", i, p.part.column))
		arguments = append(append(arguments, numbers(different)), columns...)
	}
	batch.Queue(fmt.Sprintf(`WITH %s
		INSERT INTO %s (%s, %s)
		SELECT %s, %s
		FROM unnest($1::bigint[]%s) AS m(record, %s)%s
		JOIN %s AS r ON r.%[11]s = m.record AND r.%[11]s = ANY($1)
		ORDER BY random()`,
		strings.Join(shown, ", "),
		t.release.releaseTable(), t.classColumns(""), t.layout.view().shownList(), t.classColumns("m."), t.releaseList(noPseudonym),
		numberArrays(2, len(s.parts)), t.classColumns(""), strings.Join(joins, ""), t.recordsTable(), recordColumn), arguments...)
}
