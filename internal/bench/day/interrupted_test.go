package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// interrupter is progress on whose word a context ends a while later.
type interrupter struct {
	bytes.Buffer
	word   string
	while  time.Duration
	cancel func()
}

func (i *interrupter) Write(text []byte) (int, error) {
	if strings.Contains(string(text), i.word) {
		time.AfterFunc(i.while, i.cancel)
	}
	return i.Buffer.Write(text)
}

// testInterruptedDay ends a day of a minute after seconds: what was measured is written and
// says so, and nothing of the end counts as an error.
func testInterruptedDay(t *testing.T, program string) {
	t.Helper()
	dir := t.TempDir()
	o, err := parse([]string{
		"-kproxy", program, "-patients", "2000", "-minutes", "1", "-rate", "200", "-dashboards", "2", "-refresh", "1s",
		"-json", filepath.Join(dir, "day.json"), "-plot", filepath.Join(dir, "day.svg"),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	progress := &interrupter{word: "the day begins", while: 5 * time.Second, cancel: cancel}
	var out bytes.Buffer
	err = run(ctx, o, &out, progress)
	t.Logf("%s%s", &progress.Buffer, &out)
	if err == nil || !strings.HasPrefix(err.Error(), "interrupted after ") {
		t.Errorf("an interrupted day ends with %v", err)
	}
	r, svg := written(t, o)
	if !r.Interrupted || r.LivedSeconds <= 0 || r.LivedSeconds >= o.length().Seconds() {
		t.Errorf("interrupted: %v, after %v s of %v", r.Interrupted, r.LivedSeconds, o.length())
	}
	if r.Counts.Violations+r.Counts.Errors > 0 || len(r.Failures) > 0 {
		t.Errorf("its end was taken for %+v: %q", r.Counts, r.Failures)
	}
	if r.Whole[changes].N == 0 || r.Whole[queries].N == 0 {
		t.Error("what was measured is not written")
	}
	if !strings.Contains(svg, "interrupted after ") {
		t.Error("the picture does not say that the day was interrupted")
	}
	if strings.Contains(progress.String(), "proving") {
		t.Error("what was published was proved all the same")
	}
}
