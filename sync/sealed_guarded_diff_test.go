package sync

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// standing is all that the store of a guarded table has beside its rows: where records stand, who has left, and weights.
func (b *bench) standing() string {
	b.t.Helper()
	sql := fmt.Sprintf(`SELECT 'record', kproxy_record, kproxy_class, kproxy_row, kproxy_changed, kproxy_since::text, kproxy_expired::text FROM kproxy_store.records_%[1]d
		UNION ALL SELECT 'departed', NULL, class, row, changed, NULL, NULL FROM kproxy_store.departed ORDER BY 1, 2, 3, 4, 5`, b.sealedGeneration())
	rows, _ := b.store().Query(b.t.Context(), "SELECT s::text FROM ("+sql+") s") // the rows carry its error
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(texts, "\n")
}

// TestSealedGuardedInAllWays has a plain and a sealed table change alike while time passes: records wait for batches, or until the
// deadline, are refused, and are written before their transaction ends. Readers see the same, and the stores know the same.
func TestSealedGuardedInAllWays(t *testing.T) {
	most := spillRows
	t.Cleanup(func() { spillRows = most })
	const rows = 80
	waiting, expired, stale, ghosts, returned := 0, 0, 0, 0, 0 // the most at a time
	for name, updates := range map[string]catalog.Updates{
		"batches":  {Mode: catalog.Guarded, Crowd: 1, Batch: 12, Within: time.Hour, Deadline: 5 * time.Hour},
		"crowds":   {Mode: catalog.Guarded, Crowd: 2, Deadline: 2 * time.Hour},
		"deadline": {Mode: catalog.Guarded, Crowd: 1, Batch: 1000, Deadline: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			spillRows = 4
			c := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
			var benches [2]*bench
			var syncers [2]*Syncer
			var stops [2]func() error
			clocks := [2]*clock{{}, {}}
			for i := range benches {
				b := newSealedBench(t, pgtest.Shared(t), i == 1, guardedPeople, func(people *catalog.TablePolicy) { people.Updates = updates })
				b.config.Heartbeat, b.config.ranges = 20*time.Millisecond, readingPlan{blocks: 100_000, connections: 1}
				b.config.Now = func() time.Time { return c.Add(time.Duration(clocks[i].offset.Load())) }
				b.fill(rows)
				benches[i] = b
				syncers[i], stops[i] = b.run()
			}
			for step := range uint64(24) {
				for i, b := range benches {
					restarts := step%12 == 11
					if restarts {
						if err := stops[i](); err != nil {
							t.Fatal(err)
						}
						b.orderGuarded()
					}
					clocks[i].wrong(time.Duration(step) * 17 * time.Minute)
					r := rand.New(rand.NewPCG(7, step))
					b.exec("BEGIN")
					for range 1 + r.IntN(12) {
						b.change(r, rows)
					}
					switch way := r.IntN(14); {
					case way == 0 && !restarts: // else the tables are compared with their sources, in different orders
						b.exec("TRUNCATE people")
						b.fill(r.IntN(rows))
					case way == 1:
						b.exec("UPDATE people SET id = id + 1000, mood = 'other' WHERE id % 9 = $1 AND id < 1000", r.IntN(9)) // leaves the note out
					case way == 2:
						b.exec("UPDATE people SET id = id - 1000 WHERE id >= 1000 AND NOT EXISTS (SELECT FROM people o WHERE o.id = people.id - 1000)")
					case way == 3:
						b.exec("UPDATE people SET illness = 'gout', note = note || '!' WHERE id % 5 = $1", r.IntN(5))
					}
					b.exec("COMMIT")
					if restarts {
						syncers[i], stops[i] = b.run()
					}
					b.applied(syncers[i])
				}
				if plain, sealed := benches[0].published(), benches[1].published(); plain != sealed {
					t.Fatalf("step %d: the sealed table is published in another way", step)
				}
				if plain, sealed := benches[0].standing(), benches[1].standing(); plain != sealed {
					t.Fatalf("step %d: the sealed store differs:\n%s\n---\n%s", step, plain, sealed)
				}
				s := syncers[1].Status().Tables[benches[1].config.Tables[0].Policy.Table]
				waiting, expired, stale, ghosts, returned = max(waiting, s.Waiting), max(expired, s.Expired), max(stale, s.Stale), max(ghosts, s.Ghosts), max(returned, s.Returned)
				if step%20 == 0 {
					benches[1].checkSealed()
				}
			}
			benches[1].checkSealed()
		})
	}
	t.Logf("at most %d waiting, %d expired, %d stale, %d ghosts, %d returned", waiting, expired, stale, ghosts, returned)
	if waiting == 0 || expired == 0 || stale == 0 || ghosts == 0 || returned == 0 {
		t.Error("not all has happened")
	}
}

