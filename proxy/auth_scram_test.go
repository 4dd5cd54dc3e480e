package proxy

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"fmt"
	"net/url"
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// zeroProof is a proof that no password has.
const zeroProof = ",p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// exchanges are what a client may say in an exchange; NONCE stands for the whole nonce.
var exchanges = []struct{ mechanism, first, final string }{
	{"SCRAM-SHA-256", "n,,n=,r=abc", "c=biws,r=NONCE" + zeroProof},
	{"SCRAM-SHA-256", "y,,n=,r=abc", "c=eSws,r=NONCE" + zeroProof},
	{"SCRAM-SHA-256", "n,,n=somebody,r=abc", "c=biws,r=NONCE" + zeroProof},
	{"SCRAM-SHA-256", "n,,n=some=2Cbody=3D,r=abc", "c=biws,r=NONCE" + zeroProof},
	{"SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,n=,r=abc", ""},
	{"SCRAM-SHA-1", "n,,n=,r=abc", ""},
	{"", "n,,n=,r=abc", ""},
	{"SCRAM-SHA-256", "", ""},
	{"SCRAM-SHA-256", "x", ""},
	{"SCRAM-SHA-256", "n", ""},
	{"SCRAM-SHA-256", "n,,", ""},
	{"SCRAM-SHA-256", "n,,r=abc", ""},
	{"SCRAM-SHA-256", "n,,n=", ""},
	{"SCRAM-SHA-256", "z,,n=,r=abc", ""},
	{"SCRAM-SHA-256", "p=tls-server-end-point,,n=,r=abc", ""},
	{"SCRAM-SHA-256", "p=tls-unique,,n=,r=abc", ""},
	{"SCRAM-SHA-256", "n,a=bob,n=,r=abc", ""},
	{"SCRAM-SHA-256", "n,b=bob,n=,r=abc", ""},
	{"SCRAM-SHA-256", "n,,m=x,n=,r=abc", ""},
	{"SCRAM-SHA-256", "n,,n=,r=a\x01c", ""},
	{"SCRAM-SHA-256", "n,,n=,r=", "c=biws,r=NONCE" + zeroProof},
	{"SCRAM-SHA-256", "n,,n=,r=abc,x=y", "c=biws,r=NONCE" + zeroProof},
	{"SCRAM-SHA-256", "n,,n=,r=abc", ""},
	{"SCRAM-SHA-256", "n,,n=,r=abc", "c=biws"},
	{"SCRAM-SHA-256", "n,,n=,r=abc", "c=eSws,r=NONCE" + zeroProof},
	{"SCRAM-SHA-256", "n,,n=,r=abc", "c=AAAA,r=NONCE" + zeroProof},
	{"SCRAM-SHA-256", "n,,n=,r=abc", "r=NONCE" + zeroProof},
	{"SCRAM-SHA-256", "n,,n=,r=abc", "c=biws,r=abc" + zeroProof},
	{"SCRAM-SHA-256", "n,,n=,r=abc", "c=biws,r=NONCEx" + zeroProof},
	{"SCRAM-SHA-256", "n,,n=,r=abc", "c=biws,r=NONCE,x=y" + zeroProof},
	{"SCRAM-SHA-256", "n,,n=,r=abc", "c=biws,r=NONCE,p=AAAA"},
	{"SCRAM-SHA-256", "n,,n=,r=abc", "c=biws,r=NONCE,p=!"},
	{"SCRAM-SHA-256", "n,,n=,r=abc", "c=biws,r=NONCE" + zeroProof + ",x=y"},
	{"SCRAM-SHA-256", "n,,n=,r=abc", "\x00\xff"},
}

// departures are answers of PostgreSQL's that the library does not tell from others.
var departures = map[string]string{
	"0A000 client requires an unsupported SCRAM extension": "08P01 malformed SCRAM message",
	"08P01 non-printable characters in SCRAM nonce":        "challenge, 08P01 malformed SCRAM message",
	"challenge, 08P01 invalid SCRAM response":              "challenge, 08P01 malformed SCRAM message",
}

