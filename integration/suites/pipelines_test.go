package suites

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var libpqFolder = flag.String("suites.libpq", "", "`folder` that source.sh prints")

// TestPipelines runs libpq_pipeline, PostgreSQL's test of pipelines, on each way and
// compares what libpq saw of the protocol, message by message. Through kproxy it is the
// one with temporary tables.
func TestPipelines(t *testing.T) {
	if *libpqFolder == "" {
		t.Skip("libpq_pipeline is not there: make suites fetches, compiles and runs it")
	}
	skipUnlessRecorded(t)
	tests, err := exec.Command(filepath.Join(*libpqFolder, "libpq_pipeline"), "tests").Output()
	if err != nil {
		t.Fatalf("asking libpq_pipeline for its tests: %v", err)
	}
	var report strings.Builder
	for _, pair := range []struct{ program, way, sslmode string }{
		{"libpq_pipeline", "relay", "disable"}, {"libpq_pipeline", "relay", "require"}, {"libpq_pipeline_temporary", "kproxy", "disable"},
	} {
		fmt.Fprintf(&report, "# %s through the %s, sslmode %s\n", pair.program, pair.way, pair.sslmode)
		t.Run(pair.way+"/"+pair.sslmode, func(t *testing.T) {
			freshDatabase(t)
			want := make(map[string]string)
			for _, name := range strings.Fields(string(tests)) {
				want[name] = trace(t, pair.program, name, pair.sslmode, straight(t, false))
			}
			freshDatabase(t)
			w := reach[pair.way](t, pair.sslmode == "require")
			for _, name := range strings.Fields(string(tests)) {
				alike := "alike"
				if got := trace(t, pair.program, name, pair.sslmode, w); want[name] != got {
					reason := pipelinesExplained[w.name+" "+name]
					if reason == "" {
						reason = unexplained
						t.Errorf("%s differs:\n%s", name, difference(want[name], got))
					}
					alike = "differs: " + reason + "\n" + difference(want[name], got)
				}
				fmt.Fprintf(&report, "%-24s %d messages, %s\n", name, strings.Count(want[name], "\n")-1, alike)
			}
		})
	}
	hold(t, "pipelines15.golden", report.String())
}

const temporaryNames = "a temporary table is looked for in pg_temp, which is not there before the first one"

// pipelinesExplained are the reasons of differences, by way and test.
var pipelinesExplained = map[string]string{
	"kproxy pipeline_abort":   temporaryNames + "; it is the gate that does not know the function",
	"kproxy pipeline_idle":    "pg_advisory_unlock is refused",
	"kproxy pipelined_insert": temporaryNames,
	"kproxy transaction":      temporaryNames,
}

// places are the fields of errors that say where in the server's source they come from,
// which the proxy keeps for itself, or of which it tells the routine alone.
var places = regexp.MustCompile(` F "SSSS" L "SSSS"| R "SSSS"`)

// trace is what libpq sends (F) and receives (B) in a test, and how the test ends.
func trace(t *testing.T, program, name, sslmode string, w way) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace")
	dsn := fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=%s sslmode=%s", w.host, w.port, w.user, w.password, database, sslmode)
	cmd := exec.CommandContext(t.Context(), filepath.Join(*libpqFolder, program), "-r", "700", "-t", file, name, dsn)
	cmd.Env = withoutPostgres(os.Environ())
	var output bytes.Buffer
	cmd.Stderr = &output
	hangs := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer hangs.Stop()
	err := cmd.Run()
	text, readErr := os.ReadFile(file)
	if readErr != nil {
		t.Errorf("%s: %v; %s", name, readErr, output.Bytes())
	}
	end := "ended well\n"
	if err != nil {
		end = fmt.Sprintf("%v: %s\n", err, bytes.TrimSpace(output.Bytes()))
	}
	return untimed(name, places.ReplaceAllString(string(text), "")) + end
}

// untimed leaves out of a trace what depends on when libpq can send and receive: it has
// no order between the two in pipelined_insert, nor an end in uniqviol.
func untimed(name, trace string) string {
	switch name {
	case "uniqviol":
		return ""
	case "pipelined_insert":
		lines := strings.SplitAfter(trace, "\n")
		slices.SortStableFunc(lines, func(a, b string) int { return -strings.Compare(a[:min(1, len(a))], b[:min(1, len(b))]) })
		return strings.Join(lines, "")
	}
	return trace
}

// difference are the first lines that two traces do not share.
func difference(want, got string) string {
	from, to := strings.Split(want, "\n"), strings.Split(got, "\n")
	var b strings.Builder
	shown := 0
	for i := range max(len(from), len(to)) {
		at := func(lines []string) string {
			if i < len(lines) {
				return lines[i]
			}
			return ""
		}
		if at(from) == at(to) {
			continue
		}
		if shown++; shown > 4 {
			b.WriteString("    ...\n")
			break
		}
		fmt.Fprintf(&b, "    - %s\n    + %s\n", at(from), at(to))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
