package rewrite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// corpora are the texts of all test data: statements that clients send, and attacks.
func corpora(t *testing.T) []string {
	t.Helper()
	var texts []string
	err := filepath.WalkDir("testdata", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".sql" {
			return err
		}
		content, err := os.ReadFile(path)
		for block := range strings.SplitSeq(string(content), "\n\n") {
			lines := slices.DeleteFunc(strings.Split(block, "\n"), isResult)
			texts = append(texts, strings.Join(lines, "\n"))
		}
		return err
	})
	if err != nil || len(texts) < 1000 {
		t.Fatalf("%d texts: %v", len(texts), err)
	}
	return texts
}

// postgresOwn are the states of refusals in which PostgreSQL itself says what is wrong,
// in words that need no hint.
var postgresOwn = []string{
	stateEncoding, stateInvalidValue, stateSyntax, stateUndefinedSchema, stateUndefinedType, stateUndefinedRel, stateAmbiguous,
}

// TestRefusalsSayWhatToDo holds refusals to their form: a state that clients know, a
// message and a hint in the client's words, and none of kproxy's own names but those
// that the client wrote.
func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	known := append([]string{
		stateNotSupported, statePrivilege, stateSampleArgument, stateLimit, stateUndefinedColumn, stateUndefinedFunction, stateTooComplex, stateNotPublished,
	}, postgresOwn...)
	r, refused := clinicRewriter(), 0
	for _, sql := range corpora(t) {
		_, err := r.Rewrite(sql, nil)
		var refusal *Refusal
		if !errors.As(err, &refusal) {
			continue
		}
		refused++
		switch {
		case refusal.Error() == "":
			t.Errorf("%s\nis refused without a word", sql)
		case !slices.Contains(known, refusal.SQLState()):
			t.Errorf("%s\nis refused with state %s: %s", sql, refusal.SQLState(), refusal.Error())
		case refusal.Hint() == "" && !slices.Contains(postgresOwn, refusal.SQLState()):
			t.Errorf("%s\nis refused without a hint: %s", sql, refusal.Error())
		}
		if said := refusal.Error() + refusal.Hint(); strings.Contains(said, "kproxy_") && !strings.Contains(strings.ToLower(sql), "kproxy_") {
			t.Errorf("%s\nis refused with a name of kproxy's own: %s", sql, said)
		}
	}
	if refused < 300 {
		t.Errorf("only %d texts are refused", refused)
	}
}

// TestReasonsHaveStates holds the set of reasons to one SQLSTATE each.
func TestReasonsHaveStates(t *testing.T) {
	t.Parallel()
	if len(sqlStates) != int(SessionLimit)+1 {
		t.Errorf("%d reasons have a state, want %d", len(sqlStates), SessionLimit+1)
	}
	for reason, state := range sqlStates {
		if len(state) != 5 || reason < 0 || reason > SessionLimit {
			t.Errorf("reason %d has state %q", reason, state)
		}
	}
}

// TestNameAt reads the name that an error position points at.
func TestNameAt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sql      string
		position int
		want     string
	}{
		{"SELECT name FROM t", 8, "name"},
		{"SELECT t.name FROM t", 8, "name"},
		{`SELECT "é", s."T" . "Na""me" FROM t`, 13, `Na"me`},
		{`SELECT 'é', a.B.C`, 13, "c"},
		{"SELECT 1 + 2", 8, ""},
		{"SELECT name", 0, ""},
		{"SELECT name", 40, ""},
		{"SELECT name.*", 8, "name"},
	} {
		if got := NameAt(test.sql, test.position); got != test.want {
			t.Errorf("%q at %d: %q, want %q", test.sql, test.position, got, test.want)
		}
	}
}
