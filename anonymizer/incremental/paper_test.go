package incremental

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// printed are the classes of table 1(b): age, and zip code in thousands.
var printed = [][2]extent{
	{{21, 25}, {11, 20}},
	{{41, 50}, {21, 30}},
	{{51, 55}, {51, 60}},
}

func tqgssd(age, zip float64, e [2]extent) float64 {
	return recordSimilarity(age, e[0].low, e[0].high, 0) + recordSimilarity(zip, e[1].low, e[1].high, 0)
}

func qgssd(e, f [2]extent) float64 {
	sum := 0.0
	for a := range e {
		sum += classSimilarity((e[a].low+e[a].high)/2, f[a].low, f[a].high, 0)
	}
	return sum
}

// TestPaperSimilarities are the figures of examples 6, 8 and 9, and example 7
// as corrected; the paper cuts off where it should round.
func TestPaperSimilarities(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"example 6, t1 and QG1", tqgssd(21, 12, printed[0]), 2},
		{"example 6, t1 and QG2", tqgssd(21, 12, printed[1]), 0.52},
		{"example 8, (55,62000) and QG1", tqgssd(55, 62, printed[0]), 0.16},
		{"example 8, (55,62000) and QG2", tqgssd(55, 62, printed[1]), 0.597},
		{"example 8, (55,62000) and QG3", tqgssd(55, 62, printed[2]), 1.69},
		{"example 7 and 9, QG1 and QG2", qgssd(printed[0], printed[1]), 0.144},
		{"example 9, QG1 and QG3", qgssd(printed[0], printed[2]), 0.058},
	} {
		if math.Abs(c.got-c.want) > 0.005 {
			t.Errorf("%s: %.4f, %.4f expected", c.name, c.got, c.want)
		}
	}
}

// table1 loads the microdata of table 1(a) in the classes of table 1(b), where
// t5 is in group 2. Records and classes have the paper's numbers.
func table1(t *testing.T) *Partition {
	t.Helper()
	spec := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	attributes := []anonymizer.Attribute{workload.Attribute("age", spec), workload.Attribute("zip", spec)}
	p := New(attributes, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, partition.RoundedPartition{}, Options{})
	for class, records := range map[ClassID][]Record{
		1: {person(1, 21, 12000), person(2, 23, 18000)},
		2: {person(3, 48, 28000), person(4, 42, 23000), person(5, 49, 25000)},
		3: {person(6, 52, 52000), person(7, 53, 59000)},
	} {
		if err := p.Load(class, records); err != nil {
			t.Fatal(err)
		}
	}
	if c := p.Settle(); len(c.Moved)+len(c.Rewrite)+len(c.Retired) > 0 {
		t.Fatalf("table 1 is 2-anonymous and %+v changed", c)
	}
	return p
}

