package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

// copyRow is a row of a COPY.
func copyRow(fields ...string) []any { return []any{strings.Join(fields, "\t") + "\n"} }

// sourceRowsFrom are visits as a publication reads them: whether the row is wide, and what travels.
func sourceRowsFrom(of *table, first, count int) (rows [][]any) {
	columns, _, _ := of.heldColumns()
	for i := first; i < first+count; i++ {
		row := of.layout.visitOf(i, 20+10*(i%3), map[string]string{"person": fmt.Sprint("p", i/2), "job": []string{"nurse", "clerk"}[i%2]})
		fields := []string{"f"}
		for _, column := range columns {
			fields = append(fields, row[column].text)
		}
		rows = append(rows, copyRow(fields...))
	}
	return rows
}

// sourceAnswers are the answers to a publication whose source has some rows in each range of a
// block, as the server cuts it.
func sourceAnswers(of *table, rows ...int) []answer {
	answers := []answer{
		{words: "SELECT coalesce(max(pg_catalog.pg_relation_size(c.oid))", rows: [][]any{{len(rows), 100, true}}},
		{words: "regclass::oid, $2", rows: [][]any{{77, 77}}},
		{words: "SELECT $1::pg_catalog.regclass::oid", rows: [][]any{{77}}},
		{words: "WITH RECURSIVE tree(oid) AS (\n\t\tSELECT $1::oid UNION ALL", rows: [][]any{{false}}},
	}
	first := 1
	for at, count := range rows {
		from := fmt.Sprintf("ctid >= '(%d,0)'", at)
		within := from
		if at < len(rows)-1 {
			within += fmt.Sprintf(" AND ctid < '(%d,0)'", at+1)
		}
		answers = append(answers,
			answer{words: within + " ORDER BY tableoid, ctid) TO STDOUT", rows: sourceRowsFrom(of, first, count)},
			answer{words: within + ") s", changes: count})
		first += count
	}
	return answers
}

// made is what a job has come to.
func made(n *preparedTable) string {
	t := n.table
	if t == nil || t.mode == nil {
		return fmt.Sprintf("nothing at %s", n.at)
	}
	status := t.mode.status()
	status.OldestWaiting = time.Time{}
	return fmt.Sprintf("generation %d at %s, the table at %s, next record %d, next class %d, pending %d, deleted %d; %+v",
		t.release.generation, n.at, t.release.position, t.nextRecord, t.mode.nextClass(), len(t.pending.rows), len(t.pending.deleted), status)
}

// making has a job done.
func making(kind jobKind, plan readingPlan, change func(s *session)) func(context.Context, *session, *table) (any, error) {
	return func(ctx context.Context, s *session, of *table) (any, error) {
		s.syncer.config.ranges, s.store.epoch = plan, 5
		s.syncer.config.Now = func() time.Time { return time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC) }
		var told []string
		s.syncer.config.Progress = func(p Progress) { told = append(told, fmt.Sprintf("%s %d/%d", p.Stage, p.Done, p.Total)) }
		s.syncer.config.Failpoint = func(name string) { told = append(told, name) }
		if change != nil {
			change(s)
		}
		w := newWorker(s)
		n := &preparedTable{job: job{publication: of.layout.publication, bound: of.definition.bound, kind: kind, generation: 8}}
		err := w.prepareOnce(ctx, n)
		if s.syncer.config.ranges.connections > 1 { // several at a time tell how much they have stored
			told = slices.DeleteFunc(told, func(one string) bool { return strings.HasPrefix(one, "publishing") })
		}
		return fmt.Sprintf("%s\nheld %d; %s", made(n), s.shared.ack.held.Load(), strings.Join(told, ", ")), err
	}
}

