package sync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// loaded is what a table holds in memory.
func loaded(t *table) string {
	var all strings.Builder
	fmt.Fprintf(&all, "generation %d at %s, shown from %s after %d, next record %d, next class %d", t.release.generation, t.release.position, t.release.showAt, t.release.previous, t.nextRecord, t.mode.nextClass())
	for id := incremental.RecordID(1); id < t.nextRecord; id++ {
		if s, is := t.mode.(*immediate); is {
			if _, _, there := s.parts[0].partition.Record(id); !there {
				continue
			}
		}
		row := t.mode.row(id)
		fmt.Fprintf(&all, "\n%d: %v %v %d", id, row.cells, row.sensitive, row.subject)
		if s, is := t.mode.(*immediate); is {
			for _, p := range s.parts {
				fmt.Fprintf(&all, ", class %d", p.partition.ClassOf(id))
			}
		}
		if slot := slotOf(t, id); t.copies.holds(slot) {
			fmt.Fprintf(&all, ", held %s", t.copies.texts.get(slot))
		}
		for key := range 20 {
			if found, known := t.keys.find(t.keyOf(t.layout.visitOf(key, 0, nil))); known && found == id {
				fmt.Fprintf(&all, ", key %d", key)
			}
		}
	}
	if s, is := t.mode.(*immediate); is {
		fmt.Fprintf(&all, "\nhidden %t", s.packed != nil && s.packed.hidden)
	}
	return all.String()
}

// storedRecords are records of the store as loading reads them, each with what is known of it
// before its columns.
func storedRecords(of *table, columns []int, own func(i int) []string, ids ...int) (rows [][]any) {
	for _, i := range ids {
		row := of.layout.visitOf(i, 20+10*(i%3), map[string]string{"job": []string{"nurse", "clerk"}[i%2], "person": fmt.Sprint("p", i/2)})
		fields := own(i)
		for _, column := range columns {
			fields = append(fields, row[column].text)
		}
		rows = append(rows, copyRow(fields...))
	}
	return rows
}

// storing are the answers to a packed table's loading, in one range or in two.
func storing(of *table, outOfLine, ranges bool) []answer {
	columns, _, _ := of.heldColumns()
	blocks := 1
	if ranges {
		blocks = 3
	}
	own := func(i int) []string {
		if outOfLine {
			return []string{fmt.Sprint(i), []string{"f", "t"}[i/7]}
		}
		return []string{fmt.Sprint(i)}
	}
	all := storedRecords(of, columns, own, 1, 2, 3, 4, 5, 6, 7)
	answers := []answer{
		{words: "SELECT pg_catalog.pg_relation_size(c.oid) / ", rows: [][]any{{blocks, 7, true, true, outOfLine}}},
		{words: "pg_export_snapshot", rows: [][]any{{"moment"}}},
		{words: "COPY (SELECT p.kproxy_class", rows: [][]any{copyRow("2", "0", "{5,2,4,6}"), copyRow("1", "2", "{7,1}"), copyRow("1", "1", "{3}")}},
		storedOf(func(g *generation) { g.nextClass, g.nextRecord, g.shows, g.previous = 3, 8, 300, 2 }, of),
	}
	if !ranges {
		return append(answers, answer{words: "COPY (SELECT kproxy_record", rows: all})
	}
	return append(answers, answer{words: "ctid < '(2,0)'", rows: all[:4]}, answer{words: "ctid >= '(2,0)'", rows: all[4:]})
}

// storedOf is the answer with a generation of some table.
func storedOf(change func(*generation), of *table) answer {
	return answer{words: "SELECT table_schema, table_name, generation, policy_digest", rows: [][]any{storedRow(of, change)}}
}

// taking takes a table from the store.
func taking(plan readingPlan) func(context.Context, *session, *table) (any, error) {
	return func(ctx context.Context, s *session, of *table) (any, error) {
		s.syncer.config.ranges = plan
		var told []string
		s.syncer.config.Failpoint = func(name string) { told = append(told, name) }
		found, err := s.store.generations(ctx)
		if err != nil {
			return nil, err
		}
		err = within(ctx, s, func(tx pgx.Tx) error {
			view, err := s.syncer.view(ctx, tx, of, found[of.layout.name()].number)
			if err != nil {
				return err
			}
			defer view.close()
			told = append(told, fmt.Sprintf("%d ranges, room for %d, %d further connections, out of line %t", len(view.ranges), view.records, len(view.further), view.outOfLine))
			return of.loadGeneration(ctx, view, found[of.layout.name()], s.syncer.config.Seed, func(done int) { told = append(told, fmt.Sprint(done)) })
		})
		if halt := (*TableError)(nil); errors.As(err, &halt) {
			return halt.Fix, err
		} else if err != nil {
			return nil, err
		}
		return fmt.Sprintf("%s; %s", loaded(of), strings.Join(told, ", ")), nil
	}
}

