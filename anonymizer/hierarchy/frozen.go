package hierarchy

// Frozen is a hierarchy as it stands: it knows the values met so far, whatever h
// learns later. It can be used while another goroutine encodes with h. Cells mean
// the same in both, but it encodes nothing: where h keeps a dictionary, every text
// is off the scale. It takes no time, however many values there are.
func Frozen(h Hierarchy) Hierarchy {
	switch h := h.(type) {
	case *taxonomy:
		return frozenTaxonomy{h.frozen()}
	case suppression:
		return frozenSuppression{suppression{h.frozen()}}
	case *prefixes:
		size := len(h.texts)
		return frozenPrefixes{&prefixes{texts: h.texts[:size:size], keep: h.keep}}
	case coarser:
		h.Hierarchy = Frozen(h.Hierarchy)
		return h
	default:
		return h // which never changes
	}
}

// frozen shares what is there; values that come later are appended behind it.
func (t *taxonomy) frozen() *taxonomy {
	size := len(t.labels)
	return &taxonomy{
		labels: t.labels[:size:size], parents: t.parents[:size:size],
		depths: t.depths[:size:size], positions: t.positions[:size:size], leaves: t.leaves,
		configured: t.configured, configuredLeaves: t.configuredLeaves,
	}
}

type frozenTaxonomy struct{ *taxonomy }

func (frozenTaxonomy) Encode(string) Cell { return OffScale() }

type frozenSuppression struct{ suppression }

func (frozenSuppression) Encode(string) Cell { return OffScale() }

type frozenPrefixes struct{ *prefixes }

func (frozenPrefixes) Encode(string) Cell { return OffScale() }
