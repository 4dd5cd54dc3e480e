package sync

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestTransactions writes tables by COPY, in savepoints and several at once. Readers see
// each transaction whole.
func TestTransactions(t *testing.T) {
	guarded := person("guarded")
	guarded.guarded = true
	b := tablesBench(t, person("a"), person("b"), guarded)
	b.fillPersons(20, "a", "b", "guarded")
	s, _ := b.run()
	b.settled(s)
	counts := fmt.Sprintf("SELECT (SELECT count(*) FROM %s), (SELECT count(*) FROM %s)", viewOf("a"), viewOf("b"))
	for _, step := range []struct{ name, sql, want string }{
		{"one for both", "BEGIN; INSERT INTO a SELECT i, i, NULL, 'x' || i FROM generate_series(100, 109) i; DELETE FROM b WHERE id <= 10; COMMIT", "[30 10]"},
		{"both back", "BEGIN; INSERT INTO b SELECT i, i, NULL, 'x' || i FROM generate_series(1, 10) i; UPDATE a SET age = age + 1; DELETE FROM a WHERE id >= 100; UPDATE guarded SET age = age + 1; COMMIT", "[20 20]"},
		{"savepoints", "BEGIN; SAVEPOINT s1; INSERT INTO a VALUES (500, 1, '', ''); SAVEPOINT s2; DELETE FROM a; ROLLBACK TO s2; DELETE FROM a WHERE id = 1; RELEASE s1; SAVEPOINT s3; UPDATE b SET id = id + 1000; ROLLBACK TO s3; DELETE FROM b WHERE id = 1; COMMIT", "[20 19]"},
		{"rolled back", "BEGIN; DELETE FROM a; TRUNCATE b; INSERT INTO a VALUES (501, 1, '', ''); ROLLBACK; BEGIN; SAVEPOINT s; DELETE FROM guarded; ROLLBACK TO s; COMMIT", "[20 19]"},
		{"an error in a function", "DO $$ BEGIN BEGIN DELETE FROM a; RAISE 'no'; EXCEPTION WHEN OTHERS THEN INSERT INTO b VALUES (600, 1, NULL, 'x'); END; END $$", "[20 20]"},
	} {
		t.Run(step.name, func(t *testing.T) {
			b := b.within(t)
			answers := b.answersOf(counts)
			b.script(step.sql)
			b.settled(s)
			seen := answers()
			if last := fmt.Sprint(seen[len(seen)-1]); len(seen) > 2 || last != step.want {
				t.Errorf("readers saw %v, want %s at last", seen, step.want)
			}
		})
	}
	t.Run("COPY", func(t *testing.T) {
		b := b.within(t)
		var text strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&text, "%d\t%d\t%s\tillness %d\n", 1000+i, i%70, []string{`\N`, `a\tb\\n`, "", `\\N`}[i%4], i%5)
		}
		for _, table := range []string{"a", "b", "guarded"} {
			if _, err := b.source.PgConn().CopyFrom(t.Context(), strings.NewReader(text.String()), "COPY "+table+" FROM STDIN"); err != nil {
				t.Fatal(err)
			}
		}
		b.settled(s)
	})
}

// TestPreparedTransactions commits in two phases: what is prepared is not seen, and a
// table that is published meanwhile waits for it.
func TestPreparedTransactions(t *testing.T) {
	t.Parallel()
	server, err := pgserver.Start(t.Context(), pgserver.Options{Settings: map[string]string{"max_prepared_transactions": "5"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	b := tablesOn(t, server, pgtest.Database(t, server), person("people"))
	b.fillPersons(20, "people")
	s, stop := b.run()
	b.settled(s)
	answers := b.answersOf("SELECT count(*) FROM " + viewOf("people"))
	b.script("BEGIN; DELETE FROM people WHERE id > 10; PREPARE TRANSACTION 'one'")
	b.script("BEGIN; INSERT INTO people SELECT i, i, NULL, 'x' || i FROM generate_series(100, 104) i; PREPARE TRANSACTION 'two'")
	b.script("BEGIN; DELETE FROM people WHERE id <= 5; PREPARE TRANSACTION 'three'")
	b.script("UPDATE people SET age = age + 1 WHERE id = 7")
	b.caughtUp(s)
	b.script("ROLLBACK PREPARED 'three'")
	b.script("COMMIT PREPARED 'two'")
	b.settled(s)
	if seen := fmt.Sprint(answers()); seen != "[[20] [25]]" {
		t.Errorf("readers saw %s", seen)
	}
	if err := stop(); err != nil { // and it is there after a restart
		t.Fatal(err)
	}
	s, _ = b.run()
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.source = b.connect()
	b.script("COMMIT PREPARED 'one'")
	b.settled(s)
	var rows int
	b.scan([]any{&rows}, "SELECT count(*) FROM "+viewOf("people"))
	if rows != 15 {
		t.Errorf("%d rows are published, 15 expected", rows)
	}
}
