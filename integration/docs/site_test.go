package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/pgserver"
)

// site is where the commands of a page run.
type site struct {
	dir    string
	env    []string
	ports  map[string]string // as a page writes them -> those in their place
	groups []int             // of the processes of each command
}

// The only user of a page's kproxy.
const analyst, password = "analyst", "secret"

// newSite makes what a page asks for.
func newSite(t *testing.T, environment string) *site {
	t.Helper()
	dir, err := os.MkdirTemp(shared.dir, "page-")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Dir(program(t))
	s := &site{dir: dir, env: append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir), ports: make(map[string]string)}
	t.Cleanup(s.stop)
	if environment == "none" {
		return s
	}
	patients, persons, bare := usual, 0, false
	for asked := range strings.SplitSeq(environment, ", ") {
		number, of, _ := strings.Cut(asked, " ")
		switch {
		case asked == "bare":
			bare = true
		case of == "patients":
			patients, err = strconv.Atoi(number)
		case of == "persons":
			persons, err = strconv.Atoi(number)
		case asked != "":
			t.Fatalf("the page asks for %q, which is nothing", asked)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	server := database(t, patients)
	if persons > 0 {
		loadPersons(t, server, persons)
	}
	needsTools(t, server.Version())
	for _, port := range []string{"6432", "6480", "9187"} {
		s.ports[port] = freePort(t)
	}
	s.ports["5432"] = strconv.Itoa(server.Port())
	superuser := server.DSN("hospital")
	account := regexp.MustCompile(`//(.*?):(.*?)@`).FindStringSubmatch(superuser)
	s.env = append(s.env, "PGHOST=127.0.0.1", "PGPORT="+s.ports["5432"], "PGUSER="+account[1], "PGPASSWORD="+account[2],
		"PGDATABASE=hospital", "KPROXY_ADMIN_URL="+superuser)
	if !bare {
		s.publish(t, persons > 0)
	}
	return s
}

// needsTools skips the test where pg_dump is older than the server, which it refuses then.
func needsTools(t *testing.T, server pgserver.Version) {
	t.Helper()
	output, err := exec.Command("pg_dump", "--version").Output()
	found := regexp.MustCompile(`\) (\d+)`).FindSubmatch(output)
	rig.Need(t, "postgresql-client", err == nil && found != nil)
	if major, _ := strconv.Atoi(string(found[1])); major < server.Major { // digits, which a number can hold
		t.Skipf("the tools at the shell are of PostgreSQL %d: install postgresql-client-%d", major, server.Major)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	port, err := rig.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

// publish configures kproxy as the example does, with persons as the demonstration does, and has
// it serve.
func (s *site) publish(t *testing.T, persons bool) {
	t.Helper()
	example := string(kproxy.ExampleConfig)
	tables := example[strings.Index(example, "\ntables:"):strings.Index(example, "\n# What one client can take")]
	if persons {
		of, people, _ := strings.Cut(hospital.HistoriesPolicy, "people:\n")
		_, of, _ = strings.Cut(of, "tables:\n")
		tables = strings.Replace(tables, "\ntables:\n", "\ntables:\n"+of, 1) + "\npeople:\n" + people
	}
	verifier := s.must(t, "kproxy password <<<"+password)
	s.write(t, "owner.password", "owner")
	s.write(t, "reader.password", "reader")
	s.write(t, "kproxy.yaml", fmt.Sprintf(`listen: 127.0.0.1:%s
users: [{name: %s, verifier: "%s"}]
upstream:
  owner: {host: 127.0.0.1, port: %s, database: hospital, user: kproxy_owner, password_file: owner.password, sslmode: disable}
  reader: {user: kproxy_reader, password_file: reader.password}
metrics: {listen: 127.0.0.1:%s}
%s`, s.ports["6432"], analyst, strings.TrimSpace(verifier), s.ports["5432"], s.ports["9187"], tables))
	s.env = append(s.env, "KPROXY_CONFIG="+filepath.Join(s.dir, "kproxy.yaml"),
		fmt.Sprintf("KPROXY_URL=postgresql://%s:%s@127.0.0.1:%s/hospital", analyst, password, s.ports["6432"]))
	s.must(t, "kproxy setup")
	s.must(t, "kproxy serve &")
}

func (s *site) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// must runs commands that succeed.
func (s *site) must(t *testing.T, commands string) string {
	t.Helper()
	printed, err := s.run(t, commands, "")
	if err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, printed)
	}
	return printed
}

// run runs commands with the ports that stand for those of the page, and returns what they
// print with the page's. What goes on serving is awaited, and stopped with the page.
func (s *site) run(t *testing.T, commands, stdin string) (string, error) {
	t.Helper()
	output, err := os.CreateTemp(s.dir, ".output-")
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-e", "-o", "pipefail", "-c", s.forward(commands))
	cmd.Dir, cmd.Env, cmd.Stdin = s.dir, s.env, strings.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = output, output // files, so that nobody waits for who goes on
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.groups = append(s.groups, cmd.Process.Pid)
	err = cmd.Wait()
	printed := func() string {
		text, err := os.ReadFile(output.Name())
		if err != nil {
			t.Fatal(err)
		}
		return s.backward(string(text))
	}
	if err == nil && regexp.MustCompile(`(?m)^kproxy serve.*&$`).MatchString(commands) {
		for deadline := time.Now().Add(patience); !strings.Contains(printed(), "msg=serving"); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				return printed(), fmt.Errorf("kproxy does not serve")
			}
		}
	}
	s.rewrite(t)
	return printed(), err
}

// forward replaces the page's ports.
func (s *site) forward(text string) string {
	for shown, port := range s.ports {
		text = regexp.MustCompile(`\b`+shown+`\b`).ReplaceAllString(text, port)
	}
	return text
}

// backward replaces the site's ports and folder by what the page shows.
func (s *site) backward(text string) string {
	for shown, port := range s.ports {
		text = regexp.MustCompile(`\b`+port+`\b`).ReplaceAllString(text, shown)
	}
	return strings.ReplaceAll(text, s.dir+"/", "")
}

// rewrite replaces ports in the configurations that commands have written.
func (s *site) rewrite(t *testing.T) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.yaml")) // the pattern is well-formed
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if changed := s.forward(string(text)); changed != string(text) {
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// stop ends what the page's commands have left running.
func (s *site) stop() {
	running := func(group int) bool { return syscall.Kill(-group, 0) == nil }
	for _, group := range s.groups {
		_ = syscall.Kill(-group, syscall.SIGTERM) // most have ended
	}
	for _, group := range s.groups {
		for deadline := time.Now().Add(10 * time.Second); running(group) && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
}
