package gate

import (
	"slices"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/rewrite"
)

// TestGateAllocatesNothing for a text that was rewritten before, which is nearly every
// one.
func TestGateAllocatesNothing(t *testing.T) {
	read := catalog.Name{Schema: "public", Relation: "t"}
	r := rewrite.New(rewrite.Options{})
	r.SetSnapshot(catalog.NewSnapshot(catalog.Policy{Readable: []catalog.Name{read}}, []catalog.Relation{{Name: read}}, nil))
	var g Gate
	g.Rewriter.Store(r)
	in, _, err := g.Open("ann", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"SELECT * FROM t", "EXPLAIN EXECUTE s"} {
		if n := testing.AllocsPerRun(100, func() { _, err = g.Rewrite(sql, in) }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, %v", sql, n, err)
		}
	}
	if s, err := g.Rewrite("SELECT * FROM t", in); err != nil || !slices.Equal(s.Reads, []string{"public.t"}) {
		t.Errorf("it reads %q, %v", s.Reads, err)
	}
	if s, err := g.Rewrite("PREPARE a AS TABLE t; DECLARE b CURSOR FOR EXECUTE a; EXECUTE c", in); err == nil {
		t.Errorf("a cursor of EXECUTE makes %q", s.Makes)
	}
	if s, err := g.Rewrite("PREPARE a AS TABLE t; EXECUTE c", in); err != nil || !slices.Equal(s.Makes, []string{"a"}) || !slices.Equal(s.Uses, []string{"c"}) {
		t.Errorf("it makes %q and uses %q, %v", s.Makes, s.Uses, err)
	}
	if path := in.SearchPath(); path != `"$user", public` {
		t.Errorf("the path at first is %s", path)
	}
}

// TestGateTellsOfEncodings: which texts may take a session away from UTF-8.
func TestGateTellsOfEncodings(t *testing.T) {
	t.Parallel()
	var g Gate
	g.Rewriter.Store(rewrite.New(rewrite.Options{}))
	in, _, err := g.Open("ann", "", map[string]string{"client_encoding": "sjis"})
	if err != nil || in.Encoding() != "SJIS" {
		t.Fatal(in.Encoding(), err)
	}
	for sql, want := range map[string]bool{
		"SET client_encoding = 'latin1'": true, "SELECT 1; SET NAMES 'sjis'": true, "SELECT set_config('client_encoding', 'BIG5', true)": true,
		"SET client_encoding = 'utf-8'": false, "RESET client_encoding": false, "SELECT 1": false, "SET search_path = a": false,
	} {
		if s, err := g.Rewrite(sql, in); err != nil || s.LeavesUTF8 != want {
			t.Errorf("%s: %v, %v", sql, s.LeavesUTF8, err)
		}
	}
}
