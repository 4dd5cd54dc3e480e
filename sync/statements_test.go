package sync

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

var update = flag.Bool("update", false, "write the golden files anew")

// conversation is what a session says to the server in one matter.
type conversation struct {
	name    string
	answers []answer // that count before the usual ones
	spares  []string // statements without which the matter goes on
	whole   bool     // its statements are noted to their ends
	tidy    func(log string) string
	either  []string             // statements without which it may go on, or not
	once    bool                 // no statement is refused
	policy  *catalog.TablePolicy // of the table; nil for classes of three
	do      func(ctx context.Context, s *session, of *table) (seen any, err error)
}

// hold has the conversation, in which one statement is refused, or none.
func (c conversation) hold(t *testing.T, refuses int) (m *memoryServer, seen any, err error) {
	t.Helper()
	of := boundTable(t)
	if c.policy != nil {
		of = boundAs(t, *c.policy)
	}
	m = newMemoryServer(t, slices.Concat(c.answers, usualAnswers(of))...)
	s := m.session(of)
	m.whole = c.whole
	m.begin(refuses)
	seen, err = c.do(t.Context(), s, of)
	return m, seen, err
}

// holdConversations compares what is said in conversations, and what comes of it, with a golden
// file, and has each statement of each refused in turn: that is told, by the error or in the
// store, unless the conversation goes on without.
func holdConversations(t *testing.T, file string, conversations []conversation) {
	t.Helper()
	var text strings.Builder
	for _, c := range conversations {
		m, seen, err := c.hold(t, -1)
		log := m.log()
		if c.tidy != nil {
			log = c.tidy(log)
		}
		fmt.Fprintf(&text, "== %s\n%s\n= %v\n", c.name, log, seen)
		if m.mu.Lock(); len(m.points) > 0 {
			fmt.Fprintf(&text, "* %v\n", m.points)
		}
		m.mu.Unlock()
		if err != nil {
			fmt.Fprintf(&text, "! %v\n", err)
		}
		for refuses := 0; !c.once; refuses++ {
			m, _, err := c.hold(t, refuses)
			if m.refused == "" {
				break
			}
			if slices.ContainsFunc(c.either, func(words string) bool { return strings.Contains(m.refused, words) }) {
				continue
			}
			spared := slices.ContainsFunc(c.spares, func(words string) bool { return strings.Contains(m.refused, words) })
			if told := strings.Contains(fmt.Sprint(err, m.log()), refusedState); told == spared && !strings.HasPrefix(m.refused, "rollback") {
				t.Errorf("%s: %s is refused, and it ends with %v", c.name, m.refused, err)
			}
		}
	}
	isGolden(t, file, text.String())
}

// isGolden compares a text, part by part, with a golden file.
func isGolden(t *testing.T, file, text string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wanted := strings.Split(string(want), "== ")
	for i, got := range strings.Split(text, "== ") {
		if i >= len(wanted) || got != wanted[i] {
			t.Errorf("got\n%s\nwant (see -update)\n%s", got, strings.Join(wanted[min(i, len(wanted)):min(i+1, len(wanted))], ""))
		}
	}
}

// usualAnswers are those of a server with a table that was accepted as it is, is published,
// and stands at 0/64.
func usualAnswers(of *table) []answer {
	identity := identityOf(of)
	return []answer{
		{words: "What a table is:", rows: [][]any{{"public", "visits", identity, true}}},
		{words: "What a relation is:", rows: [][]any{relationRow(of)}},
		{words: "SELECT identity::text FROM kproxy_store.accepted", rows: [][]any{{identity}}},
		{words: "SELECT table_schema, table_name, generation, policy_digest", rows: [][]any{storedRow(of, nil)}},
		{words: "SELECT epoch, lsn::text", rows: [][]any{{5, "0/64", "this", 2, "", 0}}},
		{words: "FROM pg_catalog.pg_replication_slots s WHERE slot_name", rows: [][]any{{false, "", "pgoutput", "hospital", "0/5A"}}},
		{words: "pg_wal_lsn_diff", rows: [][]any{{500, "reserved", 100}}},
		{words: "RETURNING epoch", rows: [][]any{{6}}},
		{words: "SELECT EXISTS (SELECT FROM pg_catalog.pg_publication_tables", rows: [][]any{{false}}},
		{words: "CREATE_REPLICATION_SLOT", rows: [][]any{{"slot", "0/6E", "snapshot", "pgoutput"}}},
		{words: "SELECT pg_catalog.pg_relation_size", rows: [][]any{{1, 3, true, true, false}}},
		{words: "SELECT coalesce(max(lsn)", rows: [][]any{{"0/64", 9, 4}}},
		{words: "SELECT number, fingerprint", rows: [][]any{{3, "other", "{}", "here", time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)}}},
		{words: "SELECT coalesce(max(number), 0)", rows: [][]any{{0}}},
	}
}

