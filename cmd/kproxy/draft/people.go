package draft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/propose"
)

// findPeople finds the kinds of persons that have rows in several tables.
func (p *proposing) findPeople(ctx context.Context, tables []propose.Table) error {
	p.apart = slices.Clone(p.proposals)
	var failed error
	p.kinds = propose.People(tables, p.proposals, func(table catalog.Name, columns []string, parent catalog.Name, key []string) float64 {
		share, err := p.contained(ctx, table, columns, parent, key)
		failed = errors.Join(failed, err)
		return share
	})
	return failed
}

// comparedRecords is how many records of a table are looked for in another by its key.
const comparedRecords = 10_000

// contained is the share of a table's records whose columns hold a key of another table, of those
// that hold any; 1 where none does.
func (p *proposing) contained(ctx context.Context, table catalog.Name, columns []string, parent catalog.Name, key []string) (float64, error) {
	present, same := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		present[i] = catalog.QuoteIdentifier(c) + " IS NOT NULL"
		same[i] = fmt.Sprintf("p.%s = c.%s", catalog.QuoteIdentifier(key[i]), catalog.QuoteIdentifier(c))
	}
	query := fmt.Sprintf(`SELECT coalesce(avg(CASE WHEN EXISTS (SELECT FROM %s p WHERE %s) THEN 1.0 ELSE 0.0 END), 1.0)::float8
		FROM (SELECT * FROM %s WHERE %s LIMIT %d) c`, parent.SQL(), strings.Join(same, " AND "), table.SQL(), strings.Join(present, " AND "), comparedRecords)
	var share float64
	if err := p.tx.QueryRow(ctx, query).Scan(&share); err != nil {
		return 0, fmt.Errorf("comparing %s with the key of %s: %w", table, parent, err)
	}
	return share, nil
}

// peopleOf is the policy of a kind as kproxy will read it from the file.
func (p *proposing) peopleOf(k propose.Kind) (catalog.Policy, error) {
	var members []propose.Draft
	for _, one := range p.proposals {
		if one.Verdict == propose.Protect && one.Draft.Kind == k.Name {
			members = append(members, one.Draft)
		}
	}
	read, err := config.ParsePolicy("the draft", []byte(propose.Section(members, k)))
	if err != nil {
		return catalog.Policy{}, fmt.Errorf("the draft cannot be used as a policy: %w", err)
	}
	return read.Policy(), nil
}

// fitPeople reduces the drafts of all kinds to what the database can publish. The tables of a kind
// of which that is nothing are proposed apart.
func (p *proposing) fitPeople(ctx context.Context) error {
	for i := 0; i < len(p.kinds); {
		fits, err := p.fitKind(ctx, &p.kinds[i])
		if err != nil {
			return err
		}
		if fits {
			i++
			continue
		}
		root := p.kinds[i].Root
		p.kinds = slices.Delete(p.kinds, i, i+1)
		if err := p.putApart(ctx, root); err != nil {
			return err
		}
	}
	return nil
}

// fitKind drops constraints, columns and tables that do not fit. It is false if the root does not,
// or no other table.
func (p *proposing) fitKind(ctx context.Context, k *propose.Kind) (bool, error) {
	for len(k.Members) > 0 {
		policy, err := p.peopleOf(*k)
		if err != nil {
			return false, nil // a name that no configuration can have
		}
		publications, problems, err := inspect.Publish(ctx, p.tx.Conn(), policy, p.source.relations)
		if err != nil {
			return false, err
		}
		if len(problems) == 0 {
			for _, publication := range publications {
				p.publications[publication.Policy.Table] = publication
			}
			return len(publications) == len(k.Members)+1, nil
		}
		for _, problem := range problems {
			if !p.mendMember(k, problem) {
				return false, nil
			}
		}
	}
	return false, nil
}

// mendMember drops what a problem is about: a bound, a column, or a table with those through it.
// It is false where that is the root.
func (p *proposing) mendMember(k *propose.Kind, problem catalog.Problem) bool {
	one := p.proposal(problem.Table)
	if one.Verdict != propose.Protect {
		return true // already left out
	}
	for i, b := range k.Bounds {
		if b.Table == problem.Table && b.Column == problem.Column && b.Alpha > 0 {
			k.Bounds[i].Alpha, k.Bounds[i].Why = 0, problem.What
			return true
		}
	}
	i := slices.IndexFunc(k.Members, func(m propose.Member) bool { return m.Table == problem.Table })
	if i < 0 {
		return mend(&one.Draft, problem)
	}
	m := &k.Members[i]
	used := slices.ContainsFunc(k.Members, func(other propose.Member) bool { return other.Through == m.Table })
	switch {
	case slices.Contains(m.Key, problem.Column) && !used:
		for _, column := range m.Key {
			one.Draft.Choices = append(one.Draft.Choices, propose.Choice{Column: column, Role: catalog.Identifying, Why: "the key: not published, since it " + problem.What})
			one.Draft.Keys = slices.DeleteFunc(one.Draft.Keys, func(name string) bool { return name == column })
		}
		m.Key = nil
		return true
	case problem.Column != m.Order && mend(&one.Draft, problem):
		return true
	}
	p.dropMember(k, problem.Table, fmt.Sprintf("%s (%s)", problem.What, problem.Fix))
	return true
}

// dropMember leaves out a table of a kind, and those through it.
func (p *proposing) dropMember(k *propose.Kind, table catalog.Name, why string) {
	one := p.proposal(table)
	one.Verdict, one.Draft = propose.LeaveOut, propose.Draft{}
	one.Why = "it has data of persons (" + one.Why + "), but cannot be protected as it is: " + why + ". Run init again afterwards"
	k.Members = slices.DeleteFunc(k.Members, func(m propose.Member) bool { return m.Table == table })
	k.Bounds = slices.DeleteFunc(k.Bounds, func(b propose.Bound) bool { return b.Table == table })
	for _, m := range slices.Clone(k.Members) {
		if m.Through == table {
			p.dropMember(k, m.Table, "its rows belong to those of "+table.String()+", which is left out")
		}
	}
}

// putApart goes back to the proposals for tables that are released by themselves, for those about
// the persons of a root.
func (p *proposing) putApart(ctx context.Context, root catalog.Name) error {
	for i := range p.proposals {
		if p.proposals[i].About != root && p.apart[i].About != root {
			continue
		}
		p.proposals[i] = p.apart[i]
		if p.proposals[i].Verdict == propose.Protect {
			if err := p.fitOne(ctx, &p.proposals[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// unbound removes the bounds of a column that is not published.
func (p *proposing) unbound(table catalog.Name, column string) {
	for i := range p.kinds {
		k := &p.kinds[i]
		k.Bounds = slices.DeleteFunc(k.Bounds, func(b propose.Bound) bool { return b.Table == table && b.Column == column })
	}
}

func (p *proposing) proposal(table catalog.Name) *propose.Proposal {
	i := slices.IndexFunc(p.proposals, func(one propose.Proposal) bool { return one.Table == table })
	return &p.proposals[i]
}
