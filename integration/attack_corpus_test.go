package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// attack is one attack of the corpus: a statement, or several that are sent one
// after another in one session.
type attack struct {
	place string // file and line
	steps []string
	// classes are the SQLSTATE classes of which the last step's refusal must be, or
	// none if it must be answered.
	classes []string
	// either says that it may be answered or refused.
	either bool
	// echoes are names that the answer may repeat, since the attack says them in a
	// spelling of its own.
	echoes string
}

// text is the whole attack in one line.
func (a attack) text() string {
	return strings.Join(strings.Fields(strings.Join(a.steps, " ;; ")), " ")
}

// sent is all that the client said.
func (a attack) sent() string { return strings.Join(a.steps, "\n") + a.echoes }

// entry names the attack in a list: its file and its text.
func (a attack) entry() string {
	file, _, _ := strings.Cut(a.place, ":")
	return file + ": " + a.text()
}

// endless says whether only a limit of time ends it: operator_intervention, query_canceled.
func (a attack) endless() bool { return slices.Contains(a.classes, "57") }

// several says whether the text of a step may hold more than one statement.
func (a attack) several() bool {
	return slices.ContainsFunc(a.steps, func(s string) bool { return strings.Contains(strings.TrimRight(s, "; \n"), ";") })
}

var expectation = regexp.MustCompile(`(?m)^-- (?:allowed|(harmless)|refused ([0-9A-Z]{2}(?: [0-9A-Z]{2})*))(?:, echoes (.*))?$`)

// attacksIn reads a file of the corpus. An attack is a paragraph that begins with
// what must come of it, "-- refused" with the classes of SQLSTATE that may come, or
// "-- allowed", or "-- harmless", where only canaries matter; a line "-- then" parts
// its steps. Paragraphs of comments alone say what the file is about.
func attacksIn(name, text string) ([]attack, error) {
	var attacks []attack
	line := 1
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		place := fmt.Sprintf("%s:%d", name, line)
		line += strings.Count(paragraph, "\n") + 2
		match, sql := expectation.FindStringSubmatch(paragraph), ""
		if match != nil {
			_, sql, _ = strings.Cut(paragraph, match[0])
			sql = strings.Trim(sql, "\n")
		}
		switch {
		case sql != "":
			attacks = append(attacks, attack{
				place: place, steps: strings.Split(sql, "\n-- then\n"),
				either: match[1] != "", classes: strings.Fields(match[2]), echoes: match[3],
			})
		case match != nil || !onlyComments(paragraph):
			return nil, fmt.Errorf("%s: no expectation, or no statement", place)
		}
	}
	return attacks, nil
}

func onlyComments(paragraph string) bool {
	for line := range strings.Lines(strings.TrimSpace(paragraph)) {
		if !strings.HasPrefix(line, "--") {
			return false
		}
	}
	return true
}

// corpus reads the attacks of a folder, in the order of files and lines. Those of
// the folder "temporary" are for sites with temporary tables.
func corpus(t *testing.T, folder string) []attack {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../rewrite/testdata/attacks", folder, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no attacks: %v", err)
	}
	var all []attack
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		attacks, err := attacksIn(filepath.Base(file), string(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, attacks...)
	}
	return all
}

// TestAttackCorpus: the corpus is large, no attack is in it twice, and none says
// itself what must not be shown.
func TestAttackCorpus(t *testing.T) {
	t.Parallel()
	attacks := slices.Concat(corpus(t, ""), corpus(t, "temporary"))
	if len(attacks) < 1000 {
		t.Errorf("the corpus has only %d attacks", len(attacks))
	}
	seen := make(map[string]string)
	for _, a := range attacks {
		key := strings.Join(a.steps, ";")
		if first, twice := seen[key]; twice {
			t.Errorf("%s: is %s again", a.place, first)
		}
		seen[key] = a.place
		if lower := strings.ToLower(key); strings.Contains(lower, rawMarker) || strings.Contains(lower, hiddenMarker) {
			t.Errorf("%s: says a canary", a.place)
		}
	}
}
