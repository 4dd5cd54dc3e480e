package bi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// frames are the results that the guide for R makes, with the same in SQL.
var frames = []struct{ name, sql string }{
	{"wards", "SELECT ward, count(*), round(avg(cost), 2) FROM patients GROUP BY ward ORDER BY ward"},
	{"dear", "SELECT count(*) FROM patients WHERE sex = 'F' AND cost > 1000"},
	{"columns", `SELECT c.relname, attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
		WHERE attnum > 0 AND attrelid = ANY ('{patients,staff,wards,icd10,persons,stays,diagnoses,prescriptions,labs}'::regclass[]) ORDER BY c.relname, attnum`},
	{"chapters", "SELECT chapter, count(*), round(avg(cost), 2) FROM patients JOIN icd10 ON code = diagnosis GROUP BY 1 ORDER BY 1"},
	{"born", "SELECT birth_date, count(*) FROM patients GROUP BY 1 ORDER BY 1"},
}

var blockOfR = regexp.MustCompile("(?ms)^```r\n(.*?)^```$")

// TestR has R follow its guide to the letter.
func TestR(t *testing.T) {
	heavy(t)
	const found = `find.package(c("RPostgreSQL", "RODBC", "dbplyr")); stopifnot("[PostgreSQL Unicode]" %in% readLines("/etc/odbcinst.ini"))`
	rig.Need(t, "r-cran-rpostgresql, r-cran-rodbc, r-cran-dbplyr and odbc-postgresql", exec.Command("Rscript", "--vanilla", "-e", found).Run() == nil)
	start(t)
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", "r.md"))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range blockOfR.FindAllStringSubmatch(string(guide), -1) {
		script.WriteString(block[1])
	}
	for _, frame := range frames {
		fmt.Fprintf(&script, "write.table(%[1]s, %[1]q, sep = \"\\t\", na = \"\", quote = FALSE, row.names = FALSE, col.names = FALSE)\n", frame.name)
	}
	folder := t.TempDir()
	here := strings.NewReplacer("kproxy.example", site.Analyst.Hostname(), "6432", site.Analyst.Port())
	if err := os.WriteFile(filepath.Join(folder, "guide.R"), []byte(here.Replace(script.String())), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, folder, environment(), "Rscript", "--vanilla", "guide.R")
	for _, frame := range frames {
		t.Run(frame.name, func(t *testing.T) {
			shown, err := os.ReadFile(filepath.Join(folder, frame.name))
			if err != nil {
				t.Fatal(err)
			}
			agree(t, table(shown), published(t, frame.sql))
		})
	}
}
