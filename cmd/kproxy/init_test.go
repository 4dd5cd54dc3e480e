package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDraftsReplaceNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := writeNew(path, "first"); err != nil {
		t.Fatal(err)
	}
	if err := writeNew(path, "second"); err == nil || !strings.HasSuffix(err.Error(), path+" exists; remove it or choose another name") {
		t.Errorf("error %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "first" {
		t.Errorf("%q, %v", text, err)
	}
}
