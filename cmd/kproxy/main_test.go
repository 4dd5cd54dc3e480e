package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestExitCodes(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("tables: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(adminEnv, "")
	tests := []struct {
		name      string
		arguments []string
		want      int
	}{
		{"help", []string{"--help"}, exitOK},
		{"version", []string{"--version"}, exitOK},
		{"no command", nil, exitOK},
		{"unknown command", []string{"frobnicate"}, exitUsage},
		{"unknown command with a flag", []string{"frobnicate", "--no-such-flag"}, exitUsage},
		{"unknown flag of no command", []string{"--no-such-flag"}, exitUsage},
		{"help of a command", []string{"help", "user", "add"}, exitOK},
		{"help of no command", []string{"help", "frobnicate"}, exitUsage},
		{"help of no command below one", []string{"help", "user", "frobnicate"}, exitUsage},
		{"rebuild of nothing", []string{"rebuild"}, exitUsage},
		{"rebuild of all and one", []string{"rebuild", "--all", "patients"}, exitUsage},
		{"rebuild without configuration", []string{"rebuild", "--all", "-c", "/nonexistent/kproxy.yaml"}, exitFailure},
		{"unknown flag", []string{"serve", "--frobnicate"}, exitUsage},
		{"surplus argument", []string{"check", "surplus"}, exitUsage},
		{"csv without policy", []string{"demo", "--csv", "x.csv"}, exitUsage},
		{"negative patients", []string{"demo", "--patients", "-1"}, exitUsage},
		{"no persons", []string{"demo", "--persons", "0"}, exitUsage},
		{"missing configuration", []string{"serve", "-c", "/nonexistent/kproxy.yaml"}, exitFailure},
		{"broken configuration", []string{"verify", "-c", broken}, exitFailure},
		{"status without configuration", []string{"status", "-c", "/nonexistent/kproxy.yaml"}, exitFailure},
		{"status of something", []string{"status", "patients"}, exitUsage},
		{"reload of something", []string{"reload", "patients"}, exitUsage},
		{"reload without patience", []string{"reload", "--timeout", "0s"}, exitUsage},
		{"reload without configuration", []string{"reload", "-c", "/nonexistent/kproxy.yaml"}, exitFailure},
		{"rebuild that waits and does not", []string{"rebuild", "--all", "--no-wait", "--timeout", "1m"}, exitUsage},
		{"resync without configuration", []string{"resync", "-c", "/nonexistent/kproxy.yaml"}, exitFailure},
		{"version as JSON", []string{"version", "--json"}, exitOK},
		{"version of something", []string{"version", "surplus"}, exitUsage},
		{"schema", []string{"schema", "--policy"}, exitOK},
		{"check without patience", []string{"check", "--timeout", "0s"}, exitUsage},
		{"verify without patience", []string{"verify", "--timeout=-1s"}, exitUsage},
		{"users", []string{"user"}, exitOK},
		{"unknown user command", []string{"user", "frobnicate"}, exitUsage},
		{"user without a name", []string{"user", "add"}, exitUsage},
		{"two users", []string{"user", "remove", "ann", "bob"}, exitUsage},
		{"password made and read", []string{"user", "add", "ann", "--print", "--generate", "--password-stdin"}, exitUsage},
		{"user of no configuration", []string{"user", "remove", "ann", "-c", "/nonexistent/kproxy.yaml"}, exitFailure},
		{"users of no configuration", []string{"user", "list", "-c", "/nonexistent/kproxy.yaml"}, exitFailure},
		{"explain what may run", []string{"explain", "--offline", "-c", exampleConfig, "SELECT 1"}, exitOK},
		{"explain what is refused", []string{"explain", "--offline", "-c", exampleConfig, "DROP TABLE patients"}, exitFailure},
		{"explain offline with a plan", []string{"explain", "--offline", "--plan", "SELECT 1"}, exitUsage},
		{"explain without configuration", []string{"explain", "-c", "/nonexistent/kproxy.yaml", "SELECT 1"}, exitFailure},
		{"missing policy", []string{"demo", "--csv", "x.csv", "--policy", "/nonexistent/policy.yaml"}, exitFailure},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := run(t.Context(), test.arguments); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
		})
	}
}

func TestFailpointsAreOffByDefault(t *testing.T) {
	if failpoint("") != nil {
		t.Error("a failpoint is set without being chosen")
	}
	failpoint("another")("before-commit") // returns
}
