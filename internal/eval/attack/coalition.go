package attack

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// Coalitions is what readers of several releases of one table achieve who pool them, beside one who
// has the finest alone: where the coarser releases are unions of the finer ones' classes, and, as the
// control, where each is made by itself.
type Coalitions struct {
	Setup Setup       `json:"setup"`
	Runs  []Coalition `json:"runs"`
}

// Coalition is one world, published in one way, and what some readers learn.
type Coalition struct {
	Rate     float64   `json:"rate"`
	Versions int       `json:"versions"` // of the finest release
	Updates  string    `json:"updates"`  // "immediate", or "guarded" with the crowd
	Releases string    `json:"releases"` // "nested" or "apart"
	Readers  string    `json:"readers"`  // "finest", "coarsest" or "pooled"; "... with a further column", which they guess
	Guesses  []Success `json:"attackers"`
	// Atoms are the smallest sets of people that these readers can tell apart over all versions, held to the
	// constraints of the finest release that they have.
	Atoms Atoms `json:"atoms"`
	// Candidates is the mean number of people whom somebody who knows everybody's class in all
	// releases cannot tell from a target at the end, Fewest the least, and Fewer the share of the
	// targets with less than the finest k.
	Candidates float64 `json:"candidates"`
	Fewest     int     `json:"fewest"`
	Fewer      float64 `json:"fewer"`
}

// The ways of publishing several releases, and who reads them.
const (
	nestedReleases = "nested"
	apartReleases  = "apart"
	finestAlone    = "finest"
	coarsestAlone  = "coarsest"
	pooled         = "pooled"
)

// RunCoalitions makes the experiment: Setup.K are the audiences, the finest first, all with the same
// alpha and l, with updates that are immediate, and guarded with each crowd. The error is the context's, or Validate's.
func RunCoalitions(ctx context.Context, s Setup) (*Coalitions, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	outcome := &Coalitions{Setup: s}
	for _, rate := range s.Rates {
		w := newWorld(s, rate)
		targets := w.targets(s.Seed, s.Targets)
		for _, crowd := range append([]int{0}, s.Crowds...) {
			for _, releases := range []string{nestedReleases, apartReleases} {
				runs, err := s.runCoalition(ctx, w, targets, Coalition{Rate: rate, Updates: updatesOf(crowd), Releases: releases}, crowd)
				if err != nil {
					return nil, err
				}
				outcome.Runs = append(outcome.Runs, runs...)
			}
		}
		runs, err := s.runColumn(ctx, w, targets, rate)
		if err != nil {
			return nil, err
		}
		outcome.Runs = append(outcome.Runs, runs...)
	}
	return outcome, ctx.Err()
}

// updatesOf names the updates with a crowd, 0 for immediate ones.
func updatesOf(crowd int) string {
	if crowd == 0 {
		return "immediate"
	}
	return fmt.Sprintf("guarded, crowd %d", crowd)
}

// runCoalition publishes a world in one way, and has all readers attack.
func (s Setup) runCoalition(ctx context.Context, w *world, targets []target, as Coalition, crowd int) (runs []Coalition, err error) {
	s.report("rate %g: publishing, %s, %s", as.Rate, as.Updates, as.Releases)
	var histories []*history
	if crowd == 0 {
		histories, err = s.publishAudiences(ctx, w, as.Releases == nestedReleases, s.constraints)
	} else {
		histories, err = s.publishGuarded(ctx, w, crowd, as.Releases == nestedReleases)
	}
	if err != nil {
		return nil, fmt.Errorf("publishing for several audiences: %w", err)
	}
	last := len(histories) - 1
	for _, readers := range []struct {
		name string
		read []*history
		k    int
	}{{finestAlone, histories[:1], s.K[0]}, {coarsestAlone, histories[last:], s.K[last]}, {pooled, histories, s.K[0]}} {
		s.report("rate %g: attacking, %s, %s, %s", as.Rate, as.Updates, as.Releases, readers.name)
		run := as
		run.Readers, run.Versions = readers.name, len(histories[0].versions)
		coalition := newCoalition(w, readers.read)
		for _, a := range []attacker{fitting{w, readers.read}, coalition} {
			run.Guesses = append(run.Guesses, s.score(ctx, a.name(), a, w, targets))
		}
		run.Atoms = summarizeAtoms(w, coalition.(allKnowing).h, s.constraints(readers.k))
		run.countCandidates(w, readers.read, targets, readers.k)
		runs = append(runs, run)
	}
	return runs, nil
}

