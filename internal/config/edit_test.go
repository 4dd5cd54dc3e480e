package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const testVerifier = "SCRAM-SHA-256$4096:ZXhhbXBsZSBzYWx0IDE2Yg==$Tm8gcGFzc3dvcmQgZml0cyB0aGlzIHZlcmlmaWVyLiA=:TWFrZSBvbmUgd2l0aDoga3Byb3h5IHBhc3N3b3JkLiA="

func bob() []Setting {
	return []Setting{{"name", []string{"bob"}}, {"verifier", []string{"V$1:a=:b="}}}
}

// The awkward forms in which users are written, and what adding one, removing ann and
// changing ann's verifier makes of them; empty is refused, with the file left alone.
var editing = []struct{ name, before, added, removed, changed string }{
	{
		"comments", "# top\nusers: # who\n  # ann's\n  - name: ann # first\n    verifier: A # hers\n    # reader: bi\n\n# next\nlog: {level: info}\n",
		"# top\nusers: # who\n  # ann's\n  - name: ann # first\n    verifier: A # hers\n    # reader: bi\n  - name: bob\n    verifier: V$1:a=:b=\n\n# next\nlog: {level: info}\n",
		"# top\nusers: [] # who\n  # ann's\n\n# next\nlog: {level: info}\n",
		"# top\nusers: # who\n  # ann's\n  - name: ann # first\n    verifier: N # hers\n    # reader: bi\n\n# next\nlog: {level: info}\n",
	},
	{
		"no indentation", "users:\n- verifier: 'A'\n  name: ann\n- {name: zoe,\n   verifier: Z}\nx: 1",
		"users:\n- verifier: 'A'\n  name: ann\n- {name: zoe,\n   verifier: Z}\n- name: bob\n  verifier: V$1:a=:b=\nx: 1",
		"users:\n- {name: zoe,\n   verifier: Z}\nx: 1",
		"users:\n- verifier: N\n  name: ann\n- {name: zoe,\n   verifier: Z}\nx: 1",
	},
	{
		"flow", "users: [ {name: ann, verifier: \"A]\"}, {name: zoe} ] # all\nx: 1\n",
		"users: [ {name: ann, verifier: \"A]\"}, {name: zoe}, {name: bob, verifier: \"V$1:a=:b=\"} ] # all\nx: 1\n",
		"users: [ {name: zoe} ] # all\nx: 1\n",
		"users: [ {name: ann, verifier: N}, {name: zoe} ] # all\nx: 1\n",
	},
	{
		"flow over lines", "users: [\n  {name: zoe},  # it's [her]\n  {name: ann},\n]\n",
		"users: [\n  {name: zoe},  # it's [her]\n  {name: ann}, {name: bob, verifier: \"V$1:a=:b=\"},\n]\n",
		"users: [\n  {name: zoe},\n]\n",
		"users: [\n  {name: zoe},  # it's [her]\n  {name: ann, verifier: N},\n]\n",
	},
	{"empty list", "users: []\nx: 1\n", "users: [{name: bob, verifier: \"V$1:a=:b=\"}]\nx: 1\n", "", ""},
	{"nothing", "users: # none\nx: 1\n", "users: # none\n  - name: bob\n    verifier: V$1:a=:b=\nx: 1\n", "", ""},
	{"null", "users: null # none\nx: 1\n", "users: # none\n  - name: bob\n    verifier: V$1:a=:b=\nx: 1\n", "", ""},
	{"absent", "x: 1", "x: 1\nusers:\n  - name: bob\n    verifier: V$1:a=:b=\n", "", ""},
	{
		"carriage returns", "users:\r\n  - name: ann\r\nx: 1\r\n",
		"users:\r\n  - name: ann\r\n  - name: bob\r\n    verifier: V$1:a=:b=\r\nx: 1\r\n",
		"users: []\r\nx: 1\r\n",
		"users:\r\n  - name: ann\r\n    verifier: N\r\nx: 1\r\n",
	},
	{
		"byte order mark", "\ufeffusers: [{name: é, verifier: A}, {name: ann, verifier: A}]\n",
		"\ufeffusers: [{name: é, verifier: A}, {name: ann, verifier: A}, {name: bob, verifier: \"V$1:a=:b=\"}]\n",
		"\ufeffusers: [{name: é, verifier: A}]\n",
		"\ufeffusers: [{name: é, verifier: A}, {name: ann, verifier: N}]\n",
	},
	{
		"aliased verifier", "users:\n  - name: zoe\n    verifier: &v A\n  - name: ann\n    verifier: *v\n",
		"users:\n  - name: zoe\n    verifier: &v A\n  - name: ann\n    verifier: *v\n  - name: bob\n    verifier: V$1:a=:b=\n",
		"users:\n  - name: zoe\n    verifier: &v A\n",
		"users:\n  - name: zoe\n    verifier: &v A\n  - name: ann\n    verifier: N\n",
	},
	// Changing or removing what an alias stands for would change others.
	{"anchored", "users:\n  - &a {name: ann, verifier: &v A}\n  - {name: zoe, verifier: *v}\n", "users:\n  - &a {name: ann, verifier: &v A}\n  - {name: zoe, verifier: *v}\n  - name: bob\n    verifier: V$1:a=:b=\n", "", ""},
	{"alias", "y: &u [{name: ann}]\nusers: *u\n", "", "", ""},
	{"one line", "{users: [{name: ann}]}\n", "", "", ""},
	{"tab", "users:\n\t- name: ann\n", "", "", ""},
	{"two documents", "users: []\n---\nusers: []\n", "", "", ""},
	{"folded", "users:\n  - name: ann\n    verifier: >-\n      A\n      B\nx: 1\n", "", "", ""},
	{"text", "users: everybody\n", "", "", ""},
}

