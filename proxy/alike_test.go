package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"

	"github.com/kproxy/kproxy/internal/scram"
	"github.com/kproxy/kproxy/proxy/access"
)

// transcript fails to log in, and returns all that the server says: the messages, each with its
// fields, in their order, up to the end of the connection.
func transcript(w *wire, user, database string) string {
	w.t.Helper()
	var said []string
	w.startup(user, database)
	for {
		m, err := w.Receive()
		if err != nil {
			return strings.Join(said, "\n")
		}
		switch m := m.(type) {
		case *oldproto.AuthenticationSASL:
			said = append(said, fmt.Sprint("offers ", m.AuthMechanisms))
			w.send(&oldproto.SASLInitialResponse{AuthMechanism: "SCRAM-SHA-256", Data: []byte("n,,n=,r=abc")})
		case *oldproto.AuthenticationSASLContinue:
			nonce, rest, _ := strings.Cut(string(m.Data), ",")
			salt, iterations, _ := strings.Cut(rest, ",")
			said = append(said, fmt.Sprint("challenge of ", len(nonce), ", ", len(salt), ", ", iterations))
			w.send(&oldproto.SASLResponse{Data: []byte("c=biws," + nonce + ",p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")})
		case *oldproto.ErrorResponse:
			said = append(said, strings.ReplaceAll(fmt.Sprintf("%+v", *m), `"`+user+`"`, `"USER"`))
		default:
			said = append(said, fmt.Sprintf("%+v", m))
		}
	}
}

// TestWhoFailsIsToldTheSame compares users of every kind who fail to log in, with certificates of
// others and without one, with somebody who does not exist, under rules of every kind. Each user is
// known by another method.
func TestWhoFailsIsToldTheSame(t *testing.T) {
	t.Parallel()
	authority := newIssuer(t, "p256")
	server := authority.issue(t, "p256", 0, pkix.Name{CommonName: "server"})
	mallory := authority.issue(t, "p256", 0, pkix.Name{CommonName: "mallory"})
	looked, err := scram.Derive("a looked-up password", []byte("fedcba9876543210"), 4096)
	if err != nil {
		t.Fatal(err)
	}
	of := func(method access.Method, check access.CertificateCheck, users ...string) access.Rule {
		return access.Rule{Transport: access.TLS, Users: users, Method: method, Certificate: check}
	}
	rules := map[string][]access.Rule{
		"none": nil,
		"named": {
			of(access.Certificate, 0, "certified"), of(access.Password, access.VerifyCA, "both"), of(access.Password, access.VerifyFull, "full"),
			of(access.Password, 0, testUser), of(access.Reject, 0, "rejected"),
		},
		"passwords for others":     {of(access.Certificate, 0, "certified"), of(access.Reject, 0, "rejected"), of(access.Password, 0)},
		"certificates for others":  {of(access.Password, 0, testUser), of(access.Reject, 0, "rejected"), of(access.Certificate, 0)},
		"certificates":             {of(access.Certificate, 0, "certified", testUser), of(access.Reject, 0, "rejected")},
		"both for others":          {of(access.Certificate, 0, "certified"), of(access.Password, access.VerifyCA)},
		"nothing for others":       {of(access.Certificate, 0, "certified"), of(access.Password, access.VerifyFull, "full"), of(access.Reject, 0)},
		"password, else forbidden": {of(access.Password, 0, testUser), of(access.Reject, 0)},
	}
	for name, list := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := nowhere(t)
			c.TLS = &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: authority.pool(), ClientAuth: tls.VerifyClientCertIfGiven}
			c.Access = testAccess("both", "full", "rejected")
			c.Access.Throttle.Off = true
			c.Access.Users = append(c.Access.Users, access.User{Name: "certified"})
			c.Access.Rules = list
			c.Access.Lookup = func(_ context.Context, user string) (string, bool, error) {
				switch user {
				case "looked":
					return looked.String(), true, nil
				case "old":
					return "md5canary0123456789abcdef", true, nil
				}
				return "", false, nil
			}
			p := serve(t, c)
			for _, shown := range [][]tls.Certificate{nil, {mallory}} {
				try := func(user string) string {
					client := &tls.Config{RootCAs: authority.pool(), ServerName: "127.0.0.1", Certificates: shown}
					return transcript(dialWire(t, p.addr).startTLS(client), user, published)
				}
				stranger := try("nobody")
				if stranger == "" || strings.Contains(stranger, "nobody") {
					t.Fatalf("the stranger is told %q", stranger)
				}
				for _, user := range []string{testUser, "certified", "both", "full", "rejected", "looked", "old", strings.Repeat("x", 70)[:63]} {
					if got := try(user); got != stranger {
						t.Errorf("%d certificates: %s is told\n%s\nand a stranger\n%s", len(shown), user, got, stranger)
					}
				}
			}
		})
	}
}

// TestWhoFailsIsToldTheSameWhileNobodyIsFound has a lookup that fails.
func TestWhoFailsIsToldTheSameWhileNobodyIsFound(t *testing.T) {
	t.Parallel()
	c := nowhere(t)
	c.Access = testAccess()
	c.Access.Users = append(c.Access.Users, access.User{Name: "certified"})
	c.Access.Lookup = func(context.Context, string) (string, bool, error) { return "", false, errors.New("no connection") }
	p := serve(t, c)
	stranger := transcript(dialWire(t, p.addr), "nobody", published)
	for _, user := range []string{testUser, "certified"} {
		if got := transcript(dialWire(t, p.addr), user, published); got != stranger {
			t.Errorf("%s is told\n%s\nand a stranger\n%s", user, got, stranger)
		}
	}
}