// TestSealedGuardedServerHoldsNothingNewer searches the data directory of the release's server for newer values of records whose
// rows show former ones, and for all values of records that are withheld for good, or come in a transaction that is large.
func TestSealedGuardedServerHoldsNothingNewer(t *testing.T) {
	most := spillRows
	spillRows = 5
	t.Cleanup(func() { spillRows = most })
	server := ownServer(t, pgserver.Options{Settings: map[string]string{"log_statement": "all", "log_destination": "stderr", "logging_collector": "on", "log_min_duration_statement": "0", "log_parameter_max_length": "-1", "log_parameter_max_length_on_error": "-1"}})
	b := newSealedBench(t, server, true, guardedPeople, func(people *catalog.TablePolicy) {
		people.Updates = catalog.Updates{Mode: catalog.Guarded, Crowd: 1, Batch: 1000, Deadline: time.Hour}
	})
	c := &clock{}
	b.config.Now = c.now
	b.fill(200)
	s, stop := b.run()
	b.exec("UPDATE people SET note = 'newernote', illness = 'newerillness', job = 'newerjob' WHERE id = 5")
	b.exec("UPDATE people SET mood = 'newermood', zip = 'newerzip' WHERE id = 49") // leaves the note out
	b.exec("INSERT INTO people SELECT id + 1000, name, age, weight, born, seen, zip, 'spilledjob', 'spilledmood', ward, tags, 'spillednote' || id, 'spilledillness' FROM people WHERE id < 40")
	b.caughtUp(s)
	restart := func() {
		b.t.Helper()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		s, stop = b.run()
		b.caughtUp(s)
	}
	restart()
	c.wrong(2 * time.Hour)
	b.exec("UPDATE people SET note = 'newernote2' WHERE id = 1005")
	b.caughtUp(s)
	if err := Resynchronize(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
		t.Fatal(err)
	}
	restart()
	status := s.Status().Tables[b.config.Tables[0].Policy.Table]
	t.Logf("%+v", status)
	if status.Stale != 2 || status.Expired < 39 {
		t.Errorf("not two records differ, or others are published")
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"ANALYZE", "CHECKPOINT"} {
		if _, err := b.store().Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	canaries := []string{"newernote", "newerillness", "newerjob", "newermood", "newerzip", "spilledjob", "spilledmood", "spillednote", "spilledillness", "name 1"}
	found := searchFolder(t, server.DataDir(), append(canaries, "illness 3")...)
	if !found["illness 3"] {
		t.Error("the search finds not even what is published")
	}
	for _, canary := range canaries {
		if found[canary] {
			t.Errorf("%s is found", canary)
		}
	}
}

// TestSealedGuardedIsFenced has another process make the tables of a generation anew, with records of its own, once the first one has
// stored those that it read: the first one notices, and does not take them for its own that somebody has changed.
func TestSealedGuardedIsFenced(t *testing.T) {
	t.Parallel()
	b := newSealedBench(t, pgtest.Shared(t), true, guardedPeople)
	b.fill(100)
	var log strings.Builder
	b.config.Logger = slog.New(slog.NewTextHandler(io.MultiWriter(&log, t.Output()), nil))
	other, first := connectTo(t, b.store().Config().ConnString()), true
	b.config.Failpoint = func(name string) {
		if name != FailRecordsFilled || !first {
			return
		}
		first = false
		if _, err := other.Exec(t.Context(), `ALTER TABLE kproxy_store.records_1 RENAME TO former; CREATE TABLE kproxy_store.records_1 AS TABLE kproxy_store.former; DROP TABLE kproxy_store.former;
			UPDATE kproxy_store.records_1 SET kproxy_ciphertext = sha512(kproxy_ciphertext); ALTER TABLE kproxy_store.records_1 OWNER TO `+b.config.Owner.User, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Error(err)
		}
	}
	s, stop := b.run()
	status := s.Status().Tables[b.config.Tables[0].Policy.Table]
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), "cannot be opened") || status.State != Published {
		t.Errorf("the first process takes the other's records for its own: %+v", status)
	}
}
