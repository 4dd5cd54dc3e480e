package lineage_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// observer is a reader who has kept every version, and knows of every row whose it is
// and when its record was deleted or changed. It proves by brute force what such a
// reader cannot do.
type observer struct {
	source      *anonymizertest.Source
	constraints privacy.ConstraintSet
	journal     *journal
	told        map[incremental.ClassID]tale
}

// tale is what a weight tells of: rows of nobody, and how many persons' they are.
type tale struct{ rows, persons int }

// checkHistory compares all versions. Rows of a class are told apart by the versions that
// have them, by the classes in which their records are seen afterwards, for as long, and
// by what had changed of them then, which tells whose values are still the same: the sets
// that cannot be divided further are the atoms, and each must satisfy the constraints
// with the values that it showed.
func (o *observer) checkHistory() error {
	for id, class := range o.journal.classes {
		atoms := map[string][]*shownRow{}
		for _, r := range class.ever {
			course := r.course()
			atoms[course] = append(atoms[course], r)
		}
		for course, rows := range atoms {
			if err := o.check(rows); err != nil {
				return fmt.Errorf("class %d, the rows until version %s: %w", id, course, err)
			}
		}
		for version := range o.versions(class) {
			var shown []*shownRow
			for _, r := range class.ever {
				if r.until == 0 || r.until > version {
					shown = append(shown, r)
				}
			}
			if err := o.check(shown); len(shown) > 0 && err != nil {
				return fmt.Errorf("class %d after version %d: %w", id, version, err)
			}
		}
	}
	return nil
}

// versions are those after which a class has fewer rows, and the one before all.
func (o *observer) versions(class *shownClass) map[int]bool {
	versions := map[int]bool{0: true}
	for _, r := range class.ever {
		versions[r.until] = true
	}
	return versions
}

func (o *observer) check(rows []*shownRow) error {
	values := make([]anonymizertest.Row, len(rows))
	for i, r := range rows {
		values[i] = r.values
	}
	group := o.source.Group(values)
	return anonymizertest.CheckConstraints(group, group, o.constraints)
}

// checkVersion looks at what the last version changed.
func (o *observer) checkVersion(created, touched []incremental.ClassID) error {
	for _, id := range created {
		class := o.journal.classes[id]
		if err := o.check(class.ever); err != nil {
			return fmt.Errorf("new class %d: %w", id, err)
		}
		values := make([]anonymizertest.Row, len(class.ever))
		persons := map[uint32]uint32{}
		for i, r := range class.ever {
			values[i] = r.values
			subject := r.values.Subject
			if o.source.Persons == 0 {
				subject = uint32(i)
			}
			if known, ok := persons[r.person]; ok && known != subject {
				return fmt.Errorf("class %d: person %d is two", id, r.person)
			}
			persons[r.person] = subject
		}
		if err := o.source.CheckCovers(values, class.box); err != nil {
			return fmt.Errorf("new class %d: %w", id, err)
		}
	}
	for _, id := range touched {
		if err := o.checkWeight(id); err != nil {
			return fmt.Errorf("class %d: %w", id, err)
		}
	}
	return o.checkTable()
}

// checkWeight: what a weight tells of is k persons' rows at least, and never more than
// there are.
func (o *observer) checkWeight(id incremental.ClassID) error {
	class := o.journal.classes[id]
	rows := class.present()
	if len(rows) == 0 {
		return nil
	}
	if err := o.check(rows); err != nil {
		return err
	}
	told := class.weight.Ghosts
	if most := float64(len(rows)-told) / float64(len(rows)); class.weight.Share > most+1e-6 || class.weight.Share <= 0 {
		return fmt.Errorf("weight %v of %d rows", class.weight, len(rows))
	}
	ghosts, persons := 0, map[uint32]bool{}
	for _, r := range rows {
		if r.member.deleted {
			ghosts++
			persons[r.person] = true
		}
	}
	if ghosts == 0 && told > 0 {
		return fmt.Errorf("the weight tells of %d ghosts, there are none", told)
	}
	before := o.told[id]
	k := o.constraints.K()
	enough := len(persons) >= before.persons+k || before.persons >= len(persons)+k
	switch {
	case told > before.rows && (told != ghosts || !enough):
		return fmt.Errorf("the weight tells of %d ghosts after %d, there are %d of %d persons", told, before.rows, ghosts, len(persons))
	case told > before.rows:
		o.told[id] = tale{told, len(persons)}
	case told == 0 && (ghosts == 0 || len(persons) < o.constraints.K() && (o.hasLost(class) || len(persons)+o.constraints.K() <= before.persons)):
		delete(o.told, id)
	case told < before.rows && told == ghosts && (len(persons)+o.constraints.K() <= before.persons || o.hasLost(class)): // who has come back, or vanished
		o.told[id] = tale{told, len(persons)}
	case told < before.rows:
		return fmt.Errorf("the weight tells of %d ghosts after %d", told, before.rows)
	}
	if known, is := o.told[id]; is { // the same number of rows may have become other persons'
		o.told[id] = tale{known.rows, class.weight.Persons}
	}
	if told < ghosts && len(persons) >= o.told[id].persons+o.constraints.K() {
		return fmt.Errorf("the weight tells of %d ghosts, there are %d of %d persons", told, ghosts, len(persons))
	}
	return nil
}

// checkTable: weights add up to the number of records that are published, but for the rows of k persons.
func (o *observer) checkTable() error {
	factor := o.journal.told[0].Share
	weighed, present, by, who, most := 0.0, 0, map[uint32]int{}, map[uint32]uint32{}, 1
	for _, class := range o.journal.classes {
		for _, r := range class.present() {
			weighed += lineage.Rated(class.weight.Share, factor)
			if !r.member.deleted {
				present++
			}
			if o.source.Persons == 0 {
				continue
			}
			if known, is := who[r.person]; is && known != r.values.Subject {
				return fmt.Errorf("person %d is two", r.person)
			}
			who[r.person] = r.values.Subject
			by[r.person]++
			most = max(most, by[r.person])
		}
	}
	if off := math.Abs(weighed - float64(present)); off > float64(o.constraints.K()*most)+1e-3*float64(present) {
		return fmt.Errorf("weights add up to %.1f, and %d records are published", weighed, present)
	}
	return nil
}

// hasLost says whether the last version took rows away from a class.
func (o *observer) hasLost(class *shownClass) bool {
	return slices.ContainsFunc(class.ever, func(r *shownRow) bool { return r.until == o.journal.version })
}

// sortedClasses makes lists of classes comparable.
func sortedClasses(ids map[incremental.ClassID]bool) []incremental.ClassID {
	var sorted []incremental.ClassID
	for id := range ids {
		sorted = append(sorted, id)
	}
	slices.Sort(sorted)
	return sorted
}
