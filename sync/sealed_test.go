package sync

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/seal"
)

// sealedTables are sourceTables, of whose protected one all texts are stable.
var sealedTables = strings.NewReplacer("mood mood,", "mood text,", "ward ward,", "ward text,").Replace(sourceTables)

// ringOf is a ring of keys that consist of one byte each.
func ringOf(t testing.TB, keys ...byte) *seal.Ring {
	t.Helper()
	var text []byte
	for _, b := range keys {
		text = append(base64.StdEncoding.AppendEncode(text, bytes.Repeat([]byte{b}, 32)), '\n')
	}
	ring, err := seal.ParseRing(text)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// newSealedBench has one protected table, people, whose store is on another server or database, and
// sealed unless it is to be plain.
func newSealedBench(t *testing.T, other *pgserver.Server, sealed bool, changes ...func(people *catalog.TablePolicy)) *bench {
	t.Helper()
	policy := testPolicy()
	policy.Tables = policy.Tables[:1]
	policy.Tables[0].Sealed = sealed
	for _, change := range changes {
		change(&policy.Tables[0])
	}
	b := newApartBench(t, pgtest.Shared(t), other, sealedTables, policy)
	if b.config.ranges = smallRanges; sealed {
		b.config.Seal = ringOf(t, 1)
	}
	return b
}

// published are the rows that readers see, sorted.
func (b *bench) published() string {
	b.t.Helper()
	rows, _ := b.store().Query(b.t.Context(), "SELECT p::text FROM kproxy_release_public.people p ORDER BY 1") // the rows carry its error
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(texts, "\n")
}

func (b *bench) sealedGeneration() (n int) {
	b.t.Helper()
	if err := b.store().QueryRow(b.t.Context(), "SELECT generation FROM kproxy_store.generation").Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

// pinned is a superuser's connection with the settings of a Syncer's.
func (b *bench) pinned(to *pgx.Conn) *pgx.Conn {
	b.t.Helper()
	config := to.Config().Copy()
	for name, value := range sessionSettings {
		config.RuntimeParams[name] = value
	}
	conn, err := pgx.ConnectConfig(b.t.Context(), config)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// checkSealed checks that the sealed store, opened, has exactly the source's rows, and that nothing
// else of it can be read.
func (b *bench) checkSealed() {
	b.t.Helper()
	table, err := newTable(b.config.Tables[0])
	if err != nil {
		b.t.Fatal(err)
	}
	store, source := b.pinned(b.store()), b.pinned(b.source)
	if err := store.QueryRow(b.t.Context(), "SELECT generation FROM kproxy_store.generation").Scan(&table.release.generation); err != nil {
		b.t.Fatal(err)
	}
	table.sealing.ring = b.config.Seal
	if err := table.begin(table.release.generation, 1, 1, 1); err != nil {
		b.t.Fatal(err)
	}
	if err := table.unseal(b.t.Context(), store.PgConn(), table.release.generation); err != nil {
		b.t.Fatal(err)
	}
	counts := map[string]int{}
	all := make([]int, len(table.layout.columns))
	for i := range all {
		all[i] = i
	}
	count := func(sign int) func([]value) error {
		return func(values []value) error {
			counts[fmt.Sprintf("%#v", values)] += sign
			return nil
		}
	}
	opened := newOpenedRows(table, all, &copyReader{columns: 1 + len(all), row: func(values []value) error { return count(1)(values[1:]) }})
	if _, err := store.PgConn().CopyTo(b.t.Context(), opened, "COPY (SELECT "+recordColumn+", "+sealedField+" FROM "+table.recordsTable()+") TO STDOUT"); err != nil {
		b.t.Fatal(err)
	}
	if err := copyOut(b.t.Context(), source.PgConn(), len(all), count(-1), "SELECT "+table.layout.columns.list("")+" FROM "+table.layout.source().sql()); err != nil {
		b.t.Fatal(err)
	}
	for row, n := range counts {
		if n != 0 {
			b.t.Errorf("the store has the row %.200s %d times more than the source", row, n)
		}
	}
	b.checkRelease()
	if b.t.Failed() {
		b.t.FailNow()
	}
}

// applied waits until the store has what is committed, without a transaction of its own: transactions
// then are applied one by one, and what becomes of them does not depend on how long they take.
func (b *bench) applied(s *Syncer) {
	b.t.Helper()
	var target pglogrepl.LSN
	if err := b.source.QueryRow(b.t.Context(), "SELECT pg_current_wal_insert_lsn()::text").Scan(&target); err != nil {
		b.t.Fatal(err)
	}
	await(b.t, "what is committed is applied", func() bool { return s.Status().Position >= target }, s)
}

// order has the records of the store lie in the order of their numbers: a start takes them as they
// lie, and rows that are longer lie elsewhere after a change.
func (b *bench) order() {
	b.t.Helper()
	if _, err := b.store().Exec(b.t.Context(), fmt.Sprintf("CLUSTER kproxy_store.stored_%[1]d USING stored_%[1]d_pkey", b.sealedGeneration())); err != nil {
		b.t.Fatal(err)
	}
}

// TestSealedIsAsUnsealed goes through the same history with a sealed store and with a plain one:
// changes that leave values out of the stream, wide rows, keys that change, restarts that load the
// store. Readers see the same, byte for byte, after every transaction. At last the sealed one is
// compared with a source that the stream did not tell of.
func TestSealedIsAsUnsealed(t *testing.T) {
	t.Parallel()
	const rows = 150
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			var benches [2]*bench
			var syncers [2]*Syncer
			var stops [2]func() error
			for i := range benches {
				b := newSealedBench(t, pgtest.Shared(t), i == 1)
				b.config.Heartbeat = 20 * time.Millisecond
				b.fill(rows)
				b.exec("UPDATE people SET note = repeat('w', 700) WHERE id % 9 = 0")
				benches[i] = b
				syncers[i], stops[i] = b.run()
			}
			end := func(i int) {
				if err := stops[i](); err != nil {
					t.Fatal(err)
				}
			}
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
						end(i)
						b.order()
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
			}
			end(1)
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
}

// TestSealedServerHoldsNothing searches every byte of the data directory of the release's server, of
// relations, log, statistics and what the server has logged, for what the source has planted: keys,
// quasi-identifiers, and values of rows that are withheld. What is published as it is has to be found,
// and all of it where the store is plain.
func TestSealedServerHoldsNothing(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{true, false} {
		t.Run(fmt.Sprintf("sealed=%v", sealed), func(t *testing.T) {
			server := ownServer(t, pgserver.Options{Settings: map[string]string{"log_statement": "all", "log_destination": "stderr", "logging_collector": "on", "log_min_duration_statement": "0"}})
			b := newSealedBench(t, server, sealed)
			b.exec("ALTER TABLE people ALTER zip SET STORAGE EXTERNAL")
			plant := func(from, to int) {
				b.exec(`INSERT INTO people SELECT 731852946170000000 + i, 'canaryname' || i, 20 + i % 60, 70, date '1950-01-01' + i, now(), md5(i::text) || 'canaryzip' || repeat('~', i % 3 * 1500), 'canaryjob' || i,
					'canarymood' || i, 'canaryward', '{}', 'publicnote' || i, 'illness ' || i % 7 FROM generate_series($1::int, $2) i`, from, to)
			}
			plant(1, 300)
			s, stop := b.run()
			plant(301, 330)
			b.exec("UPDATE people SET zip = md5(id::text) || 'canaryzip', id = id + 1000 WHERE id % 10 = 1")
			b.exec("UPDATE people SET age = age + 1 WHERE id % 7 = 1") // leaves long values out
			b.exec("DELETE FROM people WHERE id % 50 = 3")
			b.caughtUp(s)
			// One person is left, and withheld.
			b.exec("BEGIN; TRUNCATE people; INSERT INTO people VALUES (741852946170000001, 'canaryname', 55, 70, '1950-01-01', now(), 'canaryzip', 'canaryjob', 'withheldmood', 'A', '{}', 'withheldnote', 'withheldillness'); COMMIT", pgx.QueryExecModeSimpleProtocol)
			b.caughtUp(s)
			if status := s.Status().Tables[b.config.Tables[0].Policy.Table]; status.Withheld != 1 {
				t.Fatalf("the one person is published: %+v", status)
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			s, stop = b.run()
			b.caughtUp(s)
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			for _, sql := range []string{"ANALYZE", "CHECKPOINT"} {
				if _, err := b.store().Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			canaries := []string{"canaryname", "canaryzip", "canaryjob", "withheldmood", "withheldnote", "withheldillness", "73185294617", "74185294617"}
			ids := 0 // found as rows hold them
			for _, id := range []uint64{731852946170000002, 731852946170000304, 731852946170001011, 741852946170000001} {
				if found := searchFolder(t, server.DataDir(), string(binary.LittleEndian.AppendUint64(nil, id))); len(found) > 0 {
					ids++
				}
			}
			if (ids == 0) != sealed {
				t.Errorf("%d keys are found, with a sealed store: %v", ids, sealed)
			}
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

// searchFolder tells which of some texts stand in any file.
func searchFolder(t *testing.T, folder string, texts ...string) map[string]bool {
	t.Helper()
	found, files := map[string]bool{}, 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		files++
		for _, text := range texts {
			if bytes.Contains(content, []byte(text)) {
				found[text] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files were searched", files)
	return found
}

// TestSealedKeys starts with another key, which is refused before anything of the store is changed;
// replaces the key, after which the former one opens nothing; and replaces it back.
func TestSealedKeys(t *testing.T) {
	t.Parallel()
	b := newSealedBench(t, pgtest.Shared(t), true)
	b.fill(100)
	_, stop := b.run()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	state := func() (text string) {
		const sql = "SELECT (SELECT array_agg(p::text) FROM kproxy_store.position p)::text || (SELECT array_agg(g::text) FROM kproxy_store.generation g)::text || (SELECT array_agg(s::text) FROM kproxy_store.seal s)::text"
		if err := b.store().QueryRow(t.Context(), sql).Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	refused := func(keys ...byte) {
		t.Helper()
		before, rows := state(), b.published()
		b.config.Seal = ringOf(t, keys...)
		s, err := New(b.config)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Run(t.Context())
		stop := (*StopError)(nil)
		if !errors.As(err, &stop) || !strings.Contains(stop.What, "is not among those of release.seal") || stop.Fix == "" {
			t.Fatalf("keys %v: %v", keys, err)
		}
		if s.Status().State != Stopped {
			t.Errorf("the status is %+v", s.Status())
		}
		if state() != before || b.published() != rows {
			t.Error("the store was changed")
		}
	}
	with := func(keys ...byte) {
		t.Helper()
		b.config.Seal = ringOf(t, keys...)
		b.exec("UPDATE people SET age = age + 1 WHERE id % 2 = 0")
		s, stop := b.run()
		b.caughtUp(s)
		b.checkSealed()
		if ids, err := SealedWith(t.Context(), b.store()); err != nil || !slices.Equal(ids, []string{b.config.Seal.First()}) {
			t.Errorf("the store is sealed with %v, %v", ids, err)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
	refused(2)
	with(2, 1)
	refused(1)
	with(2)
	with(1, 2)
	with(1)
	b.config.Seal = nil
	if _, err := New(b.config); err == nil {
		t.Error("a sealed store is taken without a key")
	}
}

// TestSpoiledSeal changes a bit of a row, exchanges two rows, and spoils a data key. The table is
// halted, says so, and a rebuild heals it, under a data key of its own.
func TestSpoiledSeal(t *testing.T) {
	t.Parallel()
	b := newSealedBench(t, pgtest.Shared(t), true)
	b.fill(100)
	_, stop := b.run()
	people := b.config.Tables[0].Policy.Table
	for name, spoil := range map[string]string{
		"a bit":      "UPDATE kproxy_store.stored_%[1]d SET kproxy_ciphertext = set_bit(kproxy_ciphertext, 300, 1 - get_bit(kproxy_ciphertext, 300)) WHERE kproxy_record = 7",
		"the end":    "UPDATE kproxy_store.stored_%[1]d SET kproxy_ciphertext = substr(kproxy_ciphertext, 1, 60) WHERE kproxy_record = 7",
		"another's":  "UPDATE kproxy_store.stored_%[1]d s SET kproxy_ciphertext = o.kproxy_ciphertext FROM kproxy_store.stored_%[1]d o WHERE s.kproxy_record = 7 AND o.kproxy_record = 8",
		"the key":    "UPDATE kproxy_store.seal SET wrapped = set_byte(wrapped, 20, 255 - get_byte(wrapped, 20))",
		"no key":     "DELETE FROM kproxy_store.seal",
		"a row less": "DELETE FROM kproxy_store.stored_%[1]d WHERE kproxy_record = 7",
		"a class":    "UPDATE kproxy_store.packed_%[1]d SET kproxy_members = kproxy_members[1:1]",
	} {
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := b.store().Exec(t.Context(), strings.ReplaceAll(spoil, "%[1]d", fmt.Sprint(b.sealedGeneration()))); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "no key" { // as after the operator's was lost
			b.config.Seal = ringOf(t, 9)
		}
		var s *Syncer
		s, stop = b.run()
		await(t, "the table is halted", func() bool { return s.Status().Tables[people].State == Halted }, s)
		if status := s.Status().Tables[people]; !strings.Contains(status.Problem, "private store") || !strings.Contains(status.Fix, "kproxy rebuild public.people") {
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
		var keys int
		if err := b.store().QueryRow(t.Context(), "SELECT count(*) FROM kproxy_store.seal").Scan(&keys); err != nil || keys != 1 {
			t.Errorf("%s: there are %d data keys, %v", name, keys, err)
		}
	}
}

// TestSpoiledWhileApplied spoils a row that a change needs: the table is halted, and not a value is
// made of it.
func TestSpoiledWhileApplied(t *testing.T) {
	t.Parallel()
	b := newSealedBench(t, pgtest.Shared(t), true)
	b.fill(100)
	b.exec("UPDATE people SET note = repeat('n', 9000)")
	s, _ := b.run()
	if _, err := b.store().Exec(t.Context(), fmt.Sprintf("UPDATE kproxy_store.stored_%d SET kproxy_ciphertext = set_bit(kproxy_ciphertext, 300, 1 - get_bit(kproxy_ciphertext, 300))", b.sealedGeneration())); err != nil {
		t.Fatal(err)
	}
	b.exec("UPDATE people SET age = age + 1 WHERE id = 7") // leaves the note out
	people := b.config.Tables[0].Policy.Table
	await(t, "the table is halted", func() bool { return s.Status().Tables[people].State == Halted }, s)
	if status := s.Status().Tables[people]; !strings.Contains(status.Problem, "cannot be opened") {
		t.Errorf("it is halted since %s", status.Problem)
	}
}

// TestSealedInPieces has more of long values written at once than is read together.
func TestSealedInPieces(t *testing.T) {
	most := sealedBytes
	sealedBytes = 30_000
	t.Cleanup(func() { sealedBytes = most })
	b := newSealedBench(t, pgtest.Shared(t), true)
	b.fill(100)
	b.exec("UPDATE people SET note = repeat('n', 9000)")
	s, stop := b.run()
	b.caughtUp(s)
	b.exec("UPDATE people SET illness = illness || '!' WHERE id % 2 = 0") // leaves the notes out
	b.exec("UPDATE people SET age = 90 - age")
	b.caughtUp(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.checkSealed()
}

// TestSealingAndUnsealing has a plain store sealed, and a sealed one be plain, by the policy alone.
func TestSealingAndUnsealing(t *testing.T) {
	t.Parallel()
	b := newSealedBench(t, pgtest.Shared(t), false)
	b.fill(100)
	_, stop := b.run()
	for _, sealed := range []bool{true, false} {
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		before := b.published()
		b.config.Tables = slices.Clone(b.config.Tables)
		b.config.Tables[0].Policy.Sealed, b.config.Seal = sealed, ringOf(t, 1)
		var s *Syncer
		s, stop = b.run()
		await(t, "the table is published afresh", func() bool { return !s.Status().Tables[b.config.Tables[0].Policy.Table].Preparing }, s)
		b.caughtUp(s)
		if b.published() != before {
			t.Errorf("sealed %v: it is published in another way", sealed)
		}
		ids, err := SealedWith(t.Context(), b.store())
		if err != nil || (len(ids) > 0) != sealed {
			t.Errorf("sealed %v: the store is sealed with %v, %v", sealed, ids, err)
		}
		if sealed {
			b.checkSealed()
		} else {
			b.checkStore(s)
		}
	}
}

// TestUnsealable refuses tables of which a part would stay plain.
func TestUnsealable(t *testing.T) {
	t.Parallel()
	b := newSealedBench(t, pgtest.Shared(t), true)
	for want, alter := range map[string]func(*catalog.Publication){
		"one division into classes": func(p *catalog.Publication) {
			var known []string
			for _, c := range p.Policy.Columns {
				if c.Role == catalog.QuasiIdentifying {
					known = append(known, c.Name)
				}
			}
			p.Policy.Constraints = []privacy.Spec{{Model: privacy.K, K: 2, Over: known[:2]}, {Model: privacy.K, K: 3, Over: known[2:]}}
		},
		"has a subject": func(p *catalog.Publication) { p.Policy.Subject = "zip" },
		"have no key":   func(p *catalog.Publication) { p.Relation.KeyRepeats = true },
		"whose text": func(p *catalog.Publication) {
			p.Relation.Columns = slices.Clone(p.Relation.Columns)
			i := slices.IndexFunc(p.Relation.Columns, func(c catalog.Column) bool { return c.Name == "mood" })
			p.Relation.Columns[i].BaseType = "money"
		},
	} {
		p := b.config.Tables[0]
		alter(&p)
		if _, err := newTable(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := newTable(b.config.Tables[0]); err != nil {
		t.Error(err)
	}
}
