package drift

// Summary is what all seeds of a method and a k came to, the mean at each point.
type Summary struct {
	Method   string        `json:"method"`
	K        int           `json:"k"`
	Seeds    int           `json:"seeds"`
	Points   []MeanOfSeeds `json:"points"`
	Measured float64       `json:"measured"` // renewals run, the mean
	Adopted  float64       `json:"adopted"`  // renewals adopted, the mean
}

// MeanOfSeeds is the mean of a point over all seeds.
type MeanOfSeeds struct {
	Operations int         `json:"operations"`
	Records    float64     `json:"records"`
	Afresh     float64     `json:"afresh"`
	Maintained MeanRelease `json:"maintained"`
	Renewed    MeanRelease `json:"renewed"`
}

// MeanRelease is the mean of a release, but for the extremes of its drift.
type MeanRelease struct {
	Loss       float64 `json:"loss"`
	Drift      float64 `json:"drift"`
	LeastDrift float64 `json:"leastDrift"`
	MostDrift  float64 `json:"mostDrift"`
	Classes    float64 `json:"classes"`
	Largest    float64 `json:"largest"`
}

// Summarize puts the curves of the same method and k together, in the order in
// which they come.
func Summarize(curves []Curve) []Summary {
	var all []Summary
	for from := 0; from < len(curves); {
		to := from + 1
		for to < len(curves) && curves[to].Method == curves[from].Method && curves[to].K == curves[from].K {
			to++
		}
		all = append(all, summarize(curves[from:to]))
		from = to
	}
	return all
}

func summarize(seeds []Curve) Summary {
	n := float64(len(seeds))
	s := Summary{Method: seeds[0].Method, K: seeds[0].K, Seeds: len(seeds)}
	for _, c := range seeds {
		s.Measured += float64(c.Measured) / n
		s.Adopted += float64(c.Adopted) / n
	}
	for i, first := range seeds[0].Points {
		m := MeanOfSeeds{Operations: first.Operations}
		for j, c := range seeds {
			p := c.Points[i]
			m.Records += float64(p.Records) / n
			m.Afresh += p.Afresh / n
			m.Maintained.add(p.Maintained, n, j == 0)
			m.Renewed.add(p.Renewed, n, j == 0)
		}
		s.Points = append(s.Points, m)
	}
	return s
}

// add takes one of n releases in.
func (m *MeanRelease) add(r Release, n float64, first bool) {
	m.Loss += r.Loss / n
	m.Drift += r.Drift / n
	m.Classes += float64(r.Classes) / n
	m.Largest += float64(r.Largest) / n
	if first {
		m.LeastDrift, m.MostDrift = r.Drift, r.Drift
	}
	m.LeastDrift, m.MostDrift = min(m.LeastDrift, r.Drift), max(m.MostDrift, r.Drift)
}
