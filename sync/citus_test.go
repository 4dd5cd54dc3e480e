package sync

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// newCitusBench is newApartBench with the store on the coordinator of a cluster.
func newCitusBench(t *testing.T, cluster *pgtest.Cluster) *bench {
	t.Helper()
	b := &bench{t: t, dsn: pgtest.Database(t, pgtest.Shared(t)), distributed: true}
	// The reader is looked for at the source, where other benches have it as well.
	return b.beside(pgtest.Shared(t), cluster.Database(t), sourceTables+`DO $$ BEGIN EXECUTE 'CREATE ROLE reader_' || current_database(); END $$`, testPolicy())
}

// asReader connects as the reader to the coordinator.
func (b *bench) asReader() *pgx.Conn {
	b.t.Helper()
	return connectTo(b.t, b.store().Config().ConnString()+"&user="+b.config.Reader)
}

// count is the result of a query for one number.
func count(t *testing.T, conn *pgx.Conn, query string) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// releasedPeople is a query for the number of rows that readers have of people.
const releasedPeople = `SELECT count(*) FROM kproxy_release_public.people`

// TestCitus lives through random changes and restarts with a release on two workers, both of which have a share of it.
func TestCitus(t *testing.T) {
	t.Parallel()
	cluster := pgtest.Citus(t, 2)
	const rows = 300
	b := newCitusBench(t, cluster)
	b.fill(rows)
	r := rand.New(rand.NewPCG(11, 0))
	for range 3 {
		s, stop := b.run()
		b.caughtUp(s)
		b.checkStore(s)
		for range 40 {
			b.transaction(r, rows)
		}
		b.caughtUp(s)
		b.checkStore(s)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		b.change(r, rows)
	}
	const shares = `SELECT count(DISTINCT nodeport) FROM citus_shards WHERE table_name::text ~ 'packed_'`
	if workers := count(t, b.store(), shares); workers != 2 {
		t.Errorf("rows are on %d workers", workers)
	}
	b.hasWall(cluster)
	b.moveShards()
	reader := b.asReader()
	if _, err := reader.Exec(t.Context(), releasedPeople); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("shards that others have moved are read before kproxy has granted them: %v", err)
	}
	s, _ := b.run()
	b.caughtUp(s)
	b.checkStore(s)
	if n := count(t, reader, releasedPeople); n != count(t, b.source, "SELECT count(*) FROM people") {
		t.Errorf("%d rows are read", n)
	}
}

// hasWall has the reader read the release, and nothing else of the store or the workers, on the coordinator.
func (b *bench) hasWall(cluster *pgtest.Cluster) {
	b.t.Helper()
	reader := b.asReader()
	if n := count(b.t, reader, releasedPeople); n < count(b.t, b.source, "SELECT count(*) FROM people")-10 {
		b.t.Errorf("%d rows are read", n)
	}
	packed := count(b.t, b.store(), "SELECT generation FROM kproxy_store.generation WHERE table_name = 'people'")
	refused := []string{
		fmt.Sprintf("SELECT * FROM kproxy_store.packed_%d", packed), fmt.Sprintf("SELECT * FROM kproxy_store.stored_%d", packed),
		"SELECT run_command_on_workers('SELECT 1')", "SELECT run_command_on_all_nodes('SELECT 1')", "SELECT run_command_on_coordinator('SELECT 1')",
		fmt.Sprintf("SELECT run_command_on_shards('kproxy_store.packed_%d', 'SELECT 1 FROM %%s')", packed),
		fmt.Sprintf("SELECT run_command_on_placements('kproxy_store.packed_%d', 'SELECT 1 FROM %%s')", packed),
		"SELECT recover_prepared_transactions()",
	}
	for _, statement := range refused {
		if _, err := reader.Exec(b.t.Context(), statement); err == nil || !strings.Contains(err.Error(), "permission denied") {
			b.t.Errorf("%s: %v", statement, err)
		}
	}
	for _, w := range cluster.Workers {
		worker := connectTo(b.t, w.DSN(b.store().Config().Database))
		if n := count(b.t, worker, "SELECT count(*) FROM pg_class WHERE relnamespace = 'kproxy_store'::regnamespace AND relname ~ '^(stored|records|member|position|departed|generation)'"); n > 0 {
			b.t.Errorf("a worker has %d tables of the private store", n)
		}
	}
}

