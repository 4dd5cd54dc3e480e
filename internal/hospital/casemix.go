package hospital

import (
	"math"
	"math/rand/v2"
	"time"
)

// diagnosis is a row of the table icd10, with the parameters of the generator.
type diagnosis struct {
	code, description, chapter string
	ward                       string
	// weight is the relative frequency among people of the age and sex that
	// get it.
	weight float64
	// ages scales the weight for 0-14, 15-39, 40-64 and 65 years and more.
	ages [4]float64
	// from and to bound the age in years, both included.
	from, to int
	// sex is F or M for a diagnosis that only one sex gets, else empty.
	sex    string
	season season
	// median is the median cost in whole units of the currency.
	median float64
	// spread is the standard deviation of the logarithm of the cost.
	spread float64
}

// frequency is the diagnosis's weight at an age and for a sex.
func (d diagnosis) frequency(years int, sex string) float64 {
	if years < d.from || years > d.to || d.sex != "" && d.sex != sex {
		return 0
	}
	band := 3
	switch {
	case years < 15:
		band = 0
	case years < 40:
		band = 1
	case years < 65:
		band = 2
	}
	return d.weight * d.ages[band]
}

// wardAt is the ward of a patient of that age. Children who are not newborn share a ward.
func (d diagnosis) wardAt(years int) string {
	if years < 15 && d.ward != wardNeonatal {
		return wardPediatrics
	}
	return d.ward
}

// maxCents is the largest value of numeric(10,2), in hundredths.
const maxCents = 9_999_999_999

// cents draws a log-normal cost.
func (d diagnosis) cents(rng *rand.Rand) int64 {
	cost := d.median * math.Exp(d.spread*rng.NormFloat64())
	return min(max(int64(math.Round(100*cost)), 1), maxCents)
}

// caseMix is the distribution of diagnoses by age and sex.
type caseMix struct {
	bySex map[string][oldest + 1]weighted
}

func newCaseMix() *caseMix {
	mix := &caseMix{bySex: make(map[string][oldest + 1]weighted)}
	for _, sex := range []string{female, male} {
		var byAge [oldest + 1]weighted
		for years := range byAge {
			weights := make([]float64, len(diagnoses))
			for i, d := range diagnoses {
				weights[i] = d.frequency(years, sex)
			}
			byAge[years] = newWeighted(weights)
		}
		mix.bySex[sex] = byAge
	}
	return mix
}

// draw returns a diagnosis.
func (m *caseMix) draw(rng *rand.Rand, years int, sex string) diagnosis {
	return diagnoses[m.bySex[sex][years].draw(rng)]
}

// season says how a diagnosis depends on the time of the year.
type season int

const (
	steady season = iota
	winter
	summer
)

// firstYear and lastYear bound the admissions that Generate makes.
const (
	firstYear = 2024
	lastYear  = 2025
)

// day draws a day of admission. Within the year its density is
// 1 + a*cos(2*pi*(t-t0)), with the peak t0 in mid-January or mid-July.
func (s season) day(rng *rand.Rand) time.Time {
	first := time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC)
	days := int(time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, time.UTC).Sub(first).Hours() / 24)
	amplitude, peak := 0.08, 0.04
	switch s {
	case winter:
		amplitude = 0.75
	case summer:
		amplitude, peak = 0.35, 0.54
	}
	for { // rejection: at least half of the draws are taken
		day := first.AddDate(0, 0, rng.IntN(days))
		year := float64(day.YearDay()-1) / 365.25
		density := 1 + amplitude*math.Cos(2*math.Pi*(year-peak))
		if rng.Float64()*(1+amplitude) < density {
			return day
		}
	}
}
