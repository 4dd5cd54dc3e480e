package rewrite

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// TestSessionsAreBounded keeps what a client can make kproxy remember small.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	limited := func(err error) bool {
		var refusal *Refusal
		return errors.As(err, &refusal) && refusal.SQLState() == stateLimit
	}
	c := conversation{r: clinicRewriter()}
	if _, err := c.send("BEGIN"); err != nil {
		t.Fatal(err)
	}
	for i := range maxNesting {
		if _, err := c.send("SAVEPOINT s"); err != nil {
			t.Fatalf("savepoint %d: %v", i, err)
		}
	}
	for range 2 {
		c.s.failed = false
		if _, err := c.send("SAVEPOINT s"); !limited(err) {
			t.Errorf("one savepoint too many: %v", err)
		}
	}
	fresh := conversation{r: c.r}
	if _, err := fresh.send("SAVEPOINT s"); err != nil {
		t.Errorf("in another session: %v", err)
	}
	long := strings.Repeat("a, ", maxPathBytes) + "b"
	for _, sql := range []string{"SET search_path = " + long, "SELECT set_config('search_path', '" + long + "', false)"} {
		if _, err := fresh.send(sql); !limited(err) {
			t.Errorf("a long path: %v", err)
		}
	}
	if _, err := c.r.NewSession(map[string]string{PathParameter: long}); !limited(err) {
		t.Errorf("a long path at the start: %v", err)
	}
	var refusal *Refusal
	if _, err := c.r.NewSession(map[string]string{PathParameter: "a\xff"}); !errors.As(err, &refusal) || refusal.SQLState() != stateEncoding {
		t.Errorf("a path at the start that is not UTF-8: %v", err)
	}
	fresh = conversation{r: c.r}
	long = strings.Repeat("a, ", 1300) + "b"
	begun := 0
	var err error
	if _, err := fresh.send("BEGIN"); err != nil {
		t.Fatal(err)
	}
	for ; err == nil && begun < 1000; begun++ {
		if _, err := fresh.send("SET search_path = " + strconv.Itoa(begun) + ", " + long); err != nil {
			t.Fatal(err)
		}
		_, err = fresh.send("SAVEPOINT s")
	}
	if want := maxStackBytes / len(long); !limited(err) || begun < want-10 || begun > want+10 {
		t.Errorf("%d savepoints with long paths: %v", begun, err)
	}
	if key := fresh.s.cacheKey(clinic()); len(key) > 64 {
		t.Errorf("a key of %d bytes", len(key))
	}
	fresh = conversation{r: New(Options{TemporaryTables: true})}
	for i := range maxTemporaryTables {
		if _, err := fresh.send(fmt.Sprintf("CREATE TEMP TABLE t%d (a int)", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := fresh.send("CREATE TEMP TABLE t (a int)"); !limited(err) {
		t.Errorf("one temporary table too many: %v", err)
	}
}

// TestFailedTransactionsHaveTheirPathBack fails at each level of a transaction: the server
// takes the path back at once, before it is told to roll back.
func TestFailedTransactionsHaveTheirPathBack(t *testing.T) {
	t.Parallel()
	c := conversation{r: clinicRewriter()}
	for _, step := range []struct{ sql, path string }{
		{"SET search_path = a", "a"},
		{"BEGIN; SET search_path = b", "b"},
		{"SAVEPOINT s", "b"},
		{"SET search_path = c", "c"},
		{"", "b"},
		{"ROLLBACK TO s", "b"},
		{"RELEASE s", "b"},
		{"", "a"},
		{"COMMIT", "a"},
	} {
		if step.sql == "" {
			c.synced(true)
		} else if _, err := c.send(step.sql); err != nil {
			t.Fatalf("%s: %v", step.sql, err)
		}
		if path := c.s.SearchPath(); path != step.path {
			t.Errorf("after %q: the path is %s, want %s", step.sql, path, step.path)
		}
	}
}

// TestSessionsShareTheirKeys wants sessions in which all means the same to share what
// was rewritten for one of them, and no others.
func TestSessionsShareTheirKeys(t *testing.T) {
	t.Parallel()
	r, snapshot := clinicRewriter(), clinic()
	after := func(parameters map[string]string, texts ...string) string {
		t.Helper()
		s, err := r.NewSession(parameters)
		if err != nil {
			t.Fatal(err)
		}
		c := conversation{r: r, s: s}
		for _, sql := range texts {
			if _, err := c.send(sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		return c.s.cacheKey(snapshot)
	}
	ann, ben := map[string]string{UserParameter: "ann"}, map[string]string{UserParameter: "ben"}
	for _, texts := range [][]string{
		nil,
		{"SELECT 1"},
		{"BEGIN"},
		{"BEGIN", "SAVEPOINT a"},
		{"BEGIN; SET search_path = hospital; ROLLBACK"},
		{"SET search_path = hospital", "RESET search_path"},
		{"SET LOCAL search_path = hospital"},
		{"DISCARD ALL"},
	} {
		if key := after(ann, texts...); key != "" {
			t.Errorf("%q leads to the key %q", texts, key)
		}
	}
	for _, texts := range [][]string{{"SET search_path = hospital"}, {"BEGIN", "SET search_path = hospital"}} {
		if mine, other := after(ann, texts...), after(ben, texts...); mine != other || mine == "" {
			t.Errorf("%q leads to the keys %q and %q", texts, mine, other)
		}
	}
	// Their user's schema.
	hospital, public := map[string]string{UserParameter: "hospital"}, map[string]string{UserParameter: "public"}
	if mine, other := after(hospital), after(public); mine == other || mine == "" {
		t.Errorf("users with schemas of their names have the keys %q and %q", mine, other)
	}
	// A path that does not lead through it makes no difference between users.
	if mine, other := after(map[string]string{UserParameter: "hospital", PathParameter: "public"}), after(map[string]string{UserParameter: "ann", PathParameter: "public"}); mine != other {
		t.Errorf("users whose path is public have the keys %q and %q", mine, other)
	}
	seen := make(map[string][]string)
	for _, texts := range [][]string{
		{"SET search_path = hospital"},
		{"SET search_path = hospital, public"},
		{"SET search_path = 'hospital, public'"},
		{"BEGIN", "SET search_path = hospital"},
		{"BEGIN", "SET LOCAL search_path = hospital"},
		{"BEGIN", "SAVEPOINT a", "SET search_path = hospital"},
		{"BEGIN", "SAVEPOINT b", "SET search_path = hospital"},
		{"SET search_path = public", "BEGIN", "SET search_path = hospital"},
	} {
		key := after(nil, texts...)
		if same := seen[key]; same != nil {
			t.Errorf("%q and %q share the key %q", texts, same, key)
		}
		seen[key] = texts
	}
}

// TestSyncedAllocatesNothing where nothing changes: it is called for every text.
func TestSyncedAllocatesNothing(t *testing.T) {
	c := conversation{r: clinicRewriter()}
	for _, sql := range []string{"SET search_path = hospital", "SELECT 1"} {
		if _, err := c.send(sql); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := clinic()
	inside := c.s.After(begin{}).Synced('T', false)
	for status, s := range map[byte]*Session{'I': c.s, 'T': inside, 'E': inside.Synced('E', true)} {
		s.cacheKey(snapshot)
		if n := testing.AllocsPerRun(100, func() { s.Synced(status, false).cacheKey(snapshot) }); n != 0 {
			t.Errorf("%c: %v allocations", status, n)
		}
	}
}

// TestUsersInPaths wants users to have their own schemas, however a path says so.
func TestUsersInPaths(t *testing.T) {
	t.Parallel()
	r := New(Options{})
	ann, ben := catalog.Name{Schema: "ann", Relation: "t"}, catalog.Name{Schema: "ben", Relation: "t"}
	r.SetSnapshot(catalog.NewSnapshot(catalog.Policy{Readable: []catalog.Name{ann, ben}}, []catalog.Relation{{Name: ann}, {Name: ben}}, nil))
	for _, path := range []string{`"$user", public`, "$user", "$USER, public", "public,$User", `nowhere , "$user"`} {
		for _, user := range []string{"ann", "ben"} {
			atStart, err := r.NewSession(map[string]string{UserParameter: user, PathParameter: path})
			if err != nil {
				t.Fatal(err)
			}
			later, err := r.NewSession(map[string]string{UserParameter: user, PathParameter: "public"})
			if err != nil {
				t.Fatal(err)
			}
			set, err := r.Rewrite("SELECT set_config('search_path', '"+path+"', false)", later)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []*Session{atStart, later.After(set.Effects[0])} {
				if got, err := r.Rewrite("SELECT * FROM t", s); err != nil || got.SQL != "SELECT * FROM kproxy_release_"+user+".t t" {
					t.Errorf("%s with %s: %v, %v", user, path, got, err)
				}
			}
		}
	}
}

// TestTemporaryTablesInKeys tells tables apart by all that matters.
func TestTemporaryTablesInKeys(t *testing.T) {
	t.Parallel()
	tables := func(names ...string) func(*Session) *Session {
		return func(s *Session) *Session {
			for _, name := range names {
				name, dropped := strings.CutSuffix(name, "!")
				s = s.After(makeTemporary{name: name, dropped: dropped})
			}
			return s
		}
	}
	seen := map[string]int{}
	for i, steps := range [][]func(*Session) *Session{
		{tables("t dropped")},
		{tables("t!")},
		{tables("t"), tables("level")},
		{tables("t", "level")},
		{tables("t"), tables()},
		{tables(), tables("t")},
		{tables(), tables("t"), tables()},
		{tables("s", "t")},
		{tables("s"), tables("t")},
		{tables("s"), tables("t"), tables("u")},
		{tables("s", "t"), tables("u")},
	} {
		s := (*Session)(nil).After(begin{})
		for _, step := range steps {
			s = step(s.After(savepoint{name: "s"}))
		}
		key := s.cacheKey(clinic())
		if other, same := seen[key]; same {
			t.Errorf("%d and %d share a key", i, other)
		}
		seen[key] = i
	}
}

// TestTemporaryTablesFillSavepoints: a savepoint keeps the temporary tables that were there before it.
// Where they are those of the savepoint outside of it, both keep the same list.
func TestTemporaryTablesFillSavepoints(t *testing.T) {
	t.Parallel()
	const tables, levels = 500, 50 // 500 * 50 * 64 bytes are more than maxStackBytes
	nested := func(oneMore bool) *Session {
		s := (*Session)(nil).After(begin{})
		for i := range tables {
			s = s.After(makeTemporary{name: fmt.Sprint("t", i)})
		}
		for i := range levels {
			s = s.After(savepoint{name: "s"})
			if oneMore {
				s = s.After(makeTemporary{name: fmt.Sprint("u", i)})
			}
		}
		return s
	}
	if nested(false).full() {
		t.Error("savepoints that keep the same tables are too many")
	}
	if !nested(true).full() {
		t.Error("savepoints that keep tables of their own are not too many")
	}
}
