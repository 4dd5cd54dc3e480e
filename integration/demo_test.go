package integration

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// demo starts `kproxy demo` with a folder for temporary files of its own.
func demo(t *testing.T, credential *syscall.Credential, arguments ...string) (p *process, temporary string) {
	t.Helper()
	dir := scratch(t)
	temporary = filepath.Join(dir, "tmp")
	for _, folder := range []string{temporary, filepath.Join(dir, "home")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		// The server's user must get there, whoever it is.
		if err := os.Chmod(folder, os.ModeSticky|0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(context.Background(), program, append([]string{"demo"}, arguments...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temporary, "HOME="+filepath.Join(dir, "home"))
	if credential != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
		cmd.Dir = temporary
	}
	return start(t, cmd), temporary
}

// leavesNothing fails the test if a demonstration that has ended left a process
// or a file.
func leavesNothing(t *testing.T, temporary string) {
	t.Helper()
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
	// The servers' command lines name their data folder.
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is well-formed
	for _, command := range commands {
		if line, err := os.ReadFile(command); err == nil && strings.Contains(string(line), temporary) {
			t.Errorf("left running: %s: %q", command, line)
		}
	}
}

// tourSteps are what a tour shows, in this order.
var tourSteps = []string{
	"the table is read under its own name", "every row hides among others", "a row deleted at the source leaves the release",
	"a row inserted at the source joins it", "a row updated at the source changes it", "every row still hides among others",
	"refused: SELECT query_to_xml", "refused: SELECT * FROM pg_statistic", "the verifier agrees", "Everything held.",
}

// peopleSteps are what a tour shows of tables about the same persons, before all else.
var peopleSteps = []string{
	"A tour of persons and what belongs to them, with immediate updates", "ok      persons, stays and diagnoses are joined by their keys",
	"ok      every key leads to its row", "ok      no key is that of the source", "ok      every person hides among others",
	"ok      so does every person of whom an outsider knows the root row and one stay",
	"ok      an admission inserted at the source appears, with its diagnosis: seen after", "ok      a person deleted at the source leaves all tables: seen after",
	"ok      every person hides among others", "ok      so does every person of whom an outsider knows the root row and one stay",
	"refused: SELECT name FROM persons", "ok      the verifier agrees, over all tables together", "A tour of public.patients",
}

// inOrder reports whether a text has all of these steps, one after the other.
func inOrder(text string, steps []string) bool {
	for _, step := range steps {
		var found bool
		if _, text, found = strings.Cut(text, step); !found {
			return false
		}
	}
	return true
}

func checkTour(t *testing.T, p *process, temporary string) string {
	t.Helper()
	code, text := p.wait(t), p.output.String()
	if code != 0 || strings.Contains(text, "FAILED") {
		t.Errorf("exit code %d:\n%s%s", code, text, p.log)
	}
	if !inOrder(text, tourSteps) {
		t.Fatalf("the tour does not have the steps %q:\n%s", tourSteps, text)
	}
	leavesNothing(t, temporary)
	return text
}

// TestDemoTour runs the tour as whoever runs the tests and, when that is root,
// as nobody too.
func TestDemoTour(t *testing.T) {
	t.Parallel()
	credentials := map[string]*syscall.Credential{"caller": nil}
	if os.Geteuid() == 0 {
		credentials["ordinary user"] = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	for name, credential := range credentials {
		t.Run(name, func(t *testing.T) {
			p, temporary := demo(t, credential, "--once", "--patients", "3000", "--persons", "1000")
			text := checkTour(t, p, temporary)
			if !strings.Contains(text, "Published public.patients") || !strings.Contains(text, "3000 records") {
				t.Errorf("the demonstration wrote:\n%s", text)
			}
			if !inOrder(text, peopleSteps) {
				t.Errorf("the tour does not have the steps %q:\n%s", peopleSteps, text)
			}
			for _, words := range []string{
				"Published public.persons, public.stays, public.diagnoses, public.prescriptions, public.labs together: ",
				"knows: 1/1y. Whoever knows the root row of a person and one other row in each calendar year is left with at least 5 persons",
				"Published public.staff", "updates: immediate. Readers see each change", "updates: guarded. Newcomers wait",
				"A tour of public.patients, with immediate updates", "A tour of public.staff, with guarded updates", "a row deleted at the source cannot be missed",
				"inserted again, it takes the row back that it left",
			} {
				if !strings.Contains(text, words) {
					t.Errorf("the demonstration does not say %q:\n%s", words, text)
				}
			}
		})
	}
}

// TestDemoTourGuarded runs the tour with guarded updates alone.
func TestDemoTourGuarded(t *testing.T) {
	t.Parallel()
	p, temporary := demo(t, nil, "--once", "--guarded", "--patients", "3000", "--persons", "1000")
	code, text := p.wait(t), p.output.String()
	if code != 0 || strings.Contains(text, "FAILED") || strings.Count(text, "ok      newcomers appear together") != 2 {
		t.Errorf("exit code %d:\n%s%s", code, text, p.log)
	}
	leavesNothing(t, temporary)
}

// TestDemoOwnTable publishes somebody's CSV file.
func TestDemoOwnTable(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	var rows strings.Builder
	rows.WriteString("who;born;town;note\n")
	for i := range 100 {
		rows.WriteString(strings.Join([]string{
			"Person " + strconv.Itoa(i), strconv.Itoa(1940+i*7%60) + "-03-14", []string{"Ulm", "Bonn", "Kiel"}[i%3], "n" + strconv.Itoa(i%4),
		}, ";") + "\n")
	}
	data, policy := filepath.Join(dir, "own.csv"), filepath.Join(dir, "own.yaml")
	for path, text := range map[string]string{data: rows.String(), policy: `csv: {delimiter: ";", header: true, key: number}
tables:
  public.guests:
    method: rounded-partition
    updates: immediate
    constraints: [{k: 4}, {l: 2, of: note}]
    unpublishable: withhold
    columns:
      who: identifying
      born: {role: quasi-identifying, hierarchy: date, publish: both}
      town: {role: quasi-identifying, hierarchy: categorical}
      note: sensitive
`} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, temporary := demo(t, nil, "--once", "--csv", data, "--policy", policy)
	if text := checkTour(t, p, temporary); !strings.Contains(text, "100 records") || !strings.Contains(text, `refused: SELECT "who"`) {
		t.Errorf("the demonstration wrote:\n%s", text)
	}
}

// interrupt ends a demonstration as Ctrl-C does.
func interrupt(t *testing.T, p *process, temporary string) {
	t.Helper()
	if code := p.end(t, syscall.SIGINT); code != 0 {
		t.Errorf("after Ctrl-C the exit code is %d:\n%s%s", code, p.output, p.log)
	}
	leavesNothing(t, temporary)
}

// TestDemoInterrupted presses Ctrl-C at the stages of a demonstration.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	for stage, written := range map[string]string{
		"starting the server": `Starting a private`,
		"loading":             `Loading the data`,
		"publishing":          `publishing|anonymizing|reading`,
		"serving":             `Ctrl-C stops everything`,
	} {
		t.Run(stage, func(t *testing.T) {
			if _, err := os.Stat("/proc/self/cmdline"); err != nil && stage == "publishing" {
				t.Skip("what a server does is not to be seen without /proc")
			}
			p, temporary := demo(t, nil, "--patients", "40000", "--persons", "2000", "--listen", "127.0.0.1:0", "-v")
			expression := regexp.MustCompile(written)
			eventually(t, "the demonstration is "+stage, func() bool {
				if stage == "publishing" {
					return publishing(t, temporary) || !p.running()
				}
				return expression.MatchString(p.output.String()+p.log.String()) || !p.running()
			})
			interrupt(t, p, temporary)
		})
	}
}

// publishing tells whether a server of the demonstration has a backend that
// works for kproxy: its title names role and database.
func publishing(t *testing.T, temporary string) bool {
	t.Helper()
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is well-formed
	for _, command := range commands {
		line, err := os.ReadFile(command)
		if err != nil || !strings.Contains(string(line), "kproxy_owner hospital") {
			continue
		}
		// Other demonstrations may run: the backend's folder says whose it is.
		if dir, err := os.Readlink(filepath.Join(filepath.Dir(command), "cwd")); err == nil && strings.HasPrefix(dir, temporary) {
			return true
		}
	}
	return false
}

// TestDemoTakenPort fails at once and leaves nothing.
func TestDemoTakenPort(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	p, temporary := demo(t, nil, "--patients", "500", "--persons", "500", "--listen", listener.Addr().String())
	outcome{code: p.wait(t), stderr: p.log.String()}.speaks(t, 1, 1, "address already in use", listener.Addr().String())
	leavesNothing(t, temporary)
}
