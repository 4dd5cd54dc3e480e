package rewrite

import "github.com/kproxy/kproxy/internal/charset"

// Effect is what a statement does, once it has run, to the meaning of the statements
// after it.
type Effect interface {
	change(s *Session)
}

// setPath is SET search_path, setEncoding SET client_encoding.
type (
	setPath     struct{ assignment }
	setEncoding struct{ assignment }
)

func (e setPath) change(s *Session)     { e.assign(s, &s.path) }
func (e setEncoding) change(s *Session) { e.assign(s, &s.encoding) }

// openPath is a change of search_path to the value of $1, which Bind brings.
type openPath struct{ local bool }

// change does nothing: what has run has the effect of With.
func (openPath) change(*Session) {}

// With is the effect for a value of $1; nil stands for NULL. The error is a *Refusal.
func (e openPath) With(value *string) (any, error) {
	if value == nil {
		return setPath{assignment{reset: true, local: e.local}}, nil
	}
	if _, err := splitPath(*value); err != nil {
		return nil, err
	}
	return setPath{assignment{text: *value, local: e.local}}, nil
}

// LeavesUTF8 reports whether one of the effects may give a session that began with UTF-8
// another encoding.
func LeavesUTF8(effects []Effect) bool {
	for _, e := range effects {
		if set, is := e.(setEncoding); is && !set.reset && set.text != charset.UTF8 {
			return true
		}
	}
	return false
}

// assignment is SET, or RESET and SET ... TO DEFAULT where reset is set.
type assignment struct {
	text  string
	reset bool
	local bool
}

// assign changes a setting of a session.
func (a assignment) assign(s *Session, of *setting) {
	s.enter()
	to := value{text: a.text, session: true}
	if a.reset {
		to = value{text: of.reset}
	}
	*of = of.set(to, a.local, len(s.levels))
}

// resetAll is RESET ALL, which passes over what no SET has changed.
type resetAll struct{}

func (resetAll) change(s *Session) {
	for _, of := range []*setting{&s.path, &s.encoding} {
		if of.now.session {
			assignment{reset: true}.assign(s, of)
		}
	}
}

// discard is DISCARD TEMP and, with all, DISCARD ALL, which commits at once.
type discard struct{ all bool }

func (e discard) change(s *Session) {
	s.enter()
	s.temporary = nil
	if e.all {
		resetAll{}.change(s)
		s.endTransaction(true)
	}
}

// begin is BEGIN, which takes what the text did before it into the transaction.
type begin struct{}

func (begin) change(s *Session) {
	s.enter()
	s.block = true
}

// end is COMMIT or ROLLBACK; chain begins the next transaction.
type end struct{ commit, chain bool }

func (e end) change(s *Session) {
	s.endTransaction(e.commit)
	if e.chain {
		begin{}.change(s)
	}
}

type savepoint struct{ name string }

func (e savepoint) change(s *Session) {
	s.enter()
	s.levels = append(s.levels[:len(s.levels):len(s.levels)], nesting{savepoint: e.name, temporary: s.temporary})
}

// release ends a savepoint and keeps what was done since. A name that is not known
// makes the server fail; see rollbackTo.
type release struct{ name string }

func (e release) change(s *Session) {
	if i := s.find(e.name); i > 0 {
		s.endLevels(i, true)
	}
}

// rollbackTo undoes what was done since a savepoint, which stays. Where no savepoint
// has the name, all of the transaction is undone: a text's outcome is shared with
// sessions that have the savepoint and nothing to undo before it.
type rollbackTo struct{ name string }

func (e rollbackTo) change(s *Session) {
	s.enter()
	i := s.find(e.name)
	again := s.levels[i]
	s.endLevels(i, false)
	s.levels = append(s.levels, again)
	s.failed = false
}

// makeTemporary is CREATE TEMPORARY TABLE; dropped says ON COMMIT DROP.
type makeTemporary struct {
	name    string
	dropped bool
}

func (e makeTemporary) change(s *Session) {
	s.enter()
	if s.hasTemporaryTable(e.name) {
		return // IF NOT EXISTS, or the server refuses it
	}
	s.temporary = withTable(s.temporary, temporaryTable(e))
}

// dropTemporary is DROP TABLE of temporary tables, some of which may not exist.
type dropTemporary struct{ names []string }

func (e dropTemporary) change(s *Session) {
	s.enter()
	s.temporary = withoutTables(s.temporary, e.names)
}
