package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestCommandsEndWithTheirCodes runs commands that fail as the codes of errors say.
func TestCommandsEndWithTheirCodes(t *testing.T) {
	t.Setenv("KPROXY_OWNER_PASSWORD", "some password of the owner")
	t.Setenv("KPROXY_READER_PASSWORD", "some password of the reader")
	nobody := sample(t)
	text, err := os.ReadFile(nobody)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("port: 5432"), []byte("port: 1"), 1)
	if err := os.WriteFile(nobody, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		"explain --offline --user nosuch SELECT":    codeMissing,
		"explain --user nosuch SELECT":              codeMissing,
		"explain --offline --user analyst nonsense": codeRefused,
		"explain --offline --file /nowhere.sql":     codeMissing,
		"console":                                   codeMissing,
		"resync nosuch":                             codeMissing,
		"status":                                    codeConnection,
		"status --timeout 1ns":                      codeTimeout,
		"verify --timeout 1ns":                      codeTimeout,
	} {
		if _, p := command(t, "", append(strings.Fields(arguments), "-c", nobody)...); p == nil || p.Code != want {
			t.Errorf("%s ends with %+v, want %s", arguments, p, want)
		}
	}
}
