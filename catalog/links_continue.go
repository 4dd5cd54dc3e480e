package catalog

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Continue reports whether the lineages of guarded tables go on under policies with other audiences than those before, likewise in
// order: of one table, or of all that are released together. It tells as far as policies do: not whether audiences that were removed
// earlier keep them from going on.
func Continue(tables, before []TablePolicy) bool {
	publications, lineages := make([]Publication, len(tables)), make([]Lineage, len(tables))
	for i, t := range tables {
		if t.countsOther(before[i]) {
			return false
		}
		publications[i], lineages[i] = Publication{Policy: t}, Publication{Policy: before[i]}.Lineage("")
	}
	_, err := FollowAll(publications, lineages)
	return err == nil
}

// countsOther reports whether a constraint of the policy is on a column that none was on before.
func (t TablePolicy) countsOther(before TablePolicy) bool {
	return slices.ContainsFunc(t.allConstraints(), func(s privacy.Spec) bool {
		return s.Of != "" && !slices.ContainsFunc(before.allConstraints(), func(known privacy.Spec) bool { return known.Of == s.Of })
	})
}
