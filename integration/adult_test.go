package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// adultData is the Adult census file, which is not part of the repository.
const adultData = "../../shared/data/adult/adult.data"

// adultFigures are a release of the file.
type adultFigures struct{ records, classes, largest, discernibility int }

// TestAdult publishes the Adult file and compares the classes with the figures
// that rounded partition is known to give: sizes depend on k and the number of
// records alone where ties do not matter.
func TestAdult(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(adultData); err != nil {
		t.Skipf("the Adult file is not here: %v", err)
	}
	for k, want := range map[string]adultFigures{
		"k: 5":  {records: 30162, classes: 6032, largest: 6, discernibility: 150822},
		"k: 10": {records: 30162, classes: 3016, largest: 11, discernibility: 301642},
	} {
		t.Run(k, func(t *testing.T) {
			text, err := os.ReadFile("testdata/adult.yaml")
			if err != nil {
				t.Fatal(err)
			}
			policy := filepath.Join(scratch(t), "adult.yaml")
			if err := os.WriteFile(policy, []byte(strings.Replace(string(text), "{k: 5}", "{"+k+"}", 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			p, temporary := demo(t, nil, "--csv", adultData, "--policy", policy, "--listen", "127.0.0.1:0")
			eventually(t, "the demonstration serves", func() bool {
				return strings.Contains(p.output.String(), "Ctrl-C stops everything") || !p.running()
			})
			urls := regexp.MustCompile(`psql '(postgres[^']+)'`).FindAllStringSubmatch(p.output.String(), -1)
			if len(urls) != 2 {
				t.Fatalf("the demonstration wrote:\n%s%s", p.output, p.log)
			}
			if n := scalar[int](t, connect(t, urls[0][1]), "SELECT count(*) FROM adult"); n != want.records {
				t.Errorf("%d records are read through kproxy", n)
			}
			var got adultFigures
			const sizes = `SELECT sum(n), count(*), max(n), sum(n * n) FROM
				(SELECT count(*) AS n FROM kproxy_store.records_1 GROUP BY kproxy_class) c`
			if err := connect(t, urls[1][1]).QueryRow(t.Context(), sizes).Scan(&got.records, &got.classes, &got.largest, &got.discernibility); err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("the release is %+v, not %+v", got, want)
			}
			interrupt(t, p, temporary)
		})
	}
	t.Run("tour", func(t *testing.T) {
		p, temporary := demo(t, nil, "--once", "--csv", adultData, "--policy", "testdata/adult.yaml")
		if text := checkTour(t, p, temporary); !strings.Contains(text, "30162 records in 6032 classes of 5 to 6, DM 150822") {
			t.Errorf("the demonstration wrote:\n%s", text)
		}
	})
}