// moveShards moves all shards of one worker to the other one.
func (b *bench) moveShards() {
	b.t.Helper()
	const move = `SELECT citus_move_shard_placement(s.shardid, s.nodename, s.nodeport, o.nodename, o.nodeport, 'block_writes')
		FROM citus_shards s CROSS JOIN (SELECT nodename, min(nodeport) AS nodeport FROM pg_dist_node WHERE groupid <> 0 GROUP BY 1) o
		WHERE s.table_name::text ~ 'packed_' AND s.nodeport <> o.nodeport`
	if _, err := b.store().Exec(b.t.Context(), move); err != nil {
		b.t.Fatal(err)
	}
}

// TestCitusCommits ends a worker, or the coordinator, between the two phases of a commit: what the coordinator has committed, the
// workers commit before kproxy goes on, and what it has not, they take back.
func TestCitusCommits(t *testing.T) {
	t.Parallel()
	cluster := pgtest.Citus(t, 2)
	b := newCitusBench(t, cluster)
	b.fill(120)
	prepared := func() (n int) {
		for _, w := range cluster.Workers {
			n += count(t, connectTo(t, w.DSN(b.store().Config().Database)), "SELECT count(*) FROM pg_prepared_xacts")
		}
		return n
	}
	restart := func(servers ...*pgserver.Server) {
		for _, s := range servers {
			if err := s.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, end := range map[string]func(){
		"workers": func() {
			for _, w := range cluster.Workers {
				if err := w.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			b.commitsWait(false)
			restart(cluster.Workers...)
		},
		"coordinator": func() {
			_ = b.store().Close(t.Context())
			if err := cluster.Coordinator.Kill(); err != nil {
				t.Fatal(err)
			}
			restart(cluster.Coordinator)
			b.apart = connectTo(t, b.apart.Config().ConnString())
			b.commitsWait(false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, stop := b.run()
			b.caughtUp(s)
			b.checkStore(s)
			// A commit that waits for a standby is decided, and has not reached the workers.
			b.commitsWait(true)
			b.exec("UPDATE people SET age = age + 40, illness = 'new' WHERE id % 3 = 0")
			await(t, "workers have prepared", func() bool { return prepared() > 0 })
			end()
			_ = stop()
			left := prepared()
			s, stop = b.run()
			b.caughtUp(s)
			b.checkStore(s)
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			if n := prepared(); left == 0 || n > 0 {
				t.Errorf("%d transactions were left, and %d are still", left, n)
			}
		})
	}
	b.abandons(cluster.Workers[0])
	s, _ := b.run()
	b.exec("UPDATE people SET age = age + 7")
	b.caughtUp(s)
	b.checkStore(s)
	if n := prepared(); n > 0 {
		t.Errorf("%d transactions that were not committed are left", n)
	}
}

// commitsWait has the coordinator's commits wait for a standby that there is not, or no more.
func (b *bench) commitsWait(wait bool) {
	b.t.Helper()
	standby := ""
	if wait {
		standby = "nobody"
	}
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + standby + "'", "SELECT pg_reload_conf()"} {
		if _, err := b.store().Exec(b.t.Context(), statement); err != nil {
			b.t.Fatal(err)
		}
	}
	await(b.t, "the setting is taken", func() bool {
		return count(b.t, b.store(), "SELECT (current_setting('synchronous_standby_names') = '"+standby+"')::int") == 1
	})
}

// abandons leaves a transaction on a worker that deletes all rows and was not committed on the coordinator.
func (b *bench) abandons(w *pgserver.Server) {
	b.t.Helper()
	worker := connectTo(b.t, w.DSN(b.store().Config().Database)+"&user="+b.config.Owner.User)
	if _, err := worker.Exec(b.t.Context(), "SET citus.override_table_visibility = off"); err != nil {
		b.t.Fatal(err)
	}
	var shard string
	if err := worker.QueryRow(b.t.Context(), "SELECT oid::regclass::text FROM pg_class WHERE relname ~ '^packed_[0-9]+_[0-9]+$' AND relkind = 'r' LIMIT 1").Scan(&shard); err != nil {
		b.t.Fatal(err)
	}
	if _, err := worker.Exec(b.t.Context(), "BEGIN; DELETE FROM "+shard+"; PREPARE TRANSACTION 'citus_0_99999999_99999999_0'", pgx.QueryExecModeSimpleProtocol); err != nil {
		b.t.Fatal(err)
	}
}
