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
		{"unknown flag", []string{"serve", "--frobnicate"}, exitUsage},
		{"surplus argument", []string{"check", "surplus"}, exitUsage},
		{"csv without policy", []string{"demo", "--csv", "x.csv"}, exitUsage},
		{"negative patients", []string{"demo", "--patients", "-1"}, exitUsage},
		{"missing configuration", []string{"serve", "-c", "/nonexistent/kproxy.yaml"}, exitFailure},
		{"broken configuration", []string{"verify", "-c", broken}, exitFailure},
		{"status without configuration", []string{"status", "-c", "/nonexistent/kproxy.yaml"}, exitFailure},
		{"status of something", []string{"status", "patients"}, exitUsage},
		{"reload of something", []string{"reload", "patients"}, exitUsage},
		{"reload without patience", []string{"reload", "--timeout", "0s"}, exitUsage},
		{"reload without configuration", []string{"reload", "-c", "/nonexistent/kproxy.yaml"}, exitFailure},
		{"rebuild that waits and does not", []string{"rebuild", "--no-wait", "--timeout", "1m"}, exitUsage},
		{"resync without configuration", []string{"resync", "-c", "/nonexistent/kproxy.yaml"}, exitFailure},
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
