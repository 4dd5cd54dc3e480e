package integration

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// desk is a browser's part of an operator who is logged in to a console.
type desk struct {
	t      *testing.T
	url    string
	client *http.Client
}

// trusting is the TLS of who trusts the site's certificate of now and nothing else.
func (s *site) trusting(t *testing.T) *tls.Config {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(contents(t, filepath.Join(s.dir, "server.crt")))) {
		t.Fatal("the certificate cannot be read")
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// sit logs in to the console that the configuration opens.
func (s *site) sit(t *testing.T) desk {
	t.Helper()
	told := s.kproxy(t, "console").must(t).stdout
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := desk{t, strings.TrimSuffix(strings.Fields(told)[0], "/"), &http.Client{Jar: jar, Timeout: time.Minute}}
	if strings.HasPrefix(d.url, "https:") {
		d.client.Transport = &http.Transport{TLSClientConfig: s.trusting(t)}
	}
	answer, err := d.client.PostForm(d.url+"/login", url.Values{"user": {"admin"}, "password": {clientPassword}})
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.Request.URL.Path != "/" || answer.StatusCode != http.StatusOK {
		t.Fatalf("the login ends at %s: %s", answer.Request.URL, answer.Status)
	}
	return d
}

// surveyed is what is asked of a console's overview.
type surveyed struct {
	Tables []struct {
		Table, State              string
		Generation, Rows, Classes int64
	}
	Replication struct{ State, Applier string }
	Processes   []struct{ Process string }
}

func (d desk) survey() (o surveyed) {
	d.t.Helper()
	answer, err := d.client.Get(d.url + "/api/overview")
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(answer.Body).Decode(&o); err != nil {
		d.t.Fatalf("%s: %v", answer.Status, err)
	}
	return o
}

// TestConsoles has two processes on one database, each with a console, one of them with
// TLS: both tell the same, also of who applies, before and after that has ended. The one
// with TLS takes a new certificate at a reload, and stays encrypted whatever that says.
func TestConsoles(t *testing.T) {
	t.Parallel()
	o := sqlSite(operatedSchema, countedPolicy)
	plain, encrypted := freeAddress(t), freeAddress(t)
	o.settings = fmt.Sprintf("console: {listen: %s, users: [{name: admin, verifier: '%s'}]}\n", plain, clientVerifier(t))
	first := newSite(t, o)
	first.writeCertificate(t)
	first.kproxy(t, "setup").must(t)
	p := first.serve(t)
	second := *first
	second.address = freeAddress(t)
	certified := "console: {listen: " + encrypted + ", tls: {cert_file: server.crt, key_file: server.key}"
	second.config = first.edit(t, "second.yaml", first.address, second.address, "console: {listen: "+plain, certified)
	q := second.serve(t)
	a, b := first.sit(t), second.sit(t)
	if !strings.HasPrefix(b.url, "https://") {
		t.Fatalf("the second console is at %s", b.url)
	}

	t.Log("both tell the same")
	alike := func(what string, a, b func() surveyed, processes int) {
		eventually(t, what, func() bool {
			x, y := a(), b()
			return len(x.Processes) == processes && fmt.Sprint(x.Tables, x.Processes) == fmt.Sprint(y.Tables, y.Processes) &&
				x.Tables[0].State == "published" && x.Tables[0].Rows == operatedRows
		})
	}
	alike("two consoles agree", a.survey, b.survey, 2)
	if x, y := a.survey().Replication, b.survey().Replication; x.State == y.State || x.Applier != "this process" || y.Applier == "this process" || y.Applier == "" {
		t.Errorf("who applies is %+v, and for the other %+v", x, y)
	}

	t.Log("encrypted")
	address, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range b.client.Jar.Cookies(address) {
		if !strings.HasPrefix(cookie.Name, "__Host-") {
			t.Errorf("the cookie is %s", cookie.Name)
		}
	}
	if answer, err := http.Get("http://" + encrypted + "/login"); err == nil {
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS it answers %s", answer.Status)
		}
	}
	testConsoleReload(t, &second, certified, encrypted)

	t.Log("who applies ends")
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	eventually(t, "the other applies", func() bool { return b.survey().Replication.Applier == "this process" })
	alike("one process is left", b.survey, b.survey, 1)
	if !q.applies() {
		t.Error("the console says of its process that it applies, and it does not")
	}
}

// testConsoleReload exchanges the certificate, and then takes it away.
func testConsoleReload(t *testing.T, s *site, certified, address string) {
	t.Helper()
	former := s.trusting(t)
	s.writeCertificate(t)
	s.kproxy(t, "reload").must(t)
	s.sit(t) // trusts the new one alone
	if conn, err := tls.Dial("tcp", address, former); err == nil {
		_ = conn.Close()
		t.Error("the former certificate is shown")
	}
	before := contents(t, s.config)
	s.write(t, filepath.Base(s.config), strings.Replace(before, certified, "console: {listen: "+address, 1))
	if o := s.kproxy(t, "reload").must(t); !strings.Contains(o.stdout, "at the next start only: console.tls\n") || strings.Contains(o.stdout, "settings:") {
		t.Errorf("reload says %s", o.stdout)
	}
	conn, err := tls.Dial("tcp", address, s.trusting(t))
	if err != nil {
		t.Errorf("after a reload without tls: %v", err)
	} else {
		_ = conn.Close()
	}
	s.write(t, filepath.Base(s.config), before)
}
