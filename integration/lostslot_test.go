package integration

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// loseSlot drops the replication slot behind kproxy's back.
func loseSlot(t *testing.T, s *site, conn *pgx.Conn) {
	t.Helper()
	eventually(t, "the slot is dropped", func() bool {
		execute(t, conn, "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = $1 AND active", s.slot)
		_, err := conn.Exec(t.Context(), "SELECT pg_drop_replication_slot($1)", s.slot)
		return err == nil
	})
}

// TestLostSlot loses changes with the slot, while kproxy is away and while it serves:
// both are healed, and readers see nothing of it.
func TestLostSlot(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy))
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	conn := connect(t, s.admin)
	loseSlot(t, s, conn)
	execute(t, conn, forward)
	p = s.serve(t)
	f := follow(t, s)
	f.reaches(t, 1)
	loseSlot(t, s, conn)
	execute(t, conn, forward)
	f.reaches(t, 2)
	f.end(t)
	if !strings.Contains(p.log.String(), "changes may have been lost") {
		t.Error("the log does not tell of it")
	}
	s.kproxy(t, "verify").must(t)
}

// TestStopOnLoss stops instead: the tables are withdrawn, who has read them is told,
// and it says what to do.
func TestStopOnLoss(t *testing.T) {
	t.Parallel()
	o := sqlSite(operatedSchema, countedPolicy+"readable: [public.wards]\n")
	o.settings = "replication: {recovery: stop}"
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	execute(t, connect(t, s.admin), "GRANT SELECT ON wards TO "+s.reader)
	p := s.serve(t)
	conn, reader, other := connect(t, s.admin), connect(t, s.url()), connect(t, s.url())
	execute(t, reader, "PREPARE counted AS SELECT count(*) FROM people")
	loseSlot(t, s, conn)
	execute(t, conn, forward)
	eventually(t, "who has prepared a statement on it is gone", func() bool { return reader.PgConn().Ping(t.Context()) != nil })
	if _, code, _ := countRows(t, other, "people"); code != "55000" {
		t.Errorf("a withdrawn table is refused with %q", code)
	}
	if _, code, _ := countRows(t, other, "wards"); code != "" {
		t.Errorf("other tables are refused with %q", code)
	}
	if status, code := s.statusJSON(t); code != 3 || !strings.Contains(fmt.Sprint(status.Needs), "replication slot "+s.slot+" is gone") {
		t.Errorf("status ends with %d: %+v", code, status.Needs)
	}
	if !p.awaitLog(t, "replication stopped; the protected tables are withdrawn.*kproxy resync") {
		t.Error("the process ended")
	}
	s.serveFails(t, s.beside(t, "second.yaml").config).speaks(t, 1, 6, s.slot, "is gone", "kproxy resync")
	s.kproxy(t, "resync").must(t)
	eventually(t, "it is healed", func() bool { rows, _, _ := countRows(t, other, "people"); return rows == operatedRows })
	if n := scalar[int](t, other, "SELECT max(n) FROM people"); n != 1 {
		t.Errorf("%d is shown", n)
	}
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
}