// publishAudiences plays the world, and gives what the readers of each audience saw.
func (s Setup) publishAudiences(ctx context.Context, w *world, unions bool, constraints func(k int) privacy.ConstraintSet) ([]*history, error) {
	p := &audiences{immediate: newImmediate(w, constraints(s.K[0]), s.Seed)}
	for i, k := range s.K[1:] {
		one := &audience{shown: newHistory(w, false)}
		cs := constraints(k)
		if unions {
			one.groups = nested.NewGroups(p.partition, w.attributes, cs, nested.Options{Seed: s.Seed, Subjects: w.subjects})
		} else {
			one.partition = incremental.New(w.attributes, cs, partition.RoundedPartition{}, incremental.Options{Seed: s.Seed + uint64(i) + 1, Subjects: w.subjects})
		}
		p.coarser = append(p.coarser, one)
	}
	if err := w.play(ctx, p, false); err != nil {
		return nil, err
	}
	histories := []*history{p.shown}
	for _, one := range p.coarser {
		histories = append(histories, one.shown)
	}
	return histories, nil
}

// audiences publishes one table for several audiences.
type audiences struct {
	*immediate
	coarser []*audience
}

// audience is a coarser release: of groups over the finest partition, or of a partition of its own.
type audience struct {
	groups    *nested.Groups
	partition *incremental.Partition
	shown     *history
}

func (p *audiences) apply(c commit, number int) error {
	for _, one := range p.coarser {
		if one.partition == nil {
			continue
		}
		own := immediate{w: p.w, partition: one.partition}
		if err := own.apply(c, number); err != nil {
			return err
		}
	}
	return p.immediate.apply(c, number)
}

func (p *audiences) publish(ctx context.Context, commit, tick int) error {
	changes, err := p.partition.SettleContext(ctx)
	if err != nil {
		return err
	}
	p.show(p.shown, changes, classSource{p.partition}, commit, tick)
	for _, one := range p.coarser {
		if one.groups != nil {
			grouped, err := one.groups.Settle(ctx, changes)
			if err != nil {
				return err
			}
			p.show(one.shown, grouped, one.groups, commit, tick)
			continue
		}
		own, err := one.partition.SettleContext(ctx)
		if err != nil {
			return err
		}
		p.show(one.shown, own, classSource{one.partition}, commit, tick)
	}
	return nil
}

// source is what both partitions and groups tell of their classes.
type source interface {
	AppendSlots(list []int32, class incremental.ClassID) []int32
	InSlot(slot int32) incremental.RecordID
	Generalize(class incremental.ClassID) []hierarchy.Generalization
}

type classSource struct{ *incremental.Partition }

// show makes a version of what has changed.
func (p *audiences) show(h *history, changes incremental.Changes, from source, commit, tick int) {
	if len(changes.Retired)+len(changes.Rewrite) == 0 {
		return
	}
	h.begin(commit, tick, 1)
	for _, class := range changes.Retired {
		h.retire(int64(class))
	}
	for _, class := range changes.Rewrite {
		var rows []row
		var elements []element
		for _, slot := range from.AppendSlots(nil, class) {
			id := int32(from.InSlot(slot))
			s := p.w.lives[id].at(commit)
			rows, elements = append(rows, row{id, s.value}), append(elements, element{id, s.epoch})
		}
		h.show(int64(class), bounds(p.w.attributes, from.Generalize(class)), rows, elements, 1)
	}
}

// fitting keeps of the values where a target fits those that are there in all releases, in the last
// version of each that shows the target.
type fitting struct {
	w *world
	h []*history
}

