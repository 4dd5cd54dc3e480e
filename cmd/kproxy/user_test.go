package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/scram"
)

// command runs kproxy with a standard input, and returns what it printed.
func command(t *testing.T, in string, arguments ...string) (out string, p *problem) {
	t.Helper()
	root := newRoot()
	var stdout, stderr strings.Builder
	root.SetIn(strings.NewReader(in))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	root.SetArgs(arguments)
	c, err := root.ExecuteContextC(t.Context())
	if err != nil {
		told := problemOf(t.Context(), err, c)
		p = &told
	}
	return stdout.String(), p
}

// sample is a copy of the example configuration, readable to its owner alone.
func sample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kproxy.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func verifierOf(t *testing.T, path, name string) scram.Verifier {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse(path, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range cfg.Users {
		if u.Name == name {
			v, err := scram.Parse(u.Verifier.Reveal())
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("there is no user %s", name)
	return scram.Verifier{}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	path := sample(t)
	original, _ := os.ReadFile(path)
	if _, p := command(t, "first\n", "user", "add", "ann", "-c", path, "--password-stdin"); p != nil {
		t.Fatal(p)
	}
	first := verifierOf(t, path, "ann")
	out, p := command(t, "", "user", "password", "ann", "-c", path, "--generate", "--json")
	var changed changedUser
	if p != nil || json.Unmarshal([]byte(out), &changed) != nil || len(changed.Password) < 20 {
		t.Fatalf("%v %q", p, out)
	}
	if verifierOf(t, path, "ann").String() == first.String() {
		t.Error("the password is the old one")
	}
	if _, p := command(t, "x\n", "user", "add", "ann", "-c", path, "--password-stdin"); p == nil || p.Code != codeExists || p.Hint == "" {
		t.Errorf("adding a user twice: %+v", p)
	}
	if _, p := command(t, "", "user", "remove", "bob", "-c", path); p == nil || p.Code != codeMissing {
		t.Errorf("removing nobody: %+v", p)
	}
	out, p = command(t, "", "user", "list", "-c", path)
	if p != nil || !strings.Contains(out, "analyst") || !strings.Contains(out, "ann") || strings.Contains(out, "SCRAM") {
		t.Errorf("%v %q", p, out)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode: %v, %v", info.Mode(), err)
	}
	if _, p := command(t, "", "user", "remove", "ann", "-c", path); p != nil {
		t.Error(p)
	}
	if now, _ := os.ReadFile(path); string(now) != string(original) {
		t.Error("adding and removing a user has changed something else")
	}
	if _, p := command(t, "", "user", "remove", "analyst", "-c", path); p == nil || p.Code != codeConfiguration || !strings.Contains(p.Message, "nobody can log in") {
		t.Errorf("removing the last user: %+v", p)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".kproxy-*")); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

func TestUserPrint(t *testing.T) {
	t.Parallel()
	out, p := command(t, "secret\n", "user", "add", "ann", "--print", "--password-stdin", "--reader", "bi", "-c", "/nonexistent")
	if p != nil || !strings.HasPrefix(out, "users:\n  - name: ann\n    verifier: SCRAM-SHA-256$") || !strings.HasSuffix(out, "\n    reader: bi\n") {
		t.Errorf("%v %q", p, out)
	}
}

func TestUserRule(t *testing.T) {
	t.Parallel()
	path := sample(t)
	if _, p := command(t, "x\n", "user", "add", "ann", "-c", path, "--password-stdin", "--rule", "from=10.0.0.0/8"); p == nil || !strings.Contains(p.Message, "shut out") {
		t.Errorf("a first rule: %+v", p)
	}
	if _, p := command(t, "x\n", "user", "add", "ann", "-c", path, "--password-stdin", "--rule", "color=red"); p == nil || p.Code != codeUsage {
		t.Errorf("an unknown key: %+v", p)
	}
	text, _ := os.ReadFile(path)
	text = []byte(strings.Replace(string(text), "\nthrottle:", "\naccess:\n  - {from: 192.168.0.0/16, method: scram}\n\nthrottle:", 1))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, p := command(t, "x\n", "user", "add", "ann", "-c", path, "--password-stdin", "--rule", "from=10.0.0.0/8 fd00::/8"); p != nil {
		t.Fatal(p)
	}
	text, _ = os.ReadFile(path)
	if !strings.Contains(string(text), "method: scram}\n  - users: ann\n    from: [10.0.0.0/8, \"fd00::/8\"]\n    method: scram\n\nthrottle:") {
		t.Errorf("%s", text)
	}
	// Behind one that matches all it does it could never match.
	if _, p := command(t, "x\n", "user", "add", "eve", "-c", path, "--password-stdin", "--rule", "from=192.168.7.0/24"); p == nil || p.Code != codeConfiguration || !strings.Contains(p.Message, "never match") {
		t.Errorf("a useless rule: %+v", p)
	}
}

func TestReplaceFileKeepsLinks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	info, _ := os.Lstat(link)
	if err != nil || string(text) != "new" || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%q, %v, %v", text, err, info.Mode())
	}
	if err := replaceFile(filepath.Join(folder, "none"), nil); err == nil {
		t.Error("a file that is not there was replaced")
	}
}
