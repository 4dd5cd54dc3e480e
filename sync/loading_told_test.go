package sync

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// TestLoadingIsTold has a session take over a store of many records: it is told how far that is,
// and the table is applied from there.
func TestLoadingIsTold(t *testing.T) {
	t.Parallel()
	of := boundTable(t)
	const records = progressRows + 5
	columns, _, _ := of.heldColumns()
	var lines [][]any
	members := make([]string, records)
	for id := 1; id <= records; id++ {
		text := strconv.AppendInt(nil, int64(id), 10)
		row := of.layout.visitOf(id, 30, nil)
		for _, c := range columns {
			text = appendCopyField(append(text, '\t'), row[c])
		}
		lines = append(lines, []any{string(append(text, '\n'))})
		members[id-1] = fmt.Sprint(id)
	}
	m := newMemoryServer(t, append([]answer{
		stored(t, func(g *generation) { g.nextRecord = records + 1 }),
		{words: "SELECT coalesce(max(lsn)", rows: [][]any{{"0/64", records + 1, 4}}},
		{words: "ARRAY(SELECT", rows: [][]any{{"1\t0\t{" + strings.Join(members, ",") + "}\n"}}},
		{words: "COPY (SELECT kproxy_record", rows: lines},
	}, usualAnswers(of)...)...)
	s := m.session(of)
	var told []Progress
	s.syncer.config.Progress = func(p Progress) { told = append(told, p) }
	found, err := s.store.generations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.admit(t.Context(), of, found[of.layout.name()], true); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0].Table != of.layout.name() || told[0].Stage != "loading" || told[0].Done < progressRows || told[0].Done > records {
		t.Errorf("it is told that %+v", told)
	}
	if status := s.syncer.Status().Tables[of.layout.name()]; len(s.tables) != 1 || status.State != Published || status.Records != records || status.Classes != 1 {
		t.Errorf("%d tables are applied: %+v", len(s.tables), status)
	}
}
