package settings

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/internal/config"
)

func TestConsoleFollowsReloads(t *testing.T) {
	t.Parallel()
	running := settingsConfig(t)
	running.Console = config.Console{Listen: "127.0.0.1:6480", Actions: config.Refuse}
	next := *running
	next.Console.Actions = config.Allow
	next.Console.Listen = "127.0.0.1:6481"
	next.Verify.Every = time.Hour
	changes := Compare(running, &next)
	if got := strings.Join(changes.Settings, " "); got != "console verify" {
		t.Errorf("at once: %s", got)
	}
	if got := strings.Join(changes.Restart, " "); got != "console.listen" {
		t.Errorf("at the next start: %s", got)
	}
	if effective := Takeover(running, &next); effective.Console.Listen != "127.0.0.1:6480" || effective.Console.Actions != config.Allow {
		t.Errorf("in force: %+v", effective.Console)
	}
}

// TestConsoleStaysEncryptedOrNot adds, takes away and exchanges the certificate.
func TestConsoleStaysEncryptedOrNot(t *testing.T) {
	t.Parallel()
	plain, one := settingsConfig(t), settingsConfig(t)
	plain.Console = config.Console{Listen: "127.0.0.1:6480"}
	one.Console = config.Console{Listen: "127.0.0.1:6480", Certificate: config.Certificate{CertFile: "c.pem", KeyFile: "k.pem"}}
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
		if got := Compare(c.running, c.next).String(); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if got := Takeover(c.running, c.next).Console; got.CertFile != c.cert {
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
