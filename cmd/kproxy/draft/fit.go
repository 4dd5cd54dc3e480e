package draft

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/eval/linked"
	"github.com/kproxy/kproxy/internal/propose"
)

// proposing is a draft that is changed until the database can publish it.
type proposing struct {
	Options
	tx        pgx.Tx
	source    *source
	proposals []propose.Proposal
	// kinds are those of the persons whose tables are released together, and apart the proposals
	// for the case that no table is.
	kinds []propose.Kind
	apart []propose.Proposal
	// people say what the kinds mean for the records.
	people map[string]*linked.Report
	// publications are those of the protected tables.
	publications map[catalog.Name]catalog.Publication
}

// rounds is the number of corrections of a table's draft before the table is left out.
const rounds = 5

// fit reduces the drafts to what the database can publish: it drops constraints and columns that
// do not fit, and leaves out a table that still does not fit, with the reason.
func (p *proposing) fit(ctx context.Context) error {
	p.publications = make(map[catalog.Name]catalog.Publication)
	for i := range p.proposals {
		if p.proposals[i].Verdict != propose.Protect || p.proposals[i].Draft.Kind != "" {
			continue
		}
		if err := p.fitOne(ctx, &p.proposals[i]); err != nil {
			return err
		}
	}
	return p.fitPeople(ctx)
}

// fitAll fits each draft by itself, and then all of them together.
func (p *proposing) fitAll(ctx context.Context) error {
	if err := p.fit(ctx); err != nil {
		return err
	}
	return p.hideKeys(ctx)
}

// hideKeys has no draft publish a column by which its rows can be told apart or joined with
// those of another, or that shows more of a quasi-identifier than is published: declared keys
// first, then what the values tell of the columns that are left. It brings what it changed to what the database can publish.
func (p *proposing) hideKeys(ctx context.Context) error {
	narrowing := func(ctx context.Context, _ *pgx.Conn, policy catalog.Policy, relations []catalog.Relation) (inspect.Report, error) {
		return check.Narrowing(ctx, p.tx, policy, relations, nil)
	}
	for _, find := range []func(context.Context, *pgx.Conn, catalog.Policy, []catalog.Relation) (inspect.Report, error){inspect.PublishedKeys, inspect.Joinable, narrowing} {
		policy, at, err := p.drafted()
		if err != nil {
			return err
		}
		found, err := find(ctx, p.tx.Conn(), policy, p.source.relations)
		if err != nil {
			return err
		}
		changed := make(map[catalog.Name]bool)
		for _, f := range found {
			if f.Code == inspect.CodeTelling { // a diagnosis may tell the sex: that is for the operator to judge
				continue
			}
			hide(&at[f.Table].Draft, f.Column, f.What)
			p.unbound(f.Table, f.Column)
			changed[f.Table] = true
		}
		for _, t := range policy.Tables {
			if !changed[t.Table] || at[t.Table].Draft.Kind != "" {
				continue
			}
			if err := p.fitOne(ctx, at[t.Table]); err != nil {
				return err
			}
		}
		if err := p.fitPeople(ctx); err != nil {
			return err
		}
	}
	return nil
}

// drafted are the drafts as one policy, with the proposals that they are of.
func (p *proposing) drafted() (policy catalog.Policy, at map[catalog.Name]*propose.Proposal, err error) {
	at = make(map[catalog.Name]*propose.Proposal)
	for i := range p.proposals {
		one := &p.proposals[i]
		switch one.Verdict {
		case propose.Readable:
			policy.Readable = append(policy.Readable, one.Table)
		case propose.Protect:
			at[one.Table] = one
			if one.Draft.Kind != "" {
				continue
			}
			table, err := policyOf(one.Draft)
			if err != nil {
				return policy, nil, err
			}
			policy.Tables = append(policy.Tables, table)
		}
	}
	for _, k := range p.kinds {
		of, err := p.peopleOf(k)
		if err != nil {
			return policy, nil, err
		}
		for _, table := range of.Tables {
			policy.Tables = append(policy.Tables, of.People[0].Member(table, table.Table))
		}
		policy.People = append(policy.People, of.People...)
	}
	return policy, at, nil
}

// hide makes a column one that is not published, for the reason.
func hide(d *propose.Draft, column, why string) {
	for i, c := range d.Choices {
		if c.Column == column {
			d.Choices[i] = propose.Choice{Column: c.Column, Role: catalog.Identifying, Why: "not published, since it " + strings.Replace(why, "is published and ", "", 1)}
		}
	}
	d.Diversities = slices.DeleteFunc(d.Diversities, func(l propose.Diversity) bool { return l.Column == column })
}

func (p *proposing) fitOne(ctx context.Context, one *propose.Proposal) error {
	for round := 0; ; round++ {
		policy, err := policyOf(one.Draft)
		if err != nil {
			one.Verdict, one.Why = propose.LeaveOut, "it has data of persons ("+one.Why+"), but it, or a column of it, has a name that no configuration can have"
			return nil
		}
		publications, problems, err := inspect.Publish(ctx, p.tx.Conn(), catalog.Policy{Tables: []catalog.TablePolicy{policy}}, p.source.relations)
		if err != nil {
			return err
		}
		if len(problems) == 0 && len(publications) == 1 {
			p.publications[one.Table] = publications[0]
			return nil
		}
		mended := false
		for _, problem := range problems {
			mended = mend(&one.Draft, problem) || mended
		}
		if !mended || round == rounds {
			leaveOut(one, problems)
			return nil
		}
	}
}

// policyOf is the policy as kproxy will read it from the file.
func policyOf(d propose.Draft) (catalog.TablePolicy, error) {
	read, err := config.ParsePolicy("the draft", []byte(propose.Section([]propose.Draft{d})))
	if err != nil {
		return catalog.TablePolicy{}, fmt.Errorf("the draft cannot be used as a policy: %w", err)
	}
	return read.Table, nil
}

// mend drops the constraint or the published column that a problem is about.
func mend(d *propose.Draft, problem catalog.Problem) bool {
	for i, l := range d.Diversities {
		if l.Column == problem.Column && l.L > 0 {
			d.Diversities[i].L, d.Diversities[i].Why = 0, problem.What
			return true
		}
	}
	for i, c := range d.Choices {
		if c.Column == problem.Column && (c.Role == catalog.QuasiIdentifying || c.Role == catalog.Sensitive) {
			d.Choices[i] = propose.Choice{Column: c.Column, Why: "cannot be published: " + problem.What}
			d.Diversities = slices.DeleteFunc(d.Diversities, func(l propose.Diversity) bool { return l.Column == c.Column })
			return true
		}
	}
	return false
}

func leaveOut(one *propose.Proposal, problems []catalog.Problem) {
	var whys []string
	for _, problem := range problems {
		whys = append(whys, fmt.Sprintf("%s (%s)", problem.What, problem.Fix))
	}
	one.Verdict = propose.LeaveOut
	one.Why = "it has data of persons (" + one.Why + "), but cannot be protected as it is: " + strings.Join(whys, "; ") + ". Run init again afterwards"
}
