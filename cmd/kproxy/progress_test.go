package main

import (
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/work"
	ksync "github.com/kproxy/kproxy/sync"
)

// TestProgressOfSeveralTables follows two tables on a clock of its own.
func TestProgressOfSeveralTables(t *testing.T) {
	t.Parallel()
	a, b := catalog.Name{Schema: "public", Relation: "a"}, catalog.Name{Schema: "public", Relation: "b"}
	clock := time.Unix(1_700_000_000, 0)
	var text strings.Builder
	p := &progress{out: &text, now: func() time.Time { return clock }, last: clock}
	step := func(after time.Duration, at ksync.Progress, want string) {
		t.Helper()
		clock = clock.Add(after)
		text.Reset()
		p.show(at)
		if got := text.String(); got != want {
			t.Errorf("at %+v it says\n%s\nand not\n%s", at, got, want)
		}
	}
	step(0, ksync.Progress{Table: a, Stage: "reading"}, "")
	step(2*time.Second, ksync.Progress{Table: a, Stage: "reading", Done: 200, Total: 1000}, "")
	step(3*time.Second, ksync.Progress{Table: a, Stage: "reading", Done: 500, Total: 1000},
		"public.a: reading 500 of 1000 records (50%), 100/s, 5s left\n")
	step(time.Second, ksync.Progress{Table: b, Stage: "reading", Done: 7}, "")
	// A new stage has a rate of its own, and a table without a total no rest.
	step(4*time.Second, ksync.Progress{Table: a, Stage: "anonymizing", Done: 0, Total: 1000},
		"public.a: anonymizing 0 of 1000 records (0%)\npublic.b: reading 7 records\n")
	step(5*time.Second, ksync.Progress{Table: b, Stage: "reading", Done: 97},
		"public.a: anonymizing 0 of 1000 records (0%)\npublic.b: reading 97 records, 10/s\n")
	// What is not told of any more is done.
	step(work.Stale-5*time.Second, ksync.Progress{Table: b, Stage: "publishing", Done: 1, Total: 2},
		"public.a: anonymizing 0 of 1000 records (0%)\npublic.b: publishing 1 of 2 records (50%)\n")
	step(work.Stale, ksync.Progress{Table: b, Stage: "publishing", Done: 2, Total: 2}, "public.b: publishing 2 of 2 records (100%)\n")

	p.terminal = true
	step(time.Second, ksync.Progress{Table: a, Stage: "reading", Done: 3, Total: 4}, "\r\x1b[Kpublic.b: publishing 100%; public.a: reading 75%")
}