func (fitting) name() string { return "fitting" }
func (fitting) proves() bool { return false }

func (a fitting) guess(t target) distribution {
	var least [diagnoses]int
	for i, h := range a.h {
		l := a.w.lives[t.record]
		first, last := h.span(l)
		if first > last {
			return nil
		}
		var counts [diagnoses]int
		cells := l.at(max(h.versions[last].commit, l.born)).cells
		for _, v := range h.at(last) {
			if !h.holds(v, cells) {
				continue
			}
			for value, n := range v.counts {
				counts[value] += n
			}
		}
		for value, n := range counts {
			if i == 0 || n < least[value] {
				least[value] = n
			}
		}
	}
	d := make(distribution, diagnoses)
	d.addCounts(least, 1)
	return d.normalized()
}

// newCoalition is set algebra over all versions of several releases.
func newCoalition(w *world, read []*history) attacker {
	together := &history{attributes: w.attributes, same: w.same}
	for _, h := range read {
		together.views = append(together.views, h.views...)
	}
	return allKnowing{w, together, newAlgebra(read...)}
}

// countCandidates intersects the classes in which each target is at the end.
func (c *Coalition) countCandidates(w *world, read []*history, targets []target, k int) {
	c.Fewest = -1
	counted := 0
	for _, t := range targets {
		if w.lives[t.record].died != never {
			continue
		}
		var candidates map[int32]bool
		for _, h := range read {
			for _, v := range h.at(h.now()) {
				if !slices.ContainsFunc(v.members, func(e element) bool { return e.record == t.record }) {
					continue
				}
				left := map[int32]bool{}
				for _, e := range v.members {
					if candidates == nil || candidates[e.record] {
						left[e.record] = true
					}
				}
				candidates = left
			}
		}
		if candidates == nil {
			continue
		}
		counted++
		c.Candidates += float64(len(candidates))
		if len(candidates) < k {
			c.Fewer++
		}
		if c.Fewest < 0 || len(candidates) < c.Fewest {
			c.Fewest = len(candidates)
		}
	}
	if counted > 0 {
		c.Candidates /= float64(counted)
		c.Fewer /= float64(counted)
	}
}

const aboutCoalitions = `Readers have the finest release alone, the coarsest alone, or pool all. Releases are nested (the
coarser ones unite classes of the finer ones) or made apart from each other. Right: correct
guesses of a diagnosis; belief: in the true one; certain: diagnoses proved, by set algebra.
Candidates: people who cannot be told from the target by somebody who knows everybody's classes
at the end; fewest, and the share of targets with fewer than k. Violating: sets of people who
were in the same classes in all versions, and violate the constraints; all sets.
With a further column, that is guessed, not the diagnosis: the coarsest audience alone sees it, and a
finest release with it is the bound for who pools that with the finest.

`

// WriteText writes the figures for a terminal.
func (o *Coalitions) WriteText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "k = %d, %d people\n%s", o.Setup.K, o.Setup.Records, aboutCoalitions); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	rows := [][]string{{"rate", "updates", "versions", "releases", "readers", "right", "belief", "certain", "fitting: right", "candidates", "fewest", "fewer than k", "violating", "sets"}}
	percent := func(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }
	for _, r := range o.Runs {
		fits, algebra := r.Guesses[0], r.Guesses[1]
		rows = append(rows, []string{
			strconv.FormatFloat(r.Rate, 'g', -1, 64), r.Updates, strconv.Itoa(r.Versions), r.Releases, r.Readers,
			percent(algebra.Right), percent(algebra.Posterior), percent(algebra.Certain), percent(fits.Right),
			strconv.FormatFloat(r.Candidates, 'f', 1, 64), strconv.Itoa(r.Fewest), percent(r.Fewer),
			strconv.Itoa(r.Atoms.Violating), strconv.Itoa(r.Atoms.Sets),
		})
	}
	return report.Table{Rows: rows}.WriteText(w)
}

// WriteJSON writes all figures.
func (o *Coalitions) WriteJSON(w io.Writer) error { return report.WriteJSON(w, o) }
