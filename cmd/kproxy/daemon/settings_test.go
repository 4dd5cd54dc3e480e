package daemon

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/internal/config"
)

// TestSettingsShowNoSecret puts a secret wherever the configuration can have one.
func TestSettingsShowNoSecret(t *testing.T) {
	t.Parallel()
	const canary = "hunter2-canary"
	c := settingsConfig(t)
	secret := config.NewSecret(canary)
	c.Users[0].Verifier = secret
	c.Upstream.Owner.Password, c.Upstream.Reader.Password = secret, secret
	c.Upstream.Readers = []config.Reader{{Name: "bi", Connection: config.Connection{User: "bi", Password: secret}}}
	c.AuthQuery.Connection.Password = secret
	c.Console = config.Console{Listen: "127.0.0.1:6480", Users: []config.ConsoleUser{{Name: "admin", Verifier: secret}}}
	c.Verify.Every = time.Hour
	sections := List(c)
	text, err := json.Marshal(sections)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), canary) {
		t.Errorf("a secret is shown:\n%s", text)
	}
	for _, want := range []string{
		`{"key":"owner.password","value":"set, not shown"}`, `{"key":"users 1.verifier","value":"set, not shown"}`, `{"key":"readers 1.password","value":"set, not shown"}`,
		`{"key":"max_sessions","value":"100"}`, `{"key":"every","value":"1h"}`, `{"key":"alarm.retained","value":"10.0 GiB"}`, `{"key":"level","value":"info"}`,
		`{"key":"owner.sslmode","value":"prefer"}`, `{"key":"unix_socket_mode","value":"0777"}`, `{"key":"readable","value":"public.icd10, public.wards"}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "national_id") {
		t.Error("a policy stands among the settings")
	}
}

func TestConsoleFollowsReloads(t *testing.T) {
	t.Parallel()
	running := settingsConfig(t)
	running.Console = config.Console{Listen: "127.0.0.1:6480", Actions: config.Refuse}
	next := *running
	next.Console.Actions = config.Allow
	next.Console.Listen = "127.0.0.1:6481"
	next.Verify.Every = time.Hour
	changes := compare(running, &next)
	if got := strings.Join(changes.Settings, " "); got != "console verify" {
		t.Errorf("at once: %s", got)
	}
	if got := strings.Join(changes.Restart, " "); got != "console.listen" {
		t.Errorf("at the next start: %s", got)
	}
	if effective := takeover(running, &next); effective.Console.Listen != "127.0.0.1:6480" || effective.Console.Actions != config.Allow {
		t.Errorf("in force: %+v", effective.Console)
	}
}

// TestConsoleStaysEncryptedOrNot adds, takes away and exchanges the certificate.
func TestConsoleStaysEncryptedOrNot(t *testing.T) {
	t.Parallel()
	plain, one := settingsConfig(t), settingsConfig(t)
	plain.Console = config.Console{Listen: "127.0.0.1:6480"}
	one.Console = config.Console{Listen: "127.0.0.1:6480", CertFile: "c.pem", KeyFile: "k.pem"}
	other := *one
	other.Console.CertFile, other.Console.KeyFile = "c2.pem", "k2.pem"
	for name, c := range map[string]struct {
		running, next *config.Config
		want          string
		cert          string
	}{
		"added":      {plain, one, "at the next start only: console.tls", ""},
		"taken away": {one, plain, "at the next start only: console.tls", "c.pem"},
		"exchanged":  {one, &other, "settings: console.tls.cert_file, console.tls.key_file", "c2.pem"},
	} {
		if got := compare(c.running, c.next).String(); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if got := takeover(c.running, c.next).Console; got.CertFile != c.cert {
			t.Errorf("%s: in force is %+v", name, got)
		}
	}
}

func settingsConfig(t *testing.T) *config.Config {
	t.Helper()
	c, err := config.Parse("config.example.yaml", kproxy.ExampleConfig)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestKeysFitNotifications: package processes counts on it that an answer can name all.
func TestKeysFitNotifications(t *testing.T) {
	t.Parallel()
	var keys []string
	for _, s := range settings {
		keys = append(keys, s.key)
	}
	if text, err := json.Marshal(keys); err != nil || len(text) > 900 {
		t.Errorf("the keys take %d bytes, %v", len(text), err)
	}
}
