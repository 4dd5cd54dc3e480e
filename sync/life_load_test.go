package sync

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// loadedWard is a ward with so many records of both tables that the store is read in ranges
// by several connections, and a Syncer that has ended.
func loadedWard(t *testing.T) *bench {
	t.Helper()
	b := newWard(t, pgtest.Shared(t))
	for _, table := range []string{"ward", "visits"} {
		b.script("INSERT INTO " + table + " SELECT " + visit("i") + " FROM generate_series(1000, 3000) i")
	}
	b.inRanges()
	l := b.start()
	l.inStep()
	l.stop()
	b.ownerGone()
	return b
}

// looking is a session that may look at the store as the one that applies would, and what it
// finds there.
func (b *bench) looking() (*session, map[catalog.Name]generation) {
	b.t.Helper()
	s, err := New(b.config)
	if err != nil {
		b.t.Fatal(err)
	}
	ses := &session{syncer: s, store: store{slot: s.config.Slot, epoch: scanned[int64](b, "SELECT epoch FROM kproxy_store.position")}}
	if ses.store.conn, err = s.open(b.t.Context(), followerName); err != nil {
		b.t.Fatal(err)
	}
	ses.store.source = ses.store.conn
	b.t.Cleanup(func() { closeConn(ses.store.conn) })
	found, err := ses.store.generations(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return ses, found
}

// loaders are the sessions that load the store, but for the first one.
const loaders = `FROM pg_stat_activity WHERE usename = $1 AND state = 'idle in transaction' AND query LIKE '%SET TRANSACTION SNAPSHOT%'`

// appliers are the connections of the process that applies, whatever they do; the oldest is the
// first one of a load.
const appliers = `FROM pg_stat_activity WHERE usename = $1 AND application_name = $2 AND backend_type = 'client backend'`

// TestLoadsBySeveralConnections changes the tables while no Syncer runs, and while one
// loads: what is loaded is what stands in the store.
func TestLoadsBySeveralConnections(t *testing.T) {
	t.Parallel()
	b := loadedWard(t)
	generation := b.generationOf("ward")
	b.alter()
	h := b.holdAt(FailStoreSeen)
	l := b.start()
	b.awaitHeld(h)
	want := smallRanges.connections - 1
	if scanned[bool](b, "SELECT current_setting('server_version_num')::int < 140000") {
		want = 1 // the records are one range there
	}
	if n := scanned[int](b, "SELECT count(*) "+loaders, b.config.Owner.User); n != want {
		t.Errorf("%d connections load the store beside the first one", n)
	}
	b.alter()
	h.free()
	l.inStep()
	b.alter()
	l.inStep()
	if n := scanned[int](b, "SELECT count(*) "+loaders, b.config.Owner.User); n != 0 {
		t.Errorf("%d connections are left", n)
	}
	l.stop()
	if b.generationOf("ward") != generation {
		t.Error("the table was published afresh")
	}
}

// TestLoadIsKilled ends a process, or connections, where the store of an immediate table is
// being loaded, or that of the guarded one behind it. The next attempt takes over the same
// classes.
func TestLoadIsKilled(t *testing.T) {
	t.Parallel()
	cut := func(which string) func(b *bench, point string, pass int) {
		return func(b *bench, point string, pass int) {
			h := b.holdAtPass(point, pass)
			l := b.start()
			b.awaitHeld(h)
			if n := scanned[int](b, "SELECT count(pg_terminate_backend(pid)) "+which, b.config.Owner.User, ApplierName(b.config.Slot)); n == 0 {
				b.t.Error("there is no such connection")
			}
			h.free()
			l.inStep()
			l.stop()
		}
	}
	for name, fault := range map[string]func(b *bench, point string, pass int){
		"process": func(b *bench, point string, pass int) {
			c := b.spawn(errand{Die: point, Spare: int64(pass - 1), Ranges: true})
			c.dies()
		},
		"canceled": func(b *bench, point string, pass int) {
			h := b.holdAtPass(point, pass)
			l := b.start()
			b.awaitHeld(h)
			l.cancel()
			h.free()
			<-l.done
		},
		"one reader":  cut(appliers + " AND backend_start = (SELECT max(backend_start) " + appliers + ")"),
		"all readers": cut(appliers + " AND backend_start > (SELECT min(backend_start) " + appliers + ")"),
		"first":       cut(appliers + " AND backend_start = (SELECT min(backend_start) " + appliers + ")"),
	} {
		for _, point := range []string{FailStoreSeen, FailLoading} {
			for pass, table := range []string{"ward", "visits"} {
				t.Run(name+"/"+point+"/"+table, func(t *testing.T) {
					t.Parallel()
					b := loadedWard(t)
					before := b.stores()
					fault(b, point, pass+1)
					b.ownerGone()
					if after := b.stores(); after != before {
						t.Errorf("the stores are %v, they were %v", after, before)
					}
					b.config.Failpoint = nil
					b.alter()
					l := b.start()
					l.inStep()
					l.stop()
					if after := b.stores(); after[0].generation != before[0].generation || after[1].generation != before[1].generation {
						t.Error("a table was published afresh")
					}
				})
			}
		}
	}
}

// storeDigest tells the generation of a table's store, and a digest of what it has.
type storeDigest struct {
	generation int
	records    string
}

// stores are those of both tables of a ward.
func (b *bench) stores() (digests [2]storeDigest) {
	for i, table := range []string{"ward", "visits"} {
		generation := b.generationOf(table)
		digests[i] = storeDigest{generation, scanned[string](b, fmt.Sprintf("SELECT md5(string_agg(r::text, ',' ORDER BY kproxy_record)) FROM kproxy_store.records_%d r", generation))}
	}
	return digests
}

// TestLoadIsRefused has a store that cannot be: its table is halted, on the connection that
// has read it, and the other one goes on.
func TestLoadIsRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]string{
		"a record twice":           "INSERT INTO kproxy_store.packed_%[1]d SELECT * FROM kproxy_store.packed_%[1]d LIMIT 1",
		"a record that is missing": "DELETE FROM kproxy_store.stored_%[1]d WHERE kproxy_record = 7",
		"a key twice":              "UPDATE kproxy_store.stored_%[1]d SET id = 8 WHERE kproxy_record = 7 OR id = 8",
		"no class":                 "UPDATE kproxy_store.packed_%[1]d SET kproxy_class = NULL WHERE kproxy_class = (SELECT min(kproxy_class) FROM kproxy_store.packed_%[1]d)",

		"guarded, a record twice":        "ALTER TABLE kproxy_store.records_%[2]d DROP CONSTRAINT IF EXISTS records_%[2]d_pkey; DROP INDEX IF EXISTS kproxy_store.records_%[2]d_kproxy_record_idx; INSERT INTO kproxy_store.records_%[2]d SELECT * FROM kproxy_store.records_%[2]d WHERE kproxy_record = 7",
		"guarded, a row twice":           "INSERT INTO kproxy_store.release_%[2]d SELECT * FROM kproxy_store.release_%[2]d LIMIT 1",
		"guarded, a row that is missing": "DELETE FROM kproxy_store.release_%[2]d WHERE kproxy_row = (SELECT kproxy_row FROM kproxy_store.records_%[2]d WHERE kproxy_record = 7)",
		"guarded, a row of two":          "UPDATE kproxy_store.records_%[2]d SET (kproxy_class, kproxy_row) = (SELECT kproxy_class, kproxy_row FROM kproxy_store.records_%[2]d WHERE kproxy_record = 8) WHERE kproxy_record = 7",
		"guarded, a key twice":           "UPDATE kproxy_store.records_%[2]d SET id = 8 WHERE kproxy_record = 7 OR id = 8",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spoiled, other := wardTable, visitsTable
			if strings.HasPrefix(name, "guarded") {
				spoiled, other = other, spoiled
			}
			b := loadedWard(t)
			b.script(fmt.Sprintf(spoil, b.generationOf("ward"), b.generationOf("visits")))
			l := b.start()
			l.eventually("the table is halted", func() bool { return l.Status().Tables[spoiled].State == Halted })
			l.eventually("the other one goes on", func() bool { return l.Status().Tables[other].State == Published && l.Status().State == Streaming })
			status := l.Status().Tables[spoiled]
			if status.Problem == "" || strings.Contains(status.Problem, "SQLSTATE 25") || !strings.Contains(status.Fix, "'kproxy rebuild ") {
				t.Errorf("it is halted for %q; %s", status.Problem, status.Fix)
			}
			if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{spoiled}); err != nil {
				t.Fatal(err)
			}
			l.inStep()
			l.stop()
		})
	}
}

