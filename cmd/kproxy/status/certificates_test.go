package status

import (
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/certificates/certificatestest"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
)

// TestCertificatesThatNeedTheOperator: those of the files, and those that a process has read before
// they were replaced.
func TestCertificatesThatNeedTheOperator(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := &config.Config{}
	c.Upstream.Owner.SSLRootCert = certificatestest.File(t, "root", now.Add(-time.Hour), now.AddDate(1, 0, 0))
	old := &state.Certificate{Use: "server", Subject: "CN=db", File: "server.crt", From: now.AddDate(-1, 0, 0), Until: now.Add(time.Hour)}
	s := Status{Clients: []processes.Clients{{Reply: processes.Reply{Process: "one"}}, {Reply: processes.Reply{Process: "two"}, Expires: old}}}
	needs := s.readCertificates(c, now)
	if len(s.Certificates) != 1 || len(needs) != 1 || !strings.Contains(needs[0].What, "kproxy (two) goes on") || !strings.Contains(needs[0].Fix, "kproxy reload") {
		t.Errorf("%+v, %+v", s.Certificates, needs)
	}
	s.Clients = nil
	if needs := s.readCertificates(c, now.AddDate(2, 0, 0)); len(needs) != 1 || !strings.Contains(needs[0].What, "CN=root") {
		t.Errorf("%+v", needs)
	}
	s.Clients = []processes.Clients{{Expires: &s.Certificates[0]}}
	if needs := s.readCertificates(c, now.AddDate(2, 0, 0)); len(needs) != 1 {
		t.Errorf("one certificate is told of twice: %+v", needs)
	}
	c.Upstream.Owner.SSLRootCert = "/nonexistent/root.crt"
	s.Clients = nil
	if needs := s.readCertificates(c, now); len(needs) != 1 || s.Certificates == nil {
		t.Errorf("a file that is not there: %+v, %v", needs, s.Certificates)
	}
}

// TestALookupThatFailsNeedsTheOperator although nobody else is kept out.
func TestALookupThatFailsNeedsTheOperator(t *testing.T) {
	t.Parallel()
	found := (&Status{}).judge(catalog.Policy{}, inspect.Report{{Severity: inspect.Warning, Code: check.CodeAuthQuery, What: "auth_query: it fails", Fix: "repair it"}})
	if len(found.grave) > 0 || len(found.alone) != 1 || found.alone[0].What != "auth_query: it fails" {
		t.Errorf("%+v", found)
	}
}
