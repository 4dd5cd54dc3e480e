package bi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestLibreOffice has LibreOffice Base connect with its own driver, list the tables and
// run a query, with which Calc fills a sheet.
func TestLibreOffice(t *testing.T) {
	heavy(t)
	const python = "/usr/bin/python3"
	rig.Need(t, "libreoffice-base, libreoffice-calc, libreoffice-sdbc-postgresql and python3-uno",
		rig.Program("soffice") != "" && exec.Command(python, "-c", "import uno").Run() == nil)
	start(t)
	folder := t.TempDir()
	socket := fmt.Sprintf("pipe,name=kproxy-bi-%d", os.Getpid())
	office := exec.Command("soffice", "--headless", "--norestore", "--nologo", "-env:UserInstallation=file://"+filepath.Join(folder, "profile"), "--accept="+socket+";urp")
	office.Env = append(os.Environ(), "HOME="+folder)
	// soffice starts the program proper and waits for it.
	office.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := office.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-office.Process.Pid, syscall.SIGKILL)
		_ = office.Wait()
	})
	script, err := filepath.Abs(filepath.Join("testdata", "libreoffice.py"))
	if err != nil {
		t.Fatal(err)
	}
	var tables, rows [][]string
	for _, line := range table(run(t, folder, environment(), python, script, socket, folder)) {
		if line[0] == "table" {
			tables = append(tables, line[1:])
		} else {
			rows = append(rows, line[1:])
		}
	}
	var names []string
	for _, columns := range tables {
		names = append(names, strings.Join(columns, " "))
	}
	const want = "public.diagnoses code position stay_id\n" +
		"public.icd10 chapter code description\n" +
		"public.labs day stay_id test value\n" +
		"public.patients admission_date admission_date_range birth_date birth_date_range cost diagnosis marital_status occupation postcode sex ward\n" +
		"public.persons birth_date birth_date_range person_id postcode sex\n" +
		"public.prescriptions day drug stay_id\n" +
		"public.staff birth_date birth_date_range kproxy_class kproxy_weight postcode sex sick_days ward\n" +
		"public.stays admission_date admission_date_range cost days person_id stay_id ward\n" +
		"public.wards beds building ward"
	if got := strings.Join(names, "\n"); got != want {
		t.Errorf("Base lists\n%s\nbut for what comes with PostgreSQL. It should list\n%s", got, want)
	}
	agree(t, rows, published(t, `SELECT chapter, count(*), round(avg(cost), 2) FROM patients JOIN icd10 ON code = diagnosis GROUP BY 1 ORDER BY 2 DESC, 1`))
}
