package lineage_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// begin has a release begin behind the others while the lineage is under way: all classes that are shown before it wait for it,
// with what that has published of them.
func (o *coarseReader) begin() {
	shown := map[incremental.ClassID]bool{}
	if o.before != nil {
		for _, r := range o.before.rows {
			shown[r.group] = true
		}
	} else {
		for _, r := range o.m.journal.rows {
			shown[r.class] = true
		}
	}
	for class := range shown {
		u := lineage.CoarserUnit{Class: class}
		for a, label := range o.published(class) {
			u.Labels = append(u.Labels, hierarchy.Show(o.attributes[a].Hierarchy, label))
		}
		o.units[class] = u
	}
	o.release.StartAt(1)
	o.load()
}

// changing are coarser releases of which some begin, and some are loosened, while the lineage is under way.
type changing struct {
	m       *model
	readers []*coarseReader
	wanted  []privacy.ConstraintSet // of those that have not begun
	loosest []privacy.ConstraintSet // of those that have, and are to be loosened once
	begun   int
	loosed  int
}

func newChanging(t *testing.T, random *rand.Rand, s setting, audiences [2]privacy.ConstraintSet) *changing {
	c := &changing{m: newModel(t, random, s), wanted: []privacy.ConstraintSet{audiences[0], audiences[1], audiences[1]}, loosest: []privacy.ConstraintSet{s.constraints, audiences[0], audiences[0]}}
	c.m.versioned = func() {
		for _, o := range c.readers {
			if err := o.version(); err != nil {
				c.m.must(fmt.Errorf("level %d: %w", o.level, err))
			}
		}
	}
	c.m.restarted = c.restart
	return c
}

// restart loads all releases, each of them by its constraints or by looser ones from now on, and may have another one begin.
func (c *changing) restart() {
	for i, o := range c.readers {
		// The releases behind a loosened one are the same as before: theirs follow from their own constraints.
		if c.loosest[i] != nil && c.m.random.IntN(6) == 0 && (i == 0 || c.loosest[i-1] == nil) {
			o.constraints, c.loosest[i] = c.loosest[i], nil
			c.loosed++
		}
		next := o.release.NextGroup()
		o.add()
		o.release.StartAt(next)
		o.load()
	}
	if n := len(c.readers); n < len(c.wanted) && (c.m.random.IntN(4) == 0 || n == 0) {
		var before *coarseReader
		if n > 0 {
			before = c.readers[n-1]
		}
		o := newCoarseReader(c.m, before, c.wanted[n], n > 0)
		o.begin()
		c.readers = append(c.readers, o)
		c.begun++
	}
}

// TestCoarserGuaranteeWhileAudiencesChange runs random operations while releases begin, at restarts, and have looser constraints from then
// on. Readers of each release are held to the loosest that it had, and those who pool all of them, in all versions, to what
// the lineage tells alone. That none of a release is taken away changes nothing for the others: it goes on, unseen.
func TestCoarserGuaranteeWhileAudiencesChange(t *testing.T) {
	t.Parallel()
	for what, audiences := range stricter {
		for _, persons := range []int{0, 60} {
			t.Run(fmt.Sprintf("%s/persons=%d", what, persons), func(t *testing.T) {
				t.Parallel()
				groups, begun, loosed := 0, 0, 0
				for i, name := range methods.Names() {
					for seed := range uint64(2) {
						random := rand.New(rand.NewPCG(uint64(70+i), 1000*seed+uint64(len(what)+persons)))
						s := randomSetting(random, sets[what], persons)
						s.method, _ = methods.Named(name)
						s.options.Deadline, s.options.Batch = 0, 0
						if methods.Refusal(s.method, newModel(t, rand.New(rand.NewPCG(1, 1)), s).source.Data.Attributes, s.constraints) != nil {
							continue
						}
						c := newChanging(t, random, s, audiences)
						c.m.operate(12)
						c.m.restart()
						for range 20 {
							c.readers[random.IntN(len(c.readers))].tide()
						}
						c.m.must(checkReaders(c.m, c.readers))
						for _, o := range c.readers {
							groups += len(o.ever)
						}
						begun, loosed = begun+c.begun, loosed+c.loosed
					}
				}
				t.Logf("%d groups, %d releases begun, %d loosened", groups, begun, loosed)
				if groups == 0 || begun == 0 || loosed == 0 {
					t.Errorf("%d groups, %d releases begun, %d loosened", groups, begun, loosed)
				}
			})
		}
	}
}
