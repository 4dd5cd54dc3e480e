package catalog

import "slices"

// Rejoin gives tables that are released together, and that were kept as text, what their memberships tell of each other, which
// the text leaves out. It drops the tables of a kind of which one is missing.
func Rejoin(kept []Publication) (all []Publication) {
	kinds := make(map[string]*PeoplePublication)
	for _, p := range kept {
		m := p.Membership
		if m == nil {
			all = append(all, p)
			continue
		}
		if kinds[m.People.Kind] != nil {
			continue
		}
		kind, whole := keptKind(m.People, kept)
		if kinds[m.People.Kind] = kind; whole {
			kind.rejoin()
			all = append(append(all, kind.Root), kind.Tables...)
		}
	}
	return all
}

// keptKind are the tables of a kind; whole says whether all of them were kept.
func keptKind(p People, kept []Publication) (kind *PeoplePublication, whole bool) {
	kind, whole = &PeoplePublication{People: p}, true
	for i, name := range p.Names() {
		place := slices.IndexFunc(kept, func(k Publication) bool { return k.Policy.Table == name && k.Membership != nil })
		switch {
		case place < 0:
			whole = false
		case i == 0: // the root stands first
			kind.Root = kept[place]
		default:
			kind.Tables = append(kind.Tables, kept[place])
		}
	}
	return kind, whole
}

// rejoin gives all tables what is held for audiences, and which tables these do not see.
func (p *PeoplePublication) rejoin() {
	policies := make(map[Name]TablePolicy)
	for _, t := range append(slices.Clone(p.Tables), p.Root) {
		policies[t.Policy.Table] = t.Policy
	}
	held, unseen := p.People.held(policies), p.unseen()
	joined := func(m Membership) *Membership {
		m.Held, m.unseenBy = held, unseen
		return &m
	}
	p.Root.Membership = joined(*p.Root.Membership)
	for i := range p.Tables {
		p.Tables[i].Membership = joined(*p.Tables[i].Membership)
	}
}
