package check

import (
	"time"

	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/certificates"
	"github.com/kproxy/kproxy/internal/config"
)

// checkCertificates warns of certificates that are not valid now or soon, and of a server's
// certificate that clients cannot use, or cannot bind passwords to.
func checkCertificates(c *config.Config, now time.Time) inspect.Report {
	var report inspect.Report
	warn := func(code, what, fix string) {
		if what != "" {
			report = append(report, inspect.Finding{Severity: inspect.Warning, Code: code, What: what, Fix: fix})
		}
	}
	all, err := certificates.Read(c)
	if err != nil {
		warn(codeCertificate, err.Error(), "give a PEM file that kproxy may read")
	}
	for _, certificate := range all {
		what, fix := certificates.Problem(certificate, now)
		warn(codeCertificate, what, fix)
	}
	if c.TLS.Mode == config.TLSOff {
		return report
	}
	if server, err := certificates.OfServer(c.TLS.CertFile); err == nil { // else it is told already
		if what, fix := certificates.Unfit(server); what != "" {
			warn(codeCertificateKind, "the server's certificate, "+c.TLS.CertFile+", "+what, fix)
		}
	}
	return report
}
