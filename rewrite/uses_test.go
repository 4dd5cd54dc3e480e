package rewrite

import (
	"fmt"
	"strings"
	"testing"
)

// TestUses wants the names by which texts reach what was prepared elsewhere, as the
// server reads them.
func TestUses(t *testing.T) {
	t.Parallel()
	r := New(Options{TemporaryTables: true})
	long := strings.Repeat("é", 40)
	for sql, want := range map[string]string{
		"EXECUTE s":                                "[s]",
		`EXECUTE "S" (1, 'a'); execute T`:          "[S t]",
		"EXPLAIN EXECUTE s (1)":                    "[s]",
		"CREATE TEMP TABLE a AS EXECUTE s":         "[s]",
		"FETCH ALL FROM P; MOVE NEXT IN q":         "[p q]",
		`FETCH 2 FROM "SQL_CUR0x1"; MOVE "a "";b"`: "[SQL_CUR0x1 a \";b]",
		`FETCH "select"`:                           "[select]",
		"FETCH p":                                  "[p]",
		"EXECUTE " + long:                          "[" + long[:62] + "]",
		"SELECT 1; DEALLOCATE s; CLOSE p":          "[]",
		"PREPARE s AS SELECT 1":                    "[]",
		"DECLARE p CURSOR FOR SELECT 1":            "[]",
	} {
		for range 2 { // the second time from the cache
			got, err := r.Rewrite(sql, nil)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			if fmt.Sprint(got.Uses) != want {
				t.Errorf("%s uses %q, want %s", sql, got.Uses, want)
			}
		}
	}
}

// TestMakes wants the names that texts give, one for each statement that gives one.
func TestMakes(t *testing.T) {
	t.Parallel()
	r := New(Options{})
	long := strings.Repeat("é", 40)
	for sql, want := range map[string]string{
		"PREPARE s AS SELECT 1": "[s]",
		`PREPARE "S" (int) AS SELECT $1; DECLARE P CURSOR FOR SELECT 1`: "[S p]",
		"PREPARE s AS SELECT 1; SELECT 2; PREPARE s AS SELECT 3":        "[s s]",
		"PREPARE " + long + " AS SELECT 1":                              "[" + long[:62] + "]",
		"SELECT 1; EXECUTE s; DEALLOCATE s":                             "[]",
	} {
		for range 2 { // the second time from the cache
			got, err := r.Rewrite(sql, nil)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			if fmt.Sprint(got.Makes) != want {
				t.Errorf("%s makes %q, want %s", sql, got.Makes, want)
			}
		}
	}
}
