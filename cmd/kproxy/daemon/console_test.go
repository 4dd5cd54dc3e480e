package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/console"
	ksync "github.com/kproxy/kproxy/sync"
)

func exampleConfig(t *testing.T) *config.Config {
	t.Helper()
	c, err := config.Parse("config.example.yaml", kproxy.ExampleConfig)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSettingsShowNoSecret puts a secret wherever the configuration can have one.
func TestSettingsShowNoSecret(t *testing.T) {
	t.Parallel()
	const canary = "hunter2-canary"
	c := exampleConfig(t)
	secret := config.NewSecret(canary)
	c.Users[0].Verifier = secret
	c.Upstream.Owner.Password, c.Upstream.Reader.Password = secret, secret
	c.Upstream.Readers = []config.Reader{{Name: "bi", Connection: config.Connection{User: "bi", Password: secret}}}
	c.AuthQuery.Connection.Password = secret
	c.Console = config.Console{Listen: "127.0.0.1:6480", Users: []config.ConsoleUser{{Name: "admin", Verifier: secret}}}
	c.Verify.Every = time.Hour
	sections := newConsoleSource(New(c, Options{})).Settings()
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
	running := exampleConfig(t)
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
	(*operatorConsole)(nil).reconfigure(next.Console, slog.New(slog.DiscardHandler)) // there is none
}

// TestConsoleStaysEncryptedOrNot adds, takes away and exchanges the certificate.
func TestConsoleStaysEncryptedOrNot(t *testing.T) {
	t.Parallel()
	plain, one := exampleConfig(t), exampleConfig(t)
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
		if got := compare(c.running, c.next).String(); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if got := takeover(c.running, c.next).Console; got.CertFile != c.cert {
			t.Errorf("%s: in force is %+v", name, got)
		}
	}
}

func TestLossesAreRecordedForAReason(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	last := lastLoss{at: now.Add(-time.Minute), generation: 3, renewed: 0.2}
	published := ksync.TableStatus{State: ksync.Published, Generation: 3, Loss: 0.2, Drift: 1}
	for what, c := range map[string]struct {
		last   lastLoss
		status ksync.TableStatus
		want   string
	}{
		"nothing new":         {last, published, ""},
		"first seen":          {lastLoss{}, published, lossPublished},
		"published afresh":    {last, ksync.TableStatus{State: ksync.Published, Generation: 4}, lossPublished},
		"made anew":           {last, ksync.TableStatus{State: ksync.Published, Generation: 3, Loss: 0.1, Drift: 1}, lossReanonymized},
		"compared, not taken": {last, ksync.TableStatus{State: ksync.Published, Generation: 3, Loss: 0.1, Drift: 1.1}, ""},
		"an hour later":       {lastLoss{at: now.Add(-time.Hour), generation: 3, renewed: 0.2}, published, lossHourly},
		"halted":              {lastLoss{}, ksync.TableStatus{State: ksync.Halted, Generation: 3}, ""},
	} {
		if got := c.last.cause(now, c.status); got != c.want {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
}

func TestFindingOutRests(t *testing.T) {
	t.Parallel()
	var m memo[int]
	asked := 0
	find := func(context.Context) (int, error) { asked++; return asked, nil }
	failing := errors.New("away")
	if _, err := m.get(t.Context(), nil, func(context.Context) (int, error) { return 0, failing }); !errors.Is(err, failing) {
		t.Errorf("got %v", err)
	}
	for range 5 {
		if n, err := m.get(t.Context(), nil, find); n != 1 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	}
	if n, known := m.peek(); n != 1 || !known {
		t.Errorf("known is %d, %v", n, known)
	}
	m.forget()
	if n, _ := m.get(t.Context(), nil, find); n != 2 {
		t.Errorf("after forgetting: %d", n)
	}
	under := map[catalog.Name]condition{{Schema: "public", Relation: "t"}: {state: stateWithdrawn}}
	for range 2 {
		if n, _ := m.get(t.Context(), under, find); n != 3 {
			t.Errorf("under other conditions: %d", n)
		}
	}
}

// TestPagesTellTheSameLoss: the overview goes by what a table's page has measured, unless
// something was recorded since.
func TestPagesTellTheSameLoss(t *testing.T) {
	t.Parallel()
	s := newConsoleSource(New(exampleConfig(t), Options{}))
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	release := func(name string, loss float64, at time.Time) console.Release {
		return console.Release{Table: name, Loss: &loss, LossAt: &at}
	}
	looked := func(name string, loss *float64) {
		s.tables[name] = &memo[console.Table]{known: true, value: console.Table{At: at, Release: console.Release{Table: name, Loss: loss}}}
	}
	measured := 0.5
	looked("earlier", &measured)
	looked("later", &measured)
	looked("first", &measured)
	looked("unpublished", nil)
	recorded := []console.Release{
		release("earlier", 0.2, at.Add(time.Minute)), release("later", 0.2, at.Add(-time.Minute)),
		{Table: "first"},
		release("unpublished", 0.2, at.Add(-time.Hour)), release("never", 0.2, at.Add(-time.Hour)),
		{Table: "neither"},
	}
	want := []float64{0.2, 0.5, 0.5, 0.2, 0.2, 0}
	for i, r := range s.withMeasured(recorded) {
		switch {
		case want[i] == 0 && r.Loss == nil && r.LossAt == nil:
		case r.Loss == nil || *r.Loss != want[i]:
			t.Errorf("%s: the overview shows %v", r.Table, r.Loss)
		case r.LossAt.Equal(at) != (want[i] == measured):
			t.Errorf("%s: measured at %v", r.Table, r.LossAt)
		}
	}
	if *recorded[1].Loss != 0.2 {
		t.Error("what is remembered is changed")
	}
}

func TestConstraintsInWords(t *testing.T) {
	t.Parallel()
	policy := exampleConfig(t).Policy.Tables[0]
	if got := strings.Join(constraintsInWords(policy), "; "); got != "5-anonymity; distinct 2-diversity of diagnosis" {
		t.Errorf("got %q", got)
	}
	policy.Subject = "patient_id"
	if got := constraintsInWords(policy)[0]; got != "5-anonymity, counted in persons (patient_id)" {
		t.Errorf("got %q", got)
	}
	if k := smallestAllowed(policy); k != 5 {
		t.Errorf("k is %d", k)
	}
	column, _ := policy.Column("marital_status")
	if got := hierarchyInWords(column.Hierarchy); got != "categorical, a taxonomy of 5 values" {
		t.Errorf("got %q", got)
	}
}
