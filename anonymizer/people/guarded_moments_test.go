package people_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// visit is a row of a history that is told in two ways.
type visit struct {
	person int
	window int32
	date   float64
}

// appearance is how a visit is published.
type appearance struct {
	version   int
	cell      int64
	pooled    bool
	pseudonym uint64
}

const historyPersons = 24

// appearances publishes after every visit, one an hour, and says how each appears.
func appearances(t *testing.T, visits []visit) map[int]appearance {
	t.Helper()
	number := attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	shape := people.Shape{Root: []anonymizer.Attribute{number}, Tables: []people.TableShape{{Name: "visits", Attributes: []anonymizer.Attribute{number}, Parent: people.Root, Order: 0}}}
	next := uint64(0)
	g, err := people.NewGuarded(shape, privacy.ConstraintSet{privacy.KAnonymity{K: 3}}, people.Knows{Crowd: 4}, people.GuardedOptions{
		MaintainedOptions: people.MaintainedOptions{Method: method, Random: rand.New(rand.NewPCG(1, 2)), Pseudonym: func(int) uint64 { next++; return next }},
		RowsWithin:        30 * time.Hour,
	})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	now := guardedStart
	for p := range historyPersons {
		must(g.Insert(people.Root, people.Row{ID: incremental.RecordID(p + 1), Key: rowKey(people.Root, p), Cells: []hierarchy.Cell{float64(p)}}, now))
	}
	seen := map[int]appearance{}
	for version := range len(visits) + 40 {
		if version < len(visits) {
			v := visits[version]
			must(g.Insert(0, people.Row{ID: incremental.RecordID(version + 1), Of: rowKey(people.Root, v.person), Window: v.window, Cells: []hierarchy.Cell{v.date}}, now))
		}
		changes, err := g.Publish(t.Context(), now)
		must(err)
		for _, cell := range changes.Tables[0].Cells {
			for _, r := range cell.Rows {
				seen[int(r.ID-1)] = appearance{version, cell.ID, cell.Pooled, r.Person}
			}
		}
		now = now.Add(time.Hour)
	}
	return seen
}

// TestMomentsDoNotTellWhoseRowsAreTogether: the known row of a person could as well be published
// under the pseudonym of another person of its cell. So it is shown at the same moments, with the
// same rows, if the two persons exchange all their other rows of the window: an outsider who
// knows when every row of a class was written cannot tell these worlds apart.
func TestMomentsDoNotTellWhoseRowsAreTogether(t *testing.T) {
	t.Parallel()
	exchanged, other := 0, 0
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 4))
		var visits []visit
		for range 150 {
			// Some persons come often.
			visits = append(visits, visit{random.IntN(1 + random.IntN(historyPersons)), int32(random.IntN(2)), float64(random.IntN(3))})
		}
		seen := appearances(t, visits)
		for range 10 {
			one := random.IntN(len(visits))
			a := visits[one]
			for two, b := range visits {
				if seen[one].pooled || seen[one].cell != seen[two].cell || a.person == b.person {
					continue
				}
				twisted := append([]visit(nil), visits...)
				for i, v := range visits {
					switch {
					case v.window != a.window || i == one || i == two:
					case v.person == a.person:
						twisted[i].person, other = b.person, other+1
					case v.person == b.person:
						twisted[i].person, other = a.person, other+1
					}
				}
				exchanged++
				if err := atTheSameMoments(seen, appearances(t, twisted)); err != nil {
					t.Fatalf("seed %d, visits %d and %d: %v", seed, one, two, err)
				}
				break
			}
		}
	}
	if exchanged < 50 || other < 100 {
		t.Errorf("%d rows were exchanged, with %d others: the test shows nothing", exchanged, other)
	}
}

func atTheSameMoments(a, b map[int]appearance) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d visits are shown, and %d", len(a), len(b))
	}
	for i, one := range a {
		if two := b[i]; one.version != two.version || one.pooled != two.pooled {
			return fmt.Errorf("visit %d is shown at %+v, and at %+v", i, one, two)
		}
	}
	return nil
}
