package dossier

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/internal/eval/report"
	"github.com/kproxy/kproxy/internal/verify"
)

// WriteJSON writes the dossier for programs.
func (d *Dossier) WriteJSON(w io.Writer) error { return report.WriteJSON(w, d) }

// WritePage writes the dossier as an HTML page that contains everything it shows.
func (d *Dossier) WritePage(w io.Writer) error {
	page := report.Document{Title: "Release of database " + d.Database}
	page.Sections = append(page.Sections, d.summary())
	for i := range d.Tables {
		t := &d.Tables[i]
		page.Sections = append(page.Sections, d.published(t), d.risks(t))
		for j := range t.Audiences {
			page.Sections = append(page.Sections, d.audience(t, &t.Audiences[j]))
		}
	}
	page.Sections = append(page.Sections, d.history(), report.Section{Title: partLimits, Paragraphs: d.Limits}, d.asked())
	return page.WritePage(w)
}

// summary has a line for each table.
func (d *Dossier) summary() report.Section {
	s := report.Section{Title: "Summary", Paragraphs: []string{
		fmt.Sprintf("Measured %s by kproxy %s on what readers see at that moment, as one snapshot. For the operator and assessors: it holds no value of a row, but figures that readers do not get.", moment(d.At), d.Version),
		fmt.Sprintf("Risks are probabilities that a person is identified: highest for the person at the greatest risk, mean over all published. They are compared with a threshold of %.3g.", d.Threshold),
	}}
	for _, p := range d.People {
		s.Paragraphs = append(s.Paragraphs, fmt.Sprintf("Released together: %s. %s", strings.Join(p.Tables, ", "), p.Promise))
	}
	rows := [][]string{{"table", "state", "updates", "constraints", "records", "published rows", "withheld", "highest risk", "mean risk", "above threshold", "loss", "proof"}}
	for _, t := range d.Tables {
		highest, average, above := "-", "-", "-"
		if r := worst(t.Risks); r != nil {
			highest, average, above = probability(r.Highest()), probability(r.Average()), share(r.Above, r.Size)
		}
		rows = append(rows, []string{
			t.Name, t.State, t.Updates, t.rule(), whole(t.Records), whole(t.Rows), whole(t.Withheld), highest, average, above, percent(t.Loss), t.proved(),
		})
		for i := range t.Audiences {
			rows = append(rows, t.Audiences[i].summarize(&t))
		}
	}
	s.Tables = []report.Table{{Rows: rows}}
	return s
}

// rule is the beginning of the constraints, up to what is said of tables that are released together.
func (t *Table) rule() string {
	rule, _, _ := strings.Cut(t.Constraints, ". ")
	return rule
}

// worst is the part with the highest risk; nil where none is counted.
func worst(risks []verify.Risk) (worst *verify.Risk) {
	for i, r := range risks {
		if r.Size > 0 && (worst == nil || r.Highest() > worst.Highest()) {
			worst = &risks[i]
		}
	}
	return worst
}

// Line sums a table up for a terminal.
func (t *Table) Line(threshold float64) string {
	r := worst(t.Risks)
	if r == nil {
		return fmt.Sprintf("%s: %s, no risk is counted; proof %s", t.Name, t.State, t.proved())
	}
	return fmt.Sprintf("%s: risk at most %.3g, mean %.3g; %s of %d %s above %.3g; loss %s; proof %s",
		t.Name, r.Highest(), r.Average(), share(r.Above, r.Size), r.Size, r.Unit, threshold, percent(t.Loss), t.proved())
}

func (t *Table) proved() string {
	switch {
	case t.Proof == nil:
		return "none"
	case !t.Proof.Passed:
		return "fails, " + moment(t.Proof.At)
	case t.Proof.Earlier:
		return "of an earlier release, " + moment(t.Proof.At)
	}
	return fmt.Sprintf("holds (%d checks), %s", len(t.Proof.Checks), moment(t.Proof.At))
}

// published is what is published of a table, and how precise that is.
func (d *Dossier) published(t *Table) report.Section {
	s := report.Section{Title: t.Name + ": " + strings.ToLower(partPublished), Paragraphs: []string{
		fmt.Sprintf("Rule: %s. Method %s, updates %s.", strings.TrimSuffix(t.Constraints, "."), t.Method, t.Updates),
	}}
	if len(t.Dropped) > 0 {
		s.Paragraphs = append(s.Paragraphs, "Not published: "+strings.Join(t.Dropped, ", ")+".")
	}
	if t.Updates == "guarded" {
		s.Paragraphs = append(s.Paragraphs, fmt.Sprintf("%d records wait, %d are withheld for good, %d are published as they were, %d rows stand for nobody; the sum of weights is off by %d.",
			t.Waiting, t.Expired, t.Stale, t.Ghosts, t.Untold))
	}
	s.Tables = []report.Table{columnTable(t.Columns, t.Loss, t.LossRecords)}
	return s
}

// columnTable lists columns with the loss of each, and that of all quasi-identifiers.
func columnTable(columns []Column, loss *float64, records int) report.Table {
	rows := [][]string{{"column", "type", "role", "what it shows", "hierarchy", "constraints", "loss"}}
	for _, c := range columns {
		rows = append(rows, []string{c.Name, c.Type, c.Role, c.Form, c.Hierarchy, c.Constraints, percent(c.Loss)})
	}
	rows = append(rows, []string{"all quasi-identifiers", "", "", "", "", "", percent(loss)})
	return report.Table{Title: fmt.Sprintf("%s (loss: share of information that is removed; of %d records)", partLoss, records), Rows: rows}
}

