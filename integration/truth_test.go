package integration

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// headline is what the console's overview says first.
type headline struct {
	Refused *struct {
		Since    time.Time
		Why, Fix string
	} `json:"readers_refused"`
	Needs  []struct{ What, Fix string }
	Tables []struct {
		Table, State string
		Rows         int64
		Work         *struct {
			Stage, Problem, Fix string
			Percent             *int
		}
	}
}

// page returns the status and the text of a page.
func (d desk) page(path string) (status int, text string) {
	d.t.Helper()
	answer, err := d.client.Get(d.url + path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return answer.StatusCode, string(read)
}

func (d desk) headline() (h headline) {
	d.t.Helper()
	if status, text := d.page("/api/overview"); status == http.StatusOK {
		h = decoded[headline](d.t, text)
	}
	return h
}

// watchedSite is a site with a console and probes.
func watchedSite(t *testing.T, server *pgserver.Server) *site {
	t.Helper()
	o := sqlSite(operatedSchema, countedPolicy)
	o.server = server
	o.settings = fmt.Sprintf("metrics: {listen: %s}\nconsole: {listen: %s, users: [{name: admin, verifier: '%s'}]}\n", freeAddress(t), freeAddress(t), clientVerifier(t))
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	return s
}

// TestBlockedPublicationIsTold: 'kproxy status', console and log name the session that keeps a table from being
// published, and the statement that ends it, at the first start and at a rebuild. Once it has ended, nothing
// tells of it.
func TestBlockedPublicationIsTold(t *testing.T) {
	t.Parallel()
	s := watchedSite(t, ownServer(t, pgserver.Options{})) // a slot waits for transactions of all databases
	writer := connect(t, s.admin)
	block := func() (pid uint32, end func()) {
		tx, err := writer.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "INSERT INTO wards VALUES ('that blocks')"); err != nil {
			t.Fatal(err)
		}
		return writer.PgConn().PID(), func() { _ = tx.Rollback(t.Context()) }
	}
	told := func(p *process, pid uint32) {
		t.Helper()
		names, ends := fmt.Sprintf("server process %d of user", pid), fmt.Sprintf("SELECT pg_terminate_backend(%d)", pid)
		eventually(t, "the status names who blocks", func() bool {
			o := s.kproxy(t, "status")
			return o.code == 3 && strings.Contains(o.stdout, names) && strings.Contains(o.stdout, ends)
		})
		d := s.sit(t)
		eventually(t, "the console names who blocks", func() bool {
			for _, n := range d.headline().Needs {
				if strings.Contains(n.What, names) && strings.Contains(n.Fix, ends) {
					return true
				}
			}
			return false
		})
		if !p.awaitLog(t, "(?m)level=WARN.*a replication slot waits.*"+names) {
			t.Error("the log does not name who blocks")
		}
	}
	well := func() {
		t.Helper()
		eventually(t, "all is well", func() bool { o := s.kproxy(t, "status"); return o.code == 0 && !strings.Contains(o.stdout, "blocked") })
	}
	pid, end := block()
	p := s.launch(t)
	told(p, pid)
	end()
	if !p.awaitLog(t, "msg=serving") {
		t.Fatal("it does not serve")
	}
	well()

	pid, end = block()
	s.kproxy(t, "rebuild", "--no-wait", "people").must(t)
	told(p, pid)
	if o := s.kproxy(t, "status"); !strings.Contains(o.stdout, "published, rebuild, blocked") || !strings.Contains(o.stdout, "table public.people is not ready: ") {
		t.Errorf("the status is\n%s", o.stdout)
	}
	end()
	well()
	p.end(t, syscall.SIGTERM)
}

