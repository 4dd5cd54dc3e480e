package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/cmd/kproxy/settings"
	"github.com/kproxy/kproxy/internal/config"
)

var update = flag.Bool("update", false, "rewrite the files that are made of code")

// current compares a file that is made of code with what the code says now.
func current(t *testing.T, path, want string) {
	t.Helper()
	path = filepath.Join("..", "..", path)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the code says now: run go test ./cmd/kproxy -run Reference -update", path)
	}
}

func TestReferenceIsCurrent(t *testing.T) {
	t.Setenv(configEnv, "")
	for path, policy := range map[string]bool{"config.schema.json": false, "policy.schema.json": true} {
		text, err := schemaText(policy)
		if err != nil {
			t.Fatal(err)
		}
		current(t, path, string(text))
	}
	commands, err := commandsPage()
	if err != nil {
		t.Fatal(err)
	}
	current(t, "docs/commands.md", commands)
	current(t, "docs/configuration.md", configurationPage())
}

func TestExampleNamesItsSchema(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "config.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "# yaml-language-server: $schema=config.schema.json\n") {
		t.Error("the example does not say where its schema is")
	}
}

// A reload tells of every key whether it takes it.
func TestReferenceSaysWhatReloadTakes(t *testing.T) {
	t.Parallel()
	paths := make(map[string]bool)
	config.Describe().Paths(func(path string, k config.Key) {
		paths[path] = true
		if k.Shape.Kind != config.ShapeMapping && settings.TakenAt(path) == "" {
			t.Errorf("no reload compares %s: add it to the settings in daemon/changes.go", path)
		}
	})
	for path, want := range map[string]string{
		"listen": "at the next start", "upstream.reader.user": "at the next start", "upstream.reader.host": "at once", "log.level": "at once",
		"timeouts.unacknowledged": "at the next start", "tables.*.columns.*.role": "at once", "replication": "",
	} {
		if got := settings.TakenAt(path); got != want || !paths[path] {
			t.Errorf("a change of %s is taken %q, not %q", path, got, want)
		}
	}
}

// Pages for every command, without anything that man(1) would complain of.
func TestManual(t *testing.T) {
	t.Setenv(configEnv, "")
	folder := t.TempDir()
	if code := run(t.Context(), []string{"generate", "man", folder}); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	if err != nil || len(pages) < 15 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("mandoc is not here to look at the pages: install the package mandoc")
	}
	for _, page := range pages {
		if said, err := exec.CommandContext(t.Context(), mandoc, "-T", "lint", "-W", "error", page).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", page, err, said)
		}
	}
}

func TestCompletions(t *testing.T) {
	t.Setenv(configEnv, "")
	folder := t.TempDir()
	if code := run(t.Context(), []string{"generate", "completion", folder}); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	for _, name := range []string{"kproxy.bash", "_kproxy", "kproxy.fish"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if code := run(t.Context(), []string{"generate", "poetry", folder}); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
}

// What shells propose is read from the configuration.
func TestCompletionProposes(t *testing.T) {
	t.Setenv(configEnv, filepath.Join("..", "..", "config.example.yaml"))
	for _, test := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"rebuild", ""}, "public.patients\n"},
		{[]string{"rebuild", "public.patients", ""}, ""},
		{[]string{"reanonymize", ""}, "public.patients\n"},
		{[]string{"user", "remove", ""}, "analyst\n"},
		{[]string{"eval", "--methods", ""}, "rounded-partition\n"},
	} {
		root := newRoot()
		var out strings.Builder
		root.SetOut(&out)
		root.SetErr(&strings.Builder{})
		root.SetArgs(append([]string{"__completeNoDesc"}, test.arguments...))
		if err := root.Execute(); err != nil {
			t.Errorf("%q: %v", test.arguments, err)
		}
		got, _, _ := strings.Cut(out.String(), ":")
		if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%q: proposed %q, not %q", test.arguments, got, test.want)
		}
	}
}
