package sync

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
)

// TestTruncate empties tables in every way. Readers see those that were emptied together
// empty at once, and never one that is filled again in the same transaction.
func TestTruncate(t *testing.T) {
	t.Parallel()
	child := person("child").with("ALTER TABLE child ADD parent int REFERENCES parent; ALTER TABLE child ADD number bigint GENERATED ALWAYS AS IDENTITY")
	guarded := person("guarded")
	guarded.guarded = true
	b := tablesBench(t, person("a"), person("b"), guarded, person("parent"), child)
	tables := []string{"a", "b", "guarded", "parent", "child"}
	fill := func(b *bench) {
		b.script("BEGIN; DELETE FROM a; DELETE FROM b; DELETE FROM guarded; DELETE FROM child; DELETE FROM parent")
		b.fillPersons(20, tables...)
		b.script("COMMIT")
	}
	fill(b)
	s, stop := b.run()
	b.settled(s)
	counts := fmt.Sprintf("SELECT (SELECT count(*) FROM %s), (SELECT count(*) FROM %s), (SELECT count(*) FROM %s), (SELECT count(*) FROM %s), (SELECT count(*) FROM %s)",
		viewOf("a"), viewOf("b"), viewOf("guarded"), viewOf("parent"), viewOf("child"))
	for _, c := range []struct {
		name, sql string
		want      []string // all that readers may see, in order
	}{
		{"one", "TRUNCATE a", []string{"[20 20 20 20 20]", "[0 20 20 20 20]"}},
		{"several", "TRUNCATE a, b, guarded", []string{"[20 20 20 20 20]", "[0 0 0 20 20]"}},
		{"several, restart identity", "TRUNCATE a, b, guarded, parent, child RESTART IDENTITY", []string{"[20 20 20 20 20]", "[0 0 0 0 0]"}},
		{"cascade", "TRUNCATE parent CASCADE", []string{"[20 20 20 20 20]", "[20 20 20 0 0]"}},
		{"refilled", "BEGIN; TRUNCATE a, b; INSERT INTO a SELECT i, i, NULL, 'x' || i FROM generate_series(1, 30) i; INSERT INTO b SELECT * FROM a; COMMIT", []string{"[20 20 20 20 20]", "[30 30 20 20 20]"}},
		{
			"changed before", "BEGIN; UPDATE a SET age = age + 1; DELETE FROM b WHERE id < 3; INSERT INTO a SELECT i, i, NULL, 'x' || i FROM generate_series(100, 130) i; TRUNCATE a, b; INSERT INTO b SELECT i, i, NULL, 'x' || i FROM generate_series(1, 12) i; COMMIT",
			[]string{"[20 20 20 20 20]", "[0 12 20 20 20]"},
		},
		{
			"twice", "BEGIN; TRUNCATE a; INSERT INTO a SELECT i, i, NULL, 'x' || i FROM generate_series(1, 30) i; TRUNCATE a; INSERT INTO a SELECT i, i, NULL, 'y' || i FROM generate_series(1, 10) i; COMMIT",
			[]string{"[20 20 20 20 20]", "[10 20 20 20 20]"},
		},
		{"rolled back", "BEGIN; TRUNCATE a, b; ROLLBACK; BEGIN; SAVEPOINT s; TRUNCATE a; INSERT INTO a VALUES (1, 1, '', ''); ROLLBACK TO s; DELETE FROM b; COMMIT", []string{"[20 20 20 20 20]", "[20 0 20 20 20]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := b.within(t)
			fill(b)
			b.calm(s)
			done := b.answersOf(counts)
			b.script(c.sql)
			b.settled(s)
			var seen []string
			for _, answer := range done() {
				seen = append(seen, fmt.Sprint(answer))
			}
			if !slices.Equal(seen, c.want) {
				t.Errorf("readers saw %v, want %v", seen, c.want)
			}
		})
	}
	t.Run("while kproxy is down", func(t *testing.T) {
		b := b.within(t)
		fill(b)
		b.calm(s)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		b.script("TRUNCATE a, parent CASCADE; INSERT INTO a SELECT i, i, NULL, 'x' || i FROM generate_series(1, 30) i; UPDATE a SET age = 7; UPDATE b SET age = 8")
		s, stop = b.run()
		b.settled(s)
	})
}

// TestTruncatedAgain truncates a table at short intervals: it is not compared with its
// source where the stream was a truncation further than the look at its definition.
func TestTruncatedAgain(t *testing.T) {
	t.Parallel()
	b := tablesBench(t, person("a"))
	compared := make(chan struct{}, 1)
	b.config.Logger = slog.New(&awaited{Handler: slog.NewTextHandler(t.Output(), nil), words: "is compared with its source", found: compared})
	s, _ := b.run()
	b.settled(s)
	for i := range 150 {
		b.script("BEGIN; TRUNCATE a; INSERT INTO a SELECT i, i, NULL, 'x' || i FROM generate_series(1, 10) i; COMMIT; SELECT pg_sleep(0.02)")
		select {
		case <-compared:
			t.Fatalf("it was compared with its source after %d truncations", i+1)
		default:
		}
	}
	b.settled(s)
}
