package comparison

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/internal/eval"
)

// candidate is a group of methods at the parameters at which methods are compared.
type candidate struct {
	alike
	own bool // the policy's method is in it
	at  eval.Measurement
}

// candidates are the groups at the policy's own parameters, or, where the grid
// does not have them, at those of the first release, by rising information loss.
func (r *Report) candidates() []candidate {
	released := r.Released()
	if len(released) == 0 {
		return nil
	}
	at := released[0]
	if i := slices.IndexFunc(released, r.atPolicy); i >= 0 {
		at = released[i]
	}
	var candidates []candidate
	for _, g := range r.groups() {
		i := slices.IndexFunc(g.runs, func(m eval.Measurement) bool { return m.Refused == "" && sameParameters(m, at) })
		if i >= 0 {
			candidates = append(candidates, candidate{g, g.has(r.PolicyMethod), g.runs[i]})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		if c := cmp.Compare(a.at.Loss, b.at.Loss); c != 0 || a.own == b.own {
			return c
		}
		if a.own {
			return -1
		}
		return 1
	})
	return candidates
}

func (r *Report) atPolicy(m eval.Measurement) bool {
	return m.K == r.PolicyK && m.L == r.PolicyL && m.Alpha == r.PolicyAlpha
}

func sameParameters(a, b eval.Measurement) bool {
	return a.K == b.K && a.L == b.L && a.Alpha == b.Alpha
}

// choice is what the page says first.
type choice struct {
	Title string
	// Paragraphs are about the best method, the policy's own, and larger k.
	Paragraphs []string
	// Compared are the best methods, and the policy's, over the axis of the charts.
	Compared comparison
}

// choose says which method loses least, how the policy's own compares with it, and
// what other parameters cost; nil without a release.
func (r *Report) choose() *choice {
	candidates := r.candidates()
	if len(candidates) == 0 {
		return nil
	}
	best := candidates[0]
	c := &choice{Title: fmt.Sprintf("Least information loss with %s: %s", parameters(best.at), strings.Join(best.methods, ", "))}
	c.say("It loses %s of the information, in %d classes of %d to %d records; %d records are withheld. %s It took %s.",
		percent(best.at.Loss), best.at.Classes, best.at.Smallest, best.at.Largest, best.at.Withheld, r.risk(best.at), seconds(best.at.Seconds))
	own := slices.IndexFunc(candidates, func(c candidate) bool { return c.own })
	switch {
	case own == 0:
		c.say("The policy's method is %s: no other one loses less.", r.PolicyMethod)
	case own > 0:
		c.say("The policy's method, %s, is at place %d of %d: %s.", r.PolicyMethod, own+1, len(candidates), against(candidates[own].at, best.at))
	case r.PolicyMethod != "":
		c.say("The policy's method, %s, was not run.", r.PolicyMethod)
	}
	if !r.atPolicy(best.at) && r.PolicyMethod != "" {
		c.say("The policy's own parameters were not run; this compares the first ones that were.")
	}
	compared := candidates[:1]
	if own > 0 {
		compared = append(slices.Clone(compared), candidates[own])
	}
	c.price(compared)
	c.Compared = r.compare(candidates, own)
	return c
}

func (c *choice) say(format string, arguments ...any) {
	c.Paragraphs = append(c.Paragraphs, fmt.Sprintf(format, arguments...))
}

// against compares the policy's method with the best in the figures that matter
// most.
func against(own, best eval.Measurement) string {
	text := fmt.Sprintf("it loses %s instead of %s", percent(own.Loss), percent(best.Loss))
	if own.QueryError != eval.None && best.QueryError != eval.None {
		text += fmt.Sprintf(", counts are off by %s instead of %s", percent(own.QueryError), percent(best.QueryError))
	}
	if percent(own.Prosecutor) == percent(best.Prosecutor) {
		return text + ", and the highest risk is the same"
	}
	return text + fmt.Sprintf(", and the highest risk is %s instead of %s", percent(own.Prosecutor), percent(best.Prosecutor))
}

// risk says who finds a record with which probability.
func (r *Report) risk(m eval.Measurement) string {
	if len(r.Parts) == 0 {
		return fmt.Sprintf("Somebody who knows a person's quasi-identifying values finds the person's record with a probability of at most %s.", percent(m.Prosecutor))
	}
	var parts []string
	for _, names := range r.Parts {
		last := len(names) - 1
		known := names[last]
		if last > 0 {
			known = strings.Join(names[:last], ", ") + " and " + known
		}
		parts = append(parts, known+" only")
	}
	return fmt.Sprintf("Somebody who knows of a person %s, finds the person's record with a probability of at most %s. "+
		"The policy's constraints let these be anonymized apart from each other: somebody who knows all of them finds it with up to %s.",
		strings.Join(parts, ", or "), percent(m.Prosecutor), percent(m.Joint))
}

// price says what a larger k costs methods.
func (c *choice) price(methods []candidate) {
	var costs []string
	for _, of := range methods {
		runs := slices.DeleteFunc(released(of.runs), func(m eval.Measurement) bool {
			return m.L != of.at.L || m.Alpha != of.at.Alpha
		})
		slices.SortStableFunc(runs, func(a, b eval.Measurement) int { return cmp.Compare(a.K, b.K) })
		if first, last := runs[0], runs[len(runs)-1]; first.K < last.K {
			costs = append(costs, fmt.Sprintf("from k = %d to k = %d the loss of %s goes from %s to %s, and its highest risk from %s to %s",
				first.K, last.K, of.methods[0], percent(first.Loss), percent(last.Loss), percent(first.Prosecutor), percent(last.Prosecutor)))
		}
	}
	if len(costs) > 0 {
		c.say("A larger k protects better and costs precision: %s.", strings.Join(costs, "; "))
	}
}

// comparison is a small table: for each place on the axis, the most important
// figures of a few methods.
type comparison struct {
	Axis    string
	Methods []comparedMethod
	Figures []string
	Rows    []comparedRow
}

type comparedMethod struct {
	Name string
	Own  bool
}

type comparedRow struct {
	At    string
	Own   bool       // the policy's parameters
	Cells [][]string // method, figure
}

// compare takes the three best candidates and the policy's own, -1 for none.
func (r *Report) compare(candidates []candidate, own int) comparison {
	const few = 3
	picked := slices.Clone(candidates[:min(few, len(candidates))])
	if own >= few {
		picked = append(picked, candidates[own])
	}
	x := axisOf(r.Released())
	figures := slices.DeleteFunc(shown(qualityFigures, r.Released()), func(f figure) bool {
		return !slices.Contains([]string{"information loss", "highest risk", "joint risk", "query error"}, f.title)
	})
	c := comparison{Axis: x.name}
	for _, f := range figures {
		c.Figures = append(c.Figures, f.short)
	}
	for _, p := range picked {
		c.Methods = append(c.Methods, comparedMethod{p.name(), p.own})
	}
	reference := picked[0]
	for i, m := range reference.runs {
		if m.Refused != "" || !x.along(m, reference.at) {
			continue
		}
		row := comparedRow{At: fmt.Sprintf("%g", x.at(m)), Own: r.atPolicy(m)}
		for _, p := range picked {
			var cells []string
			for _, f := range figures {
				cells = append(cells, f.text(p.runs[i]))
			}
			row.Cells = append(row.Cells, cells)
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}
