package sync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// sourceLines are rows of visits as a publication reads them, wide or not.
func (t *table) sourceLines(wide bool, ids ...int) (lines [][]any) {
	columns, _, _ := t.heldColumns()
	for _, id := range ids {
		text := []byte(map[bool]string{false: "f", true: "t"}[wide])
		row := t.layout.visitOf(id, 30, map[string]string{"person": fmt.Sprint("p", id/2)})
		for _, c := range columns {
			text = appendCopyField(append(text, '\t'), row[c])
		}
		lines = append(lines, []any{string(append(text, '\n'))})
	}
	return lines
}

// publicationCase has a table of the policy published by two connections, which read two ranges of
// three rows.
type publicationCase struct {
	t       *testing.T
	policy  catalog.TablePolicy
	readers int
}

func (p publicationCase) table() *table {
	of := memoryTable(p.t, p.policy)
	of.definition.bound = boundTable(p.t).definition.bound
	return of
}

// answers are those of a source whose rows of the second range are wide or not.
func (p publicationCase) answers(wide bool, more ...answer) []answer {
	of := p.table()
	return append(more,
		answer{words: "DELETE FROM", changes: 1},
		answer{words: "INSERT INTO " + of.recordsTable(), changes: 3},
		answer{words: "$2::pg_catalog.regclass::oid", rows: [][]any{{7001, 7001}}},
		answer{words: "SELECT $1::pg_catalog.regclass::oid", rows: [][]any{{7001}}},
		answer{words: `ctid >= '(0,0)'`, rows: of.sourceLines(false, 1, 2, 3)},
		answer{words: `ctid >= '(5,0)'`, rows: of.sourceLines(wide, 4, 5, 6)},
	)
}

// hold publishes the table, and returns what was told meanwhile.
func (p publicationCase) hold(ctx context.Context, s *session, _ *table) (any, error) {
	var mu gosync.Mutex
	var points, told []string
	note := func(list *[]string, what string) {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(*list, what) {
			*list = append(*list, what)
		}
	}
	s.syncer.config.Failpoint = func(name string) { note(&points, name) }
	s.syncer.config.Progress = func(p Progress) {
		if p.Stage != "anonymizing" {
			note(&told, fmt.Sprintf("%s %d of %d", p.Stage, p.Done, p.Total))
		}
	}
	laps := &lapLog{}
	s.syncer.config.Logger = slog.New(laps)
	of := p.table()
	pub := &publisher{table: of, config: &s.syncer.config, epoch: s.store.epoch, extent: extent{ranges: []sourceRange{{to: 5}, {from: 5}}, rows: 10}}
	var err error
	if pub.conn, err = s.syncer.open(ctx, "publisher"); err != nil {
		return nil, err
	}
	defer closeConn(pub.conn)
	for range p.readers {
		conn, err := s.syncer.open(ctx, "reader")
		if err != nil {
			return nil, err
		}
		defer closeConn(conn)
		tx, err := conn.BeginTx(ctx, pgx.TxOptions{})
		if err != nil {
			return nil, err
		}
		pub.readers, pub.writers = append(pub.readers, tx), append(pub.writers, conn)
	}
	if err := pub.publish(ctx, 7); err != nil {
		return nil, err
	}
	slices.Sort(told)
	return fmt.Sprintf("%d records, the next is %d, %d classes, %d moved; points %v; told %v; logged %v",
		pub.total, of.nextRecord, of.mode.status().Classes, len(of.mode.moved()), points, told, laps.told), nil
}

// lapLog notes what is logged as published, with the steps that have taken no time.
type lapLog struct{ told []string }

func (l *lapLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *lapLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *lapLog) WithGroup(string) slog.Handler            { return l }
func (l *lapLog) Handle(_ context.Context, r slog.Record) error {
	if r.Level < slog.LevelInfo {
		return nil
	}
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		switch v := a.Value.Any().(type) {
		case time.Duration:
			if v <= 0 || v > time.Hour {
				text += fmt.Sprintf(", %s %v", a.Key, v)
			}
		default:
			text += fmt.Sprintf(", %s %v", a.Key, v)
		}
		return true
	})
	l.told = append(l.told, text)
	return nil
}