func person(id RecordID, age, zip float64) Record {
	return Record{ID: id, Cells: []hierarchy.Cell{age, zip}}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPaperExample8 inserts (24,17000), which lies near QG1, and (55,62000),
// which widens QG3.
func TestPaperExample8(t *testing.T) {
	t.Parallel()
	p := table1(t)
	must(t, p.Insert(person(8, 24, 17000)), p.Insert(person(9, 55, 62000)))
	changes := p.Settle()
	want := Changes{Moved: map[RecordID]ClassID{8: 1, 9: 3}, Rewrite: []ClassID{1, 3}}
	if !reflect.DeepEqual(changes, want) {
		t.Errorf("changes %+v, %+v expected", changes, want)
	}
	if zip := p.Generalize(3)[1]; zip.Lower != "52000" || zip.Upper != "62000" {
		t.Errorf("class 3 covers %+v", zip)
	}
}

// TestPaperExample9 deletes t5, after which nothing else happens, and then t2,
// after which QG1 is too small and QG2 the most similar class.
func TestPaperExample9(t *testing.T) {
	t.Parallel()
	p := table1(t)
	must(t, p.Delete(5))
	if c := p.Settle(); !reflect.DeepEqual(c, Changes{Moved: map[RecordID]ClassID{}, Rewrite: []ClassID{2}}) {
		t.Errorf("after deleting t5: %+v", c)
	}
	must(t, p.Delete(2))
	c := p.Settle()
	want := Changes{Moved: map[RecordID]ClassID{1: 2}, Rewrite: []ClassID{2}, Retired: []ClassID{1}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("after deleting t2: %+v, %+v expected", c, want)
	}
	if got := p.Members(2); !slices.Equal(got, []RecordID{1, 3, 4}) {
		t.Errorf("class 2 has the members %v", got)
	}
}

// TestPaperExample10 makes everybody of QG1 ten years older: they stay together
// and are covered by what INSERT gives, not by the printed [31,35].
func TestPaperExample10(t *testing.T) {
	t.Parallel()
	p := table1(t)
	must(t, p.Modify(person(1, 31, 12000)), p.Modify(person(2, 33, 18000)))
	p.Settle()
	_, first, _ := p.Record(1)
	_, second, _ := p.Record(2)
	if first == withheld || second == withheld {
		t.Fatal("a modified record is withheld")
	}
	for _, class := range []ClassID{first, second} {
		if n := len(p.Members(class)); n < 2 || n > 3 {
			t.Errorf("class %d has %d members", class, n)
		}
	}
}

// TestModifyWithinTheClass: the record stays, its class is written anew.
func TestModifyWithinTheClass(t *testing.T) {
	t.Parallel()
	p := table1(t)
	must(t, p.Modify(person(3, 45, 26000)))
	if c := p.Settle(); !reflect.DeepEqual(c, Changes{Moved: map[RecordID]ClassID{}, Rewrite: []ClassID{2}}) {
		t.Errorf("%+v", c)
	}
	if age := p.Generalize(2)[0]; age.Lower != "42" || age.Upper != "49" {
		t.Errorf("class 2 covers the ages %+v", age)
	}
}

// syntheticClasses makes a partition with many small classes and no records.
func syntheticClasses(n, d int, random *rand.Rand) *Partition {
	p := New(make([]anonymizer.Attribute, d), privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, partition.RoundedPartition{}, Options{})
	for i := range n {
		index := p.members.classes.add(ClassID(i+1), 10)
		for a := range d {
			low := random.Float64() * 100
			e := extent{low, low + random.Float64()*3}
			if random.IntN(30) == 0 {
				e = extent{hiddenAt, hiddenAt}
			}
			p.members.classes.row(index)[a] = e
			p.domain[a] = extent{0, 103}
		}
	}
	return p
}

// TestIncrementalLoss: Adult grown in two halves and one by one at the end loses
// not much more information than if all had been anonymized at once.
func TestIncrementalLoss(t *testing.T) {
	table, err := anonymizertest.Adult("../../../shared/data/adult")
	if err != nil {
		t.Skip("skipped: ", err)
	}
	if testing.Short() {
		t.Skip("skipped: takes seconds")
	}
	c := privacy.ConstraintSet{privacy.KAnonymity{K: 5}}
	batch, err := partition.RoundedPartition{}.Anonymize(context.Background(), table, c, anonymizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := New(table.Attributes(), c, partition.RoundedPartition{}, Options{})
	for i := range table.Len() {
		cells := make([]hierarchy.Cell, len(table.Attributes()))
		for a := range cells {
			cells[a] = table.Cells(a)[i]
		}
		must(t, p.Insert(Record{ID: RecordID(i), Cells: cells}))
		if i >= table.Len()*9/10 || i == table.Len()/2 {
			p.Settle()
		}
	}
	p.Settle()
	r := &anonymizer.Release{}
	for _, class := range p.members.classes.list {
		e := make(anonymizer.EquivalenceClass, len(class.members))
		for i, slot := range class.members {
			e[i] = int32(p.members.records.ids[slot])
		}
		r.Classes = append(r.Classes, e)
	}
	once, grown := metric.GCP(table, batch), metric.GCP(table, r)
	t.Logf("information loss: at once %.2f %%, grown %.2f %%, %d classes", 100*once, 100*grown, len(r.Classes))
	if grown > 2*once {
		t.Errorf("information loss %.4f, at once %.4f", grown, once)
	}
}

func BenchmarkNearest(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		random := rand.New(rand.NewPCG(1, 1))
		p := syntheticClasses(n, 8, random)
		v := make([]float64, 8)
		for a := range v {
			v[a] = random.Float64() * 100
		}
		b.Run(fmt.Sprintf("classes=%d/qi=8", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.nearest.toRecord(context.Background(), v)
			}
		})
	}
}

func BenchmarkInsert(b *testing.B) {
	for _, rows := range []int{10_000, 100_000} {
		d := workload.Generate(1, workload.Shape{Records: rows + 10_000, Attributes: 8, Distinct: 2000})
		p := New(d.Attributes, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, partition.RoundedPartition{}, Options{})
		insert := func(id RecordID, row int) {
			r := Record{ID: id}
			for a := range d.Cells {
				r.Cells = append(r.Cells, d.Cells[a][row])
			}
			if err := p.Insert(r); err != nil {
				b.Fatal(err)
			}
		}
		for i := range rows {
			insert(RecordID(i), i)
		}
		p.Settle()
		next := rows
		b.Run(fmt.Sprintf("rows=%d/qi=8/k=5", rows), func(b *testing.B) {
			for b.Loop() {
				insert(RecordID(next), rows+next%10_000)
				next++
				p.Settle()
			}
		})
	}
}
