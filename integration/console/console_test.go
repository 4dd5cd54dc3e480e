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
)

// screens is where pictures are left to be looked at.
const screens = "../../bin/screens"

// patience bounds what the browser does.
const patience = 4 * time.Minute

func TestBrowser(t *testing.T) {
	browser := need(t, "Chromium (Debian: apt-get install chromium)", "chromium", "chromium-browser")
	need(t, "Node.js (Debian: apt-get install npm)", "node")
	need(t, "npm (Debian: apt-get install npm)", "npm")
	folder, err := modules()
	if err != nil {
		t.Fatal(err)
	}
	site := startDemo(t)
	t.Run("figures", func(t *testing.T) { checkFigures(t, site) })
	canaries, err := json.Marshal(site.canaries(t))
	if err != nil {
		t.Fatal(err)
	}
	shots, err := filepath.Abs(screens)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", filepath.Join(folder, "console.mjs"))
	cmd.Env = append(os.Environ(), "CONSOLE="+site.console, "OPERATOR=admin", "PASSWORD="+site.password,
		"CHROMIUM="+browser, "SHOTS="+shots, "CANARIES="+string(canaries))
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the browser: %v\n%s", err, output)
	}
}

// need is the path of the first program that is there, and skips the test without one.
func need(t *testing.T, what string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("this needs %s", what)
	return ""
}

// canaries are raw values that no page may hold: names and numbers of people.
func (d *demonstration) canaries(t *testing.T) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.source)
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
