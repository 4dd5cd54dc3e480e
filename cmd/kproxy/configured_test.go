package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDefaultConfiguration(t *testing.T) {
	t.Setenv(configEnv, "")
	folder := t.TempDir()
	here, ofSystem := filepath.Join(folder, "kproxy.yaml"), filepath.Join(folder, "etc.yaml")
	write := func(path string) {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := defaultConfig(here, ofSystem); got != here {
		t.Errorf("without files: %s", got)
	}
	write(ofSystem)
	if got := defaultConfig(here, ofSystem); got != ofSystem {
		t.Errorf("with the system's: %s", got)
	}
	write(here)
	if got := defaultConfig(here, ofSystem); got != here {
		t.Errorf("with both: %s", got)
	}
	if _, p := command(t, "", "check"); p == nil || !strings.Contains(p.Message, "kproxy.yaml") || !strings.Contains(p.Message, "no such file") {
		t.Errorf("where there is none: %+v", p)
	}
	t.Setenv(configEnv, filepath.Join(folder, "named.yaml"))
	if _, p := command(t, "", "check"); p == nil || !strings.Contains(p.Message, "named.yaml") {
		t.Errorf("by the environment: %+v", p)
	}
}

// TestManualPages looks at titles, and that tables in descriptions keep their lines.
func TestManualPages(t *testing.T) {
	folder := t.TempDir()
	if _, p := command(t, "", "generate", "man", folder); p != nil {
		t.Fatal(p)
	}
	for page, wants := range map[string][]string{
		"kproxy.1":          {`.TH "KPROXY" "1"`, "\n.EX\n  kproxy demo       try it: a private server"},
		"kproxy-explain.1":  {`.TH "KPROXY-EXPLAIN" "1"`, "\n.EX\n  sent      the statement that the server receives instead\n  reads     the relations"},
		"kproxy-user-add.1": {`.TH "KPROXY-USER-ADD" "1"`},
	} {
		text, err := os.ReadFile(filepath.Join(folder, page))
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.NewReplacer(`\-`, "-", `\&`, "").Replace(string(text))
		for _, want := range wants {
			if !strings.Contains(plain, want) {
				t.Errorf("%s has no %q:\n%s", page, want, plain[:min(len(plain), 1500)])
			}
		}
	}
}
