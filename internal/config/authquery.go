package config

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/internal/scram"
)

// AuthQuery finds the verifiers of users that the configuration does not name.
type AuthQuery struct {
	// Query is a SELECT with the user's name as $1, of one row with one column: a
	// SCRAM-SHA-256 verifier in the form of pg_authid.rolpassword. No row or NULL is no
	// such user. Empty is no query: there are no users but those of the configuration.
	Query string
	// Connection is who asks the servers of Upstream.Reader, in their order; where it is not
	// said, the owner.
	Connection Connection
	// Reader is the name of the reader role in Upstream.Readers that the users' sessions
	// run as; empty is Upstream.Reader.
	Reader string
	// Timeout bounds the query. Default 5 s.
	Timeout time.Duration
	// Lifetime is how long its result is believed. Default 5 s.
	Lifetime time.Duration
	// Iterations are those of most verifiers that the query finds, as which users who do
	// not exist are shown. Default 4,096, PostgreSQL's own.
	Iterations int
}

var parameterNumber = regexp.MustCompile(`\$[0-9]+`)

func (r *reader) authQuery(to *AuthQuery) func(*yaml.Node) {
	return func(n *yaml.Node) {
		role := r.role(&to.Connection)
		role[0].need = "" // the owner
		r.connection(n, "auth_query", &to.Connection, append(
			role,
			field{key: "query", doc: "A query with the user's name as $1 that gives one row with a verifier in the form of pg_authid.rolpassword, or none.", need: "query: SELECT verifier FROM kproxy_auth.verifier_of($1)", read: r.query(&to.Query)},
			field{key: "reader", doc: "The reader role, of upstream.readers, of the users that are found. Without it: upstream.reader.", read: r.readerName(&to.Reader, "auth_query's reader")},
			field{key: "timeout", doc: "How long the query may take.", read: r.storeDuration(&to.Timeout, "timeout", false, day)},
			field{key: "lifetime", doc: "How long an answer is believed: a changed password is good for as much longer.", read: r.storeDuration(&to.Lifetime, "lifetime", false, day)},
			field{key: "iterations", doc: "Those of most verifiers that the query finds, as which users who do not exist are shown: the server's scram_iterations.", read: r.storeInteger(&to.Iterations, "iterations", scram.MinIterations, scram.MaxIterations)},
		))
		if c := to.Connection; c.User == "" && (c.PasswordEnv != "" || c.PasswordFile != "" || c.SSLCert != "") {
			r.wrong(r.follow(n), "auth_query has a password or a certificate but no user", "write user: and the role's name; without one the owner asks")
		}
	}
}

// query reads a query with the one parameter $1.
func (r *reader) query(to *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		text, ok := r.literal(n, "query")
		if !ok {
			return
		}
		found := parameterNumber.FindAllString(text, -1)
		for _, parameter := range found {
			if parameter != "$1" {
				r.wrong(r.follow(n), "query has a parameter "+quote(parameter), "write $1, which is the user's name; there are no others")
				return
			}
		}
		if len(found) == 0 || strings.ContainsRune(text, 0) {
			r.wrong(r.follow(n), "query does not ask for a user", "write $1 where the user's name belongs: SELECT verifier FROM kproxy_auth.verifier_of($1)")
			return
		}
		*to = text
	}
}

// compareAuthQuery sees to it that clients cannot ask what the query finds, and completes
// who asks.
func (r *reader) compareAuthQuery(c *Config) {
	asks := c.AuthQuery.Connection
	if c.AuthQuery.Query == "" {
		return
	}
	if asks.User == "" {
		c.AuthQuery.Connection = c.Upstream.Owner
		return
	}
	readers := []string{c.Upstream.Reader.User}
	for _, further := range c.Upstream.Readers {
		readers = append(readers, further.Connection.User)
	}
	if slices.Contains(readers, asks.User) {
		r.contradicts("auth_query asks as a reader role, so that clients could ask, too", "give it a user of its own, or leave user out: then the owner asks", "auth_query")
	}
	c.AuthQuery.Connection = c.Upstream.Reader.by(asks)
}
