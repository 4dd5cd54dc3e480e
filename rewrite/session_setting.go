package rewrite

import "slices"

// setting is a configuration parameter of a session with all that is needed to undo
// what was done to it, after PostgreSQL's guc.c (push_old_value, AtEOXact_GUC). It is
// a value; its stack is never changed in place.
type setting struct {
	// reset is the value of the startup message, to which RESET goes back.
	reset string
	now   value
	stack []kept
}

// value is what a setting has; session says that SET gave it, not the startup
// message: RESET ALL touches only such.
type value struct {
	text    string
	session bool
}

// beginning is a setting at the beginning of a session.
func beginning(text string) setting { return setting{reset: text, now: value{text: text}} }

// action is how a setting was changed inside a level.
type action int

const (
	actionSet      action = iota // SET: holds if the level commits
	actionLocal                  // SET LOCAL: ends with the transaction
	actionSetLocal               // SET, then SET LOCAL: the masked value holds after it
)

// kept is what a level found, and has to put back.
type kept struct {
	level         int // 1 = the transaction
	action        action
	prior, masked value
}

// set changes the value inside the innermost of that many levels.
func (s setting) set(to value, local bool, level int) setting {
	how := actionSet
	if local {
		how = actionLocal
	}
	s.stack = slices.Clone(s.stack)
	last := len(s.stack) - 1
	switch {
	case last < 0 || s.stack[last].level < level:
		s.stack = append(s.stack, kept{level: level, action: how, prior: s.now})
	case how == actionSet:
		s.stack[last].action, s.stack[last].masked = actionSet, value{}
	case s.stack[last].action == actionSet:
		s.stack[last].action, s.stack[last].masked = actionSetLocal, s.now
	}
	s.now = to
	return s
}

// end undoes or keeps what was done at a level and inside it.
func (s setting) end(level int, commit bool) setting {
	s.stack = slices.Clone(s.stack)
	for len(s.stack) > 0 {
		last := len(s.stack) - 1
		top := s.stack[last]
		if top.level < level {
			break
		}
		if commit && top.level > 1 && (last == 0 || s.stack[last-1].level < top.level-1) {
			s.stack[last].level-- // what it found is what the level around it had
			continue
		}
		switch {
		case !commit, top.level == 1 && top.action == actionLocal:
			s.now = top.prior
		case top.level == 1 && top.action == actionSetLocal:
			s.now = top.masked
		case top.level > 1:
			s.stack[last-1] = merged(s.stack[last-1], top)
		}
		s.stack = s.stack[:last]
	}
	if len(s.stack) == 0 {
		s.stack = nil
	}
	return s
}

// merged is what the level around one that commits keeps.
func merged(outer, inner kept) kept {
	switch {
	case inner.action == actionSet:
		outer.action, outer.masked = actionSet, value{}
	case inner.action == actionSetLocal:
		outer.action, outer.masked = actionSetLocal, inner.masked
	case outer.action == actionSet: // SET LOCAL masks what SET left
		outer.action, outer.masked = actionSetLocal, inner.prior
	}
	return outer
}
