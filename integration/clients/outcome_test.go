package clients

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
)

// outcome is what a run of a client came to, as testdata/outcomes has it.
type outcome struct {
	Version       string
	Steps, Differ int
}

func outcomePath(name string) string { return filepath.Join("testdata", "outcomes", name+".json") }

// record judges that a client's run came to what docs/clients.md says of it, or writes that.
func record(t *testing.T, name string, steps, differ int) {
	t.Helper()
	row := slices.IndexFunc(clientsOf, func(c tested) bool { is, _ := path.Match(c.names, name); return is })
	if row < 0 {
		t.Fatalf("no row of clientsOf describes %s", name)
	}
	if *update {
		text, err := json.Marshal(outcome{Version: versionOf(t, clientsOf[row].version), Steps: steps, Differ: differ})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(outcomePath(name), append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if was := readOutcome(t, name); site.server.Version().Major == goldenMajor && (was.Steps != steps || was.Differ != differ) {
		t.Errorf("docs/clients.md says of %s that of %d steps %d differ; of %d it is %d", name, was.Steps, was.Differ, steps, differ)
	}
}

func readOutcome(t *testing.T, name string) (o outcome) {
	t.Helper()
	text, err := os.ReadFile(outcomePath(name))
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}
