package console

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/integration/rig"
)

// screens is where pictures are left to be looked at.
const screens = "../../bin/screens"

// patience bounds what the browser does, which takes a minute where nothing else runs.
const patience = 20 * time.Minute

// demonstration is the `kproxy demo` whose console is tried.
type demonstration struct{ *rig.Demonstration }

func TestBrowser(t *testing.T) {
	t.Parallel() // what both tests wait for is a browser
	browser := browse(t, "console.mjs", screens)
	demo, err := rig.StartDemonstration(1500)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(demo.Stop)
	site := &demonstration{demo}
	t.Run("figures", func(t *testing.T) { checkFigures(t, site) })
	canaries, err := json.Marshal(site.canaries(t))
	if err != nil {
		t.Fatal(err)
	}
	browser.Env = append(browser.Env, "CONSOLE="+site.Console, "OPERATOR=admin", "PASSWORD="+site.Password, "CANARIES="+string(canaries))
	if output, err := browser.CombinedOutput(); err != nil {
		t.Errorf("the browser: %v\n%s", err, output)
	}
}

// browse prepares a script that drives Chromium and leaves pictures in a folder. Where there is no browser, the
// test is skipped, or fails where it must not be.
func browse(t *testing.T, script, pictures string) *exec.Cmd {
	t.Helper()
	chromium := rig.Program("chromium", "chromium-browser")
	rig.Need(t, "chromium", chromium != "")
	rig.Need(t, "npm", rig.Program("node") != "" && rig.Program("npm") != "")
	folder, err := rig.Project("console", "testdata/browser")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	shots, err := filepath.Abs(pictures)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "node", filepath.Join(folder, script))
	cmd.Env = append(os.Environ(), "CHROMIUM="+chromium, "SHOTS="+shots)
	return cmd
}

// canaries are raw values that no page may hold: names and numbers of people.
func (d *demonstration) canaries(t *testing.T) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.Source)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(t.Context(), "SELECT unnest(ARRAY[name, national_id]) FROM patients")
	if err != nil {
		t.Fatal(err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(values) < 1000 {
		t.Fatalf("only %d raw values to look for", len(values))
	}
	return values
}
