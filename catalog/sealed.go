package catalog

// IsSealed reports whether the private store keeps the table's rows encrypted. Those of a mirrored table are published.
func (p Publication) IsSealed() bool { return p.Policy.Sealed && !p.Policy.IsMirrored() }

// checkSealed finds what of a table's private store would not be sealed, or could not be compared with
// its source then.
func (b *builder) checkSealed() {
	p, relation := b.publication, b.publication.Relation
	if !p.Policy.Sealed {
		return
	}
	const fix = "leave it out of the policy, or remove release.seal"
	if p.Policy.IsMirrored() {
		for _, name := range relation.Key {
			if _, shown := p.Policy.Column(name); !shown {
				b.problem(name, "tells rows apart and is not shown, and the private store of mirrored tables cannot be sealed", "list it, or remove release.seal")
			}
		}
		return
	}
	if relation.KeyRepeats {
		b.problem("", "has no key, and the private store of such a table cannot be sealed", "give it a primary key, or remove release.seal")
	}
	if len(p.Components()) > 1 {
		b.problem("", "has constraints that divide it in several ways, and its private store cannot be sealed yet", "write constraints over all quasi-identifying columns, or remove release.seal")
	}
	for _, c := range p.StoredColumns() {
		if c.UserType != (Name{}) {
			b.problem(c.Name, "is of type "+c.Type+", which the private store cannot seal: what its values are called can change", fix)
		}
	}
}
