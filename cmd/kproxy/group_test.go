package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// Commands that there are not are told of as such, whatever flags they were given.
func TestThereIsNoSuchCommand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line, says string
		asJSON     bool
	}{
		{"nothing", `there is no command "nothing"`, false},
		{"nothing --json", `there is no command "nothing"`, true},
		{"--json nothing", `there is no command "nothing"`, true},
		{"nothing --such-a-flag", `there is no command "nothing"`, false},
		{"nix", `there is no command "nix"`, false},
		{"statsu", `there is no command "statsu"; did you mean status?`, false},
		{"user ad", `there is no command "ad" in kproxy user; did you mean add?`, false},
		{"user nothing --json", `there is no command "nothing" in kproxy user`, true},
		{"help nothing", `there is no command "nothing"`, false},
		{"--no-such-flag", "unknown flag: --no-such-flag", false},
		{"user list --no-such-flag --json", "unknown flag: --no-such-flag", true},
		{"explain -- --json", "/nonexistent", false},
		{"--json", "kproxy --json names no command", true},
		{"user --json", "kproxy user --json names no command", true},
		{"help --json", "unknown flag: --json", true},
		{"help user --json", "unknown flag: --json", true},
		{"generate man /nonexistent --json", "unknown flag: --json", true},
	} {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			arguments := strings.Fields(test.line)
			if arguments[0] == "explain" {
				arguments = append([]string{"explain", "-c", "/nonexistent"}, arguments[1:]...)
			}
			root := newRoot()
			root.SetArgs(arguments)
			var out strings.Builder
			root.SetOut(&out)
			command, err := root.ExecuteContextC(t.Context())
			if err == nil || out.Len() > 0 {
				t.Fatalf("error %v, and it prints %q", err, out.String())
			}
			p := problemOf(t.Context(), err, command)
			if !strings.Contains(p.Message, test.says) || strings.Contains(p.Message, "mean") && !strings.Contains(test.says, "mean") {
				t.Errorf("it says %q", p.Message)
			}
			var text strings.Builder
			asJSON := wantsJSON(command, arguments)
			p.write(&text, asJSON)
			if asJSON != test.asJSON || json.Valid([]byte(text.String())) != test.asJSON {
				t.Errorf("it writes %s", text.String())
			}
		})
	}
}
