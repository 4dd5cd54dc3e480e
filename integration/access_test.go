package integration

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// accessSettings are a configuration with rules, a look-up, and listeners of both kinds;
// words in braces are those of the site.
const accessSettings = `tls: {cert_file: server.crt, key_file: server.key, client_ca_file: clients.crt}
unix_socket_mode: "0700"
access:
  - {from: 127.0.0.9, method: reject}
  - {transport: unix, users: analyst, method: scram}
  - {users: tableau, method: cert}
  - {transport: tls, from: 127.0.0.0/8, users: [analyst, etl, "{database}_ann"], method: scram}
auth_query:
  query: SELECT {database}_auth.verifier_of($1)
  user: "{database}_auth"
  password_file: auth.password
  reader: bi
  lifetime: 1ms
limits: {max_sessions: 20, max_sessions_per_user: 3, max_connections: 10, max_waiting: 0}
timeouts: {statement: 1m, idle_in_transaction: 1m, transaction: 10m, queue: 2s, unacknowledged: 1m}
pool: {idle: 30s}
throttle: {free: 50}
`

// accessSchema has a user of the database who may log in to kproxy, too.
const accessSchema = `SET password_encryption = 'scram-sha-256';
CREATE ROLE {database}_ann LOGIN PASSWORD 'ann''s' IN ROLE {database}_users`

// documented is the SQL in docs/access.md that makes the function which auth_query calls,
// with roles of the site's own.
func documented(t *testing.T, database string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "access.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(text), "### Users of the database")
	_, sql, found := strings.Cut(recipe, "```sql\n")
	sql, _, ended := strings.Cut(sql, "```")
	if !found || !ended {
		t.Fatal("docs/access.md has no SQL")
	}
	return strings.NewReplacer("kproxy_users", database+"_users", "kproxy_auth", database+"_auth", "'...'", "'looks up'").Replace(sql)
}

// accessSite is a site of that configuration, which is set up.
func accessSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy))
	fill := strings.NewReplacer("{database}", s.database).Replace
	for _, sql := range []string{documented(t, s.database), fill(accessSchema)} {
		if _, err := connect(t, s.admin).PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	t.Cleanup(func() {
		admin, err := pgx.Connect(context.Background(), s.admin)
		if err != nil {
			t.Error(err)
			return
		}
		defer admin.Close(context.Background())
		for _, role := range []string{"_bi", "_etl", "_ann", "_auth", "_users"} {
			name := pgx.Identifier{s.database + role}.Sanitize()
			if _, err := admin.Exec(context.Background(), "DROP OWNED BY "+name+"; DROP ROLE "+name); err != nil {
				t.Error(err)
			}
		}
	})
	s.replace(
		t,
		"listen: "+s.address, "listen: ["+s.address+", "+s.dir+"]",
		"users:\n", "users:\n  - {name: tableau, reader: bi, certificate_name: bi server}\n  - {name: etl, reader: etl, verifier: "+clientVerifier(t)+"}\n",
		"slot: ", fill("  readers:\n    bi: {user: \"{database}_bi\", password_file: bi.password}\n    etl: {user: \"{database}_etl\", password_file: bi.password}\nslot: "),
		"tables:", fill(accessSettings)+"tables:",
	)
	s.write(t, "bi.password", "bi's secret")
	s.write(t, "auth.password", "looks up")
	s.writeCertificate(t)
	s.writeClientCertificate(t, "bi server")
	s.kproxy(t, "setup").must(t)
	return s
}

