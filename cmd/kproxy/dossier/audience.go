package dossier

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/internal/eval/report"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/internal/verify"
)

// audience gathers what an audience sees of a table's generation.
func (g *gathering) audience(p catalog.Publication, now state.Audience, shown int64) (Audience, error) {
	seen, _ := p.For(now.Name)
	a := Audience{Audience: now, Constraints: []string{}, Hidden: []string{}, Risks: []verify.Risk{}}
	for _, spec := range p.Policy.ConstraintsFor(now.Name) {
		a.Constraints = append(a.Constraints, spec.String())
	}
	for _, of := range p.Policy.Audiences {
		if of.Audience == now.Name {
			a.Hidden = append(a.Hidden, of.Hidden...)
		}
	}
	if !now.Sees() {
		a.Columns = columnsOf(seen, seen.Describe(), nil)
		return a, nil
	}
	g.options.Progress(fmt.Sprintf("measuring %s for %s", p.Policy.Table, now.Name))
	figures, err := history.MeasureAudience(g.ctx, g.tx, seen, shown, p.Policy.Updates.Mode.String())
	if err != nil || figures == nil {
		return a, err
	}
	if losses := figures.Losses; losses != nil {
		a.Loss, a.LossRecords = &losses.Whole, losses.Records
	}
	if n := len(figures.Sizes); n > 0 {
		a.Smallest, a.Largest = figures.Sizes[0].Rows, figures.Sizes[n-1].Rows
	}
	a.Columns = columnsOf(seen, seen.Describe(), figures.Losses)
	a.Attack, err = history.LinkRelease(g.ctx, g.tx, seen, shown, g.options.Seed)
	return a, err
}

// audienceRisks counts the risks of what audiences see: those of tables about the same persons together.
func (g *gathering) audienceRisks(audiences []catalog.Audience, publications []catalog.Publication) error {
	for _, of := range audiences {
		told := g.toldOf(of.Name)
		risks, err := verify.MeasureRisks(g.ctx, g.tx, seenBy(of.Name, publications, told), g.options.Threshold)
		if err != nil {
			return fmt.Errorf("for audience %s: %w", of.Name, err)
		}
		for _, r := range risks {
			if a := told[r.Table]; a != nil {
				a.Risks = append(a.Risks, r)
			}
		}
	}
	return nil
}

// toldOf is where the dossier tells of an audience, by the tables of which it sees something.
func (g *gathering) toldOf(audience string) map[string]*Audience {
	told := make(map[string]*Audience)
	for i := range g.dossier.Tables {
		t := &g.dossier.Tables[i]
		for j := range t.Audiences {
			if a := &t.Audiences[j]; a.Name == audience && a.Sees() {
				told[t.Name] = a
			}
		}
	}
	return told
}

// seenBy is what an audience sees of the told tables, and what is made for it of all others that are released with them.
func seenBy(audience string, publications []catalog.Publication, told map[string]*Audience) (all []catalog.Publication) {
	kinds := make(map[string]bool)
	for _, p := range publications {
		if p.Membership != nil && told[p.Policy.Table.String()] != nil {
			kinds[p.Membership.People.Kind] = true
		}
	}
	for _, p := range publications {
		seen, made := p.MadeFor(audience)
		if made && (told[p.Policy.Table.String()] != nil || p.Membership != nil && kinds[p.Membership.People.Kind]) {
			all = append(all, seen)
		}
	}
	return all
}

// limitAudiences adds the limits of what audiences see.
func (g *gathering) limitAudiences(t *Table) {
	say := func(format string, arguments ...any) {
		g.dossier.Limits = append(g.dossier.Limits, t.Name+": "+fmt.Sprintf(format, arguments...))
	}
	if len(t.Audiences) > 0 {
		say("readers of several audiences who pool what they have know what the finest of their releases tells; what an audience sees may be as fine as that to who has both")
		if t.Updates == catalog.Guarded.String() {
			say("%s alone is more precise to who has several of these releases: the difference of their weights tells of fewer people who left than the steps of one show", catalog.WeightColumn)
		}
	}
	for _, a := range t.Audiences {
		for _, r := range a.Risks {
			if r.Highest() > g.dossier.Threshold {
				say("to audience %s a person is identified with a probability of up to %.3g, above the threshold of %.3g: it takes k = %d", a.Name, r.Highest(), g.dossier.Threshold, metric.LeastK(g.dossier.Threshold))
			}
		}
	}
}

// summarize is the audience's line in the table of all.
func (a *Audience) summarize(t *Table) []string {
	highest, average, above := "-", "-", "-"
	if r := worst(a.Risks); r != nil {
		highest, average, above = probability(r.Highest()), probability(r.Average()), share(r.Above, r.Size)
	}
	return []string{
		t.Name + " for " + a.Name, a.State, t.Updates, strings.Join(a.Constraints, ", "), whole(t.Records), whole(a.Rows), whole(a.Withheld), highest, average, above, percent(a.Loss), t.proved(),
	}
}

// Line sums up what the audience sees for a terminal.
func (a *Audience) Line(table string, threshold float64) string {
	r := worst(a.Risks)
	if r == nil {
		return fmt.Sprintf("%s for %s: %s, no risk is counted", table, a.Name, a.State)
	}
	return fmt.Sprintf("%s for %s: risk at most %.3g, mean %.3g; %s of %d %s above %.3g; loss %s",
		table, a.Name, r.Highest(), r.Average(), share(r.Above, r.Size), r.Size, r.Unit, threshold, percent(a.Loss))
}

// audience is what an audience sees of a table: what is published, how precise that is, and its risks.
func (d *Dossier) audience(t *Table, a *Audience) report.Section {
	s := report.Section{Title: t.Name + " for audience " + a.Name, Paragraphs: []string{
		fmt.Sprintf("Rule: %s. Its classes are unions of those of the audience before, or of the table's own.", strings.Join(a.Constraints, ", ")),
	}}
	say := func(format string, arguments ...any) {
		s.Paragraphs = append(s.Paragraphs, fmt.Sprintf(format, arguments...))
	}
	if len(a.Hidden) > 0 {
		say("Not shown to it: %s.", strings.Join(a.Hidden, ", "))
	}
	switch {
	case a.State != status.StatePublished && a.Problem != "":
		say("It sees nothing: %s.", a.Problem)
	case a.State != status.StatePublished:
		say("It sees nothing: the table is %s.", a.State)
	default:
		say("%d rows in %d classes of %d to %d; %d records are withheld.", a.Rows, a.Classes, a.Smallest, a.Largest, a.Withheld)
	}
	s.Tables = append(s.Tables, columnTable(a.Columns, a.Loss, a.LossRecords))
	for _, r := range a.Risks {
		s.Tables = append(s.Tables, d.riskTable(r), sensitiveTable(r))
	}
	if a.Attack != nil {
		s.Tables = append(s.Tables, attackTable(a.Attack))
	}
	s.Tables = withRows(s.Tables)
	return s
}
