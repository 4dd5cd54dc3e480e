package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestErrorsShowTurningCharacters names a table that would turn the text of the error.
func TestErrorsShowTurningCharacters(t *testing.T) {
	t.Parallel()
	for _, asJSON := range []bool{false, true} {
		var text strings.Builder
		problem{Code: codeMissing, Message: "no table pat\u202estnei"}.write(&text, asJSON)
		if !strings.Contains(text.String(), `pat\u202estnei`) {
			t.Errorf("%q", text.String())
		}
	}
	out, _ := command(t, "", "explain", "--offline", "-c", exampleConfig, "SELECT 1 AS \"a\u202eb\"")
	if !strings.Contains(out, `a\u202eb`) {
		t.Errorf("%q", out)
	}
}

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
