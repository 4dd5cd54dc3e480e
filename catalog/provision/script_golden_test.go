package provision_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog/provision"
)

// TestScriptIsGolden holds the script against a file, what temporary tables change
// in it against another, and the script of a source in a database of its own against a third.
func TestScriptIsGolden(t *testing.T) {
	t.Parallel()
	plain, temporary, source := input("", "", ""), input("", "", ""), input("", "", "")
	temporary.TemporaryTables, source.Side = true, provision.SourceSide
	standby := source
	standby.Standby = true
	script, other := mustScript(t, plain), mustScript(t, temporary)
	for golden, script := range map[string]string{"setup.sql": script, "setup_temporary.diff": changedLines(t, script, other), "setup_source.sql": mustScript(t, source), "setup_standby.added.sql": addedLines(mustScript(t, source), mustScript(t, standby))} {
		golden = filepath.Join("testdata", golden)
		if *update {
			if err := os.WriteFile(golden, []byte(script), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if script != string(want) {
			t.Errorf("the script differs from %s; run the test with -update and review the difference", golden)
		}
		if strings.Contains(script, "secret") {
			t.Errorf("%s holds a password", golden)
		}
	}
}

func mustScript(t *testing.T, in provision.Input) string {
	t.Helper()
	script, err := provision.Script(in)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// addedLines are the lines of a script that another one does not have.
func addedLines(before, after string) string {
	var b strings.Builder
	has := strings.Split(before, "\n")
	for line := range strings.Lines(after) {
		if !slices.Contains(has, strings.TrimSuffix(line, "\n")) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// changedLines are the lines in which two scripts of one length differ.
func changedLines(t *testing.T, before, after string) string {
	t.Helper()
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	if len(old) != len(now) {
		t.Fatalf("the scripts have %d and %d lines", len(old), len(now))
	}
	var b strings.Builder
	for i := range old {
		if old[i] != now[i] {
			fmt.Fprintf(&b, "%d\n- %s\n+ %s\n", i+1, old[i], now[i])
		}
	}
	return b.String()
}
