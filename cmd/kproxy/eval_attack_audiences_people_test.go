package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/eval/attack"
)

// TestEvalAttackAudiencesPeople: the command prints a table, or the same as JSON, and refuses audiences that do not become coarser.
func TestEvalAttackAudiencesPeople(t *testing.T) {
	t.Parallel()
	arguments := []string{"eval", "attack", "audiences", "people", "--persons", "60", "--days", "10", "--k", "2,4", "--crowd", "2"}
	text, err := execute(t, arguments...)
	if err != nil || !strings.Contains(text, "k = 2 and 4") {
		t.Errorf("%v\n%s", err, text)
	}
	text, err = execute(t, append(arguments, "--json")...)
	var outcome attack.KindCoalitions
	if err != nil || json.Unmarshal([]byte(text), &outcome) != nil || len(outcome.Runs) != 32 {
		t.Errorf("%v: %d runs\n%s", err, len(outcome.Runs), text)
	}
	for _, r := range outcome.Runs {
		if last := r.Readers[len(r.Readers)-1] == 4; last != (r.Column != nil) {
			t.Errorf("readers %v have the column: %v", r.Readers, r.Column)
		}
	}
	var usage usageError
	if _, err := execute(t, append(arguments, "--k", "9,3")...); !errors.As(err, &usage) {
		t.Errorf("the error is %v", err)
	}
}