// writeClientCertificate makes an authority and a client's certificate of the name.
func (s *site) writeClientCertificate(t *testing.T, name string) {
	t.Helper()
	var keys [2]*ecdsa.PrivateKey
	for i := range keys {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = key
	}
	template := func(name string, authority bool) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			IsCA: authority, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}
	}
	authority := template("an authority", true)
	for i, made := range []struct {
		file     string
		template *x509.Certificate
	}{{"clients.crt", authority}, {"client.crt", template(name, false)}} {
		der, err := x509.CreateCertificate(rand.Reader, made.template, authority, &keys[i].PublicKey, keys[0])
		if err != nil {
			t.Fatal(err)
		}
		s.write(t, made.file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	}
	private, err := x509.MarshalPKCS8PrivateKey(keys[1])
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "client.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}

// as is where a user connects by TLS.
func (s *site) as(user, password string, parameters ...string) string {
	u := url.URL{
		Scheme: "postgresql", User: url.UserPassword(user, password), Host: s.address, Path: "/" + clientDatabase,
		RawQuery: strings.Join(append([]string{"sslmode=require", "application_name=as-" + user}, parameters...), "&"),
	}
	return u.String()
}

// refused is the SQLSTATE with which a login is refused, empty where it is not.
func refused(t *testing.T, config *pgx.ConnConfig) (code, message string) {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err == nil {
		_ = conn.Close(t.Context())
		return "", ""
	}
	var failure *pgconn.PgError
	if !errors.As(err, &failure) {
		t.Fatalf("logging in: %v", err)
	}
	return failure.Code, failure.Message
}

// TestAccess lets clients in by rules, each as the reader role that is the user's, and
// goes on after rules, users, readers and passwords have changed.
func TestAccess(t *testing.T) {
	t.Parallel()
	s := accessSite(t)
	s.kproxy(t, "check").must(t)
	p := s.serve(t)
	ann := s.database + "_ann"
	certified := []string{"sslcert=" + s.dir + "/client.crt", "sslkey=" + s.dir + "/client.key"}

	t.Log("by a Unix socket")
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		t.Fatal(err)
	}
	local := url.URL{
		Scheme: "postgresql", User: url.UserPassword(clientUser, clientPassword), Path: "/" + clientDatabase,
		RawQuery: url.Values{"host": {s.dir}, "port": {port}}.Encode(),
	}
	if o := psql(t, local.String(), "SELECT count(*) FROM people;").must(t); o.stdout != "40\n" {
		t.Errorf("by a Unix socket: psql wrote %q", o.stdout)
	}

	t.Log("each as its reader")
	admin := connect(t, s.admin)
	for _, who := range []struct{ url, user, role string }{
		{s.as(clientUser, clientPassword), clientUser, s.reader},
		{s.as("tableau", "", certified...), "tableau", s.database + "_bi"},
		{s.as("etl", clientPassword), "etl", s.database + "_etl"},
		{s.as(ann, "ann's"), ann, s.database + "_bi"},
	} {
		conn := connect(t, who.url)
		if n := scalar[int](t, conn, "SELECT count(*) FROM people"); n != 40 {
			t.Errorf("%s reads %d rows", who.user, n)
		}
		const sessions = "SELECT string_agg(usename, ' ') FROM pg_stat_activity WHERE application_name LIKE $1"
		if role := scalar[string](t, admin, sessions, "as-"+who.user+" (127.0.0.1:%"); role != who.role {
			t.Errorf("%s is served as %s, not %s", who.user, role, who.role)
		}
	}
	testRefusals(t, s, ann)
	testRotation(t, s, p, certified)
	testReaderAudit(t, s, admin)
	if secrets := []string{"bi's secret", "looks up", "ann's", readerPassword, "SCRAM-SHA-256$"}; containsAny(p.log.String(), secrets) {
		t.Errorf("a secret is logged:\n%s", p.log)
	}
}

func containsAny(text string, words []string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// testRefusals tries who may not log in; strangers learn nothing of who exists.
func testRefusals(t *testing.T, s *site, ann string) {
	for name, login := range map[string]struct{ url, code string }{
		"no certificate":   {s.as("tableau", "x"), "28P01"}, // likewise, as others log in by password
		"a wrong password": {s.as(ann, "wrong"), "28P01"},
		"nobody":           {s.as(ann+"e", "wrong"), "28P01"}, // as if there were such a user
		"not encrypted":    {strings.Replace(s.as(clientUser, clientPassword), "sslmode=require", "sslmode=disable", 1), "28000"},
	} {
		if code, message := refused(t, connConfig(t, login.url)); code != login.code {
			t.Errorf("%s: refused with %q: %s", name, code, message)
		}
	}
	for range 2 {
		further := connect(t, s.as(clientUser, clientPassword))
		defer further.Close(t.Context())
	}
	if code, message := refused(t, connConfig(t, s.as(clientUser, clientPassword))); code != "53300" {
		t.Errorf("the fourth session of a user: %q: %s", code, message)
	}
	elsewhere := connConfig(t, s.as(clientUser, clientPassword))
	elsewhere.DialFunc = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}}).DialContext
	if code, message := refused(t, elsewhere); code != "28000" || !strings.Contains(message, "127.0.0.9") {
		t.Errorf("from an address that is refused: %q: %s", code, message)
	}
}

