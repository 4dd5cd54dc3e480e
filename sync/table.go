package sync

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// table is one protected table: its maintained partition, and what has changed
// since the store was last written.
type table struct {
	publication catalog.Publication
	digest      string
	columns     []catalog.Column // what the store keeps: key and stored columns, in the source's order
	key         []int            // indexes into columns
	qi          []int            // indexes into columns, one for each attribute
	sensitive   []int            // indexes into columns, one for each diverse attribute

	attributes  []anonymizer.Attribute
	constraints privacy.ConstraintSet
	method      anonymizer.Method

	generation int64
	nextRecord incremental.RecordID
	partition  *incremental.Partition
	records    map[string]incremental.RecordID // by key

	changed   bool // since the store was last written
	pending   map[incremental.RecordID]*pendingRow
	deleted   []incremental.RecordID
	truncated bool
	recent    []incremental.ClassID // written since the classes were mixed
}

// pendingRow is what the store does not know yet of one record.
type pendingRow struct {
	inserted bool
	values   []value
}

func newTable(p catalog.Publication) (*table, error) {
	t := &table{publication: p, pending: make(map[incremental.RecordID]*pendingRow)}
	t.layOut()
	var err error
	if t.digest, err = digest(p, t.columns); err != nil {
		return nil, err
	}
	for _, a := range p.Attributes {
		h, err := hierarchy.New(a.Spec)
		if err != nil {
			return nil, fmt.Errorf("hierarchy of %s.%s: %w", p.Policy.Table, a.Column, err)
		}
		t.attributes = append(t.attributes, anonymizer.Attribute{Name: a.Column, Hierarchy: h})
		t.qi = append(t.qi, t.column(a.Column))
	}
	for _, name := range p.Sensitive {
		t.sensitive = append(t.sensitive, t.column(name))
	}
	for _, c := range p.Policy.Constraints {
		if c.L > 0 {
			attribute := slices.Index(p.Sensitive, c.Of)
			t.constraints = append(t.constraints, privacy.DistinctDiversity{L: c.L, Attribute: attribute, Name: c.Of})
		} else {
			t.constraints = append(t.constraints, privacy.KAnonymity{K: c.K})
		}
	}
	if t.method, err = methods.Named(p.Policy.Method); err != nil {
		return nil, fmt.Errorf("table %s: %w", p.Policy.Table, err)
	}
	return t, nil
}

// layOut fills columns and key.
func (t *table) layOut() {
	stored := t.publication.StoredColumns()
	for _, c := range t.publication.Relation.Columns {
		isKey := slices.Contains(t.publication.Relation.Key, c.Name)
		if isKey || slices.ContainsFunc(stored, func(s catalog.Column) bool { return s.Name == c.Name }) {
			t.columns = append(t.columns, c)
		}
	}
	for _, name := range t.publication.Relation.Key {
		t.key = append(t.key, t.column(name))
	}
}

func (t *table) column(name string) int {
	return slices.IndexFunc(t.columns, func(c catalog.Column) bool { return c.Name == name })
}

func (t *table) name() catalog.Name { return t.publication.Policy.Table }

// begin makes the table empty in memory: the state that load and the initial
// publication fill.
func (t *table) begin(generation int64, nextRecord incremental.RecordID, nextClass incremental.ClassID, seed uint64) {
	t.generation, t.nextRecord = generation, nextRecord
	t.partition = incremental.New(t.attributes, t.constraints, t.method, incremental.Options{Seed: seed, FirstClass: nextClass})
	t.records = make(map[string]incremental.RecordID)
}

// keyOf joins the key's values into a map key; lengths keep values apart.
func (t *table) keyOf(values []value) string {
	var b strings.Builder
	for _, i := range t.key {
		b.WriteString(strconv.Itoa(len(values[i].text)))
		b.WriteByte(':')
		b.WriteString(values[i].text)
	}
	return b.String()
}

// cells codes the quasi-identifiers of a row.
func (t *table) cell(attribute int, v value) hierarchy.Cell {
	if v.null {
		return math.NaN()
	}
	return t.attributes[attribute].Hierarchy.Encode(v.text)
}

// code stands for a value of a sensitive attribute, so that different codes are
// different values; NULL is a value of its own. It is a hash: two values may share
// a code, which counts one too few and so demands more of a class, never less.
func (t *table) code(attribute int, v value) uint32 {
	if v.null {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(canonical(t.columns[t.sensitive[attribute]].BaseType, v.text)))
	return h.Sum32()
}

