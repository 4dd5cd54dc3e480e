package upstream

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// ReaderConfigs returns the connections of further readers by name.
func ReaderConfigs(c *config.Config) (map[string]*pgconn.Config, error) {
	readers := make(map[string]*pgconn.Config, len(c.Upstream.Readers))
	for _, r := range c.Upstream.Readers {
		r.Connection.Database = c.Upstream.Reader.Database
		connection, err := SessionConfig(c, r.Connection)
		if err != nil {
			return nil, fmt.Errorf("the connection of reader %q: %w", r.Name, err)
		}
		readers[r.Name] = connection
	}
	return readers, nil
}

// SessionConfig returns the connection that clients' sessions get as a reader role. RESET ALL and
// DISCARD ALL also return to the settings here.
func SessionConfig(c *config.Config, reader config.Connection) (*pgconn.Config, error) {
	upstream, err := pgconn.ParseConfig(reader.ConnString())
	if err != nil {
		return nil, err
	}
	pinned := map[string]string{
		// Only a release schema, that of the role's audience, which holds nothing but views: no function, operator or type
		// of the database is found by an unqualified name. The rewriter applies the search_path
		// of clients.
		"search_path":                   catalog.QuoteIdentifier(catalog.ReleaseSchemaFor(c.Policy.AudienceOf(reader.User), "public")),
		"default_transaction_read_only": "on",
		"standard_conforming_strings":   "on",
		"client_encoding":               "UTF8", // unless a client asks for another
	}
	if c.TemporaryTables == config.TemporaryAllow {
		// PostgreSQL creates no tables in read-only transactions, not even temporary ones.
		pinned["default_transaction_read_only"] = "off"
	}
	for name, setting := range pinned {
		upstream.RuntimeParams[name] = setting
	}
	// The proxy applies the other time-outs: the server would end pooled connections.
	if t := c.Timeouts.Statement; t > 0 {
		upstream.RuntimeParams["statement_timeout"] = fmt.Sprint(t.Milliseconds())
	}
	return upstream, nil
}