// TestLoadIsTheSame loads a guarded table by several connections and by one.
func TestLoadIsTheSame(t *testing.T) {
	t.Parallel()
	b := loadedWard(t)
	ses, found := b.looking()
	at := slices.IndexFunc(b.config.Tables, func(p catalog.Publication) bool { return p.Policy.Table == visitsTable })
	load := func() *table {
		of, err := newTable(b.config.Tables[at])
		if err != nil {
			t.Fatal(err)
		}
		if err := ses.loadStored(t.Context(), of, found[visitsTable]); err != nil {
			t.Fatal(err)
		}
		return of
	}
	several := load()
	ses.syncer.config.ranges = readingPlan{blocks: 1 << 30}
	one := load()
	status, rows := several.mode.status(), func(of *table) (all []lineage.NewRow) {
		guarded := of.mode.(*guarded)
		for class := range guarded.lineage.Classes() {
			all = append(all, guarded.lineage.RowsOf(class)...)
		}
		slices.SortFunc(all, func(a, b lineage.NewRow) int { return int(a.ID - b.ID) })
		return all
	}
	if !reflect.DeepEqual(status, one.mode.status()) || status.Records < 2000 || !slices.Equal(rows(several), rows(one)) {
		t.Errorf("loaded by several connections %+v, by one %+v, or with other rows", status, one.mode.status())
	}
	for id := range incremental.RecordID(status.Records) {
		x, y := several.mode.row(id+1), one.mode.row(id+1)
		if x, y := fmt.Sprint(x), fmt.Sprint(y); x != y { // as texts, since NaN is not NaN
			t.Fatalf("record %d is %s by several connections, %s by one", id+1, x, y)
		}
	}
}

