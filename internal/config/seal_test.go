package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sealKey = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="

// TestSealKeys reads keys from a file, from the environment and from a command. What cannot be read is
// refused, and not told.
func TestSealKeys(t *testing.T) {
	text, err := os.ReadFile("testdata/good/seal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const command = "key_command: [/usr/local/bin/keys, --of, hospital]"
	script := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho "+sealKey+"; echo \"# $1\"; test \"$2\" = good && exit 0; echo hunter2; test \"$2\" = other || exit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	around := world(map[string]string{"KEYS": sealKey, "BAD": "hunter2"}, map[string]string{"seal.key": "# now\n" + sealKey + "\n", "bad.key": sealKey + "\nhunter2"})
	for with, want := range map[string]string{
		"key_file: seal.key":                      "",
		"key_env: KEYS":                           "",
		"key_command: [" + script + ", a, good]":  "",
		"key_command: [" + script + ", a, bad]":   "exit status 3",
		"key_command: [" + script + ", a, other]": "line 3 is not a key",
		"key_command: [/nowhere/keys]":            "no such file",
		"key_file: bad.key":                       "line 2 is not a key",
		"key_file: none.key":                      "key_file cannot be read",
		"key_env: BAD":                            "line 1 is not a key",
		"key_env: NONE":                           "environment variable NONE is not set",
	} {
		c, err := parse("kproxy.yaml", []byte(strings.Replace(string(text), command, with, 1)), around)
		if err == nil {
			ring, failure := c.Release.Seal.Ring(t.Context())
			if err = failure; err == nil && (ring.First() == "" || !c.Policy.Tables[0].Sealed || !c.Policy.Tables[1].Sealed) {
				t.Errorf("%s: the policy is %+v", with, c.Policy)
			}
		}
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), sealKey)) {
			t.Errorf("%s: %v, want %q", with, err, want)
		}
	}
}

// TestUnsealed demands nothing of who does not seal.
func TestUnsealed(t *testing.T) {
	var s Seal
	if ring, err := s.Ring(t.Context()); ring != nil || err != nil || s.IsSet() {
		t.Errorf("%v, %v", ring, err)
	}
}
