package rewrite

import (
	"errors"
	"fmt"
	"strings"
	"testing"
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
	if n := testing.AllocsPerRun(100, func() { c.s.Synced('I', false).cacheKey(snapshot) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
