package check

import (
	"testing"

	"github.com/kproxy/kproxy/internal/config"
)

// TestDescriptors counts two for each session that has a connection, and one for each client that waits
// or has not logged in.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	c := &config.Config{Limits: config.Limits{MaxSessions: 500, MaxLogins: 200, MaxConnections: 300}}
	if needs := Descriptors(c, 97); needs != 1000+ownDescriptors {
		t.Errorf("%d", needs)
	}
	c.Limits.MaxConnections = 0
	if needs := Descriptors(c, 97); needs != 700+Spare(97)+ownDescriptors {
		t.Errorf("where the server says how many connections there are: %d", needs)
	}
	if report := judgeDescriptors(1024, 1024); len(report) > 0 {
		t.Errorf("as many as there are: %s", report)
	}
	if report := judgeDescriptors(1025, 1024); len(report) != 1 || len(report.Errors()) > 0 {
		t.Errorf("one more than there are: %s", report)
	}
}
