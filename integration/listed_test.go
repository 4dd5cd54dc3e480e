package integration

import (
	"strings"
	"syscall"
	"testing"
)

// TestListedNamesStandAlone drops, and takes away, what the configuration lists beside the
// protected tables: that alone is withdrawn. Only what opens raw rows stops everything, and
// that no longer than until it is mended.
func TestListedNamesStandAlone(t *testing.T) {
	t.Parallel()
	listed := "readable: [public.wards, public.codes]\nfunctions:\n  - public.twice\n"
	s := newSite(t, sqlSite(operatedSchema+`; CREATE TABLE codes (code text);
		CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
		REVOKE EXECUTE ON FUNCTION twice FROM PUBLIC`, countedPolicy+listed))
	testMistakenNames(t, s, listed)
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check").must(t)
	p := s.serve(t)
	admin, client := connect(t, s.admin), connect(t, s.url())
	if n := scalar[int](t, client, "SELECT twice(4)"); n != 8 {
		t.Errorf("the listed function gives %d", n)
	}
	if _, code := s.statusJSON(t); code != 0 {
		t.Errorf("all is well, but status ends with %d", code)
	}
	execute(t, admin, `ALTER TABLE wards RENAME TO wards2; DROP FUNCTION twice; DROP TABLE codes CASCADE; CREATE TABLE codes (code text)`)
	status, code := s.statusJSON(t)
	var needs []string
	for _, n := range status.Needs {
		needs = append(needs, n.What+" | "+n.Fix)
	}
	told := strings.Join(needs, "\n")
	for _, want := range []string{
		"readable public.wards is withdrawn: there is no such relation | did you mean public.wards2?",
		"readable public.codes is withdrawn: ", "GRANT REFERENCES ON TABLE",
		"function public.twice cannot be called: there is no such function | ",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("status does not say %q:\n%s", want, told)
		}
	}
	if code != 3 || len(needs) != 3 {
		t.Errorf("status ends with %d and says\n%s", code, told)
	}
	if !p.awaitLog(t, "a relation is withdrawn; all else is served.*public.codes") || !p.awaitLog(t, "a function is withdrawn.*public.twice") {
		t.Fatal("the process ended")
	}
	fresh := connect(t, s.url())
	for table, want := range map[string]string{"people": "", "wards": "42P01", "codes": "55000"} {
		if _, code, hint := countRows(t, fresh, table); code != want || code == "55000" && !strings.Contains(hint, "the operator has been told") {
			t.Errorf("%s is answered with %q: %s", table, code, hint)
		}
	}
	// A restart and a reload put up with it as well.
	s.kproxy(t, "reload").must(t)
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	p = s.serve(t)
	execute(t, admin, `ALTER TABLE wards2 RENAME TO wards; CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2'`)
	// The table that has come in the place of another has to be accepted.
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "accept", "public.codes", "--yes").must(t)
	s.kproxy(t, "reload").must(t)
	for _, table := range []string{"people", "wards", "codes"} {
		if _, code, _ := countRows(t, connect(t, s.url()), table); code != "" {
			t.Errorf("after the mending %s is refused with %s", table, code)
		}
	}
	testFailedAudit(t, s, p)
	execute(t, admin, `DO $$ BEGIN EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()); END $$`)
	s.replace(t, "slot: ", "temporary_tables: allow\nslot: ")
	s.kproxy(t, "reload").speaks(t, 1, 6, "may not make temporary tables", "run 'kproxy setup'")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
}

// testMistakenNames misspells names: setup tells of all at once.
func testMistakenNames(t *testing.T, s *site, listed string) {
	good := contents(t, s.config)
	s.replace(t, "  public.people:", "  public.peple:", listed, "readable: [public.wrds, public.twice]\nfunctions:\n  - public.visits\n  - public.twic\n")
	s.kproxy(t, "setup").speaks(t, 1, 12, "kproxy.yaml:", "did you mean public.people?", "did you mean public.wards?", "list it under functions",
		"is a relation, not a function", "did you mean public.twice?")
	if n := scalar[int](t, connect(t, s.admin), "SELECT count(*) FROM pg_namespace WHERE nspname = 'kproxy_store'"); n != 0 {
		t.Error("half a preparation is left")
	}
	s.replace(t, "  public.peple:", "  public.people:")
	o := s.kproxy(t, "setup").must(t)
	if !strings.Contains(o.stderr, "warning: ") || !strings.Contains(o.stderr, "did you mean public.twice?") || strings.Count(o.stderr, "wrds") != 1 {
		t.Errorf("setup warns of %s", o.stderr)
	}
	s.serveFails(t, s.config).speaks(t, 1, 12, "not ready to be published", "did you mean public.wards?")
	s.write(t, "kproxy.yaml", good)
}

// testFailedAudit opens raw rows, and closes them again.
func testFailedAudit(t *testing.T, s *site, p *process) {
	admin, client := connect(t, s.admin), connect(t, s.url())
	execute(t, admin, `GRANT SELECT ON people TO "`+s.reader+`"`)
	if status, code := s.statusJSON(t); code != 3 || len(status.Needs) != 1 ||
		!strings.HasPrefix(status.Needs[0].What, "the audit fails, so that nothing is served: public.people: ") || !strings.HasPrefix(status.Needs[0].Fix, "REVOKE ") {
		t.Errorf("status ends with %d and says %+v", code, status.Needs)
	}
	if !p.awaitLog(t, "the audit failed.* findings=1") || !p.awaitLog(t, "a finding of the audit.* code=raw-grant") {
		t.Fatal("the process ended")
	}
	if strings.Contains(p.log.String(), "<nil>") {
		t.Error("the log tells of an error that is none")
	}
	if _, code, _ := countRows(t, client, "people"); code != "57P03" {
		t.Errorf("while raw rows are open, a statement ends with %q", code)
	}
	execute(t, admin, `REVOKE SELECT ON people FROM "`+s.reader+`"`)
	s.kproxy(t, "reload").must(t)
	if _, code, _ := countRows(t, connect(t, s.url()), "people"); code != "" {
		t.Errorf("after the mending a statement ends with %s", code)
	}
}
