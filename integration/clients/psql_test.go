package clients

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/integration/rig"
)

// psqls are the scripts that each psql runs: the system's, and those that psql.sh
// fetches into .psql, which know more.
var psqls = map[string][]string{"system": {"work"}, "17": {"work", "bind"}, "18": {"work", "bind", "pipeline"}}

func TestPsql(t *testing.T) {
	t.Parallel()
	for version, scripts := range psqls {
		for _, name := range scripts {
			t.Run(version+" "+name, func(t *testing.T) {
				t.Parallel()
				psql := psqlOf(t, version)
				compare(t, "psql_"+name, func(t *testing.T, w way) []step {
					return script(t, w, psql, filepath.Join("testdata", "psql", name+".sql"), nil)
				})
			})
		}
		t.Run(version+" interrupted", func(t *testing.T) {
			t.Parallel()
			psql := psqlOf(t, version)
			compare(t, "psql_interrupted", func(t *testing.T, w way) []step { return interrupted(t, w, psql) })
		})
	}
}

// psqlOf is the path of a version of psql.
func psqlOf(t *testing.T, version string) string {
	t.Helper()
	if version == "system" {
		rig.Need(t, "psql (postgresql-client)", rig.Program("psql") != "")
		return "psql"
	}
	path := filepath.Join("..", "..", ".psql", version, "psql")
	_, err := os.Stat(path)
	if version == "18" && err != nil {
		t.Skip("psql 18 is not there: Debian has it in a suite that moves on, and integration/clients/psql.sh .psql forky 18 fetches it no more, or was not run")
	}
	rig.Need(t, "psql "+version+" (integration/clients/psql.sh .psql trixie 17)", err == nil)
	return path
}

// interrupted has somebody press Ctrl-C while a statement of psql runs.
func interrupted(t *testing.T, w way, psql string) []step {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	// The process says by its first output that it is connected.
	cmd := exec.CommandContext(ctx, psql, "-X", "-A", "-t", "-v", "VERBOSITY=verbose", "-c", "SELECT 'connected'", "-c", slow, "-c", "SELECT 'goes on'")
	cmd.Env = w.environment()
	var failure bytes.Buffer
	cmd.Stderr = &failure
	pipe := must[io.ReadCloser](t)(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	output := bufio.NewReader(pipe)
	seen, _ := output.ReadString('\n') // without it, the next reading fails, too
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	rest, _ := io.ReadAll(output)
	err := cmd.Wait()
	shown := source.ReplaceAllString(seen+string(rest)+failure.String(), "")
	return []step{{"interrupted", fmt.Sprintf("%q, %v", shown, err)}}
}

// source is where in the server's source an error comes up, which is not for clients.
var source = regexp.MustCompile(`(?m)^LOCATION:.*\n`)

// place is where in the script psql reads what fails.
var place = regexp.MustCompile(`(?m)^psql:\S+:[0-9]+: `)

// script runs a script of psql in an environment. A line `\echo == name` begins a step, which is all that
// psql then writes to both outputs.
func script(t *testing.T, w way, psql, path string, environment []string) []step {
	t.Helper()
	environment = append(append(w.environment(), "PGCHANNELBINDING=require", "PGAPPNAME=work"), environment...)
	_, output, err := run(t, environment, psql, "-X", "-o", "/dev/stderr", "-f", path)
	if err != nil {
		t.Errorf("%s: %s fails: %v\n%s", w.name, psql, err, output)
	}
	var steps []step
	output = place.ReplaceAllString(source.ReplaceAllString(output, ""), "")
	for i, part := range strings.Split("\n"+output, "\n== ") {
		name, text, _ := strings.Cut(part, "\n")
		if i > 0 {
			steps = append(steps, step{name, fmt.Sprintf("%q", text)})
		}
	}
	return steps
}
