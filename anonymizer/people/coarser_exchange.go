package people

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Where all is known, groups that are made of all classes at once are improved by what their slots lose when they are united: classes of
// near groups change places while that helps, as persons do between classes (clustering.go). It follows from what is published of the classes.

// What is lost counts a row without a slot as less than one whose values are hidden, and root values little: groups are made by
// these, so that near groups differ little in them. With persons' weights, 1 and DefaultRootWeight, more rows keep their keys, and visits are
// wider.
const (
	weightOfKeyless = 0.7
	weightOfRoot    = 0.4
)

// blockClasses is how many finer classes the groups of a block have, all of which may change places with each other.
const blockClasses = 40

// exchanging improves the groups of a block.
type exchanging struct {
	*unitedTrees
	groups [][]int
	losses []float64
}

func (e *exchanging) run(ctx context.Context) {
	for _, members := range e.groups {
		e.losses = append(e.losses, e.loss(members))
	}
	for range sweeps {
		changed := false
		for i := range e.groups {
			for j := range i {
				if ctx.Err() != nil {
					return
				}
				changed = e.exchange(i, j) || changed
			}
		}
		if !changed {
			return
		}
	}
}

// exchange has classes of two groups change places by pairs, where both groups then lose less together and have enough persons.
func (e *exchanging) exchange(i, j int) (changed bool) {
	const enough = 1e-9 // of what rounding may pretend
	one, other := e.groups[i], e.groups[j]
	for x := range one {
		for y := range other {
			one[x], other[y] = other[y], one[x]
			if e.size(one) >= e.of.least && e.size(other) >= e.of.least {
				before := e.losses[i] + e.losses[j] - enough
				if first := e.loss(one); first < before {
					if second := e.loss(other); first+second < before {
						e.losses[i], e.losses[j], changed = first, second, true
						continue
					}
				}
			}
			one[x], other[y] = other[y], one[x]
		}
	}
	return changed
}

// arrange makes the first groups where all is known, and reports whether it has: later classes go where nested.Groups has them. Groups with
// constraints of the audience's own are left to nested.Groups.
func (s *coarsening) arrange(ctx context.Context) (bool, error) {
	if !s.of.knows.All || s.groups.Classes() > 0 || s.restored != nil || len(s.stated) > 0 || s.classes.whole.Records < s.least || len(s.classes.list) == 0 {
		return false, nil
	}
	ids := slices.Sorted(slices.Values(s.classes.list))
	classes := make([]nested.Class, len(ids))
	for i, id := range ids {
		classes[i] = nested.Class{Labels: s.classes.Generalize(id), Sensitive: make([][]uint32, s.classes.Size(id))}
	}
	t := s.united()
	for _, id := range ids {
		t.place(id)
	}
	groups, err := s.unite(ctx, classes, s.least)
	if err != nil {
		return false, err
	}
	if err := s.improve(ctx, t, classes, groups); err != nil {
		return false, err
	}
	first := s.groups.NextClass()
	for i, members := range groups {
		for _, class := range members {
			if err := s.groups.Load(ids[class], first+incremental.ClassID(i)); err != nil {
				return false, fmt.Errorf("uniting classes of persons: %w", err)
			}
		}
	}
	return true, nil
}

// unite unites classes by what is known of them.
func (s *coarsening) unite(ctx context.Context, classes []nested.Class, persons int) ([][]int, error) {
	groups, err := nested.UniteClasses(ctx, s.classes.attributes, classes, privacy.ConstraintSet{privacy.KAnonymity{K: persons}}, anonymizer.Options{Seed: s.options.Seed})
	if err != nil {
		return nil, fmt.Errorf("uniting classes of persons: %w", err)
	}
	return groups, nil
}

// improve exchanges classes between groups that are near each other, on every processor.
func (s *coarsening) improve(ctx context.Context, t *unitedTrees, classes []nested.Class, groups [][]int) error {
	united := make([]nested.Class, len(groups))
	for i, members := range groups {
		united[i].Sensitive = make([][]uint32, t.size(members))
		for a, attribute := range s.classes.attributes {
			labels := make([]hierarchy.Generalization, len(members))
			for j, class := range members {
				labels[j] = classes[class].Labels[a]
			}
			united[i].Labels = append(united[i].Labels, hierarchy.Union(attribute.Hierarchy, labels))
		}
	}
	whole := s.classes.whole.Records
	blocks, err := s.unite(ctx, united, min(whole, whole*blockClasses/len(classes)))
	if err != nil {
		return err
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(blocks), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for b := int(next.Add(1)) - 1; b < len(blocks); b = int(next.Add(1)) - 1 {
				(&exchanging{unitedTrees: t, groups: pick(groups, [][]int{blocks[b]})[0]}).run(ctx)
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}
