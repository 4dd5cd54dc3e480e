package proxy

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// tracelessGate calls texts with a certain word traceless.
type tracelessGate struct{ testGate }

func (g tracelessGate) Rewrite(sql string, in State) (Statement, error) {
	statement, err := g.testGate.Rewrite(sql, in)
	statement.Traceless = strings.Contains(sql, "traceless")
	return statement, err
}

// TestTracesAreLookedFor has sessions leave a temporary schema, which DISCARD ALL does not
// take away: only what is called traceless is not looked at afterwards.
func TestTracesAreLookedFor(t *testing.T) {
	t.Parallel()
	for texts, again := range map[string]bool{
		"":                       true,
		"SELECT 1":               true,
		"CREATE TEMP TABLE t ()": false,
		"SELECT 'traceless'; CREATE TEMP TABLE x ()":         false,
		"CREATE TEMP TABLE traceless ()":                     true,
		"CREATE TEMP TABLE traceless (); SELECT 'traceless'": true,
		"CREATE TEMP TABLE traceless (); SELECT 1":           false,
		"SELECT 1; CREATE TEMP TABLE traceless ()":           false,
	} {
		for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeCacheStatement} {
			t.Run(mode.String()+" "+texts, func(t *testing.T) {
				t.Parallel()
				p := startProxy(t, func(c *Config) { c.Gate, c.Pool.MaxConnections = tracelessGate{}, 1 })
				backend := func() (pid int) {
					conn := connectPgx(t, p.url("sslmode=disable"))
					if err := conn.QueryRow(deadline(t), "SELECT pg_backend_pid() -- traceless").Scan(&pid); err != nil {
						t.Fatal(err)
					}
					for text := range strings.SplitSeq(texts, "; ") {
						if text == "" {
							continue
						}
						if _, err := conn.Exec(deadline(t), text, mode); err != nil {
							t.Fatal(err)
						}
					}
					if err := conn.Close(deadline(t)); err != nil {
						t.Fatal(err)
					}
					return pid
				}
				if first, second := backend(), backend(); (first == second) != again {
					t.Errorf("process %d, then %d", first, second)
				}
			})
		}
	}
}
