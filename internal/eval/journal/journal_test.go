package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/kproxy/kproxy/internal/eval/journal"
)

func open(t *testing.T, path, digest string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path, digest)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func put(t *testing.T, j *journal.Journal, key string, result any) {
	t.Helper()
	if err := j.Put(key, result); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, j *journal.Journal, key string, want []int) bool {
	t.Helper()
	var got []int
	found, err := j.Get(key, &got)
	if err != nil {
		t.Fatal(err)
	}
	return found && len(got) == len(want) && got[0] == want[0]
}

// TestGoesOn after a run that was killed while it wrote.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	j := open(t, path, "a")
	if j.Found() != 0 || j.Other() || has(t, j, "one", []int{1}) {
		t.Error("a new journal has results")
	}
	put(t, j, "one", []int{1, 2})
	put(t, j, "two", []int{3})
	if !has(t, j, "one", []int{1, 2}) {
		t.Error("a result is not there at once")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"key":"three","val`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // and once more, over what was cut off
		j = open(t, path, "a")
		if j.Found() != 2 || j.Other() || !has(t, j, "one", []int{1, 2}) || !has(t, j, "two", []int{3}) || has(t, j, "three", []int{4}) {
			t.Fatalf("%d results are left", j.Found())
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	j = open(t, path, "a")
	put(t, j, "three", []int{4})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j = open(t, path, "a"); j.Found() != 3 || !has(t, j, "three", []int{4}) {
		t.Errorf("%d results are left", j.Found())
	}
	if _, err := journal.Open(path, "a"); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("a second run: %v", err)
	}
}

// TestStartsAfresh where the results are of something else, and where the file is.
func TestStartsAfresh(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	j := open(t, path, "a")
	put(t, j, "one", []int{1})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, path, "b")
	if j.Found() != 0 || !j.Other() || has(t, j, "one", []int{1}) {
		t.Error("results of another digest are there")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j = open(t, path, "b"); j.Found() != 0 || j.Other() {
		t.Error("the digest was not replaced")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"dig`), 0o600); err != nil { // killed at once
		t.Fatal(err)
	}
	if j = open(t, path, "b"); j.Found() != 0 {
		t.Errorf("%d results of nothing", j.Found())
	}
	notes := filepath.Join(t.TempDir(), "runs.jsonl")
	if err := os.WriteFile(notes, []byte("my notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(notes, "b"); !errors.Is(err, journal.ErrForeign) {
		t.Errorf("a file that is no journal is taken for one: %v", err)
	}
	if text, err := os.ReadFile(notes); err != nil || string(text) != "my notes\n" {
		t.Errorf("it became %q, %v", text, err)
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	of := func(parts ...string) string {
		var d journal.Digest
		for _, part := range parts {
			d.Add([]byte(part))
		}
		return d.String()
	}
	if one := of("a", "b"); one != of("a", "b") || one == of("ab") || one == of("b", "a") || of("a", "") == of("a") {
		t.Error("parts are mixed up")
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	var d journal.Digest
	if err := d.AddFile(path); err != nil || d.String() != of("a") {
		t.Errorf("a file is not what it holds: %v", err)
	}
	if err := d.AddFile(path + "x"); err == nil {
		t.Error("a file that is absent has a digest")
	}
}