// TestStatementsOfALoading follows how the store of a table is loaded, on one connection or on
// several, and what is known of each record then.
func TestStatementsOfALoading(t *testing.T) {
	t.Parallel()
	ofPersons := visitsPolicy("visits", "rounded-partition", "person", ofSize)
	ofParts := visitsPolicy("visits", "rounded-partition", "", homes, persons)
	guarded := sizeOnly(3)
	guarded.Suppression, guarded.Updates = 0, catalog.Updates{Mode: catalog.Guarded}
	one, several := readingPlan{blocks: 2, connections: 1}, readingPlan{blocks: 2, connections: 3}
	packed := func(outOfLine, ranges bool) []answer { return storing(boundTable(t), outOfLine, ranges) }
	inParts := func() []answer {
		of := boundAs(t, ofParts)
		rows := storedRecords(of, of.layout.codedColumns(), func(i int) []string { return []string{fmt.Sprint(i), fmt.Sprint(1 + i/5)} }, 1, 2, 3, 4, 5, 6, 7, 8)
		return []answer{
			storedOf(func(g *generation) { g.nextClass, g.nextRecord = 3, 9 }, of),
			{words: "coalesce(" + catalog.ClassColumn(0) + ",", rows: rows},
			{words: "coalesce(" + catalog.ClassColumn(1) + ",", rows: rows},
		}
	}
	bad := func(words string, fields ...string) []answer {
		return append([]answer{{words: words, rows: [][]any{copyRow(fields...)}}}, packed(false, false)...)
	}
	classes := "COPY (SELECT p.kproxy_class"
	further := []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT pg_catalog.set_config"}
	holdConversations(t, "load.txt", []conversation{
		{name: "packed", do: taking(one), answers: packed(false, false), whole: true},
		{name: "packed, some of it out of line", do: taking(one), answers: packed(true, false), whole: true},
		{name: "packed, of two ranges", do: taking(one), answers: packed(false, true)},
		{name: "packed, by several connections", do: taking(several), answers: packed(true, true), spares: further, whole: true},
		{name: "packed, by two connections", do: taking(readingPlan{blocks: 2, connections: 2}), answers: packed(false, true), once: true},
		{name: "of persons", do: taking(one), answers: storing(boundAs(t, ofPersons), false, false), policy: &ofPersons},
		{name: "parts", do: taking(one), answers: inParts(), policy: &ofParts, whole: true},
		{name: "a class without members", do: taking(one), answers: bad(classes, "1", "0", "{}"), once: true},
		{name: "a class of unknown members", do: taking(one), answers: bad(classes, "1", "0", "{1,99}"), once: true},
		{name: "a class that is no number", do: taking(one), answers: bad(classes, "x", "0", "{1}"), once: true},
		{name: "a section that is no number", do: taking(one), answers: bad(classes, "1", "x", "{1}"), once: true},
		{name: "members that are no numbers", do: taking(one), answers: bad(classes, "1", "0", "{x}"), once: true},
		{name: "a record that is no number", do: taking(one), answers: bad("COPY (SELECT kproxy_record", "x", "1", "20", "10115", "f", "nurse", "flu", "1"), once: true},
		{name: "a record of too few columns", do: taking(one), answers: bad("COPY (SELECT kproxy_record", "1", "1"), once: true},
		{name: "a record twice", do: taking(one), answers: append([]answer{{words: "COPY (SELECT kproxy_record", rows: [][]any{
			copyRow("1", "1", "20", "10115", "f", "nurse", "flu", "1"), copyRow("1", "2", "20", "10115", "f", "nurse", "flu", "1"),
		}}}, packed(false, false)...), once: true},
		{name: "a key twice", do: taking(one), answers: append([]answer{{words: "COPY (SELECT kproxy_record", rows: [][]any{
			copyRow("1", "1", "20", "10115", "f", "nurse", "flu", "1"), copyRow("2", "1", "20", "10115", "f", "nurse", "flu", "1"), copyRow("3", "2", "20", "10115", "f", "nurse", "flu", "1"),
		}}, {words: classes, rows: [][]any{copyRow("1", "0", "{1,2,3}")}}}, packed(false, false)...), once: true},
	})
}
