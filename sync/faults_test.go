package sync

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// mustStop runs a Syncer that has to stop for the operator, and returns why.
func (b *bench) mustStop() string {
	b.t.Helper()
	s, err := New(b.config)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	err = s.Run(ctx)
	if stop := (*StopError)(nil); !errors.As(err, &stop) || stop.Fix == "" {
		b.t.Fatalf("the syncer ended with %v, want a StopError with a fix", err)
	}
	if s.Status().State != Stopped {
		b.t.Errorf("state %s, want stopped", s.Status().State)
	}
	return err.Error()
}

// released is a bench with a published table and a stopped Syncer.
func released(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, pgtest.Shared(t), sourceTables)
	b.fill(50)
	_, stop := b.run()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.ownerGone()
	return b
}

// ownerGone waits until the server has noticed that a Syncer ended.
func (b *bench) ownerGone() {
	b.t.Helper()
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		var sessions int
		if err := b.source.QueryRow(b.t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE usename = $1", b.config.Owner.User).Scan(&sessions); err != nil {
			b.t.Fatal(err)
		}
		if sessions == 0 {
			return
		}
		if time.Since(start) > patience {
			b.t.Fatalf("%d sessions of the owner stay", sessions)
		}
	}
}

// TestLossIsHealed loses the stream's place in every way while kproxy is down; the
// difference to the source is applied all the same, unless the operator wants to be asked.
func TestLossIsHealed(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]string{
		"slot dropped":      "SELECT pg_drop_replication_slot($1)",
		"slot ahead":        "SELECT pg_replication_slot_advance($1, pg_current_wal_lsn())",
		"copy of the store": "UPDATE kproxy_store.position SET system_identifier = '1' WHERE slot = $1",
		"promoted":          "UPDATE kproxy_store.position SET timeline = 17 WHERE slot = $1",
	} {
		for _, recovery := range []Recovery{ResynchronizeOnLoss, StopOnLoss} {
			t.Run(fmt.Sprintf("%s/%d", name, recovery), func(t *testing.T) {
				b := released(t)
				b.exec(`UPDATE people SET age = age + 1 WHERE id % 3 = 0`)
				b.exec(`DELETE FROM people WHERE id % 10 = 1`)
				b.exec(`INSERT INTO people (id, age, illness) SELECT i, i % 50, 'new' FROM generate_series(1000, 1020) i`)
				b.exec(lose, b.config.Slot)
				before := b.generationOf("people")
				b.config.Recovery = recovery
				if recovery == StopOnLoss && name != "promoted" {
					if why := b.mustStop(); !strings.Contains(why, "kproxy resync") {
						t.Errorf("stopped without naming the way out: %s", why)
					}
					if err := Resynchronize(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
						t.Fatal(err)
					}
				}
				s, _ := b.run()
				b.caughtUp(s)
				b.checkStore(s)
				if after := b.generationOf("people"); after != before {
					t.Errorf("generation %d became %d: it was published afresh", before, after)
				}
			})
		}
	}
}

// generationOf is the number of a table's generation.
func (b *bench) generationOf(table string) (n int) {
	b.t.Helper()
	if err := b.store().QueryRow(b.t.Context(), "SELECT generation FROM kproxy_store.generation WHERE table_name = $1", table).Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

// TestWishesAreFulfilled asks for what an operator can, while kproxy applies.
func TestWishesAreFulfilled(t *testing.T) {
	t.Parallel()
	b := newBench(t, pgtest.Shared(t), sourceTables)
	b.fill(50)
	s, _ := b.run()
	people, other := b.config.Tables[0].Policy.Table, b.generationOf(`Odd "Names`)
	before := b.generationOf("people")
	if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{people}); err != nil {
		t.Fatal(err)
	}
	await(t, "people is published afresh", func() bool { return b.generationOf("people") > before && !s.Status().Tables[people].Preparing })
	if b.generationOf(`Odd "Names`) != other {
		t.Error("the other table was published afresh as well")
	}
	if err := Resynchronize(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
		t.Fatal(err)
	}
	await(t, "the difference is applied", func() bool {
		var asked int
		if err := b.source.QueryRow(t.Context(), "SELECT count(*) FROM kproxy_store.generation WHERE asked IS NOT NULL").Scan(&asked); err != nil {
			t.Fatal(err)
		}
		return asked == 0
	})
	b.caughtUp(s)
	b.checkStore(s)
	unknown := catalog.Name{Schema: "public", Relation: "nothing"}
	if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{people, unknown}); err == nil {
		t.Error("a table that was never published was asked for without an error")
	}
}

