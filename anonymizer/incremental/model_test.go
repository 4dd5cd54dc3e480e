package incremental_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// row is a record as the source holds it.
type row struct {
	raw       []string
	sensitive []uint32
	subject   uint32
	touched   int
}

// model drives a partition and knows on its own what must hold.
type model struct {
	t           *testing.T
	random      *rand.Rand
	shape       workload.Shape
	data        *workload.Data // attributes only
	constraints privacy.ConstraintSet
	persons     int  // how many persons the records are about, 0 for one each
	large       bool // classes of 2k records or more may have been loaded, or be indivisible
	partition   *incremental.Partition

	rows      map[incremental.RecordID]row
	next      incremental.RecordID
	mirror    map[incremental.RecordID]incremental.ClassID // kept by Changes alone
	published map[incremental.ClassID]map[incremental.RecordID]row
	gone      map[incremental.ClassID]bool
}

func newModel(t *testing.T, seed uint64, shape workload.Shape, constraints privacy.ConstraintSet) *model {
	return newModelOf(t, seed, shape, constraints, partition.RoundedPartition{}, 0)
}

func newModelOf(t *testing.T, seed uint64, shape workload.Shape, constraints privacy.ConstraintSet, method anonymizer.Method, persons int) *model {
	empty := shape
	empty.Records = 0
	m := &model{
		t: t, random: rand.New(rand.NewPCG(seed, 2)), shape: shape,
		data: workload.Generate(seed, empty), constraints: constraints, persons: persons,
		rows: map[incremental.RecordID]row{}, mirror: map[incremental.RecordID]incremental.ClassID{},
		published: map[incremental.ClassID]map[incremental.RecordID]row{}, gone: map[incremental.ClassID]bool{},
	}
	_, rounded := method.(partition.RoundedPartition)
	m.large = !rounded || shape.Sensitive > 0 || persons > 0
	m.partition = incremental.New(m.data.Attributes, constraints, method, incremental.Options{Seed: seed, Subjects: persons > 0})
	return m
}

func (m *model) newRow() row {
	var r row
	for a := range m.data.Attributes {
		r.raw = append(r.raw, workload.Value(m.random, m.data.Specs[a], m.shape))
	}
	if m.shape.Sensitive > 0 {
		r.sensitive = []uint32{workload.SensitiveValue(m.random, m.shape)}
	}
	if m.persons > 0 {
		r.subject = uint32(m.random.IntN(m.persons))
	}
	return r
}

func (m *model) record(id incremental.RecordID, r row) incremental.Record {
	cells := make([]hierarchy.Cell, len(r.raw))
	for a, text := range r.raw {
		cells[a] = workload.Encode(m.data.Attributes[a].Hierarchy, text)
	}
	return incremental.Record{ID: id, Cells: cells, Sensitive: r.sensitive, Subject: r.subject}
}

func (m *model) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) insert(id incremental.RecordID, r row) {
	m.must(m.partition.Insert(m.record(id, r)))
	m.rows[id] = r
}

func (m *model) remove(id incremental.RecordID) {
	m.must(m.partition.Delete(id))
	delete(m.rows, id)
	delete(m.mirror, id) // a store deletes the row at once
}

func (m *model) any() (incremental.RecordID, bool) {
	if len(m.rows) == 0 {
		return 0, false
	}
	ids := slices.Sorted(maps.Keys(m.rows))
	return ids[m.random.IntN(len(ids))], true
}

// step does one random operation.
func (m *model) step(growth int) {
	id, exists := m.any()
	switch choice := m.random.IntN(10 + growth); {
	case !exists || choice >= 10:
		m.next++
		m.insert(m.next, m.newRow())
	case choice < 4:
		m.remove(id)
	case choice < 5: // the same record again
		r := m.rows[id]
		m.remove(id)
		m.insert(id, r)
	case choice < 8:
		r := m.newRow()
		switch m.random.IntN(3) {
		case 0: // sensitive values only
			r.raw = m.rows[id].raw
		case 1: // one attribute
			raw := slices.Clone(m.rows[id].raw)
			a := m.random.IntN(len(raw))
			raw[a] = r.raw[a]
			r.raw = raw
		}
		m.must(m.partition.Modify(m.record(id, r)))
		m.rows[id] = r
	default:
		r := m.rows[id]
		r.touched++
		m.must(m.partition.Touch(id))
		m.rows[id] = r
	}
}

func (m *model) truncate() {
	m.partition.Truncate()
	clear(m.rows)
	clear(m.mirror)
}

// settle settles and checks everything anew.
func (m *model) settle() incremental.Changes {
	m.t.Helper()
	changes, err := m.partition.SettleContext(newPatience(m.t.Context(), 100_000))
	m.must(err)
	for id, class := range changes.Moved {
		if _, ok := m.rows[id]; !ok {
			m.t.Fatalf("record %d moved and does not exist", id)
		}
		if before, ok := m.mirror[id]; ok && before == class {
			m.t.Fatalf("record %d moved to class %d, where it was", id, class)
		}
		m.mirror[id] = class
	}
	m.checkMirror()
	m.checkClasses()
	m.checkPublished(changes)
	return changes
}

