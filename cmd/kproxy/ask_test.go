package main

import (
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/cmd/kproxy/request"
	"github.com/kproxy/kproxy/cmd/kproxy/settings"
)

func TestAnswersOfReload(t *testing.T) {
	t.Parallel()
	taken := processes.Answer{Reply: processes.Reply{Process: "one, process 7"}, Outcome: processes.Outcome{Changes: settings.Changes{Added: []string{"public.a"}, Restart: []string{"listen"}}}}
	refused := processes.Answer{Reply: processes.Reply{Process: "two, process 8"}, Outcome: processes.Outcome{Refused: "k must be a whole number"}}
	var text strings.Builder
	if err := writeAnswers(&text, []processes.Answer{taken}, 0, false); err != nil {
		t.Error(err)
	}
	if got := text.String(); got != "one, process 7: reloaded\n  added: public.a\n  at the next start only: listen\n" {
		t.Errorf("it says %q", got)
	}
	text.Reset()
	err := writeAnswers(&text, []processes.Answer{refused, taken}, 1, true)
	if err == nil || !strings.Contains(err.Error(), "two, process 8 refuses") || !strings.Contains(err.Error(), "k must be") || !strings.Contains(err.Error(), "1 running kproxy did not answer") {
		t.Errorf("the error is %v", err)
	}
	if got := text.String(); !strings.HasPrefix(got, "one, process 7: would be reloaded\n") {
		t.Errorf("it says %q", got)
	}
}

func TestOutcomesOfRequests(t *testing.T) {
	t.Parallel()
	requested := []request.Outcome{
		{Table: "public.a", Ended: true},
		{Table: "public.b"},
		{Table: "public.c", Ended: true, Problem: "a column is gone", Fix: "bring it back"},
	}
	if got := awaited(requested, 90*time.Second); got != "2 of 3 tables done after 1m30s; waiting for public.b" {
		t.Errorf("meanwhile it says %q", got)
	}
	var text strings.Builder
	err := writeOutcomes(&text, false, outcomesOf([]request.Outcome{requested[0], requested[2]}, "published afresh"), "")
	if got := text.String(); got != "public.a: published afresh\n" {
		t.Errorf("it says %q", got)
	}
	if err == nil || err.Error() != "public.c was not published afresh: a column is gone (bring it back)" {
		t.Errorf("the error is %v", err)
	}
}
