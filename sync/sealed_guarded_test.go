package sync

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// guardedPeople has the updates of people guarded.
func guardedPeople(people *catalog.TablePolicy) {
	people.Updates, people.Suppression = catalog.Updates{Mode: catalog.Guarded, Crowd: 1}, 0
}

// orderGuarded has the records and the rows of a guarded table lie in the order of their numbers and classes: a start
// takes them as they lie, which is random.
func (b *bench) orderGuarded() {
	b.t.Helper()
	n := b.sealedGeneration()
	for _, sql := range []string{"CLUSTER kproxy_store.records_%[1]d USING records_%[1]d_pkey", "CLUSTER kproxy_store.release_%[1]d USING release_%[1]d_kproxy_class_idx"} {
		if _, err := b.store().Exec(b.t.Context(), fmt.Sprintf(sql, n)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// storedSecrets are how many secrets of hashes stand in the store, and how many hashes of keys.
func (b *bench) storedSecrets() (secrets, hashes int) {
	b.t.Helper()
	const sql = "SELECT (SELECT count(hash_key) FROM kproxy_store.generation), (SELECT count(*) FROM kproxy_store.departed)"
	if err := b.store().QueryRow(b.t.Context(), sql).Scan(&secrets, &hashes); err != nil {
		b.t.Fatal(err)
	}
	return secrets, hashes
}

// TestSealedGuardedIsAsUnsealed goes through the same history with a sealed store of a guarded table and with a plain
// one: readers see the same after every transaction, through restarts and persons who leave and come back. At last the
// sealed one is compared with a source that the stream did not tell of.
func TestSealedGuardedIsAsUnsealed(t *testing.T) {
	t.Parallel()
	const rows = 150
	left, back := 0, 0
	for _, seed := range []uint64{1} {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			var benches [2]*bench
			var syncers [2]*Syncer
			var stops [2]func() error
			for i := range benches {
				b := newSealedBench(t, pgtest.Shared(t), i == 1, guardedPeople)
				b.config.Heartbeat = 20 * time.Millisecond
				b.fill(rows)
				benches[i] = b
				syncers[i], stops[i] = b.run()
			}
			people := benches[0].config.Tables[0].Policy.Table
			same := func(when string) {
				t.Helper()
				if plain, sealed := benches[0].published(), benches[1].published(); plain != sealed || plain == "" {
					t.Fatalf("%s: the sealed table is published in another way", when)
				}
			}
			same("at first")
			for step := range uint64(40) {
				for i, b := range benches {
					restarts := step%8 == 7
					if restarts {
						if err := stops[i](); err != nil {
							t.Fatal(err)
						}
						b.orderGuarded()
					}
					b.transaction(rand.New(rand.NewPCG(seed, step)), rows)
					if restarts {
						syncers[i], stops[i] = b.run()
					}
					b.applied(syncers[i])
				}
				same(fmt.Sprintf("step %d", step))
				if step%10 == 0 {
					benches[1].checkSealed()
				}
				secrets, hashes := benches[1].storedSecrets()
				if left += hashes; secrets > 0 {
					t.Fatal("the secret of hashes stands in a sealed store")
				}
			}
			plain, sealed := syncers[0].Status().Tables[people], syncers[1].Status().Tables[people]
			if back += sealed.Returned; plain.Returned != sealed.Returned || plain.Ghosts != sealed.Ghosts || plain.Waiting != sealed.Waiting {
				t.Errorf("the sealed table has the figures %+v, and the plain one %+v", sealed, plain)
			}
			if err := stops[1](); err != nil {
				t.Fatal(err)
			}
			b, r := benches[1], rand.New(rand.NewPCG(seed, 1000))
			b.exec("ALTER PUBLICATION kproxy DROP TABLE people")
			for range 20 {
				b.change(r, rows)
			}
			b.exec("UPDATE people SET id = id + 10000, age = age + 1 WHERE id % 13 = 0")
			b.exec("ALTER PUBLICATION kproxy ADD TABLE ONLY people")
			if err := Resynchronize(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
				t.Fatal(err)
			}
			s, _ := b.run()
			b.applied(s)
			b.checkSealed()
			b.change(r, rows)
			b.applied(s)
			b.checkSealed()
		})
	}
	if left == 0 || back == 0 {
		t.Errorf("%d hashes of keys were kept, and %d records came back", left, back)
	}
}

// TestSealedGuardedServerHoldsNothing searches every byte of the data directory of the release's server for what the
// source has planted in a guarded table: keys, quasi-identifiers, and all values of records that wait, through
// updates, departures, a restart and a comparison with the source. What is published as it is has to be found, and all of
// it where the store is plain.
func TestSealedGuardedServerHoldsNothing(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{true, false} {
		t.Run(fmt.Sprintf("sealed=%v", sealed), func(t *testing.T) {
			server := ownServer(t, pgserver.Options{Settings: map[string]string{"log_statement": "all", "log_destination": "stderr", "logging_collector": "on", "log_min_duration_statement": "0"}})
			b := newSealedBench(t, server, sealed, guardedPeople)
			b.exec("ALTER TABLE people ALTER zip SET STORAGE EXTERNAL")
			b.exec(`INSERT INTO people SELECT 731852946170000000 + i, 'canaryname' || i, 20 + i % 60, 70, date '1950-01-01' + i, now(), md5(i::text) || 'canaryzip' || repeat('~', i % 3 * 1500), 'canaryjob' || i,
				'calm', 'A', '{}', 'publicnote' || i, 'illness ' || i % 7 FROM generate_series(1, 330) i`)
			s, stop := b.run()
			b.exec("UPDATE people SET zip = md5(id::text) || 'canaryzip', id = id + 1000 WHERE id % 10 = 1")
			b.exec("UPDATE people SET age = age + 1 WHERE id % 7 = 1") // leaves long values out
			b.exec("DELETE FROM people WHERE id % 50 = 3")
			b.caughtUp(s)
			restart := func() {
				if err := stop(); err != nil {
					t.Fatal(err)
				}
				s, stop = b.run()
				b.caughtUp(s)
			}
			if err := Resynchronize(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
				t.Fatal(err)
			}
			restart()
			// One newcomer waits.
			b.exec("INSERT INTO people VALUES (741852946170000001, 'canaryname', 55, 70, '1950-01-01', now(), 'canaryzip', 'canaryjob', 'withheldmood', 'A', '{}', 'withheldnote', 'withheldillness')")
			b.caughtUp(s)
			if status := s.Status().Tables[b.config.Tables[0].Policy.Table]; status.Waiting == 0 {
				t.Fatalf("nobody waits: %+v", status)
			}
			restart()
			secrets, hashes := b.storedSecrets()
			if hashes == 0 || (secrets == 0) != sealed {
				t.Errorf("with a sealed store %v, there are %d hashes of keys and %d secrets of them", sealed, hashes, secrets)
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			for _, sql := range []string{"ANALYZE", "CHECKPOINT"} {
				if _, err := b.store().Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			ids := 0 // found as rows hold them
			for _, id := range []uint64{731852946170000002, 731852946170000304, 731852946170001011, 741852946170000001} {
				if found := searchFolder(t, server.DataDir(), string(binary.LittleEndian.AppendUint64(nil, id))); len(found) > 0 {
					ids++
				}
			}
			if (ids == 0) != sealed {
				t.Errorf("%d keys are found, with a sealed store: %v", ids, sealed)
			}
			canaries := []string{"canaryname", "canaryzip", "canaryjob", "withheldmood", "withheldnote", "withheldillness", "73185294617", "74185294617"}
			found := searchFolder(t, server.DataDir(), append(canaries, "publicnote")...)
			if !found["publicnote"] {
				t.Error("the search finds not even what is published")
			}
			for _, canary := range canaries {
				if plain := canary[0] != '7' && canary != "canaryname" && !sealed; found[canary] != plain && (sealed || plain) {
					t.Errorf("%s: found %v, with a sealed store: %v", canary, found[canary], sealed)
				}
			}
		})
	}
}

// TestSealedGuardedReturns replaces the key while records of a guarded table have
// left: they are known when they come back, after a restart with the new key alone.
func TestSealedGuardedReturns(t *testing.T) {
	t.Parallel()
	b := newSealedBench(t, pgtest.Shared(t), true, guardedPeople)
	b.fill(100)
	people := b.config.Tables[0].Policy.Table
	s, stop := b.run()
	b.exec("CREATE TABLE gone AS SELECT * FROM people WHERE id IN (5, 50)")
	b.exec("DELETE FROM people WHERE id IN (5, 50)")
	b.caughtUp(s)
	for _, keys := range [][]byte{{2, 1}, {2}} {
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		b.config.Seal = ringOf(t, keys...)
		s, stop = b.run()
		b.caughtUp(s)
	}
	if status := s.Status().Tables[people]; status.Ghosts != 2 {
		t.Fatalf("there are not two rows of nobody: %+v", status)
	}
	before := b.published()
	b.exec("INSERT INTO people SELECT * FROM gone")
	b.caughtUp(s)
	if status := s.Status().Tables[people]; status.Returned != 2 || status.Ghosts != 0 || status.Waiting != 0 {
		t.Errorf("they are not known: %+v", status)
	}
	if secrets, hashes := b.storedSecrets(); secrets != 0 || hashes != 0 {
		t.Errorf("there are %d secrets and %d hashes", secrets, hashes)
	}
	if b.published() != before {
		t.Error("readers see something else")
	}
	b.checkSealed()
}

// TestSealedGuardedInPieces has more of long values published at once than is read together.
func TestSealedGuardedInPieces(t *testing.T) {
	most := sealedBytes
	sealedBytes = 30_000
	t.Cleanup(func() { sealedBytes = most })
	b := newSealedBench(t, pgtest.Shared(t), true, guardedPeople)
	b.fill(100)
	s, stop := b.run()
	b.exec("INSERT INTO people SELECT id + 1000, name, age, weight, born, seen, zip, job, mood, ward, tags, repeat('n', 9000) || id, illness FROM people")
	b.caughtUp(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	var long int
	if err := b.store().QueryRow(t.Context(), "SELECT count(*) FROM kproxy_release_public.people WHERE note ~ '^n+[0-9]'").Scan(&long); err != nil || long < 50 {
		t.Errorf("%d rows of long values are published, %v", long, err)
	}
	b.checkSealed()
}

// TestSpoiledGuardedSeal changes a guarded table's sealed store behind kproxy's back: the table is halted, says so, and a
// rebuild heals it.
func TestSpoiledGuardedSeal(t *testing.T) {
	t.Parallel()
	b := newSealedBench(t, pgtest.Shared(t), true, guardedPeople)
	b.fill(100)
	_, stop := b.run()
	people := b.config.Tables[0].Policy.Table
	for name, spoil := range map[string]string{
		"a bit":     "UPDATE kproxy_store.records_%[1]d SET kproxy_ciphertext = set_bit(kproxy_ciphertext, 300, 1 - get_bit(kproxy_ciphertext, 300)) WHERE kproxy_record = 7",
		"another's": "UPDATE kproxy_store.records_%[1]d s SET kproxy_ciphertext = o.kproxy_ciphertext FROM kproxy_store.records_%[1]d o WHERE s.kproxy_record = 7 AND o.kproxy_record = 8",
		"no key":    "DELETE FROM kproxy_store.seal",
		"a class":   "DELETE FROM kproxy_store.release_%[1]d l WHERE kproxy_row <> (SELECT min(kproxy_row) FROM kproxy_store.release_%[1]d o WHERE o.kproxy_class = l.kproxy_class); UPDATE kproxy_store.records_%[1]d r SET kproxy_class = NULL, kproxy_row = NULL WHERE kproxy_row NOT IN (SELECT kproxy_row FROM kproxy_store.release_%[1]d)",
	} {
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := b.store().Exec(t.Context(), strings.ReplaceAll(spoil, "%[1]d", fmt.Sprint(b.sealedGeneration())), pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var s *Syncer
		s, stop = b.run()
		await(t, "the table is halted", func() bool { return s.Status().Tables[people].State == Halted }, s)
		if status := s.Status().Tables[people]; !strings.Contains(status.Problem, "private store") && !strings.Contains(status.Problem, "fewer records") || !strings.Contains(status.Fix, "kproxy rebuild public.people --new-lineage") {
			t.Errorf("%s: %+v", name, status)
		}
		if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{people}); err != nil {
			t.Fatal(err)
		}
		await(t, "the table goes on", func() bool {
			status := s.Status().Tables[people]
			return status.State == Published && !status.Preparing
		}, s)
		b.caughtUp(s)
		b.checkSealed()
	}
}
