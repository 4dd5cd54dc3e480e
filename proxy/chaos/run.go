package chaos

import (
	"fmt"
	"maps"
	"strings"
)

// run appends what a statement answers; most is how many rows to fetch, 0 = all.
func (m *Model) run(out []byte, p *portal, most int) ([]byte, string) {
	s := p.Statement
	if s.selects() {
		m.busy = true
		return m.fetch(out, p, most)
	}
	if p.ended {
		return out, stateNotRunnable
	}
	p.ended = true
	if s.moves() {
		return m.move(out, s)
	}
	m.busy = true
	switch s.Verb {
	case Style:
		m.now.style = s.A
		out = appendTag(out, "SET")
	case Path:
		m.now.path = s.A - 1
		out = appendTag(out, "SET")
	case Notice:
		out = appendReport(out, 'N', "NOTICE", "00000", fmt.Sprint(s.ID))
		out = appendTag(out, "DO")
	case Forget:
		maps.DeleteFunc(m.statements, func(name string, _ statement) bool { return name != "" })
		out = appendTag(out, "DEALLOCATE ALL")
	default:
		return copyOut(out, s)
	}
	return out, ""
}

// fetch appends rows, until there are no more or as many as were asked for.
func (m *Model) fetch(out []byte, p *portal, most int) ([]byte, string) {
	total := 1
	if p.Verb == Rows || p.Verb == Fails {
		total = p.A
	}
	sent := 0
	for !p.ended && p.at < total && (most == 0 || sent < most) {
		if p.Verb == Fails && p.at+1 == p.B {
			return out, stateDivisionByZero
		}
		p.at++
		sent++
		out = m.appendRow(out, p, p.at)
	}
	if most > 0 && sent == most {
		return AppendMessage(out, 's', nil), ""
	}
	p.ended = true
	if p.Verb == Explain {
		return appendTag(out, "EXPLAIN"), ""
	}
	return appendTag(out, fmt.Sprintf("SELECT %d", sent)), ""
}

// copyOut appends the answer to COPY TO STDOUT.
func copyOut(out []byte, s Statement) ([]byte, string) {
	out = AppendMessage(out, 'H', []byte{0, 0, 3, 0, 0, 0, 0, 0, 0})
	pad := ""
	if s.Verb == Copy {
		pad = strings.Repeat("x", s.B)
	}
	for n := 1; n <= s.A; n++ {
		if s.Verb == CopyFails && n == s.B {
			return out, stateDivisionByZero
		}
		out = AppendMessage(out, 'd', fmt.Appendf(nil, "%d\t%d\t%s\n", s.ID, n, pad))
	}
	return appendTag(AppendMessage(out, 'c', nil), fmt.Sprintf("COPY %d", s.A)), ""
}

// moves tells whether the statement begins or ends a transaction or a part of one.
func (s Statement) moves() bool {
	switch s.Verb {
	case Begin, Commit, Rollback, Savepoint, Release, Back:
		return true
	default:
		return false
	}
}

// move runs a statement that moves.
func (m *Model) move(out []byte, s Statement) ([]byte, string) {
	switch s.Verb {
	case Begin:
		if m.block {
			out = appendReport(out, 'N', "WARNING", stateTransactionOpen, "there is already a transaction in progress")
		}
		m.block = true
		return appendTag(out, "BEGIN"), ""
	case Commit, Rollback:
		if !m.block {
			out = appendReport(out, 'N', "WARNING", stateNoTransaction, "there is no transaction in progress")
		}
		kept := s.Verb == Commit && !m.failed
		m.end(kept)
		if kept {
			return appendTag(out, "COMMIT"), ""
		}
		return appendTag(out, "ROLLBACK"), ""
	}
	if !m.block {
		return out, stateNoTransaction
	}
	if s.Verb == Savepoint {
		m.savepoint(s.A)
		return appendTag(out, "SAVEPOINT"), ""
	}
	i := m.find(s.A)
	if i < 0 {
		return out, stateNoSavepoint
	}
	if s.Verb == Release {
		m.release(i)
		for _, p := range m.portals {
			p.level = min(p.level, i)
		}
		return appendTag(out, "RELEASE"), ""
	}
	m.back(i)
	m.failed = false
	for name, p := range m.portals {
		if p.level > i {
			delete(m.portals, name)
		}
	}
	return appendTag(out, "ROLLBACK"), ""
}
