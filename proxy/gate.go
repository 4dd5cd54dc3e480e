package proxy

// Gate turns a client's statement text into what is sent upstream, or refuses
// it. Its methods are called by many sessions at once.
type Gate interface {
	// Rewrite returns the SQL to execute in place of sql, which is valid UTF-8,
	// not blank and without NUL; it may hold several statements. Reads are the
	// relations that it reads, in the names that Server.EndReaders is given. An error
	// refuses the whole text and is told to the client. It may implement
	// SQLState() string (else 0A000 is sent), Hint() string and Position() int
	// (1-based position in characters of sql, 0 = none).
	Rewrite(sql string) (rewritten string, reads []string, err error)

	// ScrubMessage maps the names in the message or hint of an upstream error
	// or notice to the names the client knows.
	ScrubMessage(text string) string
}