// risks are those of a table, the attack on it, and its proof.
func (d *Dossier) risks(t *Table) report.Section {
	s := report.Section{Title: t.Name + ": risks and proofs"}
	if len(t.Risks) == 0 {
		s.Paragraphs = append(s.Paragraphs, "Nothing is published.")
	}
	for _, r := range t.Risks {
		s.Tables = append(s.Tables, d.riskTable(r), sensitiveTable(r))
	}
	if t.Attack != nil {
		s.Tables = append(s.Tables, attackTable(t.Attack))
	}
	if t.Proof != nil {
		rows := [][]string{{"check", "verdict"}}
		for _, c := range t.Proof.Checks {
			verdict := "holds"
			if !c.Passed {
				verdict = fmt.Sprintf("%d violations", c.Violations)
			}
			rows = append(rows, []string{c.Name, verdict})
		}
		s.Tables = append(s.Tables, report.Table{Title: fmt.Sprintf("%s: generation %d, %s", partProofs, t.Proof.Generation, t.proved()), Rows: rows})
	}
	s.Tables = withRows(s.Tables)
	return s
}

func withRows(all []report.Table) (tables []report.Table) {
	for _, t := range all {
		if len(t.Rows) > 1 {
			tables = append(tables, t)
		}
	}
	return tables
}

func (d *Dossier) riskTable(r verify.Risk) report.Table {
	over := strings.Join(r.Over, ", ")
	if over == "" {
		over = "no quasi-identifier"
	}
	if r.Size == 0 {
		return report.Table{Title: partRisks + ", over " + over, Rows: [][]string{{"figure", "value"}, {"groups", "none is counted: outsiders know no row of this table, or nothing is published"}}}
	}
	unique := share(r.Alone, r.Records)
	if r.Records == 0 {
		unique = "not counted"
	}
	return report.Table{Title: partRisks + ", over " + over + ", of rows that show the same, in " + r.Unit, Rows: [][]string{
		{"figure", "value"},
		{"groups, their size together, the smallest", fmt.Sprintf("%d, %d, %d", r.Groups, r.Size, r.Smallest)},
		{"prosecutor, highest (knows that the person is in the data)", probability(r.Highest())},
		{"prosecutor, mean", probability(r.Average())},
		{"journalist, highest (knows that the person is in the population)", "at most " + probability(r.Highest())},
		{"marketer (share that is identified right if all are tried)", probability(r.Average())},
		{fmt.Sprintf("share above the threshold of %.3g", d.Threshold), share(r.Above, r.Size)},
		{"unique in the source", unique},
		{"unique in the release", share(r.Single, r.Size)},
	}}
}

func sensitiveTable(r verify.Risk) report.Table {
	rows := [][]string{{"sensitive column", "highest share of one value in a group", "guessed right", "guessed right without the release's groups", "members of groups with one value"}}
	for _, d := range r.Sensitive {
		rows = append(rows, []string{d.Column, percent(&d.Highest), percent(&d.Right), percent(&d.Baseline), whole(d.Certain)})
	}
	return report.Table{Title: "What groups tell of sensitive values", Rows: rows}
}

func attackTable(of *history.Linkages) report.Table {
	rows := [][]string{{"attacker", "targets", "highest chance", "mean chance"}}
	for _, part := range of.Parts {
		rows = append(rows, []string{"names the row of the person", strconv.Itoa(part.Targets), probability(part.Highest), probability(part.Average)})
		for s, guess := range part.Guesses {
			rows = append(rows, []string{
				fmt.Sprintf("names the value of %s (without the release's classes: %s)", of.Sensitive[s], percent(&guess.Baseline)), strconv.Itoa(part.Targets), "", percent(&guess.Right),
			})
		}
	}
	return report.Table{Title: fmt.Sprintf("%s: knows all quasi-identifiers of one person, and takes the rows that fit; of %d records", partAttack, of.Records), Rows: rows}
}

// history is which policies were in force and which releases were made.
func (d *Dossier) history() report.Section {
	policies := [][]string{{"policy", "fingerprint", "accepted", "from"}}
	for _, p := range d.Policies {
		policies = append(policies, []string{strconv.FormatInt(p.Number, 10), p.Fingerprint, moment(p.Accepted), p.Place})
	}
	generations := [][]string{{"table", "generation", "loss first recorded", "last recorded", "loss then"}}
	for _, t := range d.Tables {
		for _, g := range t.Versions {
			generations = append(generations, []string{t.Name, strconv.FormatInt(g.Number, 10), moment(g.First), moment(g.Last), percent(&g.Loss)})
		}
	}
	return report.Section{Title: partHistory, Tables: withRows([]report.Table{
		{Title: "Policies", Rows: policies}, {Title: "Releases that were made afresh; changes in between are not listed", Rows: generations},
	})}
}

// asked is where assessments ask for what the dossier has.
func (d *Dossier) asked() report.Section {
	rows := [][]string{{"document", "clause", "asks for", "see"}}
	for _, c := range d.Clauses {
		rows = append(rows, []string{c.Document, c.Clause, c.Asks, c.Answers})
	}
	return report.Section{Title: "Where assessments ask for this", Paragraphs: []string{
		"This dossier claims no conformity with any of these. Who writes an assessment finds the figures here.",
	}, Tables: []report.Table{{Rows: rows}}}
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func probability(p float64) string { return strconv.FormatFloat(p, 'f', 4, 64) }

func percent(p *float64) string {
	if p == nil {
		return ""
	}
	return strconv.FormatFloat(100**p, 'f', 2, 64) + " %"
}

func share(n, of int64) string {
	if of == 0 {
		return "0"
	}
	p := float64(n) / float64(of)
	return fmt.Sprintf("%d (%s)", n, percent(&p))
}
