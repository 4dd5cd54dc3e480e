package metric_test

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func TestProsecutor(t *testing.T) {
	t.Parallel()
	table := zoo(t)
	r := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3, 4}}, Withheld: []int32{5}}
	if risk := metric.Prosecutor(table, r); risk != (metric.Risk{Highest: 0.5, Average: 0.4}) {
		t.Errorf("%+v", risk)
	}
	// Records 2, 3 and 4 are of one person, who is certain to be found.
	persons, err := table.WithSubjects([]uint32{1, 2, 3, 3, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	if risk := metric.Prosecutor(persons, r); risk != (metric.Risk{Highest: 1, Average: 2.0 / 3}) {
		t.Errorf("%+v of persons", risk)
	}
	if risk := metric.Prosecutor(table, &anonymizer.Release{Withheld: []int32{0, 1, 2, 3, 4, 5}}); risk != (metric.Risk{}) {
		t.Errorf("%+v of nothing", risk)
	}
}

// TestJournalist: of the population, 3 records fit the class {3, 8} of birds (4
// sparrow, 8 eagle, 3 sparrow; not 8 horse, 9 eagle), and all but the birds the
// hidden weight of walking animals that are horse or cow.
func TestJournalist(t *testing.T) {
	t.Parallel()
	table := zoo(t)
	weight, animal := table.Attributes()[0].Hierarchy, table.Attributes()[1].Hierarchy
	var weights, animals []hierarchy.Cell
	for _, row := range [][2]string{{"4", "sparrow"}, {"8", "eagle"}, {"3", "sparrow"}, {"8", "horse"}, {"9", "eagle"}, {"80", "cow"}, {workload.Null, "cow"}} {
		weights = append(weights, workload.Encode(weight, row[0]))
		animals = append(animals, animal.Encode(row[1]))
	}
	population, err := anonymizer.NewTable(table.Attributes(), [][]hierarchy.Cell{weights, animals}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {4, 5}}, Withheld: []int32{2, 3}}
	if risk, err := metric.Journalist(table, r, population); err != nil || !near(risk.Highest, 1.0/3) || !near(risk.Average, 1.0/3) {
		t.Errorf("%+v, %v", risk, err)
	}
	// Sparrow and eagle of 0 to 9, any animal of any weight.
	levels := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3, 4, 5}}, Levels: [][]uint8{{1, 1}, {3, 3}}}
	if risk, err := metric.Journalist(table, levels, population); err != nil || !near(risk.Highest, 1.0/4) || !near(risk.Average, (2.0/4+4.0/7)/6) {
		t.Errorf("%+v, %v by levels", risk, err)
	}
	persons, err := population.WithSubjects([]uint32{1, 1, 1, 2, 3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	if risk, err := metric.Journalist(table, r, persons); err != nil || risk.Highest != 1 || !near(risk.Average, (2+2.0/3)/4) {
		t.Errorf("%+v, %v of persons", risk, err)
	}
	empty, err := anonymizer.NewTable(table.Attributes(), [][]hierarchy.Cell{nil, nil}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if risk, err := metric.Journalist(table, r, empty); err != nil || risk.Highest != 1 {
		t.Errorf("%+v, %v of no population", risk, err)
	}
	attributes := table.Attributes()
	swapped, err := anonymizer.NewTable([]anonymizer.Attribute{attributes[1], attributes[0]}, [][]hierarchy.Cell{animals, weights}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := metric.Journalist(table, r, swapped); err == nil {
		t.Error("other attributes do")
	}
}

// TestJournalistByBruteForce looks at every record of the population for each
// class.
func TestJournalistByBruteForce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		table, r := brutal(t, seed, 20+int(seed), 4)
		over, highest := []int{0, 1, 2, 3}, 0.0
		for _, class := range r.Classes {
			fitting := 0
			for i := range table.Len() {
				if inside, _ := fits(table, class, func(a int) hierarchy.Cell { return table.Cells(a)[i] }, over); inside {
					fitting++
				}
			}
			highest = max(highest, 1/float64(fitting))
		}
		if risk, err := metric.Journalist(table, r, table); err != nil || !near(risk.Highest, highest) {
			t.Fatalf("seed %d: %v, %v, %v expected", seed, risk, err, highest)
		}
	}
}
