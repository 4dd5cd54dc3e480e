// Package anonymizertest supports tests of anonymization: brute-force checkers
// that share no code with what they check, and loaders of the Adult census data.
package anonymizertest

import (
	"errors"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// CheckRelease proves by brute force that a release of the data is sound: every
// record stands in one place, every class satisfies the constraints, and what
// is published for it holds for the texts of all its members.
func CheckRelease(d *workload.Data, r *anonymizer.Release, constraints privacy.ConstraintSet) error {
	records, whole := records(d), group(d, nil).Counted()
	seen := make([]int, records)
	var errs []error
	for number, class := range append([]anonymizer.EquivalenceClass{r.Withheld}, r.Classes...) {
		for _, i := range class {
			if i < 0 || int(i) >= records {
				return fmt.Errorf("record %d does not exist", i)
			}
			seen[i]++
		}
		if number > 0 {
			errs = append(errs, checkClass(d, class, whole, constraints))
		}
	}
	for i, times := range seen {
		if times != 1 {
			errs = append(errs, fmt.Errorf("record %d stands in %d places", i, times))
		}
	}
	return errors.Join(errs...)
}

// CheckClass proves that a class satisfies the constraints and that what is
// published for it holds for the texts of its members.
func CheckClass(d *workload.Data, class anonymizer.EquivalenceClass, constraints privacy.ConstraintSet) error {
	return checkClass(d, class, group(d, nil), constraints)
}

func checkClass(d *workload.Data, class anonymizer.EquivalenceClass, whole Group, constraints privacy.ConstraintSet) error {
	if err := CheckConstraints(group(d, class), whole, constraints); err != nil {
		return err
	}
	for a, attribute := range d.Attributes {
		var texts []string
		var cells []hierarchy.Cell
		for _, i := range class {
			texts, cells = append(texts, d.Raw[a][i]), append(cells, d.Cells[a][i])
		}
		if err := CheckGeneralization(d.Specs[a], texts, attribute.Hierarchy.Generalize(cells)); err != nil {
			return fmt.Errorf("attribute %s: %w", attribute.Name, err)
		}
	}
	return nil
}
