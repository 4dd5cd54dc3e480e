package attack

import (
	"cmp"
	"context"
	"slices"
)

// Outcome is what an experiment measured.
type Outcome struct {
	Setup Setup         `json:"setup"`
	Runs  []Measurement `json:"runs"`
}

// Measurement is of one way to publish one world.
type Measurement struct {
	Rate     float64 `json:"rate"`
	K        int     `json:"k"`
	Mode     string  `json:"mode"`
	Crowd    int     `json:"crowd,omitempty"` // of guarded publication
	Commits  int     `json:"commits"`
	Versions int     `json:"versions"`
	// Bound is the success of somebody who has one release of all these people, and
	// knows everybody's class in it.
	Bound     Success   `json:"bound"`
	Attackers []Success `json:"attackers"`
	Atoms     Atoms     `json:"atoms"`
	Cost      Cost      `json:"cost"`
}

// best is the attacker who guessed best.
func (m Measurement) best() Success {
	return slices.MaxFunc(m.Attackers, func(a, b Success) int { return cmp.Compare(a.Right, b.Right) })
}

// Exposed is the share of the targets of whom an attacker who proves knew the true value
// with more certainty than the constraints allow: the most that one of them did.
func (m Measurement) Exposed() float64 {
	return m.proven(func(s Success) float64 { return s.AboveRight })
}

// Certain is the share of the targets whose value an attacker proved.
func (m Measurement) Certain() float64 {
	return m.proven(func(s Success) float64 { return s.Certain })
}

// Greatest is the greatest probability of a value that an attacker proved.
func (m Measurement) Greatest() float64 {
	return m.proven(func(s Success) float64 { return s.Greatest })
}

func (m Measurement) proven(figure func(Success) float64) float64 {
	most := 0.0
	for _, a := range m.Attackers {
		if a.Proves {
			most = max(most, figure(a))
		}
	}
	return most
}

// Success of an attacker. Shares are of the targets, 0 to 1.
type Success struct {
	Attacker string `json:"attacker"`
	// Proves is false for one who jumps to conclusions.
	Proves  bool `json:"proves"`
	Targets int  `json:"targets"`
	// Right is the share whose value was guessed.
	Right float64 `json:"right"`
	// Posterior is the mean probability given to the true value.
	Posterior float64 `json:"posterior"`
	// Greatest is the greatest probability given to any value.
	Greatest float64 `json:"greatest"`
	// Above is the share for whom a value was believed likelier than the constraints
	// allow, and AboveRight that for whom it was the true one.
	Above      float64 `json:"above"`
	AboveRight float64 `json:"above_right"`
	// Certain is the share whose value was known for sure, and was so.
	Certain float64 `json:"certain"`
	// Kinds is Right by the kind of change that a target underwent.
	Kinds map[string]float64 `json:"kinds"`
}

// score has an attacker guess every target. Where the publication tells nothing of
// somebody, what everybody knows of the values is guessed with.
func (s Setup) score(ctx context.Context, name string, a attacker, w *world, targets []target) Success {
	result := Success{Attacker: name, Proves: a.proves(), Targets: len(targets), Kinds: map[string]float64{}}
	if len(targets) == 0 {
		return result
	}
	each := 1 / float64(len(targets))
	ofKind := map[string]float64{}
	for _, t := range targets {
		if ctx.Err() != nil {
			return result // the caller finds out
		}
		d, truth := a.guess(t), w.truth(t)
		if d == nil {
			d = w.prior
		}
		right, most := d.chance(truth), d.most()
		result.Right += each * right
		result.Posterior += each * d[truth]
		result.Greatest = max(result.Greatest, most)
		if most > min(s.bound()+tolerance, certain) {
			result.Above += each
			result.AboveRight += each * right
		}
		if d[truth] >= certain {
			result.Certain += each
		}
		ofKind[t.kind.String()]++
		result.Kinds[t.kind.String()] += right
	}
	for k, n := range ofKind {
		result.Kinds[k] /= n
	}
	return result
}

// tolerance for sums of shares.
const tolerance = 1e-9
