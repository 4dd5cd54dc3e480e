package config

// IsWritten says whether a key stands in the file, given by its path as for LocateSetting.
func (c *Config) IsWritten(path string) bool {
	_, written := c.places.settings[path]
	return written
}

// inheritedTexts are the keys of upstream.reader that are as the owner's where they are
// not written; port is another one.
var inheritedTexts = []struct {
	key string
	of  func(*Connection) *string
}{
	{"host", func(c *Connection) *string { return &c.Host }},
	{"database", func(c *Connection) *string { return &c.Database }},
	{"sslmode", func(c *Connection) *string { return &c.SSLMode }},
	{"sslrootcert", func(c *Connection) *string { return &c.SSLRootCert }},
	{"sslnegotiation", func(c *Connection) *string { return &c.SSLNegotiation }},
	{"channel_binding", func(c *Connection) *string { return &c.ChannelBinding }},
	{"require_auth", func(c *Connection) *string { return &c.RequireAuth }},
}

// Inherit sets what the file does not say of the connections that go by another one to what
// that one has now: the reader's by the owner's, the further readers' by the reader's, and
// that of auth_query by the owner's or the reader's. A file's own are so from the beginning.
func (c *Config) Inherit() {
	if len(c.places.settings) == 0 {
		return // there is no file
	}
	c.Upstream.Reader = c.readerBy(c.Upstream.Owner)
	reader := c.Upstream.Reader
	readers := make([]Reader, len(c.Upstream.Readers))
	for i, r := range c.Upstream.Readers {
		readers[i] = Reader{Name: r.Name, Connection: reader.by(r.Connection), Reads: r.Reads}
	}
	if len(readers) > 0 {
		c.Upstream.Readers = readers
	}
	switch {
	case c.AuthQuery.Query == "":
	case c.IsWritten("auth_query.user"):
		c.AuthQuery.Connection = reader.by(c.AuthQuery.Connection)
	default:
		c.AuthQuery.Connection = c.Upstream.Owner
	}
}

// readerBy is the reader's connection with what is not written as another one has it.
func (c *Config) readerBy(other Connection) Connection {
	reader := c.Upstream.Reader
	for _, text := range inheritedTexts {
		if !c.IsWritten("upstream.reader." + text.key) {
			*text.of(&reader) = *text.of(&other)
		}
	}
	if !c.IsWritten("upstream.reader.port") {
		reader.Port = other.Port
	}
	if !c.IsWritten("upstream.reader.sslrootcert") {
		reader.serverFiles = other.serverFiles
	}
	return reader
}

// by is the connection with somebody else connecting.
func (c Connection) by(who Connection) Connection {
	c.User, c.PasswordEnv, c.PasswordFile, c.Password = who.User, who.PasswordEnv, who.PasswordFile, who.Password
	c.SSLCert, c.SSLKey, c.roleFiles = who.SSLCert, who.SSLKey, who.roleFiles
	return c
}

// Written is the configuration with nothing in the readers' connections and auth_query's
// but what the file says: what differs in it, somebody has written otherwise.
func (c *Config) Written() *Config {
	if len(c.places.settings) == 0 {
		return c // there is no file
	}
	written, nowhere := *c, Connection{}
	written.Upstream.Reader = c.readerBy(nowhere)
	written.Upstream.Readers = nil
	for _, r := range c.Upstream.Readers {
		written.Upstream.Readers = append(written.Upstream.Readers, Reader{Name: r.Name, Connection: nowhere.by(r.Connection)})
	}
	written.AuthQuery.Connection = nowhere
	if c.IsWritten("auth_query.user") {
		written.AuthQuery.Connection = nowhere.by(c.AuthQuery.Connection)
	}
	return &written
}
