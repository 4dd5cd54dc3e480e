package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// differing is a row of the difference between a table and its store; "\N" is none.
func differing(record, there string, fields ...string) []any {
	return copyRow(append([]string{record, there}, fields...)...)
}

// comparing are the answers to a packed table's comparison.
func comparing(of *table, rows ...[]any) []answer {
	return append([]answer{
		{words: "COPY (SELECT r.kproxy_record, s.kproxy_there", rows: rows},
		{words: "WITH RECURSIVE tree(oid) AS (\n\t\tSELECT $1::oid UNION ALL", rows: [][]any{{false}}},
	}, storing(of, false, false)...)
}

// TestStatementsOfAComparison follows how a table is compared with its source, and how it joins.
func TestStatementsOfAComparison(t *testing.T) {
	t.Parallel()
	of := boundTable(t)
	one := readingPlan{blocks: 1 << 20, connections: 1}
	compare := making(resynchronize, one, nil)
	differences := [][]any{
		differing(`\N`, "t", "8", "30", "10115", "f", "nurse", "flu", "1"),
		differing("7", `\N`, "7", "30", "10115", "f", "clerk", "flu", "1"),
		differing("2", "t", "2", "50", "10115", "f", "nurse", `\N`, "1"),
	}
	shown := func(shows, previous int64) answer {
		return storedOf(func(g *generation) {
			g.nextClass, g.nextRecord, g.shows, g.previous = 3, 8, 0, previous
			if shows > 0 {
				g.shows = 300
			}
		}, of)
	}
	joined := func(ctx context.Context, s *session, of *table) (any, error) {
		w := newWorker(s)
		n := &preparedTable{job: job{publication: of.layout.publication, bound: of.definition.bound, kind: resynchronize}}
		if err := w.prepareOnce(ctx, n); err != nil {
			return made(n), err
		}
		a := memoryApplier()
		a.use(s)
		a.joiner.worker = w
		a.session.position, a.session.jobs = 100, []job{n.job}
		err := a.join(ctx, n)
		return fmt.Sprintf("%s; at %s, %d tables\n%s", made(n), a.session.position, len(a.session.tables), loaded(n.table)), err
	}
	holdConversations(t, "compare.txt", []conversation{
		{name: "nothing differs", do: compare, answers: comparing(of), whole: true},
		{name: "some rows differ", do: compare, answers: comparing(of, differences...)},
		{tidy: inOrder, name: "joined", do: joined, answers: append([]answer{shown(0, 0)}, comparing(of, differences...)...), once: true, whole: true},
		{tidy: inOrder, name: "joined before it is shown", do: joined, answers: append([]answer{shown(1, 0)}, comparing(of, differences...)...), once: true},
		{tidy: inOrder, name: "joined as its predecessor is shown", do: joined, answers: append([]answer{shown(1, 2)}, comparing(of, differences...)...)},
		{name: "a record that is no number", do: compare, answers: comparing(of, differing("x", `\N`, "7", "30", "10115", "f", "clerk", "flu", "1")), once: true},
		{name: "a row that is there", do: compare, answers: comparing(of, differing(`\N`, "t", "7", "30", "10115", "f", "clerk", "flu", "1")), once: true},
		{name: "the store cannot be loaded", do: compare, answers: append([]answer{{words: "COPY (SELECT p.kproxy_class", rows: [][]any{copyRow("1", "0", "{99}")}}}, comparing(of)...), once: true},
	})
}

// TestDifferences compares the statements that find out what differs: by plain keys, by those
// whose equal values have several texts, and by all texts where rows may be equal.
func TestDifferences(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, test := range []struct {
		name   string
		change func(*table)
	}{
		{"plain", func(*table) {}},
		{"two columns", func(of *table) { of.layout.key = []int{0, 1} }},
		{"two columns, one of them a text", func(of *table) { of.layout.key = []int{0, 2} }},
		{"a text", func(of *table) { of.layout.key = []int{2} }},
		{"rows that may be equal", func(of *table) { of.layout.key, of.layout.publication.Relation.KeyRepeats = []int{0, 1, 2}, true }},
		{"partitions", func(of *table) { of.layout.publication.Relation.Kind = catalog.KindPartitionedTable }},
	} {
		of := memoryTable(t, sizeOnly(3))
		test.change(of)
		fmt.Fprintf(&text, "== %s\n%s\n", test.name, of.difference())
	}
	isGolden(t, "differences.txt", text.String())
}

// TestDifferencesAreBounded applies many differences: more than half of an immediate table, and
// more than some in any case, are rather published afresh, those of a guarded one never.
func TestDifferencesAreBounded(t *testing.T) {
	t.Parallel()
	guarded := sizeOnly(3)
	guarded.Suppression, guarded.Updates = 0, catalog.Updates{Mode: catalog.Guarded}
	for _, test := range []struct {
		name    string
		policy  catalog.TablePolicy
		records int
		rows    int
		told    []int
		err     error
	}{
		{"few of none", sizeOnly(3), 0, minDifferences, nil, nil},
		{"many of none", sizeOnly(3), 0, minDifferences + 1, nil, errMostDiffers},
		{"half", sizeOnly(3), 2*minDifferences + 2, minDifferences + 1, nil, nil},
		{"more than half", sizeOnly(3), 2*minDifferences + 2, minDifferences + 2, nil, errMostDiffers},
		{"guarded", guarded, 0, progressRows + 1, []int{progressRows}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			of := boundAs(t, test.policy)
			for i := range test.records {
				if err := of.insert(of.layout.visitOf(i, i%60, nil)); err != nil {
					t.Fatal(err)
				}
			}
			var rows [][]any
			for i := range test.rows {
				rows = append(rows, differing(`\N`, "t", fmt.Sprint(100_000+i), "30", "10115", "f", "nurse", "flu", "1"))
			}
			m := newMemoryServer(t, slices.Concat(comparing(of, rows...), usualAnswers(of))...)
			s := m.session(of)
			var told []int
			err := within(t.Context(), s, func(tx pgx.Tx) error {
				done, err := of.takeDifference(func(row func([]value) error) error {
					return copyOut(t.Context(), tx.Conn().PgConn(), 2+len(of.layout.columns), row, of.difference())
				}, func(done int) { told = append(told, done) })
				if done != test.rows {
					t.Errorf("%d differences are counted", done)
				}
				return err
			})
			if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) || !slices.Equal(told, test.told) {
				t.Errorf("it ends with %v after %v", err, told)
			}
			if records := of.mode.status().Records; test.err == nil && records != test.records+test.rows {
				t.Errorf("there are %d records", records)
			}
			if of.deletes.keys != nil {
				t.Error("the transaction has not ended")
			}
		})
	}
}
