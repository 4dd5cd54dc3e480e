package rewrite

import (
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// Session is what a client's session has done that changes what its texts mean: its
// search path, its temporary tables, its open transaction and savepoints. It is a
// value: a step leads to another Session. A nil Session is one that has done nothing
// yet.
type Session struct {
	// user is the client's name, for which "$user" stands in a path; empty if unknown.
	user string
	path setting
	// levels are the open transaction and its savepoints, outermost first; empty
	// outside of transactions.
	levels []nesting
	// block says that the transaction goes on after the text: BEGIN was sent.
	block bool
	// failed says that the transaction can only be rolled back.
	failed bool
	// temporary are the session's temporary tables, ordered by name.
	temporary []temporaryTable
	// key tells sessions apart in which one text may mean different things. It is
	// empty for a session that has done nothing. userKey is the same for sessions
	// whose path leads through a schema of their user's name.
	key, userKey string
}

// nesting is a transaction or a subtransaction.
type nesting struct {
	// savepoint is its name; empty for a transaction.
	savepoint string
	// temporary are the temporary tables when it began.
	temporary []temporaryTable
}

// maxNesting bounds the savepoints inside one another, and maxPathBytes a search path:
// a session is kept, with all that is needed to undo it, as long as its client likes.
const (
	maxNesting   = 1000
	maxPathBytes = 4096
)

// untouched is what a nil Session stands for.
var untouched = &Session{path: setting{reset: defaultPath, now: value{text: defaultPath}}}

// UserParameter and PathParameter are the startup parameters that NewSession reads.
const (
	UserParameter = "user"
	PathParameter = "search_path"
)

// NewSession begins a session with the parameters of the client's startup message, of
// which it reads UserParameter and PathParameter; both may be missing. The error is a
// *Refusal.
func (r *Rewriter) NewSession(parameters map[string]string) (*Session, error) {
	s := *untouched
	s.user = parameters[UserParameter]
	if path, given := parameters[PathParameter]; given {
		if _, err := splitPath(path); err != nil {
			return nil, err
		}
		s.path = setting{reset: path, now: value{text: path}}
	}
	return s.keyed(), nil
}

// SearchPath is the client's own search_path, as SHOW gives it.
func (s *Session) SearchPath() string { return s.orUntouched().path.now.text }

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

// Synced is the session once the server is ready for the next text. Status is what
// ReadyForQuery tells: 'I' outside of a transaction, 'T' inside, 'E' inside one that
// has failed. Failed says that an error was reported since the last one. At 'I' an
// implicit transaction ends, too: the statements of one text, or of the extended
// protocol up to Sync.
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
	s.path = s.path.end(1, commit)
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
		s.path = s.path.end(nest, commit)
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

// cacheKey is the same for sessions in which every text means the same.
func (s *Session) cacheKey(snapshot *catalog.Snapshot) string {
	if s == nil {
		return ""
	}
	if s.userKey != "" && snapshot.HasSchema(s.user) {
		return s.userKey
	}
	return s.key
}

// keyed sets the keys. What lies on the stack matters only to texts that undo it
// before they go on, and then every detail of it does. Without it, all transactions
// and savepoints lead back to the same, so that they need not be told apart.
func (s Session) keyed() *Session {
	var b strings.Builder
	part := func(texts ...string) {
		for _, text := range texts {
			b.WriteString(strconv.Itoa(len(text)))
			b.WriteByte(':')
			b.WriteString(text)
		}
	}
	if s.path.now.text != defaultPath || s.path.reset != defaultPath {
		part(s.path.now.text, s.path.reset)
	}
	if s.undoable() {
		part("undo", strconv.FormatBool(s.path.now.session), strconv.FormatBool(s.block), strconv.FormatBool(s.failed))
		for _, k := range s.path.stack {
			part(strconv.Itoa(k.level), strconv.Itoa(int(k.action)), k.prior.text, strconv.FormatBool(k.prior.session),
				k.masked.text, strconv.FormatBool(k.masked.session))
		}
		for _, l := range s.levels {
			part("level", l.savepoint)
			part(temporaryKey(l.temporary)...)
		}
	}
	if len(s.levels) > maxNesting {
		part("full") // where SAVEPOINT is refused
	}
	if len(s.temporary) > 0 {
		part("temporary")
		part(temporaryKey(s.temporary)...)
	}
	s.key, s.userKey = b.String(), ""
	if s.user != "" && namesUser(s.path) {
		part("user", s.user)
		s.userKey = b.String()
	}
	return &s
}

// undoable says whether ending a transaction or a savepoint changes what names mean.
func (s *Session) undoable() bool {
	if len(s.path.stack) > 0 {
		return true
	}
	for _, l := range s.levels {
		if !sameTemporary(l.temporary, s.temporary) {
			return true
		}
	}
	for _, t := range s.temporary {
		if t.dropped {
			return true
		}
	}
	return false
}
