package rewrite

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sessionModel is what PostgreSQL's manual says of a session's path and temporary tables
// (SET, SAVEPOINT, CREATE TABLE): a level of nesting remembers all that was when it began.
type sessionModel struct {
	now modelState
	// levels are what was when the transaction, and each savepoint in it, began.
	levels []modelLevel
	block  bool
}

type modelLevel struct {
	savepoint string
	before    modelState
}

// modelState holds the value of SET, and of SET LOCAL where there is one, and the tables.
type modelState struct {
	set, local value
	isLocal    bool
	tables     [2]modelTable
}

type modelTable int

const (
	noTable modelTable = iota
	keptTable
	droppedTable // ON COMMIT DROP
)

var modelTables = [...]string{"t", "u"}

const modelReset = "start"

func (s modelState) path() value {
	if s.isLocal {
		return s.local
	}
	return s.set
}

func (m *sessionModel) open() {
	if len(m.levels) == 0 {
		m.levels = []modelLevel{{before: m.now}}
	}
}

func (m *sessionModel) end(commit bool) {
	if len(m.levels) == 0 {
		return
	}
	if !commit {
		m.now = m.levels[0].before
	}
	m.now.isLocal, m.now.local = false, value{}
	for i := range m.now.tables {
		if m.now.tables[i] == droppedTable {
			m.now.tables[i] = noTable
		}
	}
	m.levels, m.block = nil, false
}

func (m *sessionModel) find(savepoint string) int {
	for i := len(m.levels) - 1; i > 0; i-- {
		if m.levels[i].savepoint == savepoint {
			return i
		}
	}
	return 0
}

func (m *sessionModel) set(to value, local bool) {
	if local {
		m.now.local, m.now.isLocal = to, true
		return
	}
	m.now.set, m.now.isLocal, m.now.local = to, false, value{}
}

// modelStep is a statement: what the rewriter says that it does, and what it does to the
// model, unless the server refuses it there.
type modelStep struct {
	effect Effect
	does   func(m *sessionModel) (runs bool)
}

func modelSteps() (steps []modelStep) {
	step := func(e Effect, inBlock bool, does func(m *sessionModel)) {
		steps = append(steps, modelStep{e, func(m *sessionModel) bool {
			if inBlock && !m.block {
				return false
			}
			m.open()
			does(m)
			return true
		}})
	}
	for _, local := range []bool{false, true} {
		for _, text := range []string{"a", "b"} {
			step(setPath{assignment{text: text, local: local}}, false, func(m *sessionModel) { m.set(value{text: text, session: true}, local) })
		}
		step(setPath{assignment{reset: true, local: local}}, false, func(m *sessionModel) { m.set(value{text: modelReset}, local) })
	}
	resetsAll := func(m *sessionModel) {
		if m.now.path().session {
			m.set(value{text: modelReset}, false)
		}
	}
	step(resetAll{}, false, resetsAll)
	step(begin{}, false, func(m *sessionModel) { m.block = true })
	for _, commit := range []bool{false, true} {
		step(end{commit: commit}, true, func(m *sessionModel) { m.end(commit) })
		step(end{commit: commit, chain: true}, true, func(m *sessionModel) {
			m.end(commit)
			m.open()
			m.block = true
		})
	}
	for _, name := range []string{"r", "s"} {
		for range 2 {
			step(savepoint{name}, true, func(m *sessionModel) { m.levels = append(m.levels, modelLevel{name, m.now}) })
		}
		steps = append(steps, modelStep{release{name}, func(m *sessionModel) bool {
			i := m.find(name)
			if i > 0 {
				m.levels = m.levels[:i]
			}
			return i > 0
		}}, modelStep{rollbackTo{name}, func(m *sessionModel) bool {
			i := m.find(name)
			if i > 0 {
				m.now, m.levels = m.levels[i].before, m.levels[:i+1]
			}
			return i > 0
		}})
	}
	for i, name := range modelTables {
		for _, kind := range []modelTable{keptTable, droppedTable} {
			step(makeTemporary{name: name, dropped: kind == droppedTable}, false, func(m *sessionModel) {
				if m.now.tables[i] == noTable {
					m.now.tables[i] = kind
				}
			})
		}
		step(dropTemporary{names: []string{name, "unknown"}}, false, func(m *sessionModel) { m.now.tables[i] = noTable })
	}
	step(discard{}, false, func(m *sessionModel) { m.now.tables = [2]modelTable{} })
	steps = append(steps, modelStep{discard{all: true}, func(m *sessionModel) bool {
		if m.block || len(m.levels) > 0 {
			return false
		}
		m.now.tables = [2]modelTable{}
		resetsAll(m)
		return true
	}})
	return steps
}

