package catalog

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Audience is a group of readers who see releases that are coarser than those of Policy.Tables:
// the classes of each are unions of the classes of the audience before, and of the first one those
// of the policy's own readers. So readers of several audiences who pool what they have know what
// the finest of these releases tells.
type Audience struct {
	// Name is that of schemas and tables, too: a letter and letters or digits, in lower case.
	Name string
	// Roles are the roles of PostgreSQL that the sessions of these readers run as.
	Roles []string `json:",omitempty"`
}

// AudiencePolicy is what an audience sees of a table.
type AudiencePolicy struct {
	Audience string
	// Constraints hold besides those of the table and of the audiences before: all of them hold for
	// unions of classes that satisfy them.
	Constraints []privacy.Spec
	// Hidden are columns that the table publishes and the audience does not see.
	Hidden []string `json:",omitempty"`
	// Columns are quasi-identifying columns that the audience sees coarser than the one before, or in
	// another form.
	Columns []AudienceColumn `json:",omitempty"`
	// Role is granted what is published: the first of the audience's. What is published does not depend
	// on it.
	Role string `json:"-"`
}

// AudienceName is the pattern of names of audiences. It leaves room for a schema's name behind it, and is divided from that by an underscore.
const AudienceName = `^[a-z][a-z0-9]{0,15}$`

var audienceName = regexp.MustCompile(AudienceName)

// IsAudienceName reports whether an audience may have the name.
func IsAudienceName(name string) bool { return audienceName.MatchString(name) }

// For is the policy as the readers of an audience see it: its tables, with its constraints and
// columns. The empty name is that of the policy's own readers. It is false for an unknown audience.
func (p Policy) For(audience string) (Policy, bool) {
	if audience == "" {
		return p, true
	}
	if !slices.ContainsFunc(p.Audiences, func(a Audience) bool { return a.Name == audience }) {
		return Policy{}, false
	}
	seen := p
	seen.Audience, seen.Tables, seen.Audiences, seen.People = audience, nil, nil, nil
	for _, t := range p.Tables {
		if of, shown := t.For(audience); shown {
			seen.Tables = append(seen.Tables, of)
		}
	}
	return seen, true
}

// AudienceOf is the name of the audience that a role of PostgreSQL belongs to; empty for the
// policy's own readers.
func (p Policy) AudienceOf(role string) string {
	for _, a := range p.Audiences {
		if slices.Contains(a.Roles, role) {
			return a.Name
		}
	}
	return ""
}

// For is the table's policy as an audience sees it; false where it does not see the table.
// Constraints on columns that it does not see hold as well and are left out.
func (t TablePolicy) For(audience string) (TablePolicy, bool) {
	if slices.ContainsFunc(t.Viewers, func(a AudiencePolicy) bool { return a.Audience == audience }) {
		t.Audience, t.Viewers = audience, nil
		return t, true
	}
	place := t.place(audience)
	if place < 0 {
		return TablePolicy{}, false
	}
	seen, _ := t.ForAll(audience)
	return seen.without(t.Audiences[place].Hidden), true
}

// ForAll is For with the columns that the audience does not see, as it would see them.
func (t TablePolicy) ForAll(audience string) (TablePolicy, bool) {
	place := t.place(audience)
	if place < 0 {
		return TablePolicy{}, false
	}
	seen := t
	seen.Audience, seen.Audiences, seen.Constraints = audience, nil, t.ConstraintsFor(audience)
	seen.Columns = slices.Clone(t.Columns)
	for i := range seen.Columns {
		for _, a := range t.Audiences[:place+1] {
			seen.Columns[i] = a.seen(seen.Columns[i])
		}
	}
	return seen, true
}

// place is that of an audience among those that see the table; -1 for another.
func (t TablePolicy) place(audience string) int {
	return slices.IndexFunc(t.Audiences, func(a AudiencePolicy) bool { return a.Audience == audience })
}

// Shown is the table's policy as its readers see it: without the columns that are hidden from them, and
// without the constraints on these, which hold as well.
func (t TablePolicy) Shown() TablePolicy {
	if len(t.Hidden) == 0 {
		return t
	}
	return t.without(t.Hidden)
}

// Told are the constraints that readers are told of: those on columns that they see, and over these alone.
func (t TablePolicy) Told() (told []privacy.Spec) {
	seen := t.Shown()
	for _, spec := range seen.Constraints {
		if len(spec.Over) > 0 {
			spec.Over = slices.DeleteFunc(slices.Clone(spec.Over), func(name string) bool { _, named := seen.Column(name); return !named })
			if len(spec.Over) == 0 {
				continue
			}
		}
		told = append(told, spec)
	}
	return told
}