// await waits until something is so. The status of those whose doing that is tells of a
// failure.
func await(t *testing.T, what string, is func() bool, of ...*Syncer) {
	t.Helper()
	for start := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > patience {
			for _, s := range of {
				t.Logf("the status is %+v", s.Status())
			}
			t.Fatalf("%s: not in time", what)
		}
	}
}

func TestChangedPolicyPublishesAfresh(t *testing.T) {
	t.Parallel()
	b := released(t)
	b.config.Tables[0].Policy.Constraints[0].K = 7
	s, stop := b.run()
	b.checkStore(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	// A column that the policy does not name may come and go without effect.
	generation := func() (n int) {
		if err := b.source.QueryRow(t.Context(), "SELECT max(generation) FROM kproxy_store.generation").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := generation()
	b.exec("ALTER TABLE people ADD extra int")
	b.exec("ALTER TABLE people DROP name")
	b.config.Tables[0].Relation.Columns = b.publications(testPolicy(), b.config.Reader)[0].Relation.Columns
	s, _ = b.run()
	b.caughtUp(s)
	b.checkStore(s)
	if after := generation(); after != before {
		t.Errorf("generation %d became %d for a column that is not published", before, after)
	}
}

// TestChangedTableIsHalted changes a table in ways that the policy does not fit any
// more: it is halted, the other one goes on, and a reload after the change is taken back
// heals it.
func TestChangedTableIsHalted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"weight":  {"ALTER TABLE people DROP weight", "ALTER TABLE people ADD weight numeric"},
		"age":     {"ALTER TABLE people ALTER age TYPE bigint", "ALTER TABLE people ALTER age TYPE int"},
		"zip":     {"ALTER TABLE people ALTER zip TYPE varchar(9)", "ALTER TABLE people ALTER zip TYPE text"},
		"renamed": {"ALTER TABLE people RENAME TO persons; CREATE TABLE people (LIKE persons)", "DROP TABLE people; ALTER TABLE persons RENAME TO people"},
		"moved":   {"CREATE SCHEMA s; ALTER TABLE people SET SCHEMA s", "ALTER TABLE s.people SET SCHEMA public"},
		"dropped": {"DROP TABLE people", sourcePeople + "; GRANT SELECT ON people TO PUBLIC; ALTER PUBLICATION kproxy ADD TABLE people"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, pgtest.Shared(t), sourceTables)
			b.fill(50)
			s, _ := b.run()
			people, other := b.config.Tables[0].Policy.Table, b.config.Tables[1].Policy.Table
			b.script(change[0])
			if name == "age" || name == "weight" {
				b.exec("INSERT INTO people (id, age, illness) VALUES (1000000, 1, 'x')")
			}
			await(t, "people is halted", func() bool { return s.Status().Tables[people].State == Halted })
			if status := s.Status().Tables[people]; status.Problem == "" || status.Fix == "" {
				t.Errorf("halted without reason or fix: %+v", status)
			}
			b.exec(`INSERT INTO "Odd ""Names" SELECT i, 'k', i, 'x' FROM generate_series(100, 120) i`)
			await(t, "the other table goes on", func() bool { return s.Status().Tables[other].Records >= 21 })
			b.script(change[1])
			b.config.Tables = b.publications(testPolicy(), b.config.Reader)
			s.Reload(b.config.Tables)
			if name == "weight" || name == "dropped" { // it is another column, or another table
				b.accept(s, "people")
			}
			await(t, "people is published", func() bool {
				return s.Status().Tables[people].State == Published && !s.Status().Tables[people].Preparing
			})
			b.caughtUp(s)
			b.checkStore(s)
		})
	}
}

