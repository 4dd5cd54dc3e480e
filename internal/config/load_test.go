package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const settings = `
tls: {cert_file: server.crt, key_file: server.key}
users: [{name: analyst, verifier: 'SCRAM-SHA-256$4096:c2FsdA==$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='}]
upstream:
  owner: {host: db, database: hospital, user: kproxy_owner, sslrootcert: ca.crt, password_env: OWNER_PASSWORD}
  reader: {user: kproxy_reader, password_file: secrets/reader}
tables:
  public.patients:
    updates: immediate
    constraints: [{k: 5}]
    columns: {sex: {role: quasi-identifying, hierarchy: categorical}}
`

// world is an environment and a file system for a configuration.
func world(env, files map[string]string) *surroundings {
	return &surroundings{
		lookupEnv: func(name string) (string, bool) { value, set := env[name]; return value, set },
		readFile: func(path string) ([]byte, error) {
			text, exists := files[path]
			if !exists {
				return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
			}
			return []byte(text), nil
		},
	}
}

// keyPair makes a certificate for nobody and its key.
func keyPair(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
}

func TestLoadReadsSecretsBesideTheFile(t *testing.T) {
	t.Parallel()
	certificate, key := keyPair(t)
	c, err := load("/etc/kproxy/kproxy.yaml", world(
		map[string]string{"OWNER_PASSWORD": `it's \ hunter2`},
		map[string]string{
			"/etc/kproxy/kproxy.yaml":    settings,
			"/etc/kproxy/server.crt":     certificate,
			"/etc/kproxy/server.key":     key,
			"/etc/kproxy/ca.crt":         certificate,
			"/etc/kproxy/secrets/reader": " hunter3 \r\n",
		},
	))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Upstream.Owner.Password.Reveal(); got != `it's \ hunter2` {
		t.Errorf("owner's password is %q", got)
	}
	if got := c.Upstream.Reader.Password.Reveal(); got != " hunter3 " {
		t.Errorf("reader's password is %q", got)
	}
	if c.TLS.files == (digest{}) {
		t.Error("nothing would tell a renewed certificate from the old one")
	}
	c.TLS.files = digest{}
	if c.TLS != (TLS{Mode: TLSRequire, CertFile: "/etc/kproxy/server.crt", KeyFile: "/etc/kproxy/server.key"}) {
		t.Errorf("tls is %+v", c.TLS)
	}
	if got := c.Upstream.Reader.SSLRootCert; got != "/etc/kproxy/ca.crt" {
		t.Errorf("reader's sslrootcert is %q", got)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if text := fmt.Sprintf(verb, *c); strings.Contains(text, "hunter") || strings.Contains(text, "c2FsdA") ||
			strings.Contains(text, fmt.Sprintf("%x", "hunter")) {
			t.Errorf("%s prints a secret: %s", verb, text)
		}
	}
}

func TestLoadReportsWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	certificate, _ := keyPair(t)
	_, otherKey := keyPair(t)
	for name, test := range map[string]struct {
		env, files map[string]string
		want       []string
	}{
		"nothing there": {
			want: []string{
				"kproxy.yaml:2: cert_file cannot be read: file does not exist; ",
				"kproxy.yaml:2: key_file cannot be read: file does not exist; ",
				"kproxy.yaml:5: sslrootcert cannot be read: file does not exist; ",
				"kproxy.yaml:5: environment variable OWNER_PASSWORD is not set; ",
				"kproxy.yaml:6: password_file cannot be read: file does not exist; ",
			},
		},
		"unfit": {
			env:   map[string]string{"OWNER_PASSWORD": ""},
			files: map[string]string{"server.crt": certificate, "server.key": otherKey, "ca.crt": certificate, "secrets/reader": "hunter2\nand more\n"},
			want: []string{
				"kproxy.yaml:2: cert_file and key_file are no pair of a certificate and its key; ",
				"kproxy.yaml:5: environment variable OWNER_PASSWORD is not set; ",
				"kproxy.yaml:6: password_file is not a file with a password on one line; ",
			},
		},
		"empty password": {
			env:   map[string]string{"OWNER_PASSWORD": "hunter2"},
			files: map[string]string{"server.crt": certificate, "server.key": otherKey, "ca.crt": certificate, "secrets/reader": "\n"},
			want: []string{
				"kproxy.yaml:2: cert_file and key_file are no pair of a certificate and its key; ",
				"kproxy.yaml:6: password_file is not a file with a password on one line; ",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse("kproxy.yaml", []byte(settings), world(test.env, test.files))
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.Split(err.Error(), "\n")
			if len(got) != len(test.want) {
				t.Fatalf("got:\n%s", err)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got  %s\nwant %s", got[i], want)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a secret is printed: %s", err)
			}
		})
	}
}

func TestLoadOfNoFile(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		filepath.Join(t.TempDir(), "none.yaml"): "no such file or directory",
		t.TempDir():                             "is a directory",
	} {
		for name, load := range map[string]func(string) error{
			"Load":       func(path string) error { _, err := Load(path); return err },
			"LoadPolicy": func(path string) error { _, err := LoadPolicy(path); return err },
		} {
			err := load(path)
			var problems Errors
			if !errors.As(err, &problems) || len(problems) != 1 || !strings.Contains(problems[0].What, want) {
				t.Errorf("%s(%s): %v", name, path, err)
			}
		}
	}
}

func TestLoadOfAHugeFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "huge.yaml")
	if err := os.WriteFile(path, make([]byte, 4*maxFileBytes), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestConnStringIsReadAsItWasMeant(t *testing.T) {
	t.Parallel()
	c := Connection{
		Host: "/var/run/postgresql", Port: 5433, Database: `it's a\db`, User: "a user = 'b'",
		SSLMode: "disable", Password: NewSecret(`' password='x\' \`),
	}
	got, err := pgconn.ParseConfig(c.ConnString())
	if err != nil {
		t.Fatal(err)
	}
	if got.Host != c.Host || int(got.Port) != c.Port || got.Database != c.Database || got.User != c.User || got.Password != c.Password.Reveal() {
		t.Errorf("%s was read as %q %d %q %q %q", c.ConnString(), got.Host, got.Port, got.Database, got.User, got.Password)
	}
}

// TestOneRoleHasOnePassword: a server has one password for a role, whichever databases it is used in.
func TestOneRoleHasOnePassword(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/good/source.yaml")
	if err != nil {
		t.Fatal(err)
	}
	withRoles := strings.NewReplacer(
		"host: db1, database: hospital, user: kproxy_reader", "host: HOST, database: hospital, user: kproxy_owner, password_file: source.password",
		"user: kproxy_owner}", "user: kproxy_owner, password_env: OWNER_PASSWORD}").Replace(string(text))
	for _, test := range []struct {
		host, password string
		refused        bool
	}{{"db2", "one", false}, {"db2", "two", true}, {"db1", "two", false}} {
		_, err := parse("kproxy.yaml", []byte(strings.Replace(withRoles, "HOST", test.host, 1)),
			world(map[string]string{"OWNER_PASSWORD": "one"}, map[string]string{"source.password": test.password}))
		if refused := err != nil && strings.Contains(err.Error(), "of one server two passwords"); refused != test.refused || !refused && err != nil {
			t.Errorf("host %s, password %s: %v", test.host, test.password, err)
		}
	}
}
