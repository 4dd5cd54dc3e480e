package config

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// AuthQuery finds the verifiers of users that the configuration does not name.
type AuthQuery struct {
	// Connection is who asks the servers of Upstream.Reader, in their order; where it is not
	// said, the owner.
	Connection Connection `yaml:",inline" only:"user password password_env password_file sslcert sslkey" may:"user"`
	// Query is a SELECT with the user's name as $1, of one row with one column: a
	// SCRAM-SHA-256 verifier in the form of pg_authid.rolpassword. No row or NULL is no
	// such user. Empty is no query: there are no users but those of the configuration.
	Query string `yaml:"query" as:"query" need:"query: SELECT verifier FROM kproxy_auth.verifier_of($1)" doc:"A query with the user's name as $1 that gives one row with a verifier in the form of pg_authid.rolpassword, or none."`
	// Reader is the name of the reader role in Upstream.Readers that the users' sessions
	// run as; empty is Upstream.Reader.
	Reader   string        `yaml:"reader" as:"name" what:"auth_query's reader" doc:"The reader role, of upstream.readers, of the users that are found. Without it: upstream.reader."`
	Timeout  time.Duration `yaml:"timeout" default:"5s" range:"1ms..1d" doc:"How long the query may take."`
	Lifetime time.Duration `yaml:"lifetime" default:"5s" range:"1ms..1d" doc:"How long an answer is believed: a changed password is good for as much longer."`
	// Iterations is bounded by scram.MinIterations and scram.MaxIterations.
	Iterations int `yaml:"iterations" default:"4096" range:"4096..10000000" doc:"Those of most verifiers that the query finds, as which users who do not exist are shown: the server's scram_iterations."`
}

func (a *AuthQuery) check(d *decoder, n *yaml.Node, what string) {
	a.Connection.check(d, n, what)
	if c := a.Connection; c.User == "" && (c.PasswordEnv != "" || c.PasswordFile != "" || c.SSLCert != "") {
		d.wrong(n, "auth_query has a password or a certificate but no user", "write user: and the role's name; without one the owner asks")
	}
}

// compareAuthQuery sees to it that clients cannot ask what the query finds.
func (c *Config) compareAuthQuery(d *decoder) {
	readers := []string{c.Upstream.Reader.User}
	for _, further := range c.Upstream.Readers {
		readers = append(readers, further.Connection.User)
	}
	if asks := c.AuthQuery.Connection.User; c.AuthQuery.Query != "" && asks != "" && slices.Contains(readers, asks) {
		d.wrong(d.at(&c.AuthQuery), "auth_query asks as a reader role, so that clients could ask, too", "give it a user of its own, or leave user out: then the owner asks")
	}
}
