package suites

import (
	"strconv"
	"testing"
)

// TestPq runs the tests of lib/pq.
func TestPq(t *testing.T) {
	suite := pqSuite("pq", "no")
	suite.test(t)
}

// TestPqBinary runs those of lib/pq with parameters in binary, which it sends without
// asking for their types.
func TestPqBinary(t *testing.T) {
	if !*all {
		t.Skip("it takes long: make suites runs it")
	}
	suite := pqSuite("pqbinary", "yes")
	suite.test(t)
}

func pqSuite(name, binary string) goSuite {
	return goSuite{
		name:     name,
		module:   "github.com/lib/pq",
		packages: []string{"."},
		long:     []string{"hstore"},
		setup:    []string{"CREATE EXTENSION hstore"},
		env: func(w way) []string {
			return []string{
				"PGHOST=" + w.host, "PGPORT=" + strconv.Itoa(w.port), "PGUSER=" + w.user, "PGPASSWORD=" + w.password,
				"PGDATABASE=" + database, "PGSSLMODE=disable", "PQTEST_BINARY_PARAMETERS=" + binary,
			}
		},
		leftOut: map[string]string{
			"TestHasCorrectRootGroupPermissions": "whether it passes depends on who runs it",
			"TestContextCancelExec":              early,
			"TestContextCancelQuery":             early,
			"TestQueryCancelRace":                early,
		},
		explained: pqExplained,
	}
}

// early is why tests cannot be told about that cancel 10 ms after they began to connect.
const early = "it cancels within 10 ms of connecting, and what is canceled before it runs goes on, straight as well"

var pqExplained = map[string]string{
	"TestRuntimeParameters": ownName + "; kproxy takes no work_mem",
}
