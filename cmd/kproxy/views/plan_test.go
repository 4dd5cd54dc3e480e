package views

import "testing"

func TestHintsBecomeClauses(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string]string{
		"Publish the column, or use others.": "publish the column, or use others",
		"SELECT it another way.":             "SELECT it another way",
		"Élan":                               "élan",
		"A column is missing.":               "a column is missing",
		".":                                  "",
		"":                                   "",
	} {
		if got := clause(sentence); got != want {
			t.Errorf("%q becomes %q, want %q", sentence, got, want)
		}
	}
}
