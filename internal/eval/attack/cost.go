package attack

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/lineage"
)

// Cost is what the protection takes from those who read honestly.
type Cost struct {
	// Waiting is how many ticks a new record waited for its first publication, the mean
	// and what 95 % did not exceed; one that is not published at the end, or when it is
	// deleted, counts until then.
	Waiting   float64 `json:"waiting"`
	Waiting95 float64 `json:"waiting_95"`
	// Unpublished is the share of the new records that never were.
	Unpublished float64 `json:"unpublished"`
	// Ghosts and Stale are shares of the published rows, means over time.
	Ghosts float64 `json:"ghosts"`
	Stale  float64 `json:"stale"`
	// Loss is the share of what could be known of quasi-identifying values that is not
	// published (metric.PublishedLoss), the mean over time; FreshLoss that of one
	// release of the final records.
	Loss      float64 `json:"loss"`
	FreshLoss float64 `json:"fresh_loss"`
	// CountError is by how much counts over ranges are off, all errors by all true counts,
	// with the published weights, and RawCountError without; FreshCountError that of one
	// release.
	CountError      float64 `json:"count_error"`
	RawCountError   float64 `json:"raw_count_error"`
	FreshCountError float64 `json:"fresh_count_error"`
	// TotalError is by how much the weights of all rows add up to another number than that of
	// the published records that are still there, of which it is a share.
	TotalError float64 `json:"total_error"`
}

// looks is how many times a run is measured.
const looks = 5

func costs(w *world, p publisher, final *history) Cost {
	h, seen := p.history(), p.backlog()
	c := waiting(w, h)
	if seen.rows > 0 {
		c.Ghosts, c.Stale = seen.ghosts/seen.rows, seen.stale/seen.rows
	}
	for look := 1; look <= looks; look++ {
		tick := w.steps * look / looks
		number := len(h.versions) - 1
		for number > 0 && h.versions[number].tick > tick {
			number--
		}
		last := len(w.commits)
		for last > 0 && w.tick(last) > tick {
			last--
		}
		shown := version{table: 1}
		if number >= 0 {
			shown = h.versions[number]
		}
		views := h.at(number)
		c.Loss += w.loss(views) / looks
		weighted, raw := w.countErrors(views, shown.table, last)
		c.CountError += weighted / looks
		c.RawCountError += raw / looks
		c.TotalError += w.totalError(views, shown) / looks
	}
	c.FreshLoss = w.loss(final.views)
	c.FreshCountError, _ = w.countErrors(final.views, 1, len(w.commits))
	return c
}

func waiting(w *world, h *history) Cost {
	var c Cost
	var waits []int
	unpublished := 0
	for id, l := range w.lives {
		if l.born == 0 {
			continue
		}
		end := w.steps
		if l.died != never {
			end = w.tick(l.died)
		}
		if shown, known := h.shown[int32(id)]; known {
			end = shown
		} else {
			unpublished++
		}
		waits = append(waits, end-w.tick(l.born))
		c.Waiting += float64(end - w.tick(l.born))
	}
	if len(waits) == 0 {
		return c
	}
	slices.Sort(waits)
	c.Waiting /= float64(len(waits))
	c.Waiting95 = float64(waits[len(waits)*95/100])
	c.Unpublished = float64(unpublished) / float64(len(waits))
	return c
}

// loss is the mean over rows and attributes of the part of the domain that what is
// published can stand for.
func (w *world) loss(views []*view) float64 {
	lost, rows := 0.0, 0.0
	for _, v := range views {
		sum := 0.0
		for a := range w.attributes {
			sum += w.share(v, a)
		}
		lost += sum / float64(len(w.attributes)) * float64(len(v.rows))
		rows += float64(len(v.rows))
	}
	if rows == 0 {
		return 1
	}
	return lost / rows
}

func (w *world) share(v *view, attribute int) float64 {
	b, domain := v.bounds[attribute], w.domain[attribute]
	switch {
	case math.IsInf(b.low, -1):
		return 1
	case domain.low >= domain.high:
		return 0
	default:
		return min(1, (b.high-b.low)/(domain.high-domain.low))
	}
}

// countErrors counts the people in random ranges of the first attribute, as rows whose
// values are spread evenly over what is published, by their weights and all alike.
func (w *world) countErrors(views []*view, table float64, commit int) (weighted, raw float64) {
	const queries = 50
	random := rand.New(rand.NewPCG(uint64(commit), 4))
	domain, position := w.domain[0], w.attributes[0].Hierarchy.Position
	all := 0.0
	for range queries {
		a := domain.low + random.Float64()*(domain.high-domain.low)
		b := domain.low + random.Float64()*(domain.high-domain.low)
		low, high := math.Floor(min(a, b)), math.Ceil(max(a, b))
		truth := 0.0
		for _, l := range w.lives {
			if !l.alive(commit) {
				continue
			}
			if x := position(l.at(commit).cells[0]); x >= low && x <= high {
				truth++
			}
		}
		all += truth
		estimate, unweighted := 0.0, 0.0
		for _, v := range views {
			part := overlap(v.bounds[0], low, high, domain) * float64(len(v.rows))
			unweighted += part
			estimate += part * lineage.Rated(v.weight, table)
		}
		weighted += math.Abs(estimate - truth)
		raw += math.Abs(unweighted - truth)
	}
	return weighted / max(1, all), raw / max(1, all)
}

// totalError compares the sum of all weights with how many of the records behind the rows exist.
func (w *world) totalError(views []*view, shown version) float64 {
	weighed, present := 0.0, 0
	for _, v := range views {
		weighed += float64(len(v.rows)) * lineage.Rated(v.weight, shown.table)
		for _, e := range v.members {
			if w.lives[e.record].alive(shown.commit) {
				present++
			}
		}
	}
	return math.Abs(weighed-float64(present)) / max(1, float64(present))
}

// overlap is the part of an extent of whole numbers that lies in a range.
func overlap(b extent, low, high float64, domain extent) float64 {
	if math.IsInf(b.low, -1) {
		b = domain
	}
	common := min(b.high, high) - max(b.low, low) + 1
	return max(0, common) / (b.high - b.low + 1)
}
