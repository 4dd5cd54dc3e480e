package paper

import (
	"fmt"
	"io"
	"strings"

	"github.com/kproxy/kproxy/internal/eval/report"
)

// head begins the page that writeMarkdown makes.
const head = `# The papers' experiments, repeated

<!-- Made by: kproxy eval paper all. Edit internal/eval/paper, and run go test ./internal/eval/paper -run PapersPage -update. -->

kproxy implements the methods of five papers. This command repeats their experiments and writes this page:

<!-- not run: needs the Adult data, and the tests of internal/eval/paper run it where they are -->
` + "```sh" + `
kproxy eval paper all --adult FOLDER --out report
` + "```" + `

FOLDER contains the Adult census data of the UCI machine learning repository
(` + "`adult.data`, `adult.test`" + `), and in ` + "`hierarchies`" + ` its taxonomies in the
` + "`;`" + `-separated form. The command also writes a page with the curves, and the figures as JSON. A
test makes the page again and compares all but the times, which are at the end.

Beside curves stand those of the papers and of other programs, as far as there are any in figures:
what a theorem says of the same data, or what another program makes of them. The papers' own
curves are drawings without numbers.
`

// timesTitle begins the part that differs from run to run.
const timesTitle = "## Times"

// timesHead says how they were taken.
const timesHead = `
Times are the minimum of up to four runs on one machine with two cores. Compare them with each other,
not with the papers'. No test compares this part.
`

// writeMarkdown writes the page: what is the same in every run, then the times.
func writeMarkdown(w io.Writer, results []Result) error {
	var text strings.Builder
	text.WriteString(head)
	writeSummary(&text, results)
	for _, r := range results {
		if err := r.writeSection(&text); err != nil {
			return err
		}
	}
	if err := writeTimes(&text, results); err != nil {
		return err
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// writeSummary counts the claims about results and lists those that do not hold.
func writeSummary(text *strings.Builder, results []Result) {
	all, hold := 0, 0
	var refuted strings.Builder
	for _, r := range results {
		for _, c := range r.claimsOf(false) {
			all++
			if c.Holds {
				hold++
				continue
			}
			fmt.Fprintf(&refuted, "- %s: %q Measured: %s%s\n", r.Name, c.Paper, c.Measured, c.reason())
		}
	}
	fmt.Fprintf(text, "\nOf %d claims about results %d hold with kproxy's methods, and %d do not:\n\n%s", all, hold, all-hold, refuted.String())
}

// reason is why, as the end of a sentence.
func (c Claim) reason() string {
	if c.Why == "" || c.Holds {
		return "."
	}
	return " (" + c.Why + ")."
}

// claimsOf are the claims about times, or those about results.
func (r Result) claimsOf(timed bool) []Claim {
	var some []Claim
	for _, c := range r.Claims {
		if c.Timed == timed {
			some = append(some, c)
		}
	}
	return some
}

// writeSection writes an experiment without its times.
func (r Result) writeSection(text *strings.Builder) error {
	fmt.Fprintf(text, "\n## %s\n\n%s\n\n%s\n", r.Name, r.Source, r.Circumstances())
	return r.writeTables(text, false)
}

// writeTables writes the figures and claims about times, or the others.
func (r Result) writeTables(text *strings.Builder, timed bool) error {
	for _, f := range r.Figures {
		if f.Timed != timed {
			continue
		}
		if err := f.table().WriteMarkdown(text); err != nil {
			return err
		}
	}
	if some := r.claimsOf(timed); len(some) > 0 {
		return claimTable(some).WriteMarkdown(text)
	}
	return nil
}

func writeTimes(text *strings.Builder, results []Result) error {
	all, hold := 0, 0
	for _, r := range results {
		for _, c := range r.claimsOf(true) {
			all++
			if c.Holds {
				hold++
			}
		}
	}
	if all == 0 {
		return nil
	}
	fmt.Fprintf(text, "\n%s\n%s\nOf %d claims about times %d hold.\n", timesTitle, timesHead, all, hold)
	for _, r := range results {
		if len(r.claimsOf(true)) == 0 {
			continue
		}
		fmt.Fprintf(text, "\n### Times of %s\n", r.Name)
		if err := r.writeTables(text, true); err != nil {
			return err
		}
	}
	return nil
}

// claimTable compares what the paper says with what was measured.
func claimTable(claims []Claim) report.Table {
	t := report.Table{Rows: [][]string{{"The paper", "Measured", "Verdict"}}}
	for _, c := range claims {
		verdict := c.verdict()
		if c.Why != "" && !c.Holds {
			verdict += " (" + c.Why + ")"
		}
		t.Rows = append(t.Rows, []string{c.Paper, c.Measured, verdict})
	}
	return t
}
