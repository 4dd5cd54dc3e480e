package settings

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

func table(relation string, k int) catalog.TablePolicy {
	return catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: relation}, Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{{K: k}}}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	running := &config.Config{Listen: []string{":1"}, Policy: catalog.Policy{Tables: []catalog.TablePolicy{table("a", 5), table("b", 5), table("c", 5)}}}
	if c := Compare(running, running); !c.Empty() || c.String() != "nothing changed" {
		t.Errorf("nothing changed, but: %s", c)
	}
	next := *running
	next.Policy.Tables = []catalog.TablePolicy{table("d", 5), table("c", 5), table("a", 6)}
	next.Listen, next.Log.Level, next.Slot = []string{":2"}, slog.LevelDebug, "another"
	next.Users = []config.User{{Name: "ann", Verifier: config.NewSecret("x")}}
	const want = "added: public.d\nchanged: public.a\nremoved: public.b\nsettings: users, log.level\nat the next start only: listen, slot"
	if got := Compare(running, &next).String(); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	effective := Takeover(running, &next)
	if effective.Listen[0] != ":1" || effective.Slot != "" || effective.Log.Level != slog.LevelDebug || len(effective.Users) != 1 || len(effective.Policy.Tables) != 3 {
		t.Errorf("taken over is %+v", effective)
	}
	if next.Listen[0] != ":2" {
		t.Error("the new configuration was changed")
	}
	// What waits for the next start is told at every reload.
	if got := Compare(effective, &next); !slices.Equal(got.Restart, []string{"listen", "slot"}) || got.TableCount() != 0 || len(got.Settings) != 0 {
		t.Errorf("after it was taken over: %s", got)
	}
}

// TestCompareTellsOfEndingLineages: whoever reloads is told which guarded tables readers lose by it.
func TestCompareTellsOfEndingLineages(t *testing.T) {
	t.Parallel()
	guarded := table("a", 5)
	guarded.Updates = catalog.Updates{Mode: catalog.Guarded, Batch: 100}
	guarded.Audiences = []catalog.AudiencePolicy{{Audience: "partners", Constraints: []privacy.Spec{{K: 25}}}}
	guarded.Columns = []catalog.ColumnPolicy{{Name: "age", Role: catalog.QuasiIdentifying}}
	with := func(change func(*catalog.TablePolicy)) Changes {
		next := guarded
		next.Columns = slices.Clone(guarded.Columns)
		change(&next)
		running, then := &config.Config{}, &config.Config{}
		running.Policy.Tables, then.Policy.Tables = []catalog.TablePolicy{guarded, table("b", 5)}, []catalog.TablePolicy{next, table("b", 6)}
		return Compare(running, then)
	}
	for what, change := range map[string]func(*catalog.TablePolicy){
		"an audience in front": func(t *catalog.TablePolicy) {
			t.Audiences = []catalog.AudiencePolicy{{Audience: "press", Constraints: []privacy.Spec{{K: 30}}}, {Audience: "partners", Constraints: []privacy.Spec{{K: 25}, {L: 2, Of: "age"}}}}
		},
		"another k":         func(t *catalog.TablePolicy) { t.Constraints = []privacy.Spec{{K: 4}} },
		"immediate updates": func(t *catalog.TablePolicy) { t.Updates = catalog.Updates{Mode: catalog.Immediate} },
	} {
		c := with(change)
		if !slices.Equal(c.Halted, []string{"public.a"}) || !strings.Contains(c.String(), "kproxy rebuild public.a --new-lineage") {
			t.Errorf("%s ends the lineage, and it says: %s", what, c)
		}
	}
	for what, change := range map[string]func(*catalog.TablePolicy){
		"another batch": func(t *catalog.TablePolicy) { t.Updates.Batch = 200 },
		"an identifying column": func(t *catalog.TablePolicy) {
			t.Columns = append(t.Columns, catalog.ColumnPolicy{Name: "name", Role: catalog.Identifying})
		},
	} {
		if c := with(change); len(c.Halted) > 0 || strings.Contains(c.String(), "lineage") || !slices.Equal(c.Changed, []string{"public.a", "public.b"}) {
			t.Errorf("%s ends no lineage, and it says: %s", what, c)
		}
	}
	for what, change := range map[string]func(*catalog.TablePolicy){
		"an audience that is gone": func(t *catalog.TablePolicy) { t.Audiences = nil },
		"an audience behind": func(t *catalog.TablePolicy) {
			t.Audiences = append(slices.Clone(t.Audiences), catalog.AudiencePolicy{Audience: "press", Constraints: []privacy.Spec{{K: 50}}})
		},
		"another name": func(t *catalog.TablePolicy) {
			t.Audiences = []catalog.AudiencePolicy{{Audience: "press", Constraints: t.Audiences[0].Constraints}}
		},
	} {
		if c := with(change); len(c.Halted) > 0 || !slices.Equal(c.Continued, []string{"public.a"}) || !strings.Contains(c.String(), "go on with other audiences") {
			t.Errorf("%s ends no lineage, and it says: %s", what, c)
		}
	}
	if c := with(func(*catalog.TablePolicy) {}); len(c.Continued) > 0 {
		t.Errorf("nothing changes, and it says: %s", c)
	}
}