// TestRefusedReadersAreTold: that readers are refused, since when and why, is the first thing that console,
// 'kproxy status' and log say. What is known of tables is still shown.
func TestRefusedReadersAreTold(t *testing.T) {
	t.Parallel()
	s := watchedSite(t, nil)
	p := s.serve(t)
	defer p.end(t, syscall.SIGTERM)
	d, admin := s.sit(t), connect(t, s.admin)
	eventually(t, "the table is counted", func() bool { h := d.headline(); return len(h.Tables) == 1 && h.Tables[0].Rows == operatedRows })
	owner, reader := pgx.Identifier{s.owner}.Sanitize(), pgx.Identifier{s.reader}.Sanitize()
	const terminate = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = $1"
	for _, c := range []struct{ lock, role, open, why, status string }{
		{"ALTER ROLE " + reader + " NOLOGIN", s.reader, "ALTER ROLE " + reader + " LOGIN", "(does not answer|check of the guarantees fails)", "READERS ARE REFUSED since "},
		{"ALTER ROLE " + owner + " NOLOGIN", s.owner, "ALTER ROLE " + owner + " LOGIN", "the check of the guarantees fails", "readers are refused here since "},
	} {
		before := time.Now().Add(-2 * time.Second)
		execute(t, admin, c.lock)
		_ = scalar[int](t, admin, terminate, c.role)
		eventually(t, "the console tells: "+c.lock, func() bool {
			r := d.headline().Refused
			return r != nil && regexp.MustCompile(c.why).MatchString(r.Why) && r.Fix != "" && r.Since.After(before)
		})
		h := d.headline()
		if len(h.Needs) == 0 || !strings.Contains(strings.ToLower(h.Needs[0].What), "readers are refused") || len(h.Tables) != 1 || h.Tables[0].Rows != operatedRows {
			t.Errorf("the overview is %+v", h)
		}
		if status, page := d.page("/tables/public.people"); status != http.StatusOK || !strings.Contains(page, "quasi-identifying") || !strings.Contains(page, "5-anonymity") || !strings.Contains(page, "<title>Readers are refused") {
			t.Errorf("the table's page is %d:\n%s", status, page)
		}
		if o := s.kproxy(t, "status"); o.code == 0 || !strings.Contains(o.stdout+o.stderr, c.status) || !regexp.MustCompile(c.why).MatchString(o.stdout+o.stderr) {
			t.Errorf("the status is %d\n%s%s", o.code, o.stdout, o.stderr)
		}
		if !p.awaitLog(t, `(?m)level=ERROR msg="readers are refused" reason="[^"]*`+c.why) {
			t.Error("the log does not tell")
		}
		execute(t, admin, c.open)
		if !p.awaitLog(t, `(?m)msg="readers are served again"`) {
			t.Error("the log does not tell that it is over")
		}
		eventually(t, "nothing is refused any more", func() bool {
			h := d.headline()
			return h.Refused == nil && len(h.Needs) == 0 && s.kproxy(t, "status").code == 0
		})
	}
}

// TestPagesCountNothing: the pages of a table whose rows nobody can read show what was counted before. A page that
// counted them would wait.
func TestPagesCountNothing(t *testing.T) {
	t.Parallel()
	s := watchedSite(t, nil)
	p := s.serve(t)
	defer p.end(t, syscall.SIGTERM)
	d, admin := s.sit(t), connect(t, s.admin)
	eventually(t, "the table is counted", func() bool { h := d.headline(); return len(h.Tables) == 1 && h.Tables[0].Rows == operatedRows })
	generation := scalar[int64](t, admin, "SELECT generation FROM kproxy_store.generation")
	tx, err := admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), fmt.Sprintf("LOCK TABLE kproxy_store.records_%d, kproxy_store.release_%[1]d", generation)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, text := d.page("/api/tables/public.people")
	t.Logf("the page took %v", time.Since(began).Round(time.Millisecond))
	page := decoded[struct {
		Rows, Classes int64
		At            *time.Time                      `json:"figures_at"`
		Sizes         []struct{ Size, Classes int64 } `json:"class_sizes"`
		Loss          *float64                        `json:"information_loss"`
	}](t, text)
	if page.Rows != operatedRows || page.Classes == 0 || page.At == nil || len(page.Sizes) == 0 || page.Sizes[0].Size < 5 || page.Loss == nil {
		t.Errorf("the page tells %+v", page)
	}
	began = time.Now()
	if h := d.headline(); len(h.Tables) != 1 || h.Tables[0].Rows != operatedRows {
		t.Errorf("the overview tells %+v", h)
	}
	t.Logf("the overview took %v", time.Since(began).Round(time.Millisecond))
}