// identityOf is what a look at the catalogs finds of a table.
func identityOf(of *table) string {
	text, _ := json.Marshal(of.definition.bound) // of numbers and strings
	return string(text)
}

// relationRow is what a look at its definition finds.
func relationRow(of *table) []any {
	var names []string
	var types []uint32
	var modifiers []int32
	for _, c := range of.layout.publication.Relation.Columns {
		names, types, modifiers = append(names, c.Name), append(types, uint32(c.TypeOID)), append(modifiers, c.Modifier)
	}
	return []any{"public", "visits", []uint32{1000}, []string{"file 1"}, []int64{7}, []string{`["id"]`}, []string{}, "rest", true, true, names, types, modifiers, ""}
}

// storedRow is the row of a generation that is in step, but for a change.
func storedRow(of *table, change func(*generation)) []any {
	d := definition{root: 1000, leaves: []uint32{1000}, states: []string{"file 1"}, labels: []string{}, rest: "rest"}
	g := generation{number: 3, digest: of.layout.digest, nextClass: 4, nextRecord: 9, updates: "immediate", lsn: 100, definition: d.text()}
	g.promise, _ = of.layout.promise.text()
	if change != nil {
		change(&g)
	}
	return []any{
		of.layout.name().Schema, of.layout.name().Relation, int(g.number), g.digest, int(g.nextClass), int(g.nextRecord), g.updates, g.withheld, g.lsn.String(), g.shows.String(), int(g.previous),
		g.halted, g.fix, g.consent, g.heals, g.asked, g.noted, g.definition, g.why, g.returned, g.secret, g.promise, g.audiences, g.lineage,
	}
}

// stored is the answer with such a row.
func stored(t *testing.T, change func(*generation)) answer {
	t.Helper()
	return answer{words: "SELECT table_schema, table_name, generation, policy_digest", rows: [][]any{storedRow(boundTable(t), change)}}
}

