package clients

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestPgbench has pgbench run scripts in each of its query modes. They check what they
// read; of what pgbench prints, all that is not a time is compared.
func TestPgbench(t *testing.T) {
	t.Parallel()
	pgbench := pgbenchPath()
	rig.Need(t, "pgbench (postgresql-contrib)", pgbench != "")
	compare(t, "pgbench", func(t *testing.T, w way) []step {
		var steps []step
		for _, mode := range []string{"simple", "extended", "prepared"} {
			for _, run := range []struct{ name, script, options string }{
				{"one client", "select.sql", "-c 1 -t 200"},
				{"many clients", "work.sql", "-c 8 -j 2 -t 25"},
				{"reconnecting", "select.sql", "-c 2 -t 15 -C"},
				{"two scripts", "work.sql", "-c 4 -t 25 -r -f " + filepath.Join("testdata", "pgbench", "select.sql@2")},
				{"rate", "select.sql", "-c 2 -t 30 -R 1000"},
				{"pipelines", "pipeline.sql", "-c 4 -j 2 -t 25"},
				{"large results", "large.sql", "-c 1 -t 2"},
				{"several statements", "several.sql", "-c 1 -t 3"},
				{"errors", "failing.sql", "-c 1 -t 3"},
				{"errors in pipelines", "failing_pipeline.sql", "-c 1 -t 3"},
			} {
				if mode == "simple" && strings.Contains(run.script, "pipeline") {
					continue // pgbench has none in that mode
				}
				arguments := append([]string{"-n", "--random-seed=7", "-M", mode, "-f", filepath.Join("testdata", "pgbench", run.script)}, strings.Fields(run.options)...)
				steps = append(steps, step{mode + ", " + run.name, benched(t, w, pgbench, arguments)})
			}
		}
		return steps
	})
}

// timed is what pgbench prints of times and of chance.
var timed = regexp.MustCompile(`(?m)^(latency|initial connection|average connection|tps|number of transactions above|rate limit|.*- (latency|weight|[0-9]+ transactions|number of trans)|\s+[0-9.]+ ).*\n|[0-9.]+ ms|\(.*%\)|^pgbench \(.*\n`)

func benched(t *testing.T, w way, pgbench string, arguments []string) string {
	t.Helper()
	output, failure, err := run(t, append(w.environment(), "PGCHANNELBINDING=require"), pgbench, arguments...)
	text := output + failure
	if err != nil {
		text += err.Error()
	}
	return strings.Join(strings.Fields(timed.ReplaceAllString(text, "")), " ")
}

// pgbenchPath is where pgbench is: Debian has it beside the server's programs.
func pgbenchPath() string {
	if rig.Program("pgbench") != "" {
		return "pgbench"
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if len(found) == 0 {
		return ""
	}
	if _, err := os.Stat(found[0]); err != nil {
		return ""
	}
	return found[0]
}