// differs says in what a session is not as the model has it.
func (m *sessionModel) differs(s *Session) string {
	if got, want := s.SearchPath(), m.now.path().text; got != want {
		return fmt.Sprintf("the path is %s, want %s", got, want)
	}
	if s.Encoding() != s.SearchPath() {
		return fmt.Sprintf("the encoding is %s and the path %s", s.Encoding(), s.SearchPath())
	}
	if s.InBlock() != m.block {
		return fmt.Sprintf("in a transaction: %v, want %v", s.InBlock(), m.block)
	}
	for i, name := range modelTables {
		if got, want := s.orUntouched().hasTemporaryTable(name), m.now.tables[i] != noTable; got != want {
			return fmt.Sprintf("it has the table %s: %v, want %v", name, got, want)
		}
	}
	return ""
}

// modelRun is a session beside its model.
type modelRun struct {
	s   *Session
	m   sessionModel
	log []string
	// changed says that a step changed a session that others may share.
	changed string
}

func newModelRun(t *testing.T) *modelRun {
	t.Helper()
	s, err := New(Options{TemporaryTables: true}).NewSession(map[string]string{PathParameter: modelReset})
	if err != nil {
		t.Fatal(err)
	}
	s.encoding = beginning(modelReset)
	return &modelRun{s: s, m: sessionModel{now: modelState{set: value{text: modelReset}}}}
}

func (r *modelRun) copy() *modelRun {
	next := *r
	next.m.levels, next.log = slices.Clone(r.m.levels), slices.Clone(r.log)
	return &next
}

// take runs a statement and reports whether the server would.
func (r *modelRun) take(step modelStep, sync bool) bool {
	if !step.does(&r.m) {
		return false
	}
	before, was := r.s, fmt.Sprintf("%+v", *r.s)
	r.s = r.s.After(step.effect)
	if path, is := step.effect.(setPath); is { // the encoding goes the path's way
		r.s = r.s.After(setEncoding(path))
	}
	if is := fmt.Sprintf("%+v", *before); is != was {
		r.changed = fmt.Sprintf("%T%+v changes the session %s to %s", step.effect, step.effect, was, is)
	}
	r.log = append(r.log, fmt.Sprintf("%T%+v", step.effect, step.effect))
	if sync {
		r.sync(false)
	}
	return true
}

func (r *modelRun) sync(failed bool) {
	r.log = append(r.log, fmt.Sprintf("sync, failed %v", failed))
	if !r.m.block {
		r.m.end(!failed)
		r.s = r.s.Synced('I', failed)
		return
	}
	r.s = r.s.Synced('T', failed)
}

// fails fails a statement: what the innermost level did is undone at once, and all of it by
// the end of the transaction, be it COMMIT.
func (r *modelRun) fails(t *testing.T, commit bool) {
	t.Helper()
	if !r.m.block {
		r.sync(true)
		return
	}
	failed := r.s.Synced('E', true)
	inner := r.m.levels[len(r.m.levels)-1]
	if got, want := failed.SearchPath(), inner.before.path().text; got != want {
		t.Fatalf("%s\nas it fails, the path is %s, want %s", strings.Join(r.log, "\n"), got, want)
	}
	r.log = append(r.log, "an error")
	if inner.savepoint != "" {
		r.s = failed.After(rollbackTo{inner.savepoint}).Synced('T', false)
		r.m.now = inner.before
		return
	}
	r.s = failed.After(end{commit: commit}).Synced('I', false)
	r.m.end(false)
}

