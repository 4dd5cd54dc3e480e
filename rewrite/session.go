package rewrite

import (
	"unicode/utf8"

	"github.com/kproxy/kproxy/internal/charset"
)

// Session is what a client's session has done that changes what its texts mean: its
// search path, its encoding, its temporary tables, its open transaction and savepoints. It is a
// value: a step leads to another Session. A nil Session is one that has done nothing
// yet.
type Session struct {
	// user is the client's name, for which "$user" stands in a path; empty if unknown.
	user string
	path setting
	// encoding is the client's, in which it sends texts and gets answers.
	encoding setting
	// levels are the open transaction and its savepoints, outermost first; empty
	// outside of transactions.
	levels []nesting
	// block says that the transaction goes on after the text: BEGIN was sent.
	block bool
	// failed says that the transaction can only be rolled back.
	failed bool
	// temporary are the session's temporary tables, ordered by name.
	temporary []temporaryTable
	// keys are those of the cache; nil for a session that has done nothing.
	keys *sessionKeys
}

// nesting is a transaction or a subtransaction.
type nesting struct {
	// savepoint is its name; empty for a transaction.
	savepoint string
	// temporary are the temporary tables when it began.
	temporary []temporaryTable
}

// maxNesting bounds the savepoints inside one another, maxStackBytes what they lead back
// to, and maxPathBytes a search path: a session is kept, with all that is needed to undo
// it, as long as its client likes.
const (
	maxNesting    = 1000
	maxStackBytes = 256 << 10
	maxPathBytes  = 4096
)

// untouched is what a nil Session stands for.
var untouched = &Session{path: beginning(defaultPath), encoding: beginning(charset.UTF8)}

// UserParameter, PathParameter and EncodingParameter are the startup parameters that
// NewSession reads.
const (
	UserParameter     = "user"
	PathParameter     = "search_path"
	EncodingParameter = "client_encoding"
)

// NewSession begins a session with the parameters of the client's startup message, of
// which it reads UserParameter, PathParameter and EncodingParameter; each may be missing. The
// error is a *Refusal.
func (r *Rewriter) NewSession(parameters map[string]string) (*Session, error) {
	s := *untouched
	s.user = parameters[UserParameter]
	if path, given := parameters[PathParameter]; given {
		if !utf8.ValidString(path) {
			return nil, refuse(BadEncoding, "", "invalid byte sequence for encoding \"UTF8\"")
		}
		if _, err := splitPath(path); err != nil {
			return nil, err
		}
		s.path = beginning(path)
	}
	if encoding, given := parameters[EncodingParameter]; given && !leftToServer(encoding) {
		name, refusal := encodingOf(encoding)
		if refusal != nil {
			return nil, refusal
		}
		s.encoding = beginning(name)
	}
	return s.keyed(), nil
}

// SearchPath is the client's own search_path, as SHOW gives it. A transaction that has
// failed has taken back at once what it, or its innermost savepoint, had set.
func (s *Session) SearchPath() string {
	now := s.orUntouched()
	return now.present(now.path)
}

// Encoding is the client's, by PostgreSQL's name.
func (s *Session) Encoding() string {
	now := s.orUntouched()
	return now.present(now.encoding)
}

// present is what a setting has.
func (s *Session) present(of setting) string {
	if s.failed {
		return of.end(len(s.levels), false).now.text
	}
	return of.now.text
}

func (s *Session) orUntouched() *Session {
	if s == nil {
		return untouched
	}
	return s
}

// After is the session once a statement with the effect has run; a nil effect leaves
// it as it is.
func (s *Session) After(e Effect) *Session {
	if e == nil {
		return s
	}
	next := *s.orUntouched()
	e.change(&next)
	return next.keyed()
}

// Synced is the session once the server is ready for the next text. Status is that of
// ReadyForQuery: 'I' outside of a transaction, 'T' inside, 'E' inside one that has failed. Failed
// says that an error was reported since the last one. At 'I' an implicit transaction ends, too: the
// statements of one text, or of the extended protocol up to Sync.
func (s *Session) Synced(status byte, failed bool) *Session {
	now := s.orUntouched()
	switch {
	case status == 'I' && len(now.levels) > 0:
		next := *now
		next.endTransaction(!failed)
		return next.keyed()
	case status == 'T' && !now.block, status == 'E' && !now.failed:
		next := *now
		next.enter()
		next.block, next.failed = true, status == 'E'
		return next.keyed()
	}
	return s
}

// enter begins an implicit transaction if none is open.
func (s *Session) enter() {
	if len(s.levels) == 0 {
		s.levels = []nesting{{temporary: s.temporary}}
	}
}

// endTransaction commits or rolls back; a failed transaction is rolled back by COMMIT.
func (s *Session) endTransaction(commit bool) {
	if len(s.levels) == 0 {
		return
	}
	commit = commit && !s.failed
	s.path, s.encoding = s.path.end(1, commit), s.encoding.end(1, commit)
	if commit {
		s.temporary = withoutDropped(s.temporary)
	} else {
		s.temporary = s.levels[0].temporary
	}
	s.levels, s.block, s.failed = nil, false, false
}

// endLevels ends the subtransactions from the i-th level on, innermost first.
func (s *Session) endLevels(i int, commit bool) {
	for nest := len(s.levels); nest > i; nest-- {
		s.path, s.encoding = s.path.end(nest, commit), s.encoding.end(nest, commit)
	}
	if !commit {
		s.temporary = s.levels[i].temporary
	}
	s.levels = s.levels[:i:i]
}

// find is the index of the innermost savepoint of that name, 0 if there is none.
func (s *Session) find(savepoint string) int {
	i := len(s.levels) - 1
	for i > 0 && s.levels[i].savepoint != savepoint {
		i--
	}
	return max(i, 0)
}

// InBlock says whether a transaction is open that goes on after the text.
func (s *Session) InBlock() bool { return s != nil && s.block }
