package attack

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// The tables of a kind, beside the root: drugs are of visits.
const (
	visitsTable = 0
	drugsTable  = 1
	kindTables  = 2
)

// kindValues are what a row says: of a visit its ward and a further column, which one audience alone sees; of a drug its name.
type kindValues struct{ value, further uint32 }

// kindRow is a row of visits, or of drugs. Its states follow one another as it is changed.
type kindRow struct {
	person, parent int // the parent of a drug is the visit's number
	day            int
	states         []kindValues
}

// kindChange is one change of a row, or of a person's.
type kindChange struct {
	table int // people.Root for persons
	row   int
	what  changeOf
	state int // of a row that is changed, from now on
}

type changeOf int

const (
	inserts changeOf = iota
	changes
	deletes
)

// kindWorld is what happens to persons and their rows, in commits.
type kindWorld struct {
	setup   KindSetup
	root    []anonymizer.Attribute
	date    anonymizer.Attribute
	persons [][][]hierarchy.Cell // in each state
	rows    [kindTables][]kindRow
	begin   []kindChange   // before the first publication
	commits [][]kindCommit // by day
}

// kindCommit is a transaction.
type kindCommit []kindChange

func newKindWorld(s KindSetup) *kindWorld {
	random := rand.New(rand.NewPCG(s.Seed, uint64(s.Persons)))
	number, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	if err != nil {
		panic(err) // the specification is complete
	}
	w := &kindWorld{setup: s, date: anonymizer.Attribute{Name: "day", Hierarchy: number}, commits: make([][]kindCommit, s.Days+1)}
	pool := workload.AdultLike(s.Seed, s.Persons)
	cellsOf := func(person int) []hierarchy.Cell {
		cells := make([]hierarchy.Cell, len(used))
		for i, a := range used {
			cells[i] = pool.Cells(a)[person]
		}
		return cells
	}
	for _, a := range used {
		w.root = append(w.root, pool.Attributes()[a])
	}
	for p := range s.Persons {
		const moves = 0.05
		w.persons = append(w.persons, [][]hierarchy.Cell{cellsOf(p)})
		if from, until := w.live(random, p); random.Float64() < moves {
			moved, other := cellsOf(p), cellsOf(random.IntN(s.Persons))
			moved[0] = other[0]
			w.persons[p] = append(w.persons[p], moved)
			if on := from + 1 + random.IntN(s.Days); on < min(until, s.Days) {
				w.at(on, kindCommit{{table: people.Root, row: p, what: changes, state: 1}})
			}
		}
	}
	return w
}

// live has a person come, stay and perhaps leave, with visits. Most are there from the beginning.
func (w *kindWorld) live(random *rand.Rand, person int) (from, until int) {
	const late, leave = 0.1, 0.05
	until = w.setup.Days + 1
	if random.Float64() < late {
		from = 1 + random.IntN(w.setup.Days)
	}
	if random.Float64() < leave {
		until = from + 1 + random.IntN(w.setup.Days)
	}
	w.at(from, kindCommit{{table: people.Root, row: person, what: inserts}})
	var there []kindChange
	for range poisson(random, w.setup.Rate*(random.ExpFloat64()+random.ExpFloat64()+random.ExpFloat64())/3) {
		there = append(there, w.come(random, person, from, until)...)
	}
	if until <= w.setup.Days {
		w.at(until, append(there, kindChange{table: people.Root, row: person, what: deletes}))
	}
	return from, until
}

// come makes a visit while a person is there, and gives the deletes of what is left of it in the end.
func (w *kindWorld) come(random *rand.Rand, person, from, until int) []kindChange {
	const before, prescribed = 0.3, 0.5
	day := from
	if random.Float64() >= before {
		day += random.IntN(max(1, min(until, w.setup.Days+1)-from))
	}
	visit := len(w.rows[visitsTable])
	row := kindRow{person: person, day: day, states: []kindValues{w.values(random, person)}}
	commit := kindCommit{{table: visitsTable, row: visit, what: inserts}}
	gone := []kindChange{{table: visitsTable, row: visit, what: deletes}}
	if random.Float64() < prescribed {
		drug := len(w.rows[drugsTable])
		w.rows[drugsTable] = append(w.rows[drugsTable], kindRow{person: person, parent: visit, day: day, states: []kindValues{{value: row.states[0].value / 2}}})
		commit = append(commit, kindChange{table: drugsTable, row: drug, what: inserts})
		gone = slices.Insert(gone, 0, kindChange{table: drugsTable, row: drug, what: deletes})
	}
	w.at(day, commit)
	switch end, chance := day+1+random.IntN(w.setup.Days), random.Float64(); {
	case end >= until || end > w.setup.Days:
	case chance < w.setup.Deleted:
		w.at(end, gone)
		gone = nil
	case chance < w.setup.Deleted+w.setup.Changed:
		row.states = append(row.states, w.values(random, person))
		w.at(end, kindCommit{{table: visitsTable, row: visit, what: changes, state: 1}})
	}
	w.rows[visitsTable] = append(w.rows[visitsTable], row)
	return gone
}

// values are those of a visit. Wards are the rarer the higher their number, and go with the person; the further column goes with the ward.
func (w *kindWorld) values(random *rand.Rand, person int) (v kindValues) {
	v.value = uint32(min(random.IntN(wards), random.IntN(wards)))
	if random.Float64() < 1.0/3 {
		v.value = uint32((person * 7) % wards)
	}
	const follows = 0.6
	if v.further = v.value / 2; random.Float64() >= follows {
		v.further = random.Uint32N(wards)
	}
	return v
}

// at has something happen on a day; on day 0, before the first publication.
func (w *kindWorld) at(day int, c kindCommit) {
	if day == 0 {
		w.begin = append(w.begin, c...)
		return
	}
	w.commits[day] = append(w.commits[day], c)
}

func (w *kindWorld) shape() people.Shape {
	return people.Shape{Root: w.root, Tables: []people.TableShape{
		{Name: "visits", Attributes: []anonymizer.Attribute{w.date}, Sensitive: 2, Parent: people.Root, Order: 0},
		{Name: "drugs", Sensitive: 1, Parent: visitsTable, Order: -1},
	}}
}

// row is what is inserted, in a state. Windows are a quarter long.
func (w *kindWorld) row(table, number, state int) people.Row {
	const window = 90
	if table == people.Root {
		return people.Row{ID: incremental.RecordID(number + 1), Key: personKey(number), Cells: w.persons[number][state]}
	}
	of := w.rows[table][number]
	r := people.Row{ID: incremental.RecordID(number + 1), Sensitive: []uint32{of.states[state].value}}
	if table == drugsTable {
		r.Of = visitKey(of.parent)
		return r
	}
	r.Key, r.Of, r.Window = visitKey(number), personKey(of.person), int32(of.day/window)
	r.Cells, r.Sensitive = []hierarchy.Cell{float64(of.day)}, append(r.Sensitive, of.states[state].further)
	return r
}

func visitKey(visit int) (key people.Key) {
	binary.BigEndian.PutUint64(key[8:], uint64(visit+1))
	return key
}

// personOf is whose a row is.
func (w *kindWorld) personOf(table, row int) int {
	if table == people.Root {
		return row
	}
	return w.rows[table][row].person
}
