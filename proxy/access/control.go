package access

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/kproxy/kproxy/internal/scram"
)

// Control decides by one configuration. It is made by [New] and safe for concurrent
// use.
type Control struct {
	config  Config
	users   map[string]user
	lookups *lookups // nil = none
	shapes  []shape
	secret  []byte

	// The state that outlives a configuration.
	failures *failures
	pending  *pending
}

// user is a User whose verifier has been read.
type user struct {
	User
	verifier scram.Verifier
}

// New returns the control of a configuration, or all mistakes of it joined.
func New(c Config) (*Control, error) {
	secret := make([]byte, 2*minSecretBytes)
	rand.Read(secret) // never fails: it returns or ends the process
	first := &Control{secret: secret, failures: newFailures(), pending: newPending()}
	return first.Next(c)
}

// Next returns the control of another configuration that goes on with what this one
// remembers of failures and of connections, or all mistakes of it joined. What has been
// looked up is forgotten.
func (p *Control) Next(c Config) (*Control, error) {
	c = c.withDefaults()
	users, err := readUsers(c.Users)
	if err := errors.Join(c.check(), err); err != nil {
		return nil, err
	}
	next := &Control{
		config: c, users: users, shapes: shapes(c, users), secret: p.secret,
		failures: p.failures, pending: p.pending,
	}
	if c.Secret != nil {
		next.secret = c.Secret
	}
	if c.Lookup != nil {
		next.lookups = newLookups(c)
	}
	return next, nil
}

// readUsers returns the users by name, or all their mistakes joined.
func readUsers(list []User) (map[string]user, error) {
	var mistakes []error
	users := make(map[string]user, len(list))
	for _, u := range list {
		wrong := func(what string) { mistakes = append(mistakes, fmt.Errorf("access: user %q: %s", u.Name, what)) }
		if u.Name == "" || strings.ContainsRune(u.Name, 0) {
			wrong("the name is empty or has a NUL")
		}
		if _, twice := users[u.Name]; twice {
			wrong("the name is there twice")
		}
		read := user{User: u}
		if u.Verifier != "" {
			verifier, err := scram.Parse(u.Verifier)
			if err != nil {
				wrong(err.Error())
			}
			read.verifier = verifier
		}
		if read.CertificateName == "" {
			read.CertificateName = u.Name
		}
		users[u.Name] = read
	}
	return users, errors.Join(mistakes...)
}

// Decide says which rule applies to a request.
func (p *Control) Decide(q Request) Decision { return decide(p.config.Rules, q) }

// Enter finds a place for a connection that has not logged in; it is false if there is
// none. The zero Addr stands for Unix sockets. Leave gives the place back and may be
// called again.
func (p *Control) Enter(from netip.Addr) (leave func(), ok bool) {
	return p.pending.enter(throttled(from), p.config.MaxPending, p.config.MaxPendingPerAddress)
}

// Attempt calls check, which looks at the proof of an attempt to log in, and counts what
// it says. Where failures before make the attempt wait, it does neither but says how
// long; then Waited is to be called. It is false if too many wait already. Check is
// called under a lock, so that of many attempts at once each knows of those before, and
// must not wait for anything.
func (p *Control) Attempt(q Request, check func() bool) (wait time.Duration, ok bool) {
	if p.config.Throttle.Off {
		check()
		return 0, true
	}
	return p.failures.attempt(p.config.Throttle, p.config.Now(), q, check)
}

// Waited calls check for an attempt that has waited, and counts what it says.
func (p *Control) Waited(q Request, check func() bool) {
	if ok := check(); !p.config.Throttle.Off {
		p.failures.judged(p.config.Throttle, p.config.Now(), q, ok)
	}
}

// Account is what a login is checked against.
type Account struct {
	// Exists tells whether there is such a user, and HasPassword whether a password
	// can be right. Without one, Verifier is of nobody's password, and looks like
	// others.
	Exists, HasPassword bool
	Verifier            scram.Verifier

	// Reader is the upstream role to read as; "" = the default one.
	Reader string

	// CertificateName is the name that the user's certificate has.
	CertificateName string

	// Problem says, for the log, why HasPassword is false.
	Problem string

	// Err is why a lookup failed; it tells nothing about who exists, since each login
	// does a lookup.
	Err error
}

// Account finds the account of a user. Each call does as many lookups as any other, so
// that its time tells nothing.
func (p *Control) Account(ctx context.Context, name string) Account {
	account := Account{CertificateName: name, Problem: "there is no such user"}
	if p.lookups != nil {
		found := p.lookups.ask(ctx, name)
		account.Err = found.err
		if found.exists {
			account.Exists, account.Reader = true, p.config.LookupReader
			account.HasPassword, account.Verifier, account.Problem = found.usable, found.verifier, found.problem
		}
	}
	if known, ok := p.users[name]; ok {
		account = Account{
			Exists: true, HasPassword: known.Verifier != "", Verifier: known.verifier, Reader: known.Reader,
			CertificateName: known.CertificateName, Problem: "the user has no password", Err: account.Err,
		}
	}
	if account.HasPassword {
		account.Problem = ""
	} else {
		account.Verifier = mockVerifier(p.secret, name, p.shapes)
	}
	return account
}

// Identity is who has logged in.
type Identity struct {
	Request
	// Reader is the upstream role to read as; "" = the default one.
	Reader string

	method     Method
	configured bool
	verifier   string // of a configured user
	storedKey  []byte // of a user who was looked up and has a password
}

// Identity is who a request turns out to be from, after the proof that a decision asked
// for.
func (p *Control) Identity(q Request, d Decision, a Account) Identity {
	known, configured := p.users[q.User]
	who := Identity{Request: q, Reader: a.Reader, method: d.Method, configured: configured, verifier: known.Verifier}
	if !configured && d.Method == Password {
		who.storedKey = a.Verifier.StoredKey
	}
	return who
}

// Gone looks up again who was looked up to log in. It tells whether the user is no longer
// found, or has another password. Where the lookup fails, it returns its error: nobody is known to be
// gone.
func (p *Control) Gone(ctx context.Context, who Identity) (bool, error) {
	if who.configured || p.lookups == nil {
		return false, nil
	}
	found := p.lookups.ask(ctx, who.User)
	if found.err != nil {
		return false, found.err
	}
	return !found.exists || who.method == Password && !bytes.Equal(found.verifier.StoredKey, who.storedKey), nil
}

// Admits tells whether who has logged in under an earlier configuration could do so
// now. Verifiers that were looked up are not looked up again.
func (p *Control) Admits(who Identity) bool {
	if d := p.Decide(who.Request); d.Refused || d.Method != who.method {
		return false
	}
	known, configured := p.users[who.User]
	reader := known.Reader
	if !configured {
		reader = p.config.LookupReader
	}
	return configured == who.configured && (configured || p.lookups != nil) &&
		reader == who.Reader && known.Verifier == who.verifier
}