// without leaves out columns, and what is said of them.
func (t TablePolicy) without(hidden []string) TablePolicy {
	seen := t
	seen.Hidden, seen.Columns, seen.Constraints = nil, nil, nil
	for _, c := range t.Columns {
		if !slices.Contains(hidden, c.Name) {
			seen.Columns = append(seen.Columns, c)
		}
	}
	for _, spec := range t.Constraints {
		if !slices.Contains(hidden, spec.Of) {
			seen.Constraints = append(seen.Constraints, spec)
		}
	}
	seen.Joinable = slices.DeleteFunc(slices.Clone(t.Joinable), func(column string) bool { return slices.Contains(hidden, column) })
	return seen
}

// shown is the policy with each table as its readers see it.
func (p Policy) shown() Policy {
	if !slices.ContainsFunc(p.Tables, func(t TablePolicy) bool { return len(t.Hidden) > 0 }) {
		return p
	}
	tables := make([]TablePolicy, len(p.Tables))
	for i, t := range p.Tables {
		tables[i] = t.Shown()
	}
	p.Tables = tables
	return p
}

// HiddenFrom are the columns that an audience does not see, or the table's own readers, of whom the
// audience is empty. Where the audience does not see the table at all, there are none.
func (t TablePolicy) HiddenFrom(audience string) []string {
	if audience == "" {
		return t.Hidden
	}
	for _, a := range t.Audiences {
		if a.Audience == audience {
			return a.Hidden
		}
	}
	return nil
}

// ConstraintsFor are all constraints that hold for what an audience sees of the table, those on columns
// that it does not see among them. Of two of which one implies the other it has the stricter one.
func (t TablePolicy) ConstraintsFor(audience string) []privacy.Spec {
	held := slices.Clone(t.Constraints)
	for _, a := range t.Audiences {
		if audience == "" {
			break
		}
		for _, spec := range a.Constraints {
			held = append(slices.DeleteFunc(held, spec.Implies), spec)
		}
		if a.Audience == audience {
			break
		}
	}
	return held
}

// For is what is published to an audience: of the same attributes and sensitive columns as the
// publication, in their order. It is false where the audience does not see the table.
func (p Publication) For(audience string) (Publication, bool) {
	if audience == p.Policy.Audience {
		return p, true
	}
	policy, shown := p.Policy.For(audience)
	if !shown {
		return Publication{}, false
	}
	return p.seenBy(audience, policy), true
}

// Kept is the publication with all columns that anybody sees, in the forms in which the audience sees them or would: the rows of
// guarded tables have them, as they are never made anew. The empty name is that of the table's own readers.
func (p Publication) Kept(audience string) Publication {
	if policy, shown := p.Policy.ForAll(audience); shown {
		return p.seenBy(audience, policy)
	}
	p.Columns, p.Reserved = p.inOrder(), nil
	return p
}

// seenBy is what is published to an audience, with the columns of a policy.
func (p Publication) seenBy(audience string, policy TablePolicy) Publication {
	seen := p
	seen.Policy, seen.Columns, seen.Reserved = policy, nil, nil
	seen.Attributes = slices.Clone(p.Attributes)
	done := ""
	for _, c := range p.inOrder() {
		of, named := policy.Column(c.Source)
		own, _ := p.Policy.Column(c.Source)
		switch {
		case c.Part == Pseudonym, c.Part == ClassNumber, c.Part == Weight:
			seen.Columns = append(seen.Columns, c)
		case !named || done == c.Source:
		case c.Generalized() && of.Publish != own.Publish:
			column, _ := p.Relation.Column(c.Source)
			seen.Columns, done = append(seen.Columns, shownColumns(column, of, c.Attribute)...), c.Source
		default:
			seen.Columns = append(seen.Columns, c)
		}
	}
	for i := range seen.Attributes {
		for _, a := range p.Policy.Audiences[:p.Policy.place(audience)+1] {
			seen.Attributes[i] = a.limit(seen.Attributes[i])
		}
	}
	if p.Membership != nil {
		of := *p.Membership
		of.People = of.People.of(p.Policy.ConstraintsFor(audience))
		seen.Membership = &of
	}
	return seen
}

