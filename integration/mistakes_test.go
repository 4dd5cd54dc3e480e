package integration

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// speaks fails the test unless a program ended with the code and with one
// message that says all of words, shows no secret and is no trace of a crash.
func (o outcome) speaks(t *testing.T, code, lines int, words ...string) {
	t.Helper()
	text, wrong := o.stderr, []string(nil)
	if o.code != code {
		wrong = append(wrong, fmt.Sprintf("exit code %d instead of %d", o.code, code))
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			wrong = append(wrong, fmt.Sprintf("it does not say %q", word))
		}
	}
	if n := strings.Count(strings.TrimSpace(text), "\n") + 1; n > lines {
		wrong = append(wrong, fmt.Sprintf("it has %d lines, more than %d", n, lines))
	}
	for _, bad := range []string{"goroutine ", "panic", ".go:", ownerPassword, readerPassword, clientPassword, "SCRAM-SHA-256$4096"} {
		if strings.Contains(text+o.stdout, bad) {
			wrong = append(wrong, fmt.Sprintf("it shows %q", bad))
		}
	}
	if len(wrong) > 0 {
		t.Errorf("%s:\n%s", strings.Join(wrong, ", "), text)
	}
}

// serveFails runs a `kproxy serve` that does not come to serving.
func (s *site) serveFails(t *testing.T, config string) outcome {
	t.Helper()
	return run(t, "", nil, program, "serve", "--config", config)
}

// TestMistakesOfClients are what somebody at psql does wrong.
func TestMistakesOfClients(t *testing.T) {
	t.Parallel()
	s := ready(t, hospitalSite())
	for name, c := range map[string]struct{ old, replacement, says string }{
		"wrong password":   {":analyst%27s", ":wrong", `password authentication failed for user "analyst"`},
		"unknown user":     {"//analyst:", "//stranger:", `password authentication failed for user "stranger"`},
		"reader's name":    {"//analyst:", "//" + s.reader + ":", "password authentication failed for user"},
		"unknown database": {"/clinic?", "/nowhere?", `database "nowhere" does not exist`},
		"source's name":    {"/clinic?", "/" + s.database + "?", "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			url := strings.Replace(s.url(), c.old, c.replacement, 1)
			if url == s.url() {
				t.Fatal("the URL is unchanged")
			}
			psql(t, url, "SELECT 1;").speaks(t, 2, 2, "FATAL:", c.says)
		})
	}
	psql(t, s.url(), "SELECT nme FROM patients;").speaks(t, 3, 4, "ERROR:", `column "nme" does not exist`)
}

// TestMistakesOnTheCommandLine are usage errors.
func TestMistakesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arguments []string
		says      string
	}{
		"command":      {[]string{"sreve"}, `"sreve"`},
		"flag":         {[]string{"serve", "--confg", "x"}, "--confg"},
		"argument":     {[]string{"check", "x"}, "takes no argument"},
		"half a demo":  {[]string{"demo", "--csv", "x"}, "belong together"},
		"no admin URL": {[]string{"setup", "--config", newSite(t, hospitalSite()).config}, "KPROXY_ADMIN_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, "", []string{"KPROXY_ADMIN_URL="}, program, c.arguments...).speaks(t, 2, 2, c.says)
		})
	}
	run(t, "", nil, program, "serve", "--config", "/nowhere/kproxy.yaml").speaks(t, 1, 2, "/nowhere/kproxy.yaml", "no such file")
	run(t, "", nil, program, "demo", "--csv", "/nowhere.csv", "--policy", "testdata/adult.yaml").speaks(t, 1, 2, "/nowhere.csv")
	run(t, "", nil, program, "password").speaks(t, 1, 2, "no password on standard input")
}

