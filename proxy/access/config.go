package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/internal/scram"
)

// Config says who may log in.
type Config struct {
	// Users are the users that the configuration names; their names differ. At least
	// one is needed where there is no Lookup.
	Users []User

	// Rules are tried in their order, and the first that matches decides; where none
	// does, the login is refused. None at all stand for one that wants a password of
	// everybody.
	Rules []Rule

	// Lookup finds the verifiers of users that Users does not name; nil = none.
	Lookup Lookup

	// LookupReader is the upstream role that looked-up users read as; "" = the default
	// one.
	LookupReader string

	// LookupTimeout bounds a lookup; 0 = 5 s.
	LookupTimeout time.Duration

	// LookupLifetime is how long what a lookup found, or did not, is believed;
	// 0 = 5 s. A password that was changed is valid for that much longer.
	LookupLifetime time.Duration

	// Iterations is how many iterations of PBKDF2 users who do not exist pretend to
	// have, next to those that Users have; 0 = 4096. It matters with Lookup, and should
	// be the server's scram_iterations.
	Iterations int

	// Secret is what the salts of users who do not exist are made of, 16 bytes or
	// more. It should be the same at every start, else a salt that differs after one
	// tells that its user does not exist; nil = a random one.
	Secret []byte

	// Throttle slows down who fails to log in.
	Throttle Throttling

	// MaxPending bounds the connections that have not logged in; 0 = 1000.
	MaxPending int

	// MaxPendingPerAddress bounds those of one address (IPv6: of one /64), so that
	// one stranger cannot take all places; 0 = half of MaxPending.
	MaxPendingPerAddress int

	// Now is the clock; nil = time.Now.
	Now func() time.Time
}

// User is a user that the configuration names.
type User struct {
	// Name is what clients give; required, without NUL.
	Name string

	// Verifier is a SCRAM-SHA-256 verifier in the form of pg_authid.rolpassword; see
	// [scram.New]. A user without one can log in by certificate only.
	Verifier string

	// Reader is the upstream role that the user reads as; "" = the default one.
	Reader string

	// CertificateName is the name that the user's client certificate has where a rule
	// asks for it; "" = Name.
	CertificateName string
}

// Lookup finds the verifier of a user, in the form of pg_authid.rolpassword; found is
// false where there is no such user or no password. It is called by several logins at
// once, for each user by one, and must respect ctx. Its errors are logged, and must not
// hold secrets.
type Lookup func(ctx context.Context, user string) (verifier string, found bool, err error)

// Throttling slows down who fails to log in: each failure counts for the user at the address, for
// the address and the networks that it is in, and for the user at addresses from which the user
// has never logged in. Where a user has logged in since the process began, only that user's own
// failures there matter, so that nobody can lock out somebody elsewhere.
type Throttling struct {
	// Off has all failures forgotten at once.
	Off bool

	// Free is how many failures of a user at an address cost nothing; 0 = 5. An
	// address, and a user at unknown addresses, have ten times as many, a network /24 (IPv6:
	// /48) forty, and a network /16 (/32) 160 times.
	Free int

	// Delay is what the first failure beyond costs, before the next attempt is
	// answered; each further one of the user doubles it; 0 = 250 ms.
	Delay time.Duration

	// MaxDelay is the longest delay; an attempt that would have to wait longer, because
	// others wait, is refused; 0 = 10 s.
	MaxDelay time.Duration

	// Forget is the time in which one failure is forgotten; 0 = 30 s.
	Forget time.Duration
}

const (
	defaultLookupTimeout  = 5 * time.Second
	defaultLookupLifetime = 5 * time.Second
	defaultMaxPending     = 1000
	defaultFree           = 5
	defaultDelay          = 250 * time.Millisecond
	defaultMaxDelay       = 10 * time.Second
	defaultForget         = 30 * time.Second

	minSecretBytes = 16
)

// withDefaults returns c with zero values replaced.
func (c Config) withDefaults() Config {
	orInt := func(value *int, otherwise int) {
		if *value == 0 {
			*value = otherwise
		}
	}
	orDuration := func(value *time.Duration, otherwise time.Duration) {
		if *value == 0 {
			*value = otherwise
		}
	}
	if len(c.Rules) == 0 {
		c.Rules = []Rule{{Method: Password}}
	}
	orDuration(&c.LookupTimeout, defaultLookupTimeout)
	orDuration(&c.LookupLifetime, defaultLookupLifetime)
	orInt(&c.Iterations, scram.MinIterations)
	orInt(&c.MaxPending, defaultMaxPending)
	orInt(&c.MaxPendingPerAddress, (c.MaxPending+1)/2)
	orInt(&c.Throttle.Free, defaultFree)
	orDuration(&c.Throttle.Delay, defaultDelay)
	orDuration(&c.Throttle.MaxDelay, defaultMaxDelay)
	orDuration(&c.Throttle.Forget, defaultForget)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// NeedsCertificates tells whether a rule asks for client certificates.
func (c Config) NeedsCertificates() bool { return slices.ContainsFunc(c.Rules, Rule.NeedsCertificate) }

// Readers are the upstream roles that users read as.
func (c Config) Readers() []string {
	readers := []string{c.LookupReader}
	for _, u := range c.Users {
		readers = append(readers, u.Reader)
	}
	return readers
}

// check returns all mistakes of c, whose defaults are set, joined. None holds a
// verifier.
func (c Config) check() error {
	var mistakes []error
	wrong := func(format string, args ...any) {
		mistakes = append(mistakes, fmt.Errorf("access: "+format, args...))
	}
	if len(c.Users) == 0 && c.Lookup == nil {
		wrong("Users is empty and there is no Lookup: nobody could log in")
	}
	if c.LookupTimeout < 0 || c.LookupLifetime < 0 || c.Throttle.Delay < 0 || c.Throttle.MaxDelay < 0 || c.Throttle.Forget < 0 {
		wrong("a time is negative")
	}
	if c.Iterations < 1 || c.Iterations > scram.MaxIterations {
		wrong("Iterations is %d; it must be from 1 to %d", c.Iterations, scram.MaxIterations)
	}
	if c.Secret != nil && len(c.Secret) < minSecretBytes {
		wrong("Secret has less than %d bytes", minSecretBytes)
	}
	if c.MaxPending < 0 || c.MaxPendingPerAddress < 0 || c.Throttle.Free < 0 {
		wrong("a bound is negative")
	}
	for i, rule := range c.Rules {
		if err := rule.check(); err != nil {
			wrong("rule %d: %w", i+1, err)
		}
	}
	return errors.Join(mistakes...)
}
