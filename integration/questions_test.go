package integration

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/shop"
)

// question is a question of an analyst's, as it is typed for the source. Its answer are numbers by
// labels.
type question struct {
	name, sql string
	// lost says why it cannot be answered; empty where it can.
	lost string
}

// questions reads a file of them, with a comment above each.
func questions(t *testing.T, of string) []question {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "questions", of+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	var list []question
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		var q question
		for line := range strings.Lines(part) {
			switch comment, is := strings.CutPrefix(strings.TrimSpace(line), "-- "); {
			case !is:
				q.sql += line
			case strings.HasPrefix(comment, "lost: "):
				q.lost = strings.TrimPrefix(comment, "lost: ")
			default:
				q.name = comment
			}
		}
		list = append(list, q)
	}
	return list
}

func labeled(t *testing.T, conn *pgx.Conn, sql string) map[string]float64 {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT label::text, number::float8 FROM ("+strings.TrimSuffix(strings.TrimSpace(sql), ";")+") AS a (label, number)")
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	found := make(map[string]float64)
	var label *string
	var number *float64
	if _, err := pgx.ForEachRow(rows, []any{&label, &number}, func() error {
		if label != nil && number != nil {
			found[*label] = *number
		}
		return nil
	}); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return found
}

// errorOf is how far the numbers are from the truth, all labels together, relative to it.
func errorOf(truth, got map[string]float64) float64 {
	off, whole := 0.0, 0.0
	for label, number := range truth {
		off += math.Abs(got[label] - number)
		whole += number
	}
	for label, number := range got {
		if _, known := truth[label]; !known {
			off += number
		}
	}
	return off / whole
}

// analysts are sites for which there are questions.
var analysts = map[string]struct {
	load   func(context.Context, *pgx.Conn, int, uint64) error
	policy string
}{
	"hospital": {hospital.LoadHistories, hospital.HistoriesPolicy},
	"shop":     {shop.Load, shop.Policy},
}

// knowledge is what outsiders may know, as policies have it, by the names of files.
var knowledge = map[string]string{"year": "{rows: 1, per: 1y}", "all": "all"}

var writeAnswers = flag.Bool("questions.write", false, "ask under all that outsiders may know, and write the answers into testdata/questions")

// TestQuestions asks what analysts ask of a hospital and of a shop, as it is typed for the source.
// Where an outsider may know one row in each year, all answers but those that have a reason not to
// be are off by 20 % at most, and half of them by 3 %. Files have the answers beside the truth. The
// hospital's release is on another server than its source.
func TestQuestions(t *testing.T) {
	t.Parallel()
	for name, analyst := range analysts {
		for short, knows := range knowledge {
			if short == "all" && !*writeAnswers {
				continue
			}
			t.Run(name+" "+short, func(t *testing.T) {
				tables := strings.Replace(analyst.policy, "knows: "+knowledge["year"], "knows: "+knows, 1)
				o := siteOptions{tables: tables, load: func(ctx context.Context, conn *pgx.Conn) error { return analyst.load(ctx, conn, personsAsked, 1) }}
				if name == "hospital" {
					o.apart = ownServer(t, pgserver.Options{})
				}
				s := ready(t, o)
				s.ask(t, questions(t, name), filepath.Join("testdata", "questions", name+"_"+short+".txt"), short == "year")
			})
		}
	}
}

// personsAsked is how many persons the questions are about.
const personsAsked = 5000

// ask compares the answers with the truth, which is that of the file.
func (s *site) ask(t *testing.T, list []question, path string, bounded bool) {
	t.Helper()
	admin, conn := connect(t, s.admin), connect(t, s.url())
	var answers, truths strings.Builder
	var errs []float64
	for _, q := range list {
		truth, got := labeled(t, admin, q.sql), labeled(t, conn, q.sql)
		off := errorOf(truth, got)
		fmt.Fprintf(&answers, "%s: off by %.1f %%\n", q.name, 100*off)
		for _, label := range slices.Sorted(maps.Keys(truth)) {
			fmt.Fprintf(&answers, "  %-24s %12.6g %12.6g\n", label, truth[label], got[label])
			fmt.Fprintf(&truths, "%s %.6g\n", label, truth[label])
		}
		switch {
		case q.lost != "":
			fmt.Fprintf(&answers, "  (%s)\n", q.lost)
		case bounded && off > 0.2:
			t.Errorf("%s: off by %.1f %%: %v, in truth %v", q.name, 100*off, got, truth)
		default:
			errs = append(errs, off)
		}
	}
	slices.Sort(errs)
	median := errs[len(errs)/2]
	if bounded && median > 0.03 {
		t.Errorf("half of the answers are off by %.1f %% and more", 100*median)
	}
	fmt.Fprintf(&answers, "%d of %d without a reason not to be answered: median %.1f %%, at most %.1f %%\n", len(errs), len(list), 100*median, 100*errs[len(errs)-1])
	t.Log("\n" + answers.String())
	if *writeAnswers {
		if err := os.WriteFile(path, []byte(answers.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	sameTruths(t, path, truths.String())
}

// sameTruths sees to it that a file speaks of the data as they are.
func sameTruths(t *testing.T, path, truths string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var written strings.Builder
	row := regexp.MustCompile(`^  (\S.*?) +(\S+) +\S+$`)
	for line := range strings.Lines(string(text)) {
		if found := row.FindStringSubmatch(strings.TrimRight(line, "\n")); found != nil && !strings.HasPrefix(line, "  (") {
			fmt.Fprintf(&written, "%s %s\n", found[1], found[2])
		}
	}
	if written.String() != truths {
		t.Errorf("%s is not about these data: run go test ./integration -run TestQuestions -questions.write", path)
	}
}
