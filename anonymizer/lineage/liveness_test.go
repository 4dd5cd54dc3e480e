package lineage_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// eager is a model that also knows what has to happen, and when.
type eager struct {
	*model
	begun bool // a version has been made
}

// TestNothingIsLeftUndone: batches are tried when they are due, and only then; what can be cut
// is cut; and what is asked for class by class is what was told change by change.
func TestNothingIsLeftUndone(t *testing.T) {
	t.Parallel()
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	for what, constraints := range sets {
		for _, persons := range []int{0, 12, 50} {
			t.Run(fmt.Sprintf("%s/persons=%d", what, persons), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(51, uint64(100*len(what)+persons)))
				s := randomSetting(random, constraints, persons)
				s.method = partition.RoundedPartition{}
				m := eager{model: newModel(t, random, s)}
				m.operate(rounds)
			})
		}
	}
}

// operate drives the model as that of it alone does, and has whole classes leave or change.
func (m *eager) operate(rounds int) {
	m.t.Helper()
	for i := range rounds {
		m.now = m.now.Add(time.Duration(m.random.IntN(4)) * time.Minute)
		growth := []int{30, 6, 2, 0}[i*8/rounds%4]
		for range m.random.IntN(2+i%9) + growth*m.random.IntN(2) {
			m.step(growth)
		}
		if m.random.IntN(2) == 0 {
			m.wave()
		} else {
			m.flood()
		}
		if len(m.members) > 150 {
			m.truncate()
		}
		m.publish()
		if m.random.IntN(6) == 0 {
			m.setting.options.Crowd = m.random.IntN(5)
			m.restart()
			m.begun = true
			m.publish()
		}
		m.now = m.now.Add(time.Duration(m.random.IntN(60)) * time.Minute)
		m.publish()
	}
	m.must(m.reader.checkHistory())
}

// flood has everybody of a class move, be corrected or leave.
func (m *eager) flood() {
	id, exists := m.roster.Any(m.random)
	if !exists || !m.members[id].published() {
		return
	}
	what := m.random.IntN(3)
	for _, r := range m.journal.classes[m.members[id].row.class].present() {
		b := r.member
		values := b.values
		switch fresh := m.source.Row(); {
		case b.deleted:
			continue
		case what == 0:
			m.remove(b.id)
			continue
		case what == 1:
			values.Raw = fresh.Raw
		default:
			values.Sensitive = fresh.Sensitive
		}
		m.modify(b.id, values)
	}
}

// publish makes the next version, and checks what it had to do.
func (m *eager) publish() {
	m.t.Helper()
	due, waited := m.batchDue(), maps.Clone(m.waiting)
	m.model.publish()
	m.begun = true
	m.must(errors.Join(m.checkBatch(due, waited), m.checkListed(), m.checkCuts()))
}

// batchDue reports whether those who wait have to be tried as a batch: enough of them, or the
// least number if one has waited for long enough or none was tried yet.
func (m *eager) batchDue() bool {
	persons, oldest := map[uint32]bool{}, time.Time{}
	for id := range m.waiting {
		b := m.members[id]
		if m.setting.options.Subjects {
			persons[b.values.Subject] = true
		} else {
			persons[uint32(id)] = true
		}
		if oldest.IsZero() || b.since.Before(oldest) {
			oldest = b.since
		}
	}
	o, least := m.setting.options, m.lineage.Least()
	overdue := o.Within > 0 && !oldest.IsZero() && !m.now.Before(oldest.Add(o.Within))
	return len(persons) >= least && (len(persons) >= max(least, o.Batch) || overdue || !m.begun)
}

// checkBatch: nobody waits after a batch that was due, and nobody is published or refused by
// one that was not.
func (m *eager) checkBatch(due bool, waited map[incremental.RecordID]bool) error {
	if due {
		if len(m.waiting) > 0 {
			return fmt.Errorf("%d records wait though a batch is due", len(m.waiting))
		}
		return nil
	}
	for id := range waited {
		b, deadline := m.members[id], m.setting.options.Deadline
		if b.published() || b.expired && (deadline <= 0 || m.now.Before(b.since.Add(deadline))) {
			return fmt.Errorf("record %d is published or refused by a batch that is not due", id)
		}
	}
	return nil
}

// checkCuts: a class of which only ghosts are left is gone; and where sizes are all that is
// demanded, so are ghosts, and are rows of which the same has changed, that are enough for a
// class and leave enough, or nobody.
func (m *eager) checkCuts() error {
	sizes := !slices.ContainsFunc(m.setting.constraints, func(c privacy.Constraint) bool {
		_, size := c.(privacy.KAnonymity)
		return !size
	})
	k := m.setting.constraints.K()
	for id, class := range m.journal.classes {
		if class.rows == 0 {
			continue
		}
		parts, all := map[string]map[uint32]bool{}, map[uint32]map[string]bool{}
		for _, r := range class.present() {
			part := "rows of nobody"
			if !r.member.deleted {
				part = "rows as they are"
				if !r.member.since.IsZero() {
					part = "rows of which " + r.member.parted + " has changed"
				}
			}
			if parts[part] == nil {
				parts[part] = map[uint32]bool{}
			}
			if all[r.person] == nil {
				all[r.person] = map[string]bool{}
			}
			parts[part][r.person], all[r.person][part] = true, true
		}
		if len(parts) == 1 && parts["rows of nobody"] != nil {
			return fmt.Errorf("class %d stands for nobody", id)
		}
		if !sizes {
			continue
		}
		for part, persons := range parts {
			rest := 0
			for _, has := range all {
				if len(has) > 1 || !has[part] {
					rest++
				}
			}
			// Other persons of the same rows may be too few to be published anew.
			if part == "rows as they are" || part != "rows of nobody" && m.setting.options.Subjects {
				continue
			}
			if len(persons) >= k && (rest == 0 || rest >= k && !class.ever[0].sealed) {
				return fmt.Errorf("class %d has %s, of %d persons beside %d", id, part, len(persons), rest)
			}
		}
	}
	return nil
}

// checkListed: what is asked for class by class is what was told change by change.
func (m *eager) checkListed() error {
	left := maps.Clone(m.journal.rows)
	for id := range m.lineage.Classes() {
		class := m.journal.classes[id]
		if class == nil || class.rows == 0 {
			return fmt.Errorf("class %d is listed and was not told of, or is gone", id)
		}
		for _, n := range m.lineage.RowsOf(id) {
			r := left[n.ID]
			if r == nil || n != (lineage.NewRow{ID: r.id, Class: r.class, Record: r.record, Person: r.person, Sealed: r.sealed}) || r.class != id {
				return fmt.Errorf("row %+v is listed and was not told of, or is gone", n)
			}
			delete(left, n.ID)
		}
		for number, codes := range m.lineage.Shown(id) {
			if r := m.journal.rows[number]; r == nil || !slices.Equal(codes, r.values.Sensitive) {
				return fmt.Errorf("row %d of class %d shows %v", number, id, codes)
			}
		}
	}
	for _, r := range left {
		if !r.member.deleted {
			return fmt.Errorf("row %d of class %d is not listed", r.id, r.class)
		}
	}
	if m.lineage.Generalize(m.lineage.NextClass()) != nil || m.lineage.RowsOf(m.lineage.NextClass()) != nil {
		return errors.New("a class is listed that is not there yet")
	}
	return nil
}