// TestStatementsOfAJob follows how a table is made ready beside the stream: from which snapshot, in
// how many ranges, and on how many connections.
func TestStatementsOfAJob(t *testing.T) {
	t.Parallel()
	one, two := readingPlan{blocks: 1, connections: 1}, readingPlan{blocks: 1, connections: 2}
	ofPersons := visitsPolicy("visits", "rounded-partition", "person", ofSize)
	ofParts := visitsPolicy("visits", "rounded-partition", "", homes, persons)
	as := func(policy catalog.TablePolicy, rows ...int) []answer {
		return sourceAnswers(boundAs(t, policy), rows...)
	}
	twice := as(sizeOnly(3), 3, 5)
	for i, a := range twice {
		if strings.Contains(a.words, "(1,0)' ORDER BY") {
			twice[i].rows = sourceRowsFrom(boundTable(t), 2, 5)
		}
	}
	fewer := []answer{{words: "IN ACCESS SHARE MODE; SET LOCAL lock_timeout = 0", state: lockNotAvailable}}
	spread := func(s *session) {
		s.syncer.config.spreading = func(table, column string) []string { return []string{"spread " + table + " by " + column} }
	}
	changed := func(change func(*accept.Table)) []answer {
		of := boundTable(t)
		change(&of.definition.bound)
		return append([]answer{{words: "What a table is:", rows: [][]any{{"public", "visits", identityOf(of), true}}}}, sourceAnswers(of, 3)...)
	}
	further := []string{"SELECT pg_catalog.set_config", "begin", "SET TRANSACTION"} // of the first connection, or of others
	lock := []string{"IN ACCESS SHARE MODE; SET LOCAL lock_timeout = 0"}
	holdConversations(t, "make.txt", []conversation{
		{tidy: inOrder, name: "packed", do: making(publishAfresh, one, nil), answers: as(sizeOnly(3), 3, 5)},
		{tidy: inOrder, name: "packed, on two connections", do: making(publishAfresh, two, nil), answers: as(sizeOnly(3), 3, 5, 2), spares: lock, either: further},
		{tidy: inOrder, name: "packed, on fewer connections than planned", do: making(publishAfresh, two, nil), answers: append(fewer, as(sizeOnly(3), 3, 5)...), once: true},
		{tidy: inOrder, name: "packed, of persons", do: making(publishAfresh, one, nil), answers: as(ofPersons, 8), policy: &ofPersons, once: true},
		{tidy: inOrder, name: "parts", do: making(publishAfresh, one, nil), answers: as(ofParts, 8, 4), policy: &ofParts, once: true},
		{tidy: inOrder, name: "packed, spread", do: making(publishAfresh, one, spread), answers: as(sizeOnly(3), 3), once: true},
		{tidy: inOrder, name: "parts, spread", do: making(publishAfresh, one, spread), answers: as(ofParts, 8), policy: &ofParts, once: true},
		{tidy: inOrder, name: "empty", do: making(publishAfresh, one, nil), answers: as(sizeOnly(3), 0), once: true},
		{tidy: inOrder, name: "too few", do: making(publishAfresh, one, nil), answers: as(sizeOnly(3), 2), once: true},
		{tidy: inOrder, name: "two rows with one key", do: making(publishAfresh, one, nil), answers: twice, once: true},
		{tidy: inOrder, name: "changed since it was accepted", do: making(publishAfresh, one, nil), answers: changed(func(b *accept.Table) { b.Columns = b.Columns[:7] }), once: true},
	})
}

// TestPublicationsInVain has publications fail that another process or a change of the source
// makes vain: the error tells why, and what was made is dropped.
func TestPublicationsInVain(t *testing.T) {
	t.Parallel()
	of := boundTable(t)
	for name, test := range map[string]struct {
		answers []answer
		want    error
	}{
		"rewritten meanwhile":         {[]answer{{words: ",0)') s", changes: 7}}, errRewritten},
		"the tables are another's":    {[]answer{{words: "regclass::oid, $2", rows: [][]any{{78, 78}}}}, errFenced},
		"another process applies":     {[]answer{{words: "FOR SHARE"}}, errFenced},
		"two processes seem to apply": {[]answer{{words: "FOR SHARE", changes: 2}}, errFenced},
		"the snapshot is gone":        {[]answer{{words: "SET TRANSACTION SNAPSHOT", state: "22023"}}, errSnapshotGone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemoryServer(t, slices.Concat(test.answers, sourceAnswers(of, 3), usualAnswers(of))...)
			s := m.session(of)
			_, err := making(publishAfresh, readingPlan{blocks: 1, connections: 1}, nil)(t.Context(), s, of)
			if !errors.Is(err, test.want) {
				t.Errorf("it ends with %v", err)
			}
			if log := m.log(); strings.Contains(name, "process") && strings.Count(log, "FOR SHARE") < 2 {
				t.Errorf("nothing is dropped:\n%s", log)
			}
		})
	}
}
