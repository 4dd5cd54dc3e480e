package integration

import (
	"flag"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

var timesAnswers = flag.Bool("answers.time", false, "TestTimeOfKeptAnswers measures")

// TestTimeOfKeptAnswers logs what a question takes at the source, by kproxy without kept answers, and
// with one.
func TestTimeOfKeptAnswers(t *testing.T) {
	if !*timesAnswers {
		t.Skip("it measures, and asserts nothing; run it with -answers.time")
	}
	s, _ := answersSite(t)
	admin, kept, live := connect(t, s.admin), connect(t, s.url()), connect(t, s.url())
	execute(t, live, "SET kproxy.cache = off")
	for name, mode := range map[string]pgx.QueryExecMode{"simple": pgx.QueryExecModeSimpleProtocol, "prepared": pgx.QueryExecModeCacheStatement} {
		asksTimes(t, kept, 3, mode, dearSQL)
		said := fmt.Sprintf("%s:", name)
		for _, of := range []struct {
			name string
			conn *pgx.Conn
		}{{"source", admin}, {"without", live}, {"kept", kept}} {
			r := testing.Benchmark(func(b *testing.B) {
				for range b.N {
					asksTimes(t, of.conn, 1, mode, dearSQL)
				}
			})
			said += fmt.Sprintf(" %s %.3f ms", of.name, float64(r.NsPerOp())/1e6)
		}
		t.Log(said)
	}
}
