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
		stateNotSupported, statePrivilege, stateReadOnly, stateSampleArgument, stateLimit, stateUndefinedColumn, stateUndefinedFunction, stateTooComplex, stateNotPublished,
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
