package catalog

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Audience is a group of readers who see coarser releases than the policy's own readers do. The
// classes of each audience are unions of the classes of the audience before it; those of the first
// one are unions of the classes of Policy.Tables. So readers of several audiences who pool their
// releases learn what the finest of these tells.
type Audience struct {
	// Name is part of the names of schemas and tables: a letter, then letters or digits, in lower case.
	Name string
	// Roles are the roles of PostgreSQL that the sessions of these readers run as.
	Roles []string `json:",omitempty"`
}

// AudiencePolicy is what an audience sees of a table.
type AudiencePolicy struct {
	Audience string
	// Constraints hold in addition to those of the table and of the audiences before, which unions of
	// classes keep satisfying.
	Constraints []privacy.Spec
	// Hidden are columns that the table publishes and the audience does not see.
	Hidden []string `json:",omitempty"`
	// Unseen says that the audience does not see the table, which is released together with others. Its release
	// is made all the same, since the releases of the audiences after it are made from it.
	Unseen bool `json:",omitempty"`
	// Columns are quasi-identifying columns that the audience sees coarser than the audience before it does,
	// or in another form.
	Columns []AudienceColumn `json:",omitempty"`
	// Store is the name in its tables of the store, where that is not the audience's name; see Link.
	Store string `json:",omitempty"`
	// Role is the first of the audience's roles, which is granted what is published. What is published
	// does not depend on it.
	Role string `json:"-"`
}

// AudienceName is the pattern of names of audiences. Names of schemas append an underscore and another name, for which it leaves room.
const AudienceName = `^[a-z][a-z0-9]{0,15}$`

var audienceName = regexp.MustCompile(AudienceName)

// IsAudienceName reports whether an audience may have the name.
func IsAudienceName(name string) bool { return audienceName.MatchString(name) }

// For is the policy as the readers of an audience see it: the tables that they see, with the audience's
// constraints and columns. The empty name is that of the policy's own readers. It is false for an unknown audience.
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

// AudienceOf is the name of a PostgreSQL role's audience; empty for the policy's own
// readers.
func (p Policy) AudienceOf(role string) string {
	for _, a := range p.Audiences {
		if slices.Contains(a.Roles, role) {
			return a.Name
		}
	}
	return ""
}

// Sees reports whether the audience sees a column that is published.
func (a AudiencePolicy) Sees(column string) bool {
	return !a.Unseen && !slices.Contains(a.Hidden, column)
}

// Seeing are the audiences that see the table, or a part of it, from the finest to the coarsest.
func (t TablePolicy) Seeing() []AudiencePolicy {
	return slices.DeleteFunc(slices.Clone(t.Audiences), func(a AudiencePolicy) bool { return a.Unseen })
}

// For is the table's policy as an audience sees it; false where it does not see the table.
// Constraints on columns that it does not see hold as well and are left out.
func (t TablePolicy) For(audience string) (TablePolicy, bool) {
	if slices.ContainsFunc(t.Viewers, func(a AudiencePolicy) bool { return a.Audience == audience }) {
		t.Audience, t.Viewers = audience, nil
		return t, true
	}
	if place := t.place(audience); place < 0 || t.Audiences[place].Unseen {
		return TablePolicy{}, false
	}
	return t.MadeFor(audience)
}

// MadeFor is For, and also holds for a table that the audience does not see but that has a release made for it.
func (t TablePolicy) MadeFor(audience string) (TablePolicy, bool) {
	seen, made := t.ForAll(audience)
	if !made {
		return TablePolicy{}, false
	}
	return seen.without(t.Audiences[t.place(audience)].Hidden), true
}

// ForAll is For with all columns; those that the audience does not see are as it would see them.
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

// place is the index of an audience among those that see the table; -1 for others.
func (t TablePolicy) place(audience string) int {
	return slices.IndexFunc(t.Audiences, func(a AudiencePolicy) bool { return a.Audience == audience })
}

// Shown is the table's policy as its readers see it: without the columns that are hidden from them, and
// without the constraints on these columns, which hold all the same.
func (t TablePolicy) Shown() TablePolicy {
	if len(t.Hidden) == 0 {
		return t
	}
	return t.without(t.Hidden)
}

// Told are the constraints that readers are told of: those that are on and over columns that they see.
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

// without removes columns, and all that the policy says about them.
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

// HiddenFrom are the columns that an audience does not see. The empty name is that of the table's own
// readers. There are none where the audience does not see the table at all.
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

// ConstraintsFor are all constraints that hold for what an audience sees of the table, including those on
// columns that it does not see. Where one implies another, only the stricter one is listed.
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

// For is what is published to an audience. It has the publication's attributes and sensitive columns, in
// their order. It is false where the audience does not see the table.
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

// MadeFor is For, and also holds for a table that the audience does not see but that has a release made for it.
func (p Publication) MadeFor(audience string) (Publication, bool) {
	policy, made := p.Policy.MadeFor(audience)
	if !made {
		return Publication{}, false
	}
	return p.seenBy(audience, policy), true
}

