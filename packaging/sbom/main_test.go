package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// billOf describes this test's own binary.
func billOf(t *testing.T, arguments ...string) (bill, []byte) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(append(arguments, self), &out); err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	return b, out.Bytes()
}

func TestBill(t *testing.T) {
	t.Parallel()
	const libc = "pkg:deb/debian/glibc@2.36-9"
	folder := t.TempDir()
	texts, lgpl := filepath.Join(folder, "licenses.txt"), filepath.Join(folder, "copyright")
	if err := os.WriteFile(lgpl, []byte("It is under the GNU Lesser General\nPublic License."), 0o600); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"-time", "86400", "-licenses", texts, "-also", libc + " https://example.org/glibc " + lgpl}
	b, text := billOf(t, arguments...)
	if b.Format != "CycloneDX" || b.SpecVersion != "1.6" || b.Metadata.Timestamp != "1970-01-02T00:00:00Z" {
		t.Errorf("the bill begins with %+v", b)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(b.Serial) {
		t.Errorf("the serial number is %s", b.Serial)
	}
	seen := make(map[string]bool)
	for _, c := range b.Components {
		if seen[c.Reference] || !strings.HasPrefix(c.PURL, "pkg:") || c.Version == "" || len(c.Licenses) == 0 {
			t.Errorf("a component is twice there or incomplete: %+v", c)
		}
		seen[c.Reference] = true
	}
	if !seen[libc] || !strings.Contains(string(text), `"pkg:golang/std@1.`) {
		t.Errorf("the bill lacks the C library or Go's own:\n%s", text)
	}
	if len(b.Dependencies) != 1 || len(b.Dependencies[0].On) != len(b.Components) {
		t.Errorf("the dependencies are %+v", b.Dependencies)
	}
	if _, again := billOf(t, arguments...); !bytes.Equal(text, again) {
		t.Error("the same program has two bills")
	}
	written, err := os.ReadFile(texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"std 1.", "License: BSD-3-Clause\nSource: https://go.dev/dl/", "Google", "glibc 2.36-9\nLicense: LGPL-2.1-or-later\nSource: https://example.org/glibc"} {
		if !strings.Contains(string(written), want) {
			t.Errorf("the licenses lack %q:\n%s", want, written)
		}
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, arguments := range map[string][]string{
		"no program":      {},
		"two programs":    {self, self},
		"missing program": {"/does/not/exist"},
		"not a program":   {"main.go"},
		"no version":      {"-also", "pkg:deb/debian/glibc https://example.org main.go", self},
		"no package URL":  {"-also", "glibc@2.36 https://example.org main.go", self},
		"no license":      {"-also", "pkg:deb/debian/glibc@2.36 https://example.org main_test.go", self},
		"no files":        {"-also", "pkg:deb/debian/glibc@2.36 https://example.org", self},
	} {
		if err := run(arguments, &bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
