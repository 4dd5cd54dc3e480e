package upstream

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// ReaderConfigs are the connections of further readers by their names.
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

// SessionConfig is the connection that clients' sessions get as a reader role. What is
// pinned here is also what RESET ALL and DISCARD ALL return to.
func SessionConfig(c *config.Config, reader config.Connection) (*pgconn.Config, error) {
	upstream, err := pgconn.ParseConfig(reader.ConnString())
	if err != nil {
		return nil, err
	}
	pinned := map[string]string{
		// A release schema only: it holds views and nothing else, so that no function,
		// operator or type of the database is found by an unqualified name. What clients
		// call their search_path, the rewriter follows.
		"search_path":                   catalog.QuoteIdentifier(catalog.ReleaseSchema("public")),
		"default_transaction_read_only": "on",
		"standard_conforming_strings":   "on",
		"client_encoding":               "UTF8",
	}
	if c.TemporaryTables == config.TemporaryAllow {
		// PostgreSQL makes no tables in read-only transactions, not even temporary ones.
		pinned["default_transaction_read_only"] = "off"
	}
	for name, setting := range pinned {
		upstream.RuntimeParams[name] = setting
	}
	// The other time-outs are the proxy's: the server would end kept connections by them.
	if t := c.Timeouts.Statement; t > 0 {
		upstream.RuntimeParams["statement_timeout"] = fmt.Sprint(t.Milliseconds())
	}
	return upstream, nil
}
