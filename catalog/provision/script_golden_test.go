package provision_test

import (
	"fmt"
	"os"
	"path/filepath"
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
	script, other := mustScript(t, plain), mustScript(t, temporary)
	for golden, script := range map[string]string{"setup.sql": script, "setup_temporary.diff": changedLines(t, script, other), "setup_source.sql": mustScript(t, source)} {
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
