package integration

import (
	"strings"
	"syscall"
	"testing"
)

// TestServe takes the hospital from setup to clients of every kind.
func TestServe(t *testing.T) {
	t.Parallel()
	s := newSite(t, hospitalSite())
	for range 2 { // setup can be repeated
		if o := s.kproxy(t, "setup").must(t); !strings.HasPrefix(o.stdout, "ok: ") {
			t.Errorf("setup wrote %q", o.stdout)
		}
	}
	if o := s.kproxy(t, "check").must(t); !strings.Contains(o.stdout, "ok: 1 protected tables") {
		t.Errorf("check wrote %q", o.stdout)
	}
	p := s.serve(t)
	for name, test := range map[string]func(*testing.T, *site){
		"psql describes":      testDescribe,
		"psql lists":          testListing,
		"psql reads":          testPsqlReads,
		"execution modes":     testExecutionModes,
		"prepared statements": testPrepared,
		"cursors":             testCursors,
		"COPY":                testCopy,
		"several statements":  testSeveralStatements,
		"transactions":        testTransactions,
		"cancel":              testCancel,
		"verify":              testVerify,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("after SIGTERM the exit code is %d", code)
	}
	for _, secret := range []string{ownerPassword, readerPassword, clientPassword, "SCRAM-SHA-256$"} {
		if strings.Contains(p.log.String()+p.output.String(), secret) {
			t.Errorf("the log holds the secret %q", secret)
		}
	}
}

func testVerify(t *testing.T, s *site) {
	if o := s.kproxy(t, "verify").must(t); strings.Contains(strings.ToLower(o.stdout), "fail") {
		t.Errorf("verify wrote:\n%s", o.stdout)
	}
	if o := s.kproxy(t, "verify", "--json").must(t); !strings.Contains(o.stdout, `"records":`) && !strings.Contains(o.stdout, `"records" :`) {
		t.Errorf("verify --json wrote:\n%s", o.stdout)
	}
}

// TestSetupPrinted prepares a database from the printed SQL, as a DBA would.
func TestSetupPrinted(t *testing.T) {
	t.Parallel()
	s := newSite(t, hospitalSite())
	script := s.kproxy(t, "setup", "--print").must(t).stdout
	for _, secret := range []string{ownerPassword, readerPassword} {
		if strings.Contains(script, secret) {
			t.Error("the script holds a password")
		}
	}
	for range 2 {
		run(t, script, nil, "psql", "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", s.admin).must(t)
	}
	conn := connect(t, s.admin)
	for role, password := range map[string]string{s.owner: ownerPassword, s.reader: readerPassword} {
		execute(t, conn, scalar[string](t, conn, "SELECT format('ALTER ROLE %I PASSWORD %L', $1::text, $2::text)", role, password))
	}
	s.kproxy(t, "check").must(t)
	s.serve(t)
	if n := scalar[int](t, connect(t, s.url()), "SELECT count(*) FROM patients"); n != patients {
		t.Errorf("%d patients are published, not %d", n, patients)
	}
}