// TestExchanges says all kinds of things in an exchange, and expects the SQLSTATE and the
// message that PostgreSQL answers with, whether the user exists or not.
func TestExchanges(t *testing.T) {
	t.Parallel()
	c := nowhere(t)
	c.Access.Throttle.Off = true
	p := serve(t, c)
	direct := pgtest.Database(t, pgtest.Shared(t))
	at, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	role := "scram_" + marker()
	roleWith(t, connectPgx(t, direct), role, testPassword)
	for _, e := range exchanges {
		run := func(addr, user string) string {
			return strings.ReplaceAll(dialWire(t, addr).exchange(user, e.mechanism, e.first, e.final), `"`+user+`"`, `"USER"`)
		}
		want := run(at.Host, role)
		if ours, ok := departures[want]; ok {
			want = ours
		}
		if got := run(p.addr, testUser); got != want {
			t.Errorf("%q: %s, PostgreSQL says %s", e, got, want)
		}
		if got := run(p.addr, "eve"); got != want {
			t.Errorf("%q: one who does not exist: %s, want %s", e, got, want)
		}
	}
}

// boundExchanges are what a client may say inside of TLS, and PostgreSQL's answers.
var boundExchanges = []struct{ mechanism, first, final, want string }{
	{"SCRAM-SHA-256", "n,,n=,r=abc", "c=biws,r=NONCE" + zeroProof, `challenge, 28P01 password authentication failed for user "eve"`},
	{"SCRAM-SHA-256", "y,,n=,r=abc", "", "28000 SCRAM channel binding negotiation error"},
	{"SCRAM-SHA-256", "p=tls-server-end-point,,n=,r=abc", "", "08P01 malformed SCRAM message"},
	{"SCRAM-SHA-256-PLUS", "n,,n=,r=abc", "", "08P01 malformed SCRAM message"},
	{"SCRAM-SHA-256-PLUS", "y,,n=,r=abc", "", "08P01 malformed SCRAM message"},
	{"SCRAM-SHA-256-PLUS", "p=tls-unique,,n=,r=abc", "", `08P01 unsupported SCRAM channel-binding type "tls-unique"`},
	{"SCRAM-SHA-256-PLUS", "p=,,n=,r=abc", "", `08P01 unsupported SCRAM channel-binding type ""`},
	{"SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,n=,r=abc", "c=biws,r=NONCE" + zeroProof, "challenge, 28000 SCRAM channel binding check failed"},
	{"SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,n=,r=abc", "c=cD10bHMtc2VydmVyLWVuZC1wb2ludCws,r=NONCE" + zeroProof, "challenge, 28000 SCRAM channel binding check failed"},
}

// TestBoundExchanges says all kinds of things inside of TLS.
func TestBoundExchanges(t *testing.T) {
	t.Parallel()
	authority := newIssuer(t, "p256")
	certificate := authority.issue(t, "p256", 0, pkix.Name{CommonName: "server"})
	c := nowhere(t)
	c.Access.Throttle.Off = true
	c.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	addresses := map[string]string{"kproxy": serve(t, c).addr}
	if pgtest.Shared(t).Version().Major == 18 {
		addresses["PostgreSQL"] = serverWithTLS(t, certificate)
	}
	for server, addr := range addresses {
		for _, e := range boundExchanges {
			w := dialWire(t, addr).startTLS(&tls.Config{RootCAs: authority.pool(), ServerName: "localhost"})
			if got := w.exchange("eve", e.mechanism, e.first, e.final); got != e.want {
				t.Errorf("%s: %q: %s", server, e, got)
			}
		}
	}
}

// exchange says the messages of an exchange and returns the answers.
func (w *wire) exchange(user, mechanism, first, final string) string {
	w.t.Helper()
	w.startup(user, "")
	w.receive()
	w.send(&oldproto.SASLInitialResponse{AuthMechanism: mechanism, Data: []byte(first)})
	switch m := w.receive().(type) {
	case *oldproto.ErrorResponse:
		return m.Code + " " + m.Message
	case *oldproto.AuthenticationSASLContinue:
		nonce, _, _ := strings.Cut(string(m.Data), ",")
		w.send(&oldproto.SASLResponse{Data: []byte(strings.ReplaceAll(final, "r=NONCE", nonce))})
	default:
		return fmt.Sprintf("%#v", m)
	}
	if m, ok := w.receive().(*oldproto.ErrorResponse); ok {
		return "challenge, " + m.Code + " " + m.Message
	}
	return "challenge, no error"
}