// toldOf are the tables' statuses without what is zero.
func toldOf(tables map[catalog.Name]TableStatus) string {
	var all []string
	for name, status := range tables {
		text := fmt.Sprint(name, ": ", status.State)
		for i, v := 1, reflect.ValueOf(status); i < v.NumField(); i++ {
			if !v.Field(i).IsZero() {
				text += fmt.Sprintf(", %s %v", v.Type().Field(i).Name, v.Field(i))
			}
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// within does something in a transaction.
func within(ctx context.Context, s *session, do func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.store.conn, do)
}

// inTransaction does something in a transaction.
func inTransaction(do func(ctx context.Context, s *session, of *table, tx pgx.Tx) (any, error)) func(context.Context, *session, *table) (any, error) {
	return func(ctx context.Context, s *session, of *table) (seen any, err error) {
		return seen, within(ctx, s, func(tx pgx.Tx) error {
			var failure error
			seen, failure = do(ctx, s, of, tx)
			return failure
		})
	}
}

func withoutResult(do func(ctx context.Context, s *session, of *table, tx pgx.Tx) error) func(context.Context, *session, *table) (any, error) {
	return inTransaction(func(ctx context.Context, s *session, of *table, tx pgx.Tx) (any, error) {
		return nil, do(ctx, s, of, tx)
	})
}

// TestStatementsOfGenerations follows what the store is told of a table's generations.
func TestStatementsOfGenerations(t *testing.T) {
	t.Parallel()
	tx, none := inTransaction, withoutResult
	halt := func(e TableError) func(context.Context, *session, *table) (any, error) {
		return none(func(ctx context.Context, s *session, of *table, tx pgx.Tx) error {
			e.Table, e.What, e.Fix = of.layout.name(), "what", "fix"
			return s.store.recordHalt(ctx, tx, &e)
		})
	}
	show := none(func(ctx context.Context, s *session, of *table, tx pgx.Tx) error {
		return s.store.show(ctx, tx, of, s.making())
	})
	revoke := none(func(ctx context.Context, s *session, of *table, tx pgx.Tx) error {
		return s.store.revoke(ctx, tx, of.layout.name())
	})
	holdConversations(t, "generations.txt", []conversation{
		{name: "what is there", do: func(ctx context.Context, s *session, of *table) (any, error) {
			found, err := s.store.generations(ctx)
			return fmt.Sprintf("%+v, the last number is %d", found, s.store.lastGeneration), err
		}, answers: []answer{stored(t, func(g *generation) {
			*g = generation{1, "d", 2, 3, "u", 4, "w", 5, []byte("s"), 6, 7, 8, "h", "f", true, true, "a", "n", "def", `{"partners":{"Classes":2}}`, "p", "l"}
		})}},
		{name: "record", do: none(func(ctx context.Context, _ *session, of *table, tx pgx.Tx) error {
			of.nextRecord, of.release.position, of.release.showAt, of.release.previous = 9, 100, 200, 5
			return of.record(ctx, tx)
		})},
		{name: "record what is shown", do: none(func(ctx context.Context, _ *session, of *table, tx pgx.Tx) error { return of.record(ctx, tx) })},
		{name: "show", do: none(func(ctx context.Context, s *session, of *table, tx pgx.Tx) error {
			s.enqueue(of, publishAfresh)
			return s.store.show(ctx, tx, of, s.making())
		}), answers: []answer{{words: "SELECT c.relname::text FROM", rows: [][]any{{"packed_2"}, {"stored_2"}}}}},
		{
			name: "show other columns", do: show,
			answers: []answer{{words: "CREATE OR REPLACE", state: invalidTableDefinition}},
		},
		{
			name: "show in vain", do: show,
			answers: []answer{{words: "CREATE OR REPLACE", state: insufficientPrivilege}},
		},
		{name: "revoke", do: revoke},
		{
			name: "revoke what is not there", do: revoke,
			answers: []answer{{words: "to_regclass"}},
		},
		{name: "halt", do: halt(TableError{heals: true})},
		{name: "halt for an error", do: halt(TableError{Err: errors.New("cause")})},
		{name: "halt what another process applies", do: halt(TableError{}), answers: []answer{{words: "INSERT INTO kproxy_store.generation"}}},
		{name: "note a difference", do: halt(TableError{resync: true})},
		{name: "note another label", do: halt(TableError{resync: true, afresh: true})},
		{name: "leave", do: func(ctx context.Context, s *session, of *table) (any, error) {
			return nil, s.store.stopApplying(ctx, of.layout.name())
		}},
		{name: "digest stays", do: func(ctx context.Context, s *session, of *table) (any, error) {
			promise, err := of.layout.promise.text()
			return nil, errors.Join(err, s.store.updateMadeFor(ctx, of, generation{digest: of.layout.digest, promise: promise}))
		}},
		{name: "promise is kept", do: func(ctx context.Context, s *session, of *table) (any, error) {
			return nil, s.store.updateMadeFor(ctx, of, generation{digest: of.layout.digest})
		}},
		{name: "digest changes", do: func(ctx context.Context, s *session, of *table) (any, error) {
			of.layout.digest = "now"
			return nil, s.store.updateMadeFor(ctx, of, generation{digest: of.layout.former})
		}},
		{name: "mark the end", do: none(func(ctx context.Context, _ *session, of *table, tx pgx.Tx) error {
			return markEnded(ctx, tx, of.layout.name())
		})},
		{name: "briefly", do: tx(func(ctx context.Context, _ *session, _ *table, tx pgx.Tx) (any, error) {
			return briefly(ctx, tx, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, "DROP something")
				return err
			})
		})},
		{name: "briefly, while readers hold it", do: tx(func(ctx context.Context, _ *session, _ *table, tx pgx.Tx) (any, error) {
			return briefly(ctx, tx, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, "DROP something")
				return err
			})
		}), answers: []answer{{words: "DROP something", state: lockNotAvailable}}},
	})
}