// testRotation changes the password of a reader role, takes another one away with its
// user, and closes a rule.
func testRotation(t *testing.T, s *site, p *process, certified []string) {
	etl := connect(t, s.as("etl", clientPassword))
	keeps := connect(t, s.as(clientUser, clientPassword))
	s.write(t, "bi.password", "bi's secret, again")
	s.replace(
		t,
		"  - {name: etl, reader: etl, verifier: "+clientVerifier(t)+"}\n", "",
		"    etl: {user: \""+s.database+"_etl\", password_file: bi.password}\n", "",
		"from: 127.0.0.9, method: reject", "from: 127.0.0.8/31, method: reject",
		"pool: {idle: 30s}", "pool: {idle: 20s}",
	)
	s.kproxy(t, "reload").speaks(t, 1, 4, "cannot log in") // setup has not run
	s.kproxy(t, "setup").must(t)
	o := s.kproxy(t, "reload").must(t)
	if !strings.Contains(o.stdout, "settings: users, access, upstream.readers, pool\n") || strings.Contains(o.stdout, "next start") {
		t.Errorf("reload says %q", o.stdout)
	}
	eventually(t, "who is gone is logged out", func() bool { return etl.PgConn().Ping(t.Context()) != nil })
	if code, _ := refused(t, connConfig(t, s.as("etl", clientPassword))); code == "" {
		t.Error("who is gone logs in")
	}
	if n := scalar[int](t, keeps, "SELECT count(*) FROM people"); n != 40 {
		t.Errorf("a session that began before reads %d rows", n)
	}
	if n := scalar[int](t, connect(t, s.as("tableau", "", certified...)), "SELECT count(*) FROM people"); n != 40 {
		t.Errorf("after the password has changed, %d rows are read", n)
	}
	if !p.running() {
		t.Fatal("kproxy has ended")
	}
}

// testReaderAudit gives a further reader role more than it should have.
func testReaderAudit(t *testing.T, s *site, admin *pgx.Conn) {
	if scalar[bool](t, admin, "SELECT rolcanlogin OR pg_has_role(oid, $2, 'MEMBER') FROM pg_roles WHERE rolname = $1", s.database+"_etl", s.reader) {
		t.Error("a reader role that was removed still logs in or reads")
	}
	bi := pgx.Identifier{s.database + "_bi"}.Sanitize()
	for grant, revoke := range map[string]string{
		"GRANT SELECT ON people TO " + bi:                        "REVOKE SELECT ON people FROM " + bi,
		"GRANT pg_monitor TO " + bi:                              "REVOKE pg_monitor FROM " + bi,
		"ALTER ROLE " + bi + " BYPASSRLS":                        "ALTER ROLE " + bi + " NOBYPASSRLS",
		"ALTER TABLE wards OWNER TO " + bi:                       "ALTER TABLE wards OWNER TO CURRENT_USER",
		"GRANT " + s.reader + " TO " + bi + " WITH ADMIN OPTION": "REVOKE ADMIN OPTION FOR " + s.reader + " FROM " + bi,
	} {
		execute(t, admin, grant)
		if o := s.kproxy(t, "check"); o.code == 0 || !strings.Contains(o.stdout+o.stderr, s.database+"_bi") {
			t.Errorf("%s: kproxy check ends with %d:\n%s%s", grant, o.code, o.stdout, o.stderr)
		}
		execute(t, admin, revoke)
	}
	s.kproxy(t, "check").must(t)
}
