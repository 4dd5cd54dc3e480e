package status

import (
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/certificates"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
)

// readCertificates reads the certificates that the configuration names, and returns those that need
// the operator: in the files, and in processes that have read them before they were replaced.
func (s *Status) readCertificates(c *config.Config, now time.Time) []state.Need {
	needs := []state.Need{}
	all, err := certificates.Read(c)
	if err != nil {
		needs = append(needs, state.Need{What: err.Error(), Fix: "give a PEM file that kproxy may read"})
	}
	s.Certificates = append([]state.Certificate{}, all...)
	told := make(map[string]bool)
	for _, certificate := range all {
		if what, fix := certificates.Problem(certificate, now); what != "" {
			told[what] = true
			needs = append(needs, state.Need{What: what, Fix: fix})
		}
	}
	for _, process := range s.Clients {
		if process.Expires == nil {
			continue
		}
		if what, fix := certificates.Problem(*process.Expires, now); what != "" && !told[what] {
			needs = append(needs, state.Need{What: "kproxy (" + process.Process + ") goes on with what it has read: " + what, Fix: fix})
		}
	}
	return needs
}
