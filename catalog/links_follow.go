package catalog

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Follow is the lineage of a table as it goes on for the publication: each audience sees one of its links, or a new one
// behind all others, and what nobody sees is kept. The error says why the table needs a new lineage.
func (p Publication) Follow(of Lineage) (Lineage, error) {
	after, err := FollowAll([]Publication{p}, []Lineage{of})
	if err != nil {
		return Lineage{}, err
	}
	return after[0], nil
}

// FollowAll is Follow of all tables that are released together, each with its lineage, in which an audience has the same
// link of all of them: its rows of one table are joined with those of another.
func FollowAll(tables []Publication, of []Lineage) ([]Lineage, error) {
	f := following{audiences: tables[0].Policy.Audiences, links: of[0].Links}
	for i, p := range tables {
		for _, s := range p.Sensitive {
			if !slices.ContainsFunc(of[i].Sensitive, func(known SensitiveColumn) bool { return reflect.DeepEqual(known, s) }) {
				return nil, fmt.Errorf("a constraint is on %s, of which none was when its classes were made", s.Column)
			}
		}
		if !slices.EqualFunc(of[i].Links, f.links, func(one, other Link) bool { return one.Store == other.Store && one.Audience == other.Audience }) ||
			!slices.EqualFunc(p.Policy.Audiences, f.audiences, func(one, other AudiencePolicy) bool { return one.Audience == other.Audience }) {
			return nil, fmt.Errorf("%s has releases for other audiences than %s, with which it is released", p.Policy.Table, tables[0].Policy.Table)
		}
		p.Sensitive = of[i].Sensitive
		f.tables = append(f.tables, followed{publication: p, before: p.Policy.linked(of[i].Links), links: of[i].Links})
	}
	links, found := f.place(nil, 0)
	if !found {
		return nil, f.problem
	}
	after := slices.Clone(of)
	for i := range after {
		after[i].Links = links[i]
	}
	return after, nil
}

// following looks for the links that audiences see.
type following struct {
	tables    []followed
	audiences []AudiencePolicy // those of the first table, which have the same names as those of the others
	links     []Link           // likewise
	problem   error            // of the last try in which each audience had its place
	tries     int
}

// mostTries bounds the ways of giving audiences their links that are tried: of many links that were removed, there are as many ways
// as subsets of them.
const mostTries = 1000

// followed is a table with the links that it had.
type followed struct {
	publication Publication
	before      TablePolicy // with the links as they were
	links       []Link
}

// place gives the audiences from a place on their links, after those which others have: those of each table, or false if
// none fits.
func (f *following) place(taken []int, from int) ([][]Link, bool) {
	if f.tries >= mostTries {
		return nil, false
	}
	if len(taken) == len(f.audiences) {
		return f.try(taken)
	}
	wanted := f.audiences[len(taken)]
	for _, link := range f.candidates(wanted.Audience, from) {
		if after, fits := f.place(append(slices.Clone(taken), link), link+1); fits {
			return after, true
		}
	}
	for len(taken) < len(f.audiences) { // this one and all behind it are new
		taken = append(slices.Clone(taken), len(f.links)+len(f.audiences))
	}
	return f.try(taken)
}

// candidates are the links from a place on that an audience may see: its own, then those that it had once, then
// others that no audience of the policy has.
func (f *following) candidates(audience string, from int) (all []int) {
	var others []int
	for i := from; i < len(f.links); i++ {
		switch l := f.links[i]; {
		case l.Audience == audience:
			all = append([]int{i}, all...)
		case l.Audience == "" && l.Store == audience:
			all = append(all, i)
		case l.Audience == "" || f.tables[0].publication.Policy.place(l.Audience) < 0:
			others = append(others, i)
		}
	}
	return append(all, others...)
}

// try has each audience of the policy see the link at a place, or a new one where there is none, of all tables.
func (f *following) try(places []int) (after [][]Link, fits bool) {
	f.tries++
	for i := range f.tables {
		t := &f.tables[i]
		links := t.take(places)
		if err := t.check(links); err != nil {
			f.problem = err
			return nil, false
		}
		after = append(after, links)
	}
	return after, true
}

