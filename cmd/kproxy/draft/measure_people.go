package draft

import (
	"context"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/sample"
	"github.com/kproxy/kproxy/internal/eval/linked"
	"github.com/kproxy/kproxy/internal/propose"
)

// measurePeople measures the kinds on a sample of their persons, as they are drafted and with the
// alternatives to what is taken to be known. It drops bounds that no release can satisfy.
func (p *proposing) measurePeople(ctx context.Context) error {
	p.people = make(map[string]*linked.Report)
	for i := range p.kinds {
		k := &p.kinds[i]
		report, err := p.measureKind(ctx, *k)
		if err != nil {
			return fmt.Errorf("trying the draft of %s: %w", k.Name, err)
		}
		if reason := refusal(*k, report); reason != "" && unboundAll(k, reason) {
			if fits, err := p.fitKind(ctx, k); err != nil || !fits {
				return fmt.Errorf("fitting the draft of %s without bounds: %w", k.Name, err)
			}
			if report, err = p.measureKind(ctx, *k); err != nil {
				return fmt.Errorf("trying the draft of %s: %w", k.Name, err)
			}
		}
		p.people[k.Name] = report
		p.tellLosses(*k, report)
	}
	return nil
}

func (p *proposing) measureKind(ctx context.Context, k propose.Kind) (*linked.Report, error) {
	root := p.publications[k.Root]
	publication := catalog.PeoplePublication{People: root.Membership.People, Root: root}
	most := k.Persons
	for _, t := range publication.People.Tables {
		publication.Tables = append(publication.Tables, p.publications[t.Table])
		most = max(most, p.proposal(t.Table).Draft.Total)
	}
	builder, err := sample.People(ctx, p.tx, publication, p.share(k.Persons, most), p.Seed, func(table catalog.Name) { p.tell("reading %s", table)(0, 1) })
	if err != nil {
		return nil, err
	}
	run := linked.Evaluation{Records: builder, Knows: alternatives(k), Targets: targets, Seed: p.Seed}
	run.Progress = func(what string, done, of int) { p.tell("trying the draft of %s: %s", k.Name, what)(done, of) }
	return run.Run(ctx)
}

// targets is how many persons are looked for in each attack: the mean risk is then known to about
// two hundredths.
const targets = 300

// share is that of the persons who are looked at: with no more rows of any table than records are
// sampled of one, but a tenth as many persons at least.
func (p *proposing) share(persons, most int64) float64 {
	if p.Sample == 0 || most <= int64(p.Sample) {
		return 1
	}
	return min(1, max(float64(p.Sample)/float64(most), float64(p.Sample)/10/float64(max(1, persons))))
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

// lost is the loss, 0 to 1, above which the draft says what to do about a column.
const lost = 0.5

// tellLosses says in the drafts which columns are mostly lost, and what can be done.
func (p *proposing) tellLosses(k propose.Kind, r *linked.Report) {
	m := own(k, r)
	tell := func(table catalog.Name, figures linked.TableFigures) {
		d := &p.proposal(table).Draft
		for _, c := range figures.Columns {
			i := slices.IndexFunc(d.Choices, func(choice propose.Choice) bool { return choice.Column == c.Column })
			if i < 0 || c.Loss <= lost {
				continue
			}
			d.Choices[i].Note = fmt.Sprintf("%.0f %% of it is lost: leave it out (identifying), so that more is left of the others, or give it a taxonomy", 100*c.Loss)
		}
	}
	if m.Refused != "" {
		return
	}
	tell(k.Root, m.Root)
	for i, t := range p.publications[k.Root].Membership.People.Tables {
		tell(t.Table, m.Tables[i])
	}
}
