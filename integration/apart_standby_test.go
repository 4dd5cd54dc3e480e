package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// siteOnStandby is a hospital at a server of 17, and a standby of that.
func siteOnStandby(t *testing.T) (s *site, standby *pgserver.Server) {
	t.Helper()
	o := hospitalSite()
	o.apart = sharedServer(t) // before the version is chosen
	t.Setenv(pgserver.BinDirVariable, "")
	t.Setenv(pgserver.MajorVariable, "17")
	found, err := pgserver.Find(t.Context(), "")
	if errors.Is(err, pgserver.ErrNotFound) {
		t.Skipf("there is no PostgreSQL 17: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	options := pgserver.Options{BinDir: found.Dir}
	o.server = ownServer(t, options)
	o.tables = strings.Replace(o.tables, "readable: [public.icd10, public.wards]", "readable: []", 1)
	s = newSite(t, o)
	options.Settings = map[string]string{"hot_standby_feedback": "on"}
	standby, err = o.server.Standby(t.Context(), pgserver.StandbyOptions{Options: options, Slot: "standby"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Stop() })
	return s, standby
}

// TestSourceOnStandby serves a hospital from a standby of the source's server: it is set up at the primary, refused as
// long as nothing says that a standby is meant, and followed while the primary is away, promoted, and afterwards.
func TestSourceOnStandby(t *testing.T) {
	s, standby := siteOnStandby(t)
	here, there := fmt.Sprintf("  port: %d\n  database: %s\n  user: source_", s.server.Port(), s.database), fmt.Sprintf("  port: %d\n  database: %s\n  user: source_", standby.Port(), s.database)
	const reader, bounded = "    password_file: reader.password\n", "    password_file: reader.password\n    max_staleness: 20s\n"
	unsaid := s.edit(t, "unsaid.yaml", here, there)
	s.config = s.edit(t, "kproxy.yaml", here, fmt.Sprintf("  primary: 127.0.0.1:%d\n", s.server.Port())+there)
	s.config = s.edit(t, "kproxy.yaml", reader, bounded)
	script := s.kproxy(t, "setup", "--print", "--side", "source").must(t).stdout
	if !strings.Contains(script, "GRANT EXECUTE ON FUNCTION pg_catalog.pg_log_standby_snapshot()") {
		t.Error("the script does not let the role have the primary log what a slot waits for")
	}
	s.kproxy(t, "setup").must(t)
	if err := standby.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out := s.kproxy(t, "check", "--config", unsaid); out.code == 0 || !strings.Contains(out.stdout+out.stderr, "the source is a standby, and nothing says that it is meant to be") {
		t.Errorf("a standby that is not meant is taken: %d, %s", out.code, out.stdout)
	}
	if out := s.kproxy(t, "check").must(t); strings.Contains(out.stdout, "standby") {
		t.Errorf("the check finds something of the standby: %s", out.stdout)
	}

	p := s.serve(t)
	conn, primary := connect(t, s.url()), connect(t, s.admin)
	s.deletes(t, "at the primary", s.admin, 3)
	if slots := scalar[int](t, primary, "SELECT count(*) FROM pg_replication_slots WHERE slot_type = 'logical'"); slots != 0 {
		t.Errorf("the primary has %d logical slots", slots)
	}
	if told := s.standing(t); told.Promoted || !told.Receives || told.Primary != "" {
		t.Errorf("status tells %+v", told)
	}
	if out := s.kproxy(t, "status").must(t); !strings.Contains(out.stdout, "the source is a standby; what it has replayed last was committed") {
		t.Errorf("status does not tell of the standby: %s", out.stdout)
	}
	s.kproxy(t, "verify").must(t)
	s.kproxy(t, "resync").must(t)

	// The primary is away. How old what readers have may be is not known then.
	s.config = s.edit(t, "kproxy.yaml", bounded, reader)
	s.kproxy(t, "reload").must(t)
	if err := standby.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.server.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "status tells that the standby receives nothing", func() bool {
		told := s.standing(t)
		return !told.Receives && told.Primary != ""
	})
	if scalar[int](t, conn, "SELECT count(*) FROM patients") == 0 {
		t.Error("readers have nothing while the primary is away")
	}
	s.config = s.edit(t, "kproxy.yaml", reader, bounded)
	s.kproxy(t, "reload").must(t)
	eventually(t, "readers are refused", func() bool { return psql(t, s.url(), "SELECT count(*) FROM patients").code != 0 })
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "readers are served again", func() bool { return psql(t, s.url(), "SELECT count(*) FROM patients").code == 0 })
	promoted := standby.DSN(s.database)
	s.deletes(t, "after the promotion", promoted, 5)
	if told := s.standing(t); !told.Promoted {
		t.Errorf("status tells %+v", told)
	}
	if strings.Contains(p.log.String(), "changes may have been lost") {
		t.Error("changes were taken for lost")
	}
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	if err := s.server.Restart(t.Context()); err != nil { // for those who tidy up
		t.Fatal(err)
	}
}

// deletes removes patients at a server, and waits until readers miss them.
func (s *site) deletes(t *testing.T, when, at string, digit int) {
	t.Helper()
	source, conn := connect(t, at), connect(t, s.url())
	execute(t, source, fmt.Sprintf("DELETE FROM patients WHERE patient_id %% 10 = %d", digit))
	left := scalar[int](t, source, "SELECT count(*) FROM patients")
	eventually(t, "the deletions are published "+when, func() bool { return scalar[int](t, conn, "SELECT count(*) FROM patients") == left })
}

// standing is how status says the source stands to its primary.
func (s *site) standing(t *testing.T) (on struct {
	Promoted bool   `json:"promoted"`
	Receives bool   `json:"receives"`
	Primary  string `json:"primary_away"`
},
) {
	t.Helper()
	var told struct {
		Replication struct {
			Standby *json.RawMessage `json:"source_standby"`
		} `json:"replication"`
	}
	if err := json.Unmarshal([]byte(s.kproxy(t, "status", "--json").stdout), &told); err != nil {
		t.Fatal(err)
	}
	if told.Replication.Standby == nil {
		t.Fatal("status tells nothing of the standby")
	}
	if err := json.Unmarshal(*told.Replication.Standby, &on); err != nil {
		t.Fatal(err)
	}
	return on
}
