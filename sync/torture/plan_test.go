package torture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// plan is what a seed decides of a run.
type plan struct {
	seed         uint64
	shapes       []*shape
	rows         int // of each table before anything is published, or a little fewer
	writers      int
	transactions int // of each writer
	children     int
	early        bool   // the writers begin before anything is published
	first        string // the failpoint at which the first start ends; empty for none
	pass         int    // the how manieth time that is passed
	jumps        bool   // the children's wall clocks jump
	apart        bool   // store and release are on another server than the source
	faults       []fault
	moving       []fault // the faults that move a server; empty unless they are among those of the run

	// tampered is set while the slot is not what kproxy made it.
	tampered atomic.Bool
	// moved is set since another server took a place, until the tables are in step with it.
	moved atomic.Bool
}

// slowEvery is how many seeds there are for one with a slow fault.
const slowEvery = 25

func newPlan(seed uint64, version pgserver.Version) *plan {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := &plan{
		seed: seed, rows: []int{0, 10, 150, 300}[rng.IntN(4)], writers: 2 + rng.IntN(3), transactions: 40 + rng.IntN(80),
		children: 1, early: rng.IntN(2) == 0, jumps: rng.IntN(4) == 0,
	}
	if rng.IntN(3) == 0 {
		p.children = 2 + rng.IntN(2)
	}
	if rng.IntN(3) == 0 {
		p.first, p.pass = startFailpoints[rng.IntN(len(startFailpoints))], 1+rng.IntN(2)
	}
	every := shapes()
	if version.Major < 14 { // has no way to tell the oracle of partitions
		every = slices.DeleteFunc(every, func(s *shape) bool { return s.far != "" })
	}
	rng.Shuffle(len(every), func(i, j int) { every[i], every[j] = every[j], every[i] })
	p.shapes = every[:min(len(every), 2+rng.IntN(2))]
	for range 1 + rng.IntN(3) {
		p.faults = append(p.faults, drawFault(rng, p.children, false))
	}
	if seed%slowEvery == 0 {
		p.faults = append(p.faults[:1], drawFault(rng, p.children, true))
	}
	p.apart = rng.IntN(2) == 0
	return p
}

// partitioned says that a table has partitions that come and go.
func (p *plan) partitioned() bool {
	return slices.ContainsFunc(p.shapes, func(s *shape) bool { return s.far != "" })
}

func (p *plan) String() string {
	var tables, faults []string
	for _, s := range p.shapes {
		tables = append(tables, s.name)
	}
	if p.first != "" {
		faults = append(faults, fmt.Sprintf("start dies at %s (%d)", p.first, p.pass))
	}
	for _, f := range p.faults {
		faults = append(faults, f.name)
	}
	if p.jumps {
		faults = append(faults, "clock jumps")
	}
	if p.apart {
		faults = append(faults, "two servers")
	}
	return fmt.Sprintf("%d children, %d writers of %d transactions, tables %s of %d rows; %s",
		p.children, p.writers, p.transactions, strings.Join(tables, ", "), p.rows, strings.Join(faults, ", "))
}

// database is the name of the run's database.
func (p *plan) database() string {
	if p.moves() {
		return fmt.Sprintf("apart_%d", p.seed)
	}
	return fmt.Sprintf("torture_%d", p.seed)
}
