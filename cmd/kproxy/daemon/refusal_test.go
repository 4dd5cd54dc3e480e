package daemon

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestRefusalsAreLoggedOnce: the log has a line when readers begin to be refused, one for another reason, and
// one when that ends; the time is that of the beginning.
func TestRefusalsAreLoggedOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	var r refusal
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for second, c := range []struct{ why, line string }{
		{"", ""},
		{"the database does not answer", `level=ERROR msg="readers are refused" reason="the database does not answer" since=2024-05-01T12:00:01Z fix="mend it"`},
		{"the database does not answer", ""},
		{notGuaranteed, `level=ERROR msg="readers are refused" reason="` + notGuaranteed + `" since=2024-05-01T12:00:01Z`},
		{"", `level=INFO msg="readers are served again" refused_for=3s`},
		{"", ""},
	} {
		log.Reset()
		got := r.note(logger, c.why, "mend it", at.Add(time.Duration(second)*time.Second))
		if lines := strings.Count(log.String(), "\n"); lines != min(1, len(c.line)) || !strings.Contains(log.String(), c.line) {
			t.Errorf("at second %d the log is %q", second, log.String())
		}
		if (got == nil) != (c.why == "") || got != nil && (got.Why != c.why || !got.Since.Equal(at.Add(time.Second))) {
			t.Errorf("at second %d it is %+v", second, got)
		}
	}
}