// take are the table's links with each audience at a place.
func (f *followed) take(places []int) []Link {
	after := slices.Clone(f.links)
	for i := range after {
		after[i].Audience = ""
	}
	for i, a := range f.publication.Policy.Audiences {
		if places[i] < len(f.links) {
			after[places[i]].Audience, after[places[i]].Constraints, after[places[i]].Held = a.Audience, a.Constraints, f.publication.heldOfValues(a.Audience)
			continue
		}
		after = append(after, Link{unusedName(after, a.Audience), a.Audience, a.Constraints, f.publication.heldOfValues(a.Audience), a.Hidden, a.Unseen, a.Columns})
	}
	return after
}

// unusedName is a name for the tables of a new link.
func unusedName(links []Link, audience string) string {
	name := audience
	for n := 2; slices.ContainsFunc(links, func(l Link) bool { return l.Store == name }); n++ {
		name = fmt.Sprintf("%s%d", audience, n)
	}
	return name
}

// check returns why the lineage cannot go on with these links: each keeps no more than it did, and each audience sees
// what the policy says, of no less than that.
func (f *followed) check(after []Link) error {
	linked := f.publication
	linked.Policy = linked.Policy.linked(after)
	for i := range f.links {
		kept, wanted := f.before.ConstraintsFor(f.before.Audiences[i].Audience), linked.Policy.ConstraintsFor(after[i].name())
		if !imply(kept, wanted) {
			return fmt.Errorf("audience %s is to be shown classes by constraints that those which it has seen need not satisfy", after[i].name())
		}
	}
	for i, l := range after {
		if l.Audience != "" && !f.publication.seesIn(linked, l.Audience) {
			return fmt.Errorf("audience %s is to see other columns, or columns in another way", l.Audience)
		}
		if i < len(f.links) {
			continue
		}
		if !imply(f.publication.Policy.ConstraintsFor(l.Audience), linked.Policy.ConstraintsFor(l.Audience)) {
			return fmt.Errorf("audience %s is new, and is to be shown classes by looser constraints than audiences that have seen the table", l.Audience)
		}
		finer := linked.Kept("")
		if i > 0 {
			finer = linked.Kept(after[i-1].name())
		}
		if column, lacks := finer.lacksBounds(); lacks && i == len(f.links) {
			return fmt.Errorf("audience %s is new, and rows that are published show no ranges of %s, of which its own would be made", l.Audience, column)
		}
	}
	return nil
}

// seesIn reports whether an audience sees the same columns, in the same way, by another policy of the table.
func (p Publication) seesIn(other Publication, audience string) bool {
	seen, made := other.MadeFor(audience)
	wanted, _ := p.MadeFor(audience)
	return made && other.unseenBy(audience) == p.unseenBy(audience) && reflect.DeepEqual(seen.Columns, wanted.Columns) && reflect.DeepEqual(seen.Attributes, wanted.Attributes) &&
		reflect.DeepEqual(seen.Policy.Columns, wanted.Policy.Columns)
}

// unseenBy reports whether a release is made for an audience that does not see the table.
func (p Publication) unseenBy(audience string) bool {
	return p.Policy.Audiences[p.Policy.place(audience)].Unseen
}

// ShownBy reports whether each audience of the publication sees a link of the lineage, as the publication says, and by
// constraints from which its own follow.
func (p Publication) ShownBy(of Lineage) bool {
	linked := p.Linked(of)
	return !slices.ContainsFunc(p.Policy.Audiences, func(a AudiencePolicy) bool {
		return !p.seesIn(linked, a.Audience) || !imply(linked.Policy.ConstraintsFor(a.Audience), p.Policy.ConstraintsFor(a.Audience))
	})
}

// lacksBounds reports whether an attribute is shown by values alone, which do not tell what they stand for.
func (p Publication) lacksBounds() (column string, lacks bool) {
	for i, a := range p.Attributes {
		if !slices.ContainsFunc(p.inOrder(), func(c PublishedColumn) bool { return c.Attribute == i && (c.Part == Range || c.Part == Label) }) {
			return a.Column, true
		}
	}
	if p.Attributes == nil { // the policy alone is known
		for _, c := range p.Policy.Columns {
			if c.Role == QuasiIdentifying && c.Publish == FormValue {
				return c.Name, true
			}
		}
	}
	return "", false
}

// imply reports whether each wanted constraint follows from one that is kept.
func imply(kept, wanted []privacy.Spec) bool {
	return !slices.ContainsFunc(wanted, func(w privacy.Spec) bool {
		return !slices.ContainsFunc(kept, func(k privacy.Spec) bool { return k.Implies(w) })
	})
}
