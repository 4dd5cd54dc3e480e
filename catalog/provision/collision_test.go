package provision_test

import (
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog/provision"
)

// TestApplyTriesAgainAfterADeadlock has a session hold one of the tables that are to be
// published while it waits for the other.
func TestApplyTriesAgainAfterADeadlock(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	apply(t, admin, in) // it has roles and schemas: only locks of tables are waited for
	other, watcher := connect(t, admin.Config().ConnString()), connect(t, admin.Config().ConnString())
	const mode = " IN SHARE UPDATE EXCLUSIVE MODE"
	// The other side never looks for a deadlock, so that Apply is what ends it.
	execute(t, other, "BEGIN; SET LOCAL deadlock_timeout = '1h'; LOCK TABLE "+odd.SQL()+mode)
	applied := make(chan error, 1)
	go func() { applied <- provision.Apply(t.Context(), admin, in) }()
	awaitLocks(t, watcher, "public.patients", odd.SQL())
	execute(t, other, "LOCK TABLE public.patients"+mode+"; COMMIT") // granted once Apply has failed
	if err := <-applied; err != nil {
		t.Fatal(err)
	}
}

// awaitLocks waits until a session has locked one table and waits for another.
func awaitLocks(t *testing.T, conn *pgx.Conn, held, wanted string) {
	t.Helper()
	const waiting = `SELECT EXISTS (SELECT FROM pg_locks w JOIN pg_locks h USING (pid)
		WHERE NOT w.granted AND w.relation = $1::regclass AND h.granted AND h.relation = $2::regclass AND h.mode = w.mode)`
	for begun := time.Now(); ; {
		var found bool
		if err := conn.QueryRow(t.Context(), waiting, wanted, held).Scan(&found); err != nil {
			t.Fatal(err)
		}
		if found {
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("nobody holds %s and waits for %s", held, wanted)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestApplyAtOnce prepares databases of one server, all of one configuration, with the same roles at the
// same time.
func TestApplyAtOnce(t *testing.T) {
	t.Parallel()
	first, in := database(t)
	sessions := []*pgx.Conn{first}
	for range 3 {
		further, _ := database(t)
		sessions = append(sessions, further)
	}
	for _, admin := range sessions {
		in.Besides = append(in.Besides, admin.Config().Database)
	}
	var all sync.WaitGroup
	for _, admin := range sessions {
		all.Go(func() {
			if err := provision.Apply(t.Context(), admin, in); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