// script runs several statements.
func (b *bench) script(sql string) {
	b.t.Helper()
	if _, err := b.source.Exec(b.t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

// TestAnotherSlotIsRefused keeps a second configuration from taking the store.
func TestAnotherSlotIsRefused(t *testing.T) {
	t.Parallel()
	b := released(t)
	first := b.config.Slot
	b.config.Slot += "_b"
	if why := b.mustStop(); !strings.Contains(why, first) {
		t.Errorf("stopped without naming the slot that feeds the store: %s", why)
	}
	b.config.Slot = first
	s, _ := b.run()
	b.checkStore(s)
}

// TestHostileSettings gives the owner role settings that would break a client
// that does not pin its own.
func TestHostileSettings(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	b := newBench(t, server, sourceTables)
	b.fill(50)
	settings := []string{
		"datestyle = 'SQL, DMY'", "timezone = 'Asia/Kolkata'", "extra_float_digits = 0", "default_transaction_read_only = on",
		"idle_in_transaction_session_timeout = 1", "statement_timeout = 1", "search_path = public", "bytea_output = escape",
	}
	if server.Version().Major >= 14 {
		settings = append(settings, "idle_session_timeout = 500")
	}
	for _, setting := range settings {
		b.exec("ALTER ROLE " + pgx.Identifier{b.config.Owner.User}.Sanitize() + " SET " + setting)
	}
	s, _ := b.run()
	time.Sleep(700 * time.Millisecond) // longer than the idle time-out
	b.exec("UPDATE people SET age = age + 1, seen = now(), born = now()")
	b.caughtUp(s)
	b.checkStore(s)
}

// TestEqualValuesAreOne numbers values as SQL tells them apart, and NULL beside
// them.
func TestEqualValuesAreOne(t *testing.T) {
	t.Parallel()
	numbered := func(baseType string, values ...value) int {
		d, seen := privacy.NewDictionary(), map[uint32]bool{}
		for _, v := range values {
			seen[number(d, catalog.Column{BaseType: baseType}, v)] = true
		}
		return len(seen)
	}
	for _, c := range []struct {
		baseType string
		values   []value
		want     int
	}{
		{"numeric", []value{{text: "1"}, {text: "1.000"}, {text: "1.0"}}, 1},
		{"float8", []value{{text: "0"}, {text: "-0"}}, 1},
		{"text", []value{{text: "1"}, {text: "1.0"}, {text: ""}, {null: true}, {null: true}}, 4},
	} {
		if got := numbered(c.baseType, c.values...); got != c.want {
			t.Errorf("%s: %v are %d values, %d expected", c.baseType, c.values, got, c.want)
		}
	}
}

// TestConnectionsAreCut ends the syncer's connections at random moments of a
// random workload, and raises the epoch as another process would.
func TestConnectionsAreCut(t *testing.T) {
	t.Parallel()
	const rows, changes = 200, 150
	b := newBench(t, pgtest.Shared(t), sourceTables)
	b.fill(rows)
	r := rand.New(rand.NewPCG(7, 0))
	s, _ := b.run()
	for i := range changes {
		b.transaction(r, rows)
		switch {
		case i%25 == 10:
			b.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", b.config.Owner.User)
		case i%50 == 30:
			b.exec("UPDATE kproxy_store.position SET epoch = epoch + 1")
		}
	}
	b.caughtUp(s)
	b.checkStore(s)
}

func TestServerCrashes(t *testing.T) {
	t.Parallel()
	const rows, rounds, changes = 200, 3, 40
	server, err := pgserver.Start(t.Context(), pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	b := newBench(t, server, sourceTables)
	b.fill(rows)
	r := rand.New(rand.NewPCG(8, 0))
	s, _ := b.run()
	for round := range rounds {
		for range changes {
			b.transaction(r, rows)
		}
		if round%2 == 0 {
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.source = b.connect()
		b.caughtUp(s)
		b.checkStore(s)
	}
}