// Kept is the publication with all columns that any reader sees, in the forms in which the audience sees them or would. Guarded
// tables keep all of them in their rows, which are never made anew. The empty name is that of the table's own readers.
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
		of.People, of.unseen = of.People.of(p.statedFor(audience)), of.unseenBy[audience]
		seen.Membership = &of
	}
	return seen
}

// inOrder are all columns that any reader sees, in the source table's order.
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

// Copied are the columns that some reader sees as they are.
func (p Publication) Copied() []PublishedColumn {
	return slices.DeleteFunc(slices.Clone(p.inOrder()), func(c PublishedColumn) bool { return c.Part != Copy })
}

// statedFor are the constraints on tables that are released together that are stated for an audience or for one before it.
func (p Publication) statedFor(audience string) (stated []privacy.Spec) {
	for _, a := range p.Policy.Audiences[:p.Policy.place(audience)+1] {
		stated = append(stated, p.Membership.Held[a.Audience]...)
	}
	return stated
}

// of adds the constraints that are stated for audiences. Where one constraint implies another, it keeps the stricter one.
func (p People) of(stated []privacy.Spec) People {
	p.Constraints = slices.Clone(p.Constraints)
	for _, spec := range stated {
		if !slices.ContainsFunc(p.Constraints, func(held privacy.Spec) bool { return held.Implies(spec) }) {
			p.Constraints = append(slices.DeleteFunc(p.Constraints, spec.Implies), spec)
		}
	}
	return p
}

// checkAudiences requires that each audience has releases of all tables, with one k, or of none, and that it sees at least
// one of them.
func (p *PeoplePublication) checkAudiences() (problems []Problem) {
	of := func(t Publication) string {
		text := ""
		for _, a := range t.Policy.Audiences {
			text += fmt.Sprint(a.Audience, slices.DeleteFunc(slices.Clone(a.Constraints), func(spec privacy.Spec) bool { return spec.Of != "" }), ";")
		}
		return text
	}
	if spec, unfollowed := p.People.Unfollowed(); unfollowed && p.Root.Policy.Updates.Mode == Guarded && len(p.Root.Policy.Audiences) > 0 {
		problems = append(problems, Problem{
			Table: p.Root.Policy.Table, What: fmt.Sprintf("has guarded updates, is shown to audiences, and %v: that need not hold for what they see first of classes that are united, and of cells that come later", spec),
			Fix: "state k, l or, of another table than this one or where knows: all is granted, alpha in people, write updates: immediate, or take " + p.People.Kind + " out of the audiences",
		})
	}
	for audience, tables := range p.unseen() {
		if len(tables) == len(p.People.Names()) {
			problems = append(problems, Problem{Table: p.People.Root, What: "is hidden from audience " + audience + ", as are all tables of " + p.People.Kind, Fix: "take " + p.People.Kind + " out of the audience, or show it one of them"})
		}
	}
	for _, t := range append(slices.Clone(p.Tables), p.Root) {
		if of(t) != of(p.Root) {
			problems = append(problems, Problem{Table: t.Policy.Table, What: "is shown to other audiences than " + p.Root.Policy.Table.String() + ", or by other constraints, though both are released together", Fix: "name " + p.People.Kind + " below people of the audience"})
		}
		for _, spec := range t.Policy.allConstraints()[len(t.Policy.Constraints):] {
			counted := spec.Model == privacy.K || spec.Model == privacy.DistinctL || spec.Model == privacy.AlphaK
			switch qualified := spec; {
			case !counted || len(spec.Over) > 0:
				problems = append(problems, Problem{Table: t.Policy.Table, What: fmt.Sprintf("is shown to an audience by %v, and unions of classes of persons are made by k, l and alpha", spec), Fix: "state k, l or alpha"})
			case t.Policy.Updates.Mode == Guarded && spec.Of != "":
				if qualified.Of = QualifiedColumn(p.People.columnOf(t.Policy.Table, spec.Of)); !p.People.MayState(qualified) {
					problems = append(problems, Problem{
						Table: t.Policy.Table, What: fmt.Sprintf("is shown to an audience by %v, has guarded updates, and is the root: whose rows a window shows is not published, so that values of root records cannot decide which are shown", spec),
						Fix: "state it in people, state a constraint of a column of another table, or write updates: immediate",
					})
				}
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

// checkAudiences refuses policies from which the releases of audiences cannot be made.
func (b *builder) checkAudiences() {
	t := b.publication.Policy
	if len(t.Audiences) == 0 {
		return
	}
	if !b.member {
		b.checkParts()
	}
	b.checkLimits()
	for _, a := range t.Audiences {
		if a.Unseen && !b.member {
			b.problem("", "is hidden from audience "+a.Audience+", and is not released together with others", "take it out of the audience's tables")
		}
		if release := ReleaseSchemaFor(a.Audience, t.Table.Schema); len(release) > maxNameBytes {
			b.problem("", fmt.Sprintf("the name of the schema of its release for %s, %s, would be longer than %d bytes", a.Audience, release, maxNameBytes), "give the audience a shorter name")
		}
	}
}