// TestCompareNamesWhatIsWritten changes the owner's server, by which the others go: it waits
// for the next start, and they wait with it.
func TestCompareNamesWhatIsWritten(t *testing.T) {
	t.Parallel()
	parsed := func(host, reader string) *config.Config {
		c, err := config.Parse("k.yaml", []byte(`upstream:
  owner: {host: `+host+`, database: d, user: o}
  reader: {user: r`+reader+`}
  readers: {bi: {user: b}}
auth_query: {query: SELECT f($1)}
tables:
  public.t:
    updates: immediate
    constraints: [{k: 5}]
    columns: {age: {role: quasi-identifying, hierarchy: numeric}}
`))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	running, next := parsed("h1", ""), parsed("h2", "")
	if got := Compare(running, next).String(); got != "at the next start only: upstream.owner.host" {
		t.Errorf("it says %q", got)
	}
	effective := Takeover(running, next)
	for _, c := range []config.Connection{effective.Upstream.Owner, effective.Upstream.Reader, effective.Upstream.Readers[0].Connection, effective.AuthQuery.Connection} {
		if c.Host != "h1" {
			t.Errorf("somebody connects to %s", c.Host)
		}
	}
	if next.Upstream.Reader.Host != "h2" || next.Upstream.Readers[0].Connection.Host != "h2" {
		t.Error("the new configuration was changed")
	}
	own := parsed("h2", ", host: h3")
	if got := Compare(running, own).String(); got != "settings: upstream.reader\nat the next start only: upstream.owner.host" {
		t.Errorf("it says %q", got)
	}
	if effective := Takeover(running, own); effective.Upstream.Reader.Host != "h3" || effective.Upstream.Readers[0].Connection.Host != "h3" || effective.AuthQuery.Connection.Host != "h1" {
		t.Errorf("taken over is %+v", effective.Upstream)
	}
}

// A certificate that is renewed under its name is a change.
func TestCompareSeesRenewedCertificates(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("k.yaml", []byte(`tls: {cert_file: c.pem, key_file: k.pem}
upstream:
  owner: {host: h, database: d, user: o}
  reader: {user: r}
auth_query: {query: SELECT f($1)}
tables:
  public.t:
    updates: immediate
    constraints: [{k: 5}]
    columns: {age: {role: quasi-identifying, hierarchy: numeric}}
`))
	load := func() *config.Config {
		certificate, key := selfSigned(t)
		write("c.pem", certificate)
		write("k.pem", key)
		c, err := config.Load(filepath.Join(folder, "k.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if got := Compare(load(), load()).String(); got != "settings: tls" {
		t.Errorf("it says %q", got)
	}
}

// selfSigned is a new certificate with its key, as PEM.
func selfSigned(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes})
}

// TestEverySettingIsCompared sets each field of a configuration, at every depth, to
// something else.
func TestEverySettingIsCompared(t *testing.T) {
	t.Parallel()
	var c config.Config
	var visit func(path string, v reflect.Value)
	visit = func(path string, v reflect.Value) {
		if v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[config.Secret]() {
			for i := range v.NumField() {
				if field := v.Type().Field(i); field.IsExported() {
					visit(path+"."+field.Name, v.Field(i))
				}
			}
			return
		}
		before := reflect.New(v.Type()).Elem()
		before.Set(v)
		defer v.Set(before)
		switch v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Int, reflect.Int64:
			v.SetInt(int64(time.Hour))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Uint32:
			v.SetUint(0o700)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.Struct:
			v.Set(reflect.ValueOf(config.NewSecret("x")))
		default:
			t.Fatalf("%s is a %s", path, v.Kind())
		}
		if Compare(&config.Config{}, &c).Empty() {
			t.Errorf("a change of %s is not seen", path)
		}
	}
	visit("config", reflect.ValueOf(&c).Elem())
}

// TestAReloadPromisesNothing: of tables that are looked at afresh it says where to see what
// comes of it, and of others nothing.
func TestAReloadPromisesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		changes Changes
		tells   bool
	}{{Changes{}, false}, {Changes{Added: []string{"public.a"}}, false}, {Changes{Afresh: []string{"public.a"}}, true}} {
		if text := c.changes.String(); strings.Contains(text, "'kproxy status' says which") != c.tells {
			t.Errorf("%+v: %s", c.changes, text)
		}
	}
}
