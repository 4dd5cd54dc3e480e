package draft

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/sample"
	"github.com/kproxy/kproxy/internal/eval/linked"
	"github.com/kproxy/kproxy/internal/propose"
)

// measurePeople measures the kinds on a sample of their persons, as they are drafted and with the
// alternatives to what is taken to be known. It drops bounds that no release can satisfy, and
// columns of which little would be left.
func (p *proposing) measurePeople(ctx context.Context) error {
	p.people = make(map[string]*linked.Report)
	for i := range p.kinds {
		k := &p.kinds[i]
		settled, err := p.settleKind(ctx, k)
		if err != nil {
			return err
		}
		p.tellLosses(*k, settled)
		if p.people[k.Name], err = p.measureKind(ctx, *k, alternatives(*k), 10, targets); err != nil {
			return err
		}
	}
	return nil
}

// settleKind drops what does not do, one thing after the other, as long as there is any. It returns
// what the draft then makes of more persons than the alternatives are measured on.
func (p *proposing) settleKind(ctx context.Context, k *propose.Kind) (report *linked.Report, err error) {
	for range mostDropped {
		if report, err = p.measureKind(ctx, *k, []catalog.Knowledge{k.Knows()}, 2, 1); err != nil {
			return nil, err
		}
		changed := false
		if reason := refusal(*k, report); reason != "" {
			changed = unboundAll(k, reason)
		} else if isMost(*k, report) {
			changed = p.dropLost(*k, own(*k, report))
		}
		if !changed {
			break
		}
		if fits, err := p.fitKind(ctx, k); err != nil || !fits {
			return nil, fmt.Errorf("fitting the draft of %s again: %w", k.Name, errors.Join(err, errors.New("it cannot be published")))
		}
	}
	return report, nil
}

// isMost says that most persons were looked at: more is lost of few than of all.
func isMost(k propose.Kind, r *linked.Report) bool { return 2*int64(r.Persons) >= k.Persons }

// mostDropped bounds how often a kind is measured to be settled.
const mostDropped = 12

// measureKind measures a kind on a sample of its persons, of whom there are at least one for so many
// records that are sampled of a table.
func (p *proposing) measureKind(ctx context.Context, k propose.Kind, knows []catalog.Knowledge, records, targets int) (*linked.Report, error) {
	root := p.publications[k.Root]
	publication := catalog.PeoplePublication{People: root.Membership.People, Root: root}
	most := k.Persons
	for _, t := range publication.People.Tables {
		publication.Tables = append(publication.Tables, p.publications[t.Table])
		most = max(most, p.proposal(t.Table).Draft.Total)
	}
	builder, err := sample.People(ctx, p.tx, publication, p.share(k.Persons, most, records), p.Seed, func(table catalog.Name) { p.tell("reading %s", table)(0, 1) })
	if err != nil {
		return nil, fmt.Errorf("trying the draft of %s: %w", k.Name, err)
	}
	run := linked.Evaluation{Records: builder, Knows: knows, Targets: targets, Seed: p.Seed}
	run.Progress = func(what string, done, of int) { p.tell("trying the draft of %s: %s", k.Name, what)(done, of) }
	report, err := run.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("trying the draft of %s: %w", k.Name, err)
	}
	return report, nil
}

// targets is how many persons are looked for in each attack: the mean risk is then known to about
// two hundredths.
const targets = 300

// share is that of the persons who are looked at: with no more rows of any table than records are
// sampled of one, but at least one person for so many of these.
func (p *proposing) share(persons, most int64, records int) float64 {
	if p.Sample == 0 || most <= int64(p.Sample) {
		return 1
	}
	return min(1, max(float64(p.Sample)/float64(most), float64(p.Sample/records)/float64(max(1, persons))))
}

// alternatives are what may be known instead, the draft's own among it.
func alternatives(k propose.Kind) []catalog.Knowledge {
	all := []catalog.Knowledge{{All: true}, {Rows: 1, Crowd: people.DefaultCrowd}}
	if k.Yearly {
		all = slices.Insert(all, 1, k.Knows())
	}
	return all
}

// own is the measurement of what is drafted.
func own(k propose.Kind, r *linked.Report) linked.Measurement {
	i := slices.IndexFunc(r.Measurements, func(m linked.Measurement) bool { return m.Knows == k.Knows().String() })
	return r.Measurements[i]
}

// refusal says why there are enough persons, and no release; empty where there is one.
func refusal(k propose.Kind, r *linked.Report) string {
	if r.Persons < k.K*k.Knows().Crowd {
		return ""
	}
	return own(k, r).Refused
}

// unboundAll gives up every alpha of a kind.
func unboundAll(k *propose.Kind, why string) (changed bool) {
	for i, b := range k.Bounds {
		if b.Alpha > 0 {
			k.Bounds[i].Alpha, k.Bounds[i].Why, changed = 0, why, true
		}
	}
	return changed
}

// lost is the loss, 0 to 1, above which a column is left out, or the draft says what to do about it.
const lost = 0.5

// figuresOf are what becomes of the tables of a kind.
func (p *proposing) figuresOf(k propose.Kind, m linked.Measurement) map[catalog.Name]linked.TableFigures {
	figures := map[catalog.Name]linked.TableFigures{k.Root: m.Root}
	for i, t := range p.publications[k.Root].Membership.People.Tables {
		if m.Refused == "" {
			figures[t.Table] = m.Tables[i]
		}
	}
	return figures
}

// dropLost leaves out the column of each table of which most is lost: what is left of it tells little,
// and without it more is left of the others. Ages, sexes and what rows are ordered by stay.
func (p *proposing) dropLost(k propose.Kind, m linked.Measurement) (changed bool) {
	for table, figures := range p.figuresOf(k, m) {
		d := &p.proposal(table).Draft
		worst := linked.ColumnLosses{Loss: lost}
		for _, c := range figures.Columns {
			kept := propose.IsBasic(c.Column) || slices.ContainsFunc(k.Members, func(m propose.Member) bool { return m.Table == table && m.Order == c.Column })
			if c.Loss > worst.Loss && !kept && len(figures.Columns) > 1 {
				worst = c
			}
		}
		i := slices.IndexFunc(d.Choices, func(choice propose.Choice) bool { return choice.Column == worst.Column })
		if i < 0 {
			continue
		}
		hierarchy := d.Choices[i].Hierarchy()
		d.Choices[i] = propose.Choice{Column: worst.Column, Role: catalog.Identifying, Why: fmt.Sprintf(
			"left out: %.0f %% of it would be lost, and more of the other columns. To publish it, write {role: quasi-identifying, hierarchy: %s}, best with a taxonomy", 100*worst.Loss, hierarchy)}
		changed = true
	}
	return changed
}

// tellLosses says in the drafts which of the columns that stay are mostly lost, and what can be done.
func (p *proposing) tellLosses(k propose.Kind, r *linked.Report) {
	of := ""
	if !isMost(k, r) {
		of = " in a sample, and less of all records"
	}
	for table, figures := range p.figuresOf(k, own(k, r)) {
		d := &p.proposal(table).Draft
		for _, c := range figures.Columns {
			i := slices.IndexFunc(d.Choices, func(choice propose.Choice) bool { return choice.Column == c.Column })
			if i >= 0 && c.Loss > lost {
				d.Choices[i].Note = fmt.Sprintf("%.0f %% of it is lost%s. Leave it out (identifying), or other quasi-identifying columns, so that more is left of it", 100*c.Loss, of)
			}
		}
	}
}
