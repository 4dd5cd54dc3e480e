package proxy

// Gate turns a client's statement text into what is sent upstream, or refuses
// it. Its methods are called by many sessions at once.
type Gate interface {
	// Open returns the state in which a user's session begins, and those of the
	// parameters to log in to the server with. The reader is that of Config.Readers which the
	// session runs as; "" = the main one. The parameters are all that the startup
	// message sets, by lower-case name, among them "search_path", which must not be
	// returned. An error ends the login as one of Rewrite refuses a text.
	Open(user, reader string, parameters map[string]string) (State, map[string]string, error)

	// Rewrite returns what to execute in place of sql, which is valid UTF-8, not blank and without
	// NUL, in a session that is in the given state; sql may hold several statements. An error
	// refuses the whole text and is sent to the client. It may implement SQLState() string (else
	// 0A000 is sent), Hint() string, Position() int (1-based position in characters of sql, 0 =
	// none) and Shape() string, as Statement.Shape.
	Rewrite(sql string, in State) (Statement, error)

	// Recall is Rewrite for texts about which it need not think: it returns at once, and
	// tells whether it has an answer.
	Recall(sql string, in State) (statement Statement, known bool, err error)

	// Position maps a position in the Statement.SQL that Rewrite returns for sql and
	// the state now to one in sql. Both are counted in characters from 1; 0 = unknown.
	Position(sql string, in State, sent int) int

	// Escape writes a Statement.SQL in pure ASCII; ok is false if that is impossible.
	Escape(sql string) (ascii string, ok bool)

	// Unescape maps a position in what Escape makes of sql to one in sql. Both are counted
	// in characters from 1; 0 = unknown.
	Unescape(sql string, sent int) int

	// ScrubMessage maps the names in the message, the hint or the kept detail of an
	// upstream error or notice to the names the client knows.
	ScrubMessage(text string) string

	// ScrubPlan maps the names in a row of the output of EXPLAIN, a line of text or a
	// whole document, to the names the client knows.
	ScrubPlan(text string) string
}

// State is what a session has done that changes what its texts mean. It is
// immutable: a step leads to another State.
type State interface {
	// SearchPath is the value of search_path as the client is to see it.
	SearchPath() string

	// Encoding is the value of client_encoding, in which the client sends texts and the
	// server answers: UTF8, the name of another [charset.Charset], or [charset.None].
	Encoding() string

	// Audience is the name of those for whom the session's releases are made, for the Observer; "" = those
	// that see the finest ones. It is the same in all states of a session.
	Audience() string

	// After is the state once a statement with an effect of Statement.Effects, which
	// is not nil, has run.
	After(effect any) State

	// Synced is the state once the server is ready for the next text. Status is that
	// of ReadyForQuery: 'I' outside of a transaction, 'T' inside, 'E' inside a failed
	// one. Failed says that an error came since the last one: with 'I', the implicit
	// transaction of what ran since then was rolled back.
	Synced(status byte, failed bool) State
}

// Open is an effect of Statement.Effects that depends on the statement's only parameter, a text.
type Open interface {
	// With returns the effect for a value of the parameter; nil stands for NULL. An error
	// refuses the value as one of Gate.Rewrite a text.
	With(value *string) (effect any, err error)
}

// Statement is a text as it is to be run.
type Statement struct {
	// SQL is the text to send, without NUL; it may hold several statements or none.
	SQL string

	// Reads are the relations that it reads, in the names that Server.EndReaders is
	// given.
	Reads []string

	// Calls are the operator's functions that it calls, in the names that Server.EndCallers is
	// given.
	Calls []string

	// Effects are what its statements do to the State once they have run, one for
	// each, nil for one that does nothing; nil where none does anything.
	Effects []any

	// LeavesUTF8 says that one of the Effects may give the session another encoding than
	// UTF-8.
	LeavesUTF8 bool

	// Plans says that some of its statements are EXPLAIN, whose rows ScrubPlan is to
	// see.
	Plans bool

	// Uses are the names of the prepared statements and the portals that SQL's EXECUTE,
	// FETCH and MOVE in it reach, as the server reads them: folded, and cut at 63 bytes.
	Uses []string

	// Makes are the names of the prepared statements and the cursors that SQL's PREPARE and DECLARE
	// in it make, one for each PREPARE or DECLARE, as in Uses.
	Makes []string

	// Look is a query that tells whether an answer to the statement is as good as it was: with one
	// row of four texts. The first is of the state of what the statement reads, which changes
	// with everything that readers could see of it, and is NULL where they may not read it; the
	// second is of the settings of the session that its answers depend on; the third is off
	// where the session wants no answers that were kept; the fourth is its statement_timeout.
	// "" = its answers are not kept. What it does to the session is nothing.
	Look string

	// Shape is the client's text without anything in it that is the client's own: no
	// constants, comments or names but those that readers can see. It is for the Observer;
	// "" where there is none.
	Shape string

	// Traceless says that nothing of it can stay in the session that DISCARD ALL might
	// miss, so that a connection need not be looked at before another session gets it.
	Traceless bool
}