var (
	releasedRows = regexp.MustCompile(`(?:\d:     .*\}\n)+`)
	memberList   = regexp.MustCompile(`\{"\(.*\)"\}`)
	numberedList = regexp.MustCompile(`\[\d[\d ]*\]`)
)

// inOrder brings what is written in random order into one: packed rows, their members, and the
// numbers of the records that are looked up.
func inOrder(log string) string {
	log = releasedRows.ReplaceAllStringFunc(log, func(rows string) string {
		lines := strings.SplitAfter(strings.TrimSuffix(rows, "\n"), "\n")
		lines[len(lines)-1] += "\n"
		slices.Sort(lines)
		return strings.Join(lines, "")
	})
	log = memberList.ReplaceAllStringFunc(log, func(row string) string {
		members := strings.Split(strings.Trim(row, `{}`), `","`)
		for i, m := range members {
			members[i] = strings.Trim(m, `"`)
		}
		slices.Sort(members)
		return "{" + strings.Join(members, " ") + "}"
	})
	return numberedList.ReplaceAllStringFunc(log, func(list string) string {
		numbers := strings.Fields(strings.Trim(list, "[]"))
		slices.Sort(numbers)
		return fmt.Sprint(numbers)
	})
}

// TestStatementsOfAPublication follows the publication of tables of each kind, statement by
// statement: what is read of the source, stored and made of it, by each connection.
func TestStatementsOfAPublication(t *testing.T) {
	t.Parallel()
	guarded := func(subject string) catalog.TablePolicy {
		return guardedVisits("visits", "rounded-partition", subject, catalog.Updates{Crowd: 1}, ofSize)
	}
	spares := []string{"rollback"}
	var conversations []conversation
	for _, c := range []struct {
		name    string
		policy  catalog.TablePolicy
		readers int
		wide    bool
	}{
		{"packed", sizeOnly(3), 2, false},
		{"packed, with wide records", sizeOnly(6), 2, true},
		{"packed, of persons, by one connection", visitsPolicy("visits", "rounded-partition", "person", ofSize), 1, false},
		{"in parts", visitsPolicy("visits", "rounded-partition", "", homes, persons), 2, false},
		{"in parts, by one connection", visitsPolicy("visits", "rounded-partition", "", homes, persons), 1, false},
		{"guarded", guarded(""), 2, false},
		{"guarded, of persons", guarded("person"), 2, false},
	} {
		p := publicationCase{t, c.policy, c.readers}
		conversations = append(conversations, conversation{name: c.name, do: p.hold, answers: p.answers(c.wide), spares: spares, whole: true, tidy: inOrder})
	}
	holdConversations(t, "publish.txt", conversations)
}

// TestFirstFailureEndsAPublication has one connection fail while another one is never answered:
// that one is not waited for, and the failure is told, not what it did to the other.
func TestFirstFailureEndsAPublication(t *testing.T) {
	t.Parallel()
	refused := func(words string) answer { return answer{words: words, state: insufficientPrivilege} }
	silent := func(words string) answer { return answer{words: words, silent: true} }
	const first, second = `ctid < '(5,0)') s`, `ctid >= '(5,0)') s`
	for name, answers := range map[string][]answer{
		"the first records":  {refused(first), silent(second)},
		"the second records": {refused(second), silent(first)},
		"the release":        {refused(`LOCK TABLE "kproxy_store"."packed_7"`), silent(first)},
		"the records":        {refused(first), silent(`LOCK TABLE "kproxy_store"."packed_7"`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			p := publicationCase{t, sizeOnly(3), 2}
			m := newMemoryServer(t, p.answers(false, answers...)...)
			_, err := p.hold(ctx, m.session(p.table()), nil)
			if server := (*pgconn.PgError)(nil); !errors.As(err, &server) || server.Code != insufficientPrivilege {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}
