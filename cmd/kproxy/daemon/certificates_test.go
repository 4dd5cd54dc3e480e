package daemon

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/certificates/certificatestest"
	"github.com/kproxy/kproxy/internal/config"
)

// TestTheLogTellsOfCertificatesOnceADay, and of what the process has read, whatever is in the file
// by now.
func TestTheLogTellsOfCertificatesOnceADay(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	c := &config.Config{}
	c.TLS = config.TLS{Mode: config.TLSAllow, CertFile: certificatestest.File(t, "db", now.AddDate(0, 0, -80), now.AddDate(0, 0, 10))}
	var used inUse
	if used.first() != nil || used.observed() != nil {
		t.Error("certificates are in use before any were read")
	}
	used.adopt(log, c)
	looks := func(at time.Time, want string) {
		t.Helper()
		text.Reset()
		used.look(log, at)
		if got := text.String(); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	looks(now, "level=WARN")
	looks(now.Add(time.Hour), "")
	looks(now.Add(25*time.Hour), "level=WARN")
	looks(now.AddDate(0, 0, 11), "level=ERROR")
	c.TLS.CertFile = certificatestest.File(t, "db", now, now.AddDate(1, 0, 0))
	looks(now.AddDate(0, 0, 13), "level=ERROR")
	used.adopt(log, c)
	looks(now.AddDate(0, 0, 13), "")
	if first := used.first(); first == nil || first.Subject != "CN=db" || len(used.observed()) != 1 || !used.observed()[0].Warns.Equal(first.Warns()) {
		t.Errorf("%+v, %+v", first, used.observed())
	}
}