// canonical brings values that are equal in SQL but differ in their text to one
// text; catalog.Publish admits no other such types.
func canonical(baseType, text string) string {
	switch baseType {
	case "numeric":
		if whole, fraction, ok := strings.Cut(text, "."); ok {
			return strings.TrimSuffix(whole+"."+strings.TrimRight(fraction, "0"), ".")
		}
	case "float4", "float8":
		if text == "-0" {
			return "0"
		}
	case "bpchar":
		return strings.TrimRight(text, " ")
	}
	return text
}

// record codes a row for the partition. Values that the stream left out are
// taken from the record as it stood.
func (t *table) record(id incremental.RecordID, values []value, before *incremental.Record) incremental.Record {
	r := incremental.Record{
		ID:        id,
		Cells:     make([]hierarchy.Cell, len(t.qi)),
		Sensitive: make([]uint32, len(t.sensitive)),
	}
	for a, column := range t.qi {
		if v := values[column]; v.kept && before != nil {
			r.Cells[a] = before.Cells[a]
		} else {
			r.Cells[a] = t.cell(a, v)
		}
	}
	for a, column := range t.sensitive {
		if v := values[column]; v.kept && before != nil {
			r.Sensitive[a] = before.Sensitive[a]
		} else {
			r.Sensitive[a] = t.code(a, v)
		}
	}
	return r
}

func (t *table) status() TableStatus {
	return TableStatus{Records: t.partition.Len(), Classes: t.partition.Classes(), Withheld: len(t.partition.Members(0))}
}

// errOutOfStep means that the stream speaks of a row the store does not know,
// or knows already: store and source have parted.
func (t *table) errOutOfStep(what string) error {
	return &StopError{What: fmt.Sprintf("the private store of %s is out of step with the source: %s", t.name(), what), Fix: fixRebuild}
}

func (t *table) insert(values []value) error {
	t.changed = true
	key := t.keyOf(values)
	if _, known := t.records[key]; known {
		return t.errOutOfStep("a row was inserted twice")
	}
	id := t.nextRecord
	if err := t.partition.Insert(t.record(id, values, nil)); err != nil {
		return internal(fmt.Errorf("inserting into the partition of %s: %w", t.name(), err))
	}
	t.nextRecord++
	t.records[key] = id
	t.pending[id] = &pendingRow{inserted: true, values: slices.Clone(values)}
	return nil
}

// update applies a changed row; old holds the values of the key before the
// change.
func (t *table) update(old, values []value) error {
	t.changed = true
	oldKey := t.keyOf(old)
	id, known := t.records[oldKey]
	if !known {
		return t.errOutOfStep("an unknown row was updated")
	}
	for _, i := range t.key {
		if values[i].kept {
			values[i] = old[i]
		}
	}
	if key := t.keyOf(values); key != oldKey {
		if _, taken := t.records[key]; taken {
			return t.errOutOfStep("a row's key was changed to one that exists")
		}
		delete(t.records, oldKey)
		t.records[key] = id
	}
	before, _, _ := t.partition.Record(id)
	after := t.record(id, values, &before)
	if err := t.partition.Modify(after); err != nil {
		return internal(fmt.Errorf("modifying a record in the partition of %s: %w", t.name(), err))
	}
	// Columns that the partition does not know may have changed as well.
	if err := t.partition.Touch(id); err != nil {
		return internal(fmt.Errorf("touching a record in the partition of %s: %w", t.name(), err))
	}
	t.remember(id, values)
	return nil
}

func (t *table) remember(id incremental.RecordID, values []value) {
	row, pending := t.pending[id]
	if !pending {
		t.pending[id] = &pendingRow{values: slices.Clone(values)}
		return
	}
	for i, v := range values {
		if !v.kept {
			row.values[i] = v
		}
	}
}

func (t *table) delete(old []value) error {
	t.changed = true
	key := t.keyOf(old)
	id, known := t.records[key]
	if !known {
		return t.errOutOfStep("an unknown row was deleted")
	}
	if err := t.partition.Delete(id); err != nil {
		return internal(fmt.Errorf("deleting from the partition of %s: %w", t.name(), err))
	}
	delete(t.records, key)
	row, pending := t.pending[id]
	delete(t.pending, id)
	if !pending || !row.inserted {
		t.deleted = append(t.deleted, id)
	}
	return nil
}

func (t *table) truncate() {
	t.changed = true
	t.partition.Truncate()
	clear(t.records)
	clear(t.pending)
	t.deleted = t.deleted[:0]
	t.truncated = true
}

// written forgets what the store has been told.
func (t *table) written() {
	clear(t.pending)
	t.deleted = t.deleted[:0]
	t.truncated, t.changed = false, false
}