func (m *model) checkMirror() {
	m.t.Helper()
	if len(m.mirror) != len(m.rows) || m.partition.Len() != len(m.rows) {
		m.t.Fatalf("%d records, %d mirrored, %d in the partition", len(m.rows), len(m.mirror), m.partition.Len())
	}
	for id, r := range m.rows {
		got, class, ok := m.partition.Record(id)
		want := m.record(id, r)
		same := ok && slices.Equal(got.Sensitive, want.Sensitive) && got.Subject == want.Subject && len(got.Cells) == len(want.Cells)
		for a := range want.Cells {
			same = same && (got.Cells[a] == want.Cells[a] || hierarchy.IsOffScale(got.Cells[a]) && hierarchy.IsOffScale(want.Cells[a]))
		}
		if !same || class != m.mirror[id] {
			m.t.Fatalf("record %d: %v in class %d, %v in class %d expected", id, got, class, want, m.mirror[id])
		}
	}
}

func (m *model) checkClasses() {
	m.t.Helper()
	members := map[incremental.ClassID][]incremental.RecordID{}
	for id, class := range m.mirror {
		members[class] = append(members[class], id)
	}
	whole := m.group(slices.Sorted(maps.Keys(m.rows))).Counted()
	for class, ids := range members {
		slices.Sort(ids)
		if got := m.partition.Members(class); !slices.Equal(got, ids) {
			m.t.Fatalf("class %d has the members %v, %v expected", class, got, ids)
		}
		err := m.violation(ids, whole)
		if class == 0 {
			if len(members) > 1 {
				m.t.Fatalf("%d records withheld beside %d classes", len(ids), len(members)-1)
			}
			if err == nil || m.partition.Feasible() == nil {
				m.t.Fatalf("%d records withheld that could be a class", len(ids))
			}
			continue
		}
		if err != nil {
			m.t.Fatalf("class %d: %v", class, err)
		}
		m.checkGeneralization(class, ids)
		if !m.large && len(ids) >= 2*m.constraints.K() {
			m.t.Fatalf("class %d of %d records has not been split", class, len(ids))
		}
	}
	if got := m.partition.Withheld(); got != len(members[0]) {
		m.t.Fatalf("%d records withheld, %d expected", got, len(members[0]))
	}
	m.checkLooks(members, whole)
	delete(members, 0)
	if m.partition.Classes() != len(members) {
		m.t.Fatalf("%d classes, %d expected", m.partition.Classes(), len(members))
	}
}

// checkLooks takes classes of which the same is published for one, as readers must.
func (m *model) checkLooks(members map[incremental.ClassID][]incremental.RecordID, whole anonymizertest.Group) {
	m.t.Helper()
	looks := map[string][]incremental.RecordID{}
	for class, ids := range members {
		if class != 0 {
			look := fmt.Sprintf("%#v", m.partition.Generalize(class))
			looks[look] = append(looks[look], ids...)
		}
	}
	for _, ids := range looks {
		if err := m.violation(ids, whole); err != nil {
			m.t.Fatalf("classes that look alike, together: %v", err)
		}
	}
}

// violation is what the brute force says of a class of these records, compared with the whole table.
func (m *model) violation(ids []incremental.RecordID, whole anonymizertest.Group) error {
	return anonymizertest.CheckConstraints(m.group(ids), whole, m.constraints)
}

func (m *model) group(ids []incremental.RecordID) anonymizertest.Group {
	g := anonymizertest.Group{Records: len(ids), Sensitive: make([][]uint32, min(1, m.shape.Sensitive))}
	for _, id := range ids {
		r := m.rows[id]
		for a, code := range r.sensitive {
			g.Sensitive[a] = append(g.Sensitive[a], code)
		}
		if m.persons > 0 {
			g.Subjects = append(g.Subjects, r.subject)
		}
	}
	return g
}

func (m *model) checkGeneralization(class incremental.ClassID, ids []incremental.RecordID) {
	m.t.Helper()
	for a, g := range m.partition.Generalize(class) {
		var texts []string
		for _, id := range ids {
			texts = append(texts, m.rows[id].raw[a])
		}
		if err := anonymizertest.CheckGeneralization(m.data.Specs[a], texts, g); err != nil {
			m.t.Fatalf("class %d, attribute %d: %v", class, a, err)
		}
	}
}

// checkPublished rewrites a store by Changes and compares it with the rows.
func (m *model) checkPublished(changes incremental.Changes) {
	m.t.Helper()
	for _, class := range changes.Retired {
		if _, ok := m.published[class]; !ok {
			m.t.Fatalf("class %d retired and was not published", class)
		}
		delete(m.published, class)
		m.gone[class] = true
	}
	now := map[incremental.ClassID]map[incremental.RecordID]row{}
	for id, class := range m.mirror {
		if class == 0 {
			continue
		}
		if m.gone[class] {
			m.t.Fatalf("class id %d is used again", class)
		}
		if now[class] == nil {
			now[class] = map[incremental.RecordID]row{}
		}
		now[class][id] = m.rows[id]
	}
	for _, class := range changes.Rewrite {
		if now[class] == nil {
			m.t.Fatalf("class %d to be written anew does not exist", class)
		}
		m.published[class] = now[class]
	}
	if !slices.IsSorted(changes.Rewrite) || !slices.IsSorted(changes.Retired) {
		m.t.Fatal("lists are not in order")
	}
	if !reflect.DeepEqual(m.published, now) {
		m.t.Fatal("rewriting by Changes does not give what is to be published")
	}
}