// TestRenumbered has numbers of one dictionary looked up in another.
func TestRenumbered(t *testing.T) {
	t.Parallel()
	from, to := privacy.NewDictionary(), privacy.NewDictionary()
	to.Code("both")
	to.Code("there")
	from.Code("here")
	from.Null()
	from.Code("both")
	if got := renumbered([]*privacy.Dictionary{from}, []*privacy.Dictionary{to}); !slices.Equal(got[0], []uint32{2, 3, 0}) || to.Len() != 4 {
		t.Errorf("%v, and %d numbers are known", got, to.Len())
	}
}

// TestLoadIsOfOneState has the store move on between the moment at which its position was
// read and that at which it is loaded, as where another process has taken over.
func TestLoadIsOfOneState(t *testing.T) {
	t.Parallel()
	b := loadedWard(t)
	ses, found := b.looking()
	take := func() error {
		of, err := newTable(b.config.Tables[0])
		if err != nil {
			t.Fatal(err)
		}
		return ses.loadStored(t.Context(), of, found[wardTable])
	}
	if err := take(); err != nil {
		t.Fatal(err)
	}
	for _, moved := range []string{"UPDATE kproxy_store.generation SET lsn = '0/1'", "UPDATE kproxy_store.position SET epoch = epoch + 1"} {
		b.exec(moved)
		if err := take(); err == nil || !transient(err) {
			t.Errorf("%s: the store is loaded with the error %v", moved, err)
		}
	}
}

// TestLoadWithoutRecords has a store that lacks the records of one table: it is halted, and
// the other one goes on.
func TestLoadWithoutRecords(t *testing.T) {
	t.Parallel()
	b := loadedWard(t)
	b.exec(fmt.Sprintf("DROP TABLE kproxy_store.stored_%d CASCADE", b.generationOf("ward")))
	l := b.start()
	defer l.stop()
	l.eventually("the table is halted and the other goes on", func() bool {
		return l.Status().Tables[wardTable].State == Halted && l.Status().Tables[visitsTable].State == Published && l.Status().State == Streaming
	})
}

// TestLoadSeesOneSnapshot has the store move on when all connections have their snapshot.
func TestLoadSeesOneSnapshot(t *testing.T) {
	t.Parallel()
	b := loadedWard(t)
	number := b.generationOf("ward")
	b.config.Failpoint = func(name string) {
		if name == FailStoreSeen {
			b.exec(fmt.Sprintf(`DELETE FROM kproxy_store.stored_%[1]d WHERE kproxy_record IN (SELECT (unnest(kproxy_members)).kproxy_record FROM kproxy_store.packed_%[1]d WHERE kproxy_class %% 2 = 0)`, number))
			b.exec(fmt.Sprintf(`DELETE FROM kproxy_store.packed_%d WHERE kproxy_class %% 2 = 0`, number))
		}
	}
	records := scanned[int](b, fmt.Sprintf("SELECT count(*) FROM kproxy_store.stored_%d", number))
	classes := scanned[int](b, fmt.Sprintf("SELECT count(DISTINCT kproxy_class) FROM kproxy_store.packed_%d", number))
	ses, found := b.looking()
	of, err := newTable(b.config.Tables[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := ses.loadStored(t.Context(), of, found[wardTable]); err != nil {
		t.Fatal(err)
	}
	p := partsOf(of)[0].partition
	if p.Len() != records || p.Classes() != classes || p.Withheld() != 0 {
		t.Errorf("%d records, %d classes, want %d, %d", p.Len(), p.Classes(), records, classes)
	}
	if n := scanned[int](b, fmt.Sprintf("SELECT count(*) FROM kproxy_store.stored_%d", number)); n == records {
		t.Error("nothing was deleted meanwhile")
	}
}
