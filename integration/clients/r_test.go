package clients

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// rs are the programs in testdata/r, with what R has to find for each, as an expression of
// R, and the Debian packages that have it.
var rs = []struct{ program, found, packages string }{
	{"rpostgresql", `find.package("RPostgreSQL")`, "r-cran-rpostgresql"},
	{"rodbc", `find.package("RODBC"); stopifnot("[PostgreSQL Unicode]" %in% readLines("/etc/odbcinst.ini"))`, "r-cran-rodbc with odbc-postgresql"},
	{"dbplyr", `find.package(c("dbplyr", "RPostgreSQL"))`, "r-cran-dbplyr with r-cran-rpostgresql"},
}

func TestR(t *testing.T) {
	t.Parallel()
	for _, r := range rs {
		t.Run(r.program, func(t *testing.T) {
			t.Parallel()
			rig.Need(t, r.packages, exec.Command("Rscript", "--vanilla", "-e", r.found).Run() == nil)
			compare(t, r.program, program(nil, "Rscript", "--vanilla", filepath.Join("testdata", "r", r.program+"_work.R")))
		})
	}
}
