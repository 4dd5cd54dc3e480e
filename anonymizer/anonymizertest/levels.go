package anonymizertest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// CheckLevels proves by brute force that a release by levels is sound for one
// who reads nothing but its labels: every record stands in one place; levels lie
// within the heights; a class's records have equal labels; each combination of
// published labels over the attributes of a constraint <QI, K> stands for at
// least K records, or persons where the table knows them; and the records with
// equal labels in all attributes satisfy all other constraints. The latter are
// asked of each class apart where the table knows persons, who may stand in
// several: no constraint promises anything of the union then.
func CheckLevels(t *anonymizer.Table, r *anonymizer.Release, constraints privacy.ConstraintSet) error {
	labels, err := publishedLabels(t, r)
	if err != nil {
		return err
	}
	whole := make([]int, len(t.Attributes()))
	for a := range whole {
		whole[a] = a
	}
	var others privacy.ConstraintSet
	for _, constraint := range constraints {
		k, counts := constraint.(privacy.KAnonymity)
		if !counts {
			others = append(others, constraint)
			continue
		}
		over := k.Over
		if over == nil {
			over = whole
		}
		for key, records := range alike(labels, over) {
			if count := tableGroup(t, records).persons(); count < k.K {
				return fmt.Errorf("%d records with the labels %q violate %v over %v", count, key, k, over)
			}
		}
	}
	if len(others) == 0 {
		return nil
	}
	all := tableGroup(t, everyRecord(t)).Counted()
	if t.Subjects() != nil {
		for e, class := range r.Classes {
			if err := CheckConstraints(tableGroup(t, class), all, others); err != nil {
				return fmt.Errorf("class %d: %w", e, err)
			}
		}
		return nil
	}
	for key, records := range alike(labels, whole) {
		if err := CheckConstraints(tableGroup(t, records), all, others); err != nil {
			return fmt.Errorf("records with the labels %q: %w", key, err)
		}
	}
	return nil
}

// tableGroup is what constraints look at.
func tableGroup(t *anonymizer.Table, records []int32) Group {
	g := Group{Records: len(records)}
	for s := range t.Population().Sensitive {
		codes := make([]uint32, len(records))
		for i, r := range records {
			codes[i] = t.Sensitive(s)[r]
		}
		g.Sensitive = append(g.Sensitive, codes)
	}
	if t.Subjects() != nil {
		for _, r := range records {
			g.Subjects = append(g.Subjects, t.Subjects()[r])
		}
	}
	return g
}

func everyRecord(t *anonymizer.Table) []int32 {
	all := make([]int32, t.Len())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// publishedLabels gives each record's labels, nil for a withheld one.
func publishedLabels(t *anonymizer.Table, r *anonymizer.Release) ([][]string, error) {
	ladders := make([]hierarchy.Levels, len(t.Attributes()))
	for a, attribute := range t.Attributes() {
		ladders[a] = hierarchy.LevelsOf(attribute.Hierarchy, t.Cells(a))
	}
	if len(r.Levels) != len(r.Classes) {
		return nil, fmt.Errorf("levels of %d classes, there are %d", len(r.Levels), len(r.Classes))
	}
	labels := make([][]string, t.Len())
	times := make([]int, t.Len())
	for e, class := range r.Classes {
		if len(class) == 0 {
			return nil, fmt.Errorf("class %d is empty", e)
		}
		if len(r.Levels[e]) != len(ladders) {
			return nil, fmt.Errorf("class %d has levels of %d attributes", e, len(r.Levels[e]))
		}
		for _, i := range class {
			if i < 0 || int(i) >= t.Len() {
				return nil, fmt.Errorf("record %d does not exist", i)
			}
			times[i]++
			labels[i] = make([]string, len(ladders))
			for a, levels := range ladders {
				level := int(r.Levels[e][a])
				if level > levels.Height() {
					return nil, fmt.Errorf("class %d has attribute %d at level %d of %d", e, a, level, levels.Height())
				}
				labels[i][a] = labelText(levels.Label(t.Cells(a)[i], level))
				if labels[i][a] != labels[class[0]][a] {
					return nil, fmt.Errorf("class %d has several labels of attribute %d", e, a)
				}
			}
		}
	}
	for _, i := range r.Withheld {
		if i < 0 || int(i) >= t.Len() {
			return nil, fmt.Errorf("record %d does not exist", i)
		}
		times[i]++
	}
	for i, n := range times {
		if n != 1 {
			return nil, fmt.Errorf("record %d stands in %d places", i, n)
		}
	}
	return labels, nil
}

// labelText tells labels apart as a reader does, for whom a hidden value is
// NULL.
func labelText(g hierarchy.Generalization) string {
	if g.Hidden {
		return "NULL"
	}
	return strconv.Quote(g.Value) + strconv.Quote(g.Lower) + strconv.Quote(g.Upper)
}

// alike groups the published records by their labels of some attributes.
func alike(labels [][]string, attributes []int) map[string][]int32 {
	groups := map[string][]int32{}
	for i, record := range labels {
		if record == nil {
			continue
		}
		var key strings.Builder
		for _, a := range attributes {
			key.WriteString(record[a])
		}
		groups[key.String()] = append(groups[key.String()], int32(i))
	}
	return groups
}
