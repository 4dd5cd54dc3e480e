package check

import (
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/certificates/certificatestest"
	"github.com/kproxy/kproxy/internal/config"
)

func TestCheckOfCertificates(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := &config.Config{}
	c.TLS = config.TLS{Mode: config.TLSRequire, CertFile: certificatestest.File(t, "good", now.Add(-time.Hour), now.AddDate(1, 0, 0))}
	if report := checkCertificates(c, now); len(report) > 0 {
		t.Errorf("good: %s", report)
	}
	if summary := Summarize(c, nil, nil); len(summary.Certificates) != 1 || !strings.HasPrefix(summary.String(), "CERTIFICATE") || summary.Errors().String() != "" {
		t.Errorf("%+v\n%s", summary.Certificates, summary)
	}
	c.TLS.CertFile = certificatestest.Ed25519(t, "old", now.AddDate(-1, 0, 0), now.Add(-time.Hour))
	c.Upstream.Owner.SSLRootCert = "/nonexistent/root.crt"
	report := checkCertificates(c, now)
	for _, want := range []string{"CN=old", "has expired", "[certificate]", "no such file", "channel binding", "[certificate-kind]"} {
		if text := Summarize(c, report, nil).String(); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if len(report) != 3 || len(report.Errors()) > 0 {
		t.Errorf("%d findings, %d of them errors", len(report), len(report.Errors()))
	}
	c.TLS.Mode, c.Upstream.Owner.SSLRootCert = config.TLSOff, ""
	if report := checkCertificates(c, now); len(report) > 0 {
		t.Errorf("without TLS: %s", report)
	}
}