func (r *modelRun) check(t *testing.T) {
	t.Helper()
	if differs := cmp.Or(r.changed, r.m.differs(r.s)); differs != "" {
		t.Fatalf("%s\n%s", strings.Join(r.log, "\n"), differs)
	}
}

// checkUnknown names savepoints that are not there: the server refuses that, and what would
// stand after it is rewritten before.
func (r *modelRun) checkUnknown(t *testing.T) {
	t.Helper()
	want := r.m.now.path().text
	if released := r.s.After(release{"unknown"}); released.SearchPath() != want {
		t.Fatalf("%s\nafter RELEASE of nothing the path is %s, want %s", strings.Join(r.log, "\n"), released.SearchPath(), want)
	}
	if len(r.m.levels) > 0 {
		want = r.m.levels[0].before.path().text
	}
	if back := r.s.After(rollbackTo{"unknown"}); back.SearchPath() != want {
		t.Fatalf("%s\nafter ROLLBACK TO nothing the path is %s, want %s", strings.Join(r.log, "\n"), back.SearchPath(), want)
	}
}

// TestSessionsFollowTheManual has random sequences of statements lead where PostgreSQL's
// manual says. TestSessionFollowsServer does so with a server, and fewer of them.
func TestSessionsFollowTheManual(t *testing.T) {
	t.Parallel()
	steps, snapshot := modelSteps(), clinic()
	byKey := map[string]*modelRun{}
	shared := 0
	for i := range 1200 {
		random := rand.New(rand.NewPCG(uint64(i), 8))
		r := newModelRun(t)
		few := make([]modelStep, 8) // so that they meet each other often
		for j := range few {
			few[j] = steps[random.IntN(len(steps))]
		}
		if i%2 == 0 {
			r.take(modelStep{begin{}, func(m *sessionModel) bool { m.open(); m.block = true; return true }}, true)
		}
		for range 4 + random.IntN(24) {
			if random.IntN(20) == 0 {
				r.fails(t, random.IntN(2) == 0)
			} else {
				r.take(few[random.IntN(len(few))], random.IntN(5) > 0)
			}
			r.check(t)
			r.checkUnknown(t)
		}
		r.sync(false)
		key := r.s.cacheKey(snapshot)
		if same := byKey[key]; same != nil {
			shared++
			sameAfterwards(t, same, r, steps)
		}
		byKey[key] = r
	}
	if shared < 100 {
		t.Errorf("only %d sessions share a key", shared)
	}
}

// sameAfterwards takes steps in two sessions that share a key: every text that runs in
// both means the same in both, so that it may be rewritten once.
func sameAfterwards(t *testing.T, one, other *modelRun, steps []modelStep) {
	t.Helper()
	for i := range steps {
		a, b := one.copy(), other.copy()
		for _, step := range []modelStep{steps[i], steps[(i*7+3)%len(steps)]} {
			if !a.take(step, false) || !b.take(step, false) {
				break
			}
			if differs := a.m.differs(b.s); a.m.now.path().text != b.m.now.path().text || a.m.now.tables != b.m.now.tables {
				t.Fatalf("%s\nand\n%s\nshare a key: %s", strings.Join(one.log, "\n"), strings.Join(b.log, "\n"), differs)
			}
		}
	}
}

// TestServerKnowsTheState has the server say that a transaction is open of which no text
// told, and that none is any more.
func TestServerKnowsTheState(t *testing.T) {
	t.Parallel()
	var s *Session
	if s.InBlock() || s.After(nil) != nil || s.Synced('I', true) != nil {
		t.Error("a session that has done nothing did something")
	}
	for _, status := range []byte("TE") {
		in := s.Synced(status, status == 'E')
		if !in.InBlock() {
			t.Errorf("%c: in no transaction", status)
		}
		if after := in.Synced('I', false); after.InBlock() {
			t.Errorf("%c: in a transaction after its end", status)
		}
		if after := in.After(setPath{assignment{text: "a"}}).Synced('E', true).Synced('I', true); after.SearchPath() != defaultPath {
			t.Errorf("%c: the path is %s", status, after.SearchPath())
		}
	}
}