// inOrder are all columns that anybody sees, in the source table's order.
func (p Publication) inOrder() []PublishedColumn {
	if len(p.Reserved) == 0 {
		return p.Columns
	}
	all := slices.Concat(p.Columns, p.Reserved)
	place := func(c PublishedColumn) int {
		if i := slices.IndexFunc(p.Relation.Columns, func(of Column) bool { return of.Name == c.Source }); i >= 0 {
			return i
		}
		return len(p.Relation.Columns)
	}
	slices.SortStableFunc(all, func(a, b PublishedColumn) int { return place(a) - place(b) })
	return all
}

// Copied are the columns that rows show to anybody as they are.
func (p Publication) Copied() []PublishedColumn {
	return slices.DeleteFunc(slices.Clone(p.inOrder()), func(c PublishedColumn) bool { return c.Part != Copy })
}

// of are the people with the k that constraints of one of their tables say.
func (p People) of(held []privacy.Spec) People {
	k := p.K()
	for _, spec := range held {
		k = max(k, spec.K)
	}
	p.Constraints = slices.Clone(p.Constraints)
	for i := range p.Constraints {
		if p.Constraints[i].Model == privacy.K {
			p.Constraints[i].K = k
		}
	}
	return p
}

// checkAudiences sees to it that every audience sees all tables or none, with one k.
func (p *PeoplePublication) checkAudiences() (problems []Problem) {
	of := func(t Publication) string {
		text := ""
		for _, a := range t.Policy.Audiences {
			text += fmt.Sprint(a.Audience, a.Constraints, ";")
		}
		return text
	}
	if of := p.Root.Policy; of.Updates.Mode == Guarded && len(of.Audiences) > 0 && p.People.CountsValues() {
		problems = append(problems, Problem{
			Table: of.Table, What: "has guarded updates and is shown to audiences, and there are constraints on sensitive values: those of classes that are united later, and of cells that come later, are not held to them",
			Fix: "state k alone in people, write updates: immediate, or take " + p.People.Kind + " out of the audiences",
		})
	}
	for _, t := range append(slices.Clone(p.Tables), p.Root) {
		if of(t) != of(p.Root) {
			problems = append(problems, Problem{Table: t.Policy.Table, What: "is shown to other audiences than " + p.Root.Policy.Table.String() + ", or by other constraints, though both are released together", Fix: "name " + p.People.Kind + " below people of the audience"})
		}
		for _, spec := range t.Policy.allConstraints()[len(t.Policy.Constraints):] {
			if spec.Model != privacy.K || len(spec.Over) > 0 {
				problems = append(problems, Problem{Table: t.Policy.Table, What: fmt.Sprintf("is shown to an audience by %v, and unions of classes of persons are made by k alone", spec), Fix: "state k alone"})
			}
		}
	}
	return problems
}

// allConstraints are those of the table and of all audiences.
func (t TablePolicy) allConstraints() []privacy.Spec {
	all := slices.Clone(t.Constraints)
	for _, a := range t.Audiences {
		all = append(all, a.Constraints...)
	}
	return all
}

// checkAudiences refuses what the releases of audiences cannot be made of.
func (b *builder) checkAudiences() {
	t := b.publication.Policy
	if len(t.Audiences) == 0 {
		return
	}
	if !b.member {
		b.checkParts()
	}
	if b.member && t.Updates.Mode == Guarded {
		b.checkGuardedPersons()
	} else {
		b.checkLimits()
	}
	for _, a := range t.Audiences {
		if release := ReleaseSchemaFor(a.Audience, t.Table.Schema); len(release) > maxNameBytes {
			b.problem("", fmt.Sprintf("the name of the schema of its release for %s, %s, would be longer than %d bytes", a.Audience, release, maxNameBytes), "give the audience a shorter name")
		}
	}
}

// checkGuardedPersons refuses what audiences of guarded tables that are released together do not have: their rows
// show what those of the release before show.
func (b *builder) checkGuardedPersons() {
	if len(b.publication.Policy.Hidden) > 0 {
		b.problem("", "hides columns from its own readers, has guarded updates and is released together with others, where audiences see no column that these do not", "leave hide out, or write updates: immediate")
	}
	for _, a := range b.publication.Policy.Audiences {
		for _, c := range a.Columns {
			b.problem(c.Name, fmt.Sprintf("is shown to audience %s coarser or in another form, and the table has guarded updates and is released together with others: its audiences see columns as its own readers do", a.Audience),
				"leave the column out of the audience's columns, hide it, or write updates: immediate")
		}
	}
	for _, c := range b.publication.Reserved {
		b.problem(c.Source, "is for audiences alone, and the table has guarded updates and is released together with others: its audiences see what its own readers see, or less of it",
			"show it to the table's own readers, or to nobody, or write updates: immediate")
	}
}
