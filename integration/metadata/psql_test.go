package metadata

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// describing are psql's commands that describe the database.
var describing = []string{
	`\d`, `\d+`, `\d patients`, `\d+ patients`, `\d hospital.visits`, `\d+ hospital.visits`, `\d wards`, `\d+ wards`, `\d icd10`,
	`\d+ measures`, `\d+ large_wards`, `\d+ beds_by_building`, `\d wards_pkey`, `\d patients_raw`,
	`\dt`, `\dt+`, `\dt *.pat*`, `\dv`, `\dv+`, `\dm`, `\dm+`, `\di`, `\di+`, `\ds`, `\dE`, `\dn`, `\dn+`, `\l`, `\l+`,
	`\df`, `\df+`, `\df lower`, `\da public.*`, `\dT`, `\dT+`, `\dD`, `\dD+`, `\du`, `\du+`, `\dg`, `\dp`, `\dp patients`, `\z wards`, `\ddp`,
	`\dx`, `\dx+`, `\dC int4`, `\dc public.*`, `\dO public.*`, `\do public.*`, `\db`, `\db+`, `\dd`, `\dconfig server_version_num`,
	`\dconfig time*`, `\dconfig search_path`, `\drds`, `\dRp`, `\dRp+`, `\dRs`, `\dX`, `\dy`, `\des`, `\dew`, `\det`, `\deu`, `\dP`, `\dP+`, `\dAc btree int4`, `\dL`, `\dF`, `\dFp`,
	`\sf lower(text)`, `\sv large_wards`, `\sv patients`, `\conninfo`, `\encoding`,
}

func TestPsql(t *testing.T) {
	t.Parallel()
	rig.Need(t, "psql", rig.Program("psql") != "")
	start(t)
	script := filepath.Join(t.TempDir(), "describe.sql")
	var b strings.Builder
	for _, command := range describing {
		// The mark is a row of its own: \echo writes to another place than errors.
		fmt.Fprintf(&b, "\\warn '== %s'\n%s\n", strings.ReplaceAll(command, `\`, `\\`), command)
	}
	if err := os.WriteFile(script, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	// Both outputs go to one pipe; unbuffered, in the order of what wrote them.
	output, err := run(t, "psql", "-X", "-q", "-o", "/dev/stderr", "-f", script)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	output = strings.ReplaceAll(output, "psql:"+script+":", "")
	if _, port, err := net.SplitHostPort(site.address); err == nil {
		output = strings.ReplaceAll(output, port, "PORT")
	}
	var sections []section
	for _, part := range parts(regexp.MustCompile(`(?m)^[0-9]+: (==|ERROR|error)`).ReplaceAllString(output, "$1")) {
		command, shown, _ := strings.Cut(part, "\n")
		sections = append(sections, section{asked: command, shown: shown})
	}
	if len(sections) != len(describing) {
		t.Errorf("%d commands are answered, not %d:\n%s", len(sections), len(describing), output)
	}
	if major := psqlMajor(t); major != goldenMajor || major < site.server.Version().Major {
		// An older psql asks for columns that a newer server does not have.
		t.Logf("the golden file is of psql %d, this is %d: not compared", goldenMajor, major)
		for _, s := range sections {
			if found := hidden.FindString(s.shown); found != "" {
				t.Errorf("%s shows %q, which is hidden:\n%s", s.asked, found, s.shown)
			}
		}
		return
	}
	compare(t, "psql", sections)
}

// psqlMajor is the major version of the psql on the path.
func psqlMajor(t *testing.T) int {
	t.Helper()
	output, err := run(t, "psql", "--version")
	if err != nil {
		t.Fatal(err)
	}
	var major int
	if _, err := fmt.Sscanf(output, "psql (PostgreSQL) %d", &major); err != nil {
		t.Fatalf("asking psql for its version: %v", err)
	}
	return major
}
