package main

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	ksync "github.com/kproxy/kproxy/sync"
)

func TestOutcomesOfReanonymize(t *testing.T) {
	t.Parallel()
	a, b := catalog.Name{Schema: "public", Relation: "a"}, catalog.Name{Schema: "public", Relation: "b"}
	for _, test := range []struct {
		results []ksync.Renewed
		waiting string
	}{
		{[]ksync.Renewed{{Table: a, Done: -1}, {Table: b, Done: -1}}, "public.a: waiting for kproxy"},
		{[]ksync.Renewed{{Table: a, Ended: true}, {Table: b, Done: 70}}, "public.b: 70 records have found their class"},
		{nil, "done"},
	} {
		if got := waitingFor(test.results); got != test.waiting {
			t.Errorf("%q, %q expected", got, test.waiting)
		}
	}
	var text strings.Builder
	err := writeOutcomes(&text, false, renewals([]ksync.Renewed{
		{Table: a, Ended: true, Before: 0.25, Afresh: 0.125, Adopted: true},
		{Table: a, Ended: true, Before: 0.25, Afresh: 0.26},
		{Table: b, Ended: true, Problem: "no"},
	}), "")
	if got := text.String(); got != "public.a: information loss 25.00% before, 12.50% after\n"+
		"public.a: information loss 25.00%; kept, as new classes would lose 26.00%\n" {
		t.Errorf("printed %q", got)
	}
	if err == nil || err.Error() != "public.b was not re-anonymized: no" {
		t.Errorf("the error is %v", err)
	}
}

func TestDriftFlags(t *testing.T) {
	for _, arguments := range [][]string{
		{"reanonymize", "--no-wait", "--timeout", "1m"},
		{"eval", "drift", "surplus"},
		{"eval", "drift", "--mix", "1:2"},
		{"eval", "drift", "--mix", "a:b:c"},
		{"eval", "drift", "--mix", "0:0:0"},
		{"eval", "drift", "--data", "people"},
		{"eval", "drift", "--methods", "guess"},
		{"eval", "drift", "--threshold", "0"},
	} {
		if got := run(t.Context(), arguments); got != exitUsage {
			t.Errorf("%q: exit code %d", arguments, got)
		}
	}
}