// TestMistakesInTheConfiguration are all reported at once, with their lines.
func TestMistakesInTheConfiguration(t *testing.T) {
	t.Parallel()
	s := newSite(t, hospitalSite())
	broken := s.edit(t, "broken.yaml",
		"listen: ", "lisen: ", "sslmode: disable", "sslmode: perhaps", "unpublishable: withhold", "unpublishable: delete", "k: 5", "k: five")
	for _, command := range []string{"check", "serve", "setup", "verify", "resync"} {
		run(t, "", nil, program, command, "--config", broken).speaks(t, 1, 16, "lisen", "listen", "perhaps", "delete", "k must be", ":1:")
	}
}

// TestMissingServer is a source that is not there.
func TestMissingServer(t *testing.T) {
	t.Parallel()
	s := newSite(t, hospitalSite())
	_, port, err := net.SplitHostPort(freeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	config := s.edit(t, "away.yaml", "host: 127.0.0.1\n    port: "+portOf(t, s.admin), "host: 127.0.0.1\n    port: "+port)
	for _, command := range []string{"check", "serve", "verify", "resync"} {
		run(t, "", nil, program, command, "--config", config).speaks(t, 1, 3, "connection refused", port)
	}
	s.write(t, "owner.password", "not it\n")
	run(t, "", nil, program, "check", "--config", s.config).speaks(t, 1, 3, "password authentication failed", s.owner)
}

func portOf(t *testing.T, url string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(hostOf(t, url))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func hostOf(t *testing.T, url string) string {
	t.Helper()
	_, rest, _ := strings.Cut(url, "@")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// TestMissingPrivileges keep kproxy from serving.
func TestMissingPrivileges(t *testing.T) {
	t.Parallel()
	s := newSite(t, hospitalSite())
	s.serveFails(t, s.config).speaks(t, 1, 3, "password authentication failed") // setup has not run
	s.kproxy(t, "setup").must(t)
	conn := connect(t, s.admin)
	for name, c := range map[string]struct{ spoil, mend, says string }{
		"owner may not read":     {"REVOKE SELECT ON patients FROM " + s.owner, "GRANT SELECT ON patients TO " + s.owner, "may not read"},
		"owner cannot replicate": {"ALTER ROLE " + s.owner + " NOREPLICATION", "ALTER ROLE " + s.owner + " REPLICATION", "REPLICATION"},
		"reader is superuser":    {"ALTER ROLE " + s.reader + " SUPERUSER", "ALTER ROLE " + s.reader + " NOSUPERUSER", "superuser"},
		"publication is gone":    {"DROP PUBLICATION kproxy", "CREATE PUBLICATION kproxy FOR TABLE ONLY patients WITH (publish_via_partition_root)", "publication"},
		"column is gone":         {"ALTER TABLE patients RENAME COLUMN sex TO gender", "ALTER TABLE patients RENAME COLUMN gender TO sex", "sex"},
		"no replica identity":    {"ALTER TABLE patients REPLICA IDENTITY NOTHING", "ALTER TABLE patients REPLICA IDENTITY DEFAULT", "identi"},
	} {
		execute(t, conn, c.spoil)
		o := s.kproxy(t, "check")
		if o.code != 1 || !strings.Contains(o.stdout, "error: ") || !strings.Contains(o.stdout, c.says) || !strings.Contains(o.stdout, "fix: ") {
			t.Errorf("%s: check ended with %d\n%s%s", name, o.code, o.stdout, o.stderr)
		}
		s.serveFails(t, s.config).speaks(t, 1, 12, "not ready to be published", c.says, "fix: ")
		execute(t, conn, c.mend)
	}
	s.kproxy(t, "check").must(t)
}

// TestTakenPort is reported before any work is done.
func TestTakenPort(t *testing.T) {
	t.Parallel()
	s := newSite(t, hospitalSite())
	s.kproxy(t, "setup").must(t)
	listener, err := net.Listen("tcp4", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s.serveFails(t, s.config).speaks(t, 1, 1, s.address, "address already in use")
	if n := scalar[int](t, connect(t, s.admin), "SELECT count(*) FROM kproxy_store.generation"); n != 0 {
		t.Error("a release was made")
	}
}