func TestEditing(t *testing.T) {
	t.Parallel()
	for _, test := range editing {
		check := func(what, want string, got []byte, err error) {
			t.Helper()
			switch {
			case want == "" && err == nil:
				t.Errorf("%s, %s: was not refused, but is\n%s", test.name, what, got)
			case want != "" && (err != nil || string(got) != want):
				t.Errorf("%s, %s: %v\n%q\nnot\n%q", test.name, what, err, got, want)
			}
		}
		got, err := AddUser([]byte(test.before), bob())
		check("added", test.added, got, err)
		got, err = RemoveUser([]byte(test.before), "ann")
		check("removed", test.removed, got, err)
		got, err = SetVerifier([]byte(test.before), "ann", "N")
		check("changed", test.changed, got, err)
	}
}

func TestEditingKnowsUsers(t *testing.T) {
	t.Parallel()
	text := []byte("users:\n  - name: \"bob\"\n")
	if _, err := AddUser(text, bob()); !errors.Is(err, ErrUserExists) {
		t.Errorf("adding a user twice: %v", err)
	}
	if _, err := RemoveUser(text, "ann"); !errors.Is(err, ErrUserMissing) {
		t.Errorf("removing nobody: %v", err)
	}
	if _, err := SetVerifier(text, "ann", "N"); !errors.Is(err, ErrUserMissing) {
		t.Errorf("changing nobody: %v", err)
	}
}

func TestAddRule(t *testing.T) {
	t.Parallel()
	rule := []Setting{{"users", []string{"bob"}}, {"from", []string{"10.0.0.0/8", "fd00::/8"}}, {"method", []string{"scram"}}}
	got, err := AddRule([]byte("access:\n  - from: 10.0.0.0/8\n    method: reject\nx: 1\n"), rule)
	if want := "access:\n  - from: 10.0.0.0/8\n    method: reject\n  - users: bob\n    from: [10.0.0.0/8, \"fd00::/8\"]\n    method: scram\nx: 1\n"; err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	for _, text := range []string{"x: 1\n", "access: []\n"} {
		if _, err := AddRule([]byte(text), rule); err == nil || !strings.Contains(err.Error(), "shut out") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Whatever a user is called, the reader finds that name, and nothing else has changed.
func TestEditingGoodConfigurations(t *testing.T) {
	t.Parallel()
	for _, path := range append(inputs(t, "good"), filepath.Join("..", "..", "config.example.yaml")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before, err := Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"bob", "no", "null", "07", "o'neil", `a"b\c`, "x: y", "- z", "#1", "ü ñ", "*", "{a}", " lead", "~", "a#b", "\u00a0"} {
			added, err := AddUser(text, []Setting{{"name", []string{name}}, {"verifier", []string{testVerifier}}})
			if err != nil {
				if !errors.Is(err, ErrByHand) && !errors.Is(err, ErrUserExists) {
					t.Errorf("%s, %q: %v", path, name, err)
				}
				continue
			}
			after, err := Parse(path, added)
			if err != nil || len(after.Users) != len(before.Users)+1 || after.Users[len(before.Users)].Name != name {
				if !strings.Contains(string(text), "access:") { // whose rules may name users
					t.Errorf("%s, %q: %v", path, name, err)
				}
				continue
			}
			removed, err := RemoveUser(added, name)
			if err != nil || !slices.Equal(removed, text) {
				t.Errorf("%s, %q: removing what was added: %v\n%s", path, name, err, removed)
			}
		}
	}
}

func FuzzEditing(f *testing.F) {
	for _, test := range editing {
		f.Add(test.before)
	}
	f.Fuzz(func(t *testing.T, text string) {
		added, err := AddUser([]byte(text), bob())
		if err != nil {
			return
		}
		if _, err := AddUser(added, bob()); !errors.Is(err, ErrUserExists) {
			t.Errorf("what was added is not there: %v", err)
		}
		_, _ = RemoveUser(added, "bob")
		_, _ = SetVerifier(added, "bob", "N")
	})
}
