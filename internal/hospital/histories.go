package hospital

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// History is a row of the table persons, with what belongs to it in the others.
type History struct {
	ID         int32 // 1, 2, 3, ...
	Name       string
	NationalID string
	BirthDate  time.Time
	Sex        string
	Postcode   string
	Stays      []Stay // by date of admission
}

// Stay is a row of the table stays, with what was found and done during it.
type Stay struct {
	AdmissionDate time.Time
	Days          int
	Ward          string
	Cents         int64
	Diagnoses     []string // that of the admission comes first
	Prescriptions []Prescription
	Labs          []Lab
}

// Prescription is a row of the table prescriptions. Day counts from 1, the day of admission.
type Prescription struct {
	Day  int
	Drug string
}

// Lab is a row of the table labs. Value is in tenths.
type Lab struct {
	Day   int
	Test  string
	Value int64
}

// The calendar years of histories, both included.
const (
	firstOfHistory = 2023
	lastOfHistory  = 2025
)

// Histories yields n persons with their stays. Most have few, and some hundreds of rows.
func Histories(n int, seed uint64) iter.Seq[History] {
	return func(yield func(History) bool) {
		g := newGenerator(seed)
		for id := int32(1); id <= int32(n); id++ {
			if !yield(g.history(id)) {
				return
			}
		}
	}
}

func (g *generator) history(id int32) History {
	rng := g.stream(int64(id))
	years := age(rng)
	sex := sexAt(rng, years)
	born := time.Date(firstOfHistory, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(-years, 0, -1-rng.IntN(364))
	h := History{ID: id, Name: name(rng, sex), NationalID: nationalID(g.seed, int64(id)), BirthDate: born, Sex: sex, Postcode: postcode(rng)}
	// The ill are few, and most of what happens happens to them.
	burden := math.Exp(0.9*rng.NormFloat64()) * (0.4 + float64(years)/70)
	chronic := g.chronic(rng, years, sex, burden)
	for range poisson(rng, float64(lastOfHistory-firstOfHistory+1)*(0.3+0.4*burden)) {
		h.Stays = append(h.Stays, g.stay(rng, years, sex, chronic))
	}
	slices.SortFunc(h.Stays, func(a, b Stay) int { return a.AdmissionDate.Compare(b.AdmissionDate) })
	return h
}

// chronic draws what a person suffers from for years.
func (g *generator) chronic(rng *rand.Rand, years int, sex string, burden float64) []diagnosis {
	var chronic []diagnosis
	for range poisson(rng, burden) {
		d := g.cases.draw(rng, years, sex)
		known := slices.ContainsFunc(chronic, func(c diagnosis) bool { return c.code == d.code })
		if slices.Contains(lasting, d.chapter) && !known {
			chronic = append(chronic, d)
		}
	}
	return chronic
}

// lasting are the chapters whose diagnoses stay with a person.
var lasting = []string{neoplasms, metabolic, mental, nervous, circulatory, respiratory, genitourinary}

func (g *generator) stay(rng *rand.Rand, years int, sex string, chronic []diagnosis) Stay {
	main := g.cases.draw(rng, years, sex)
	if len(chronic) > 0 && rng.Float64() < 0.7 {
		main = chronic[rng.IntN(len(chronic))]
	}
	days := 1 + min(int(math.Exp(0.8*rng.NormFloat64()+1.3)), 90)
	s := Stay{
		AdmissionDate: historyDay(rng, main.season), Days: days, Ward: main.wardAt(years),
		Cents: flatRate(main, days), Diagnoses: []string{main.code},
	}
	for _, d := range chronic {
		if d.code != main.code && rng.Float64() < 0.6 {
			s.Diagnoses = append(s.Diagnoses, d.code)
		}
	}
	for _, d := range append([]diagnosis{main}, chronic...) {
		s.prescribe(rng, d)
	}
	s.examine(rng, append([]diagnosis{main}, chronic...))
	return s
}

// flatRate is what is paid for a diagnosis and a number of days, in steps of a week.
func flatRate(d diagnosis, days int) int64 {
	weeks := int64(days+6) / 7
	return int64(math.Round(d.median))*50 + weeks*200_000
}

// historyDay draws a day of admission within all years of histories.
func historyDay(rng *rand.Rand, of season) time.Time {
	day := of.day(rng)
	return day.AddDate(firstOfHistory+rng.IntN(lastOfHistory-firstOfHistory+1)-day.Year(), 0, 0)
}

// prescribe draws the drugs for one diagnosis.
func (s *Stay) prescribe(rng *rand.Rand, d diagnosis) {
	drugs := drugsOf[d.chapter]
	if of, own := drugsFor[d.code]; own {
		drugs = of
	}
	for i, drug := range drugs {
		given := slices.ContainsFunc(s.Prescriptions, func(p Prescription) bool { return p.Drug == drug })
		if !given && rng.Float64() < 0.6/float64(i+1) {
			s.Prescriptions = append(s.Prescriptions, Prescription{Day: 1 + rng.IntN(s.Days), Drug: drug})
		}
	}
}

// examine draws laboratory values: blood counts of everybody, and what a diagnosis calls for.
func (s *Stay) examine(rng *rand.Rand, of []diagnosis) {
	for _, test := range tests {
		ill := slices.ContainsFunc(of, func(d diagnosis) bool { return slices.Contains(test.codes, d.code) })
		share, value := test.usual, test.value
		if ill {
			share, value = test.often, test.ill
		}
		for day := 1; day <= s.Days; day++ {
			if rng.Float64() < share {
				v := value * math.Exp(test.spread*rng.NormFloat64())
				s.Labs = append(s.Labs, Lab{Day: day, Test: test.name, Value: int64(math.Round(10 * v))})
			}
		}
	}
}

// poisson draws from the Poisson distribution (Knuth's method; means here are small).
func poisson(rng *rand.Rand, mean float64) int {
	n, product := 0, rng.Float64()
	for limit := math.Exp(-mean); product > limit && n < 200; n++ {
		product *= rng.Float64()
	}
	return n
}
