package catalog

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Link is one release in the chain of releases of a guarded table: what an audience sees, or saw before the audience
// was removed. A lineage keeps its links, in order, as long as it lasts, since somebody who kept the versions of one
// may read another today (anonymizer/lineage/DESIGN.md, "Changing audiences").
type Link struct {
	// Store is the name in the link's tables of the store.
	Store string
	// Audience sees the link; nobody does where it is empty.
	Audience string `json:",omitempty"`
	// Constraints, Hidden, Unseen and Columns are those of AudiencePolicy.
	Constraints []privacy.Spec
	// Held are the constraints on sensitive values of Membership.Held, of all tables that are released together.
	Held    []privacy.Spec   `json:",omitempty"`
	Hidden  []string         `json:",omitempty"`
	Unseen  bool             `json:",omitempty"`
	Columns []AudienceColumn `json:",omitempty"`
}

// Lineage is the part of the policy by which the classes of a guarded table were made. The store keeps it as long as they are shown.
type Lineage struct {
	// Table is a digest of everything but the audiences.
	Table string
	// Sensitive are Publication.Sensitive, those among them of which only a link's constraints speak.
	Sensitive []SensitiveColumn `json:",omitempty"`
	Links     []Link            `json:",omitempty"`
}

// removedPrefix begins what stands for the audience of a link that nobody sees. It is in no audience's name.
const removedPrefix = "(removed) "

// name is the audience of the link, or what stands for it.
func (l Link) name() string {
	if l.Audience == "" {
		return removedPrefix + l.Store
	}
	return l.Audience
}

// IsRemoved reports whether the policy is of a link that nobody sees any more.
func (a AudiencePolicy) IsRemoved() bool { return !IsAudienceName(a.Audience) }

// StoredAs is what the audience's tables in the store are called by.
func (a AudiencePolicy) StoredAs() string {
	if a.Store != "" {
		return a.Store
	}
	return a.Audience
}

// Lineage is what a store keeps of a lineage that is begun for the publication; table is a digest of all but audiences.
func (p Publication) Lineage(table string) Lineage {
	of := Lineage{Table: table, Sensitive: p.Sensitive}
	for _, a := range p.Policy.Audiences {
		of.Links = append(of.Links, Link{a.StoredAs(), a.Audience, a.Constraints, p.heldOfValues(a.Audience), a.Hidden, a.Unseen, a.Columns})
	}
	return of
}

// heldOfValues are the constraints on sensitive values that are stated for an audience of tables that are released together.
func (p Publication) heldOfValues(audience string) (held []privacy.Spec) {
	if p.Membership == nil {
		return nil
	}
	for _, spec := range p.Membership.Held[audience] {
		if spec.Model != privacy.K {
			held = append(held, spec)
		}
	}
	return held
}

// linked is the policy with links as its audiences, those that nobody sees among them.
func (t TablePolicy) linked(links []Link) TablePolicy {
	audiences := make([]AudiencePolicy, len(links))
	for i, l := range links {
		audiences[i] = AudiencePolicy{Audience: l.name(), Constraints: l.Constraints, Hidden: l.Hidden, Unseen: l.Unseen, Columns: l.Columns}
		if l.Store != l.Audience {
			audiences[i].Store = l.Store
		}
		if place := t.place(l.Audience); place >= 0 {
			audiences[i].Role = t.Audiences[place].Role
		}
	}
	t.Audiences = audiences
	return t
}

// Linked is the publication with the links of the table's lineage as its audiences.
func (p Publication) Linked(of Lineage) Publication {
	p.Policy, p.Sensitive = p.Policy.linked(of.Links), of.Sensitive
	if p.Membership != nil {
		m := *p.Membership
		m.Held = make(map[string][]privacy.Spec)
		for _, l := range of.Links {
			k := slices.DeleteFunc(slices.Clone(l.Constraints), func(spec privacy.Spec) bool { return spec.Model != privacy.K })
			m.Held[l.name()] = append(k, l.Held...)
		}
		p.Membership = &m
	}
	return p
}
