// Package hospital generates the demonstration's data: admissions to a
// hospital that does not exist, of people who do not exist, with joint
// distributions that are plausible enough for anonymization to have something
// to lose.
//
// Generate yields patients, Load fills a database with them and with two unprotected reference
// tables to join with, and Changes yields later changes of such a hospital. All of it depends
// only on a seed: the same seed gives the same rows.
package hospital

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// Patient is a row of the table patients.
type Patient struct {
	ID            int64 // 1, 2, 3, ...
	Name          string
	NationalID    string // ten digits, see nationalID
	BirthDate     time.Time
	Sex           string // F or M
	Postcode      string // five digits
	MaritalStatus string // a label of Taxonomies
	Occupation    string // a label of Taxonomies
	Ward          string // a key of the table wards
	AdmissionDate time.Time
	Diagnosis     string // a key of the table icd10
	Cents         int64  // the cost in hundredths of the currency
}

// Cost is the patient's cost with two decimals, as the table holds it.
func (p Patient) Cost() string { return fmt.Sprintf("%d.%02d", p.Cents/100, p.Cents%100) }

// Generate yields n patients.
func Generate(n int, seed uint64) iter.Seq[Patient] {
	return func(yield func(Patient) bool) {
		g := newGenerator(seed)
		for id := int64(1); id <= int64(n); id++ {
			if !yield(g.patient(id)) {
				return
			}
		}
	}
}

// generator makes patients one by one. Each has its own random stream, so that any patient can
// be made without the others.
type generator struct {
	seed  uint64
	cases *caseMix
}

func newGenerator(seed uint64) *generator {
	return &generator{seed: seed, cases: newCaseMix()}
}

// stream is the random stream of one patient.
func (g *generator) stream(id int64) *rand.Rand {
	return rand.New(rand.NewPCG(g.seed, scatter(uint64(id))))
}

// patient makes one of the patients admitted in the fixed years.
func (g *generator) patient(id int64) Patient {
	rng := g.stream(id)
	p, years, d := g.person(rng, id)
	return admit(rng, p, years, d.season.day(rng))
}

// later makes a patient admitted on a given day.
func (g *generator) later(id int64, day time.Time) Patient {
	rng := g.stream(id)
	p, years, _ := g.person(rng, id)
	return admit(rng, p, years, day)
}

// person draws all that does not depend on the day of admission: the rest of
// the row, the age in years and what the patient is treated for.
func (g *generator) person(rng *rand.Rand, id int64) (Patient, int, diagnosis) {
	years := age(rng)
	sex := sexAt(rng, years)
	d := g.cases.draw(rng, years, sex)
	return Patient{
		ID:            id,
		Name:          name(rng, sex),
		NationalID:    nationalID(g.seed, id),
		Sex:           sex,
		Postcode:      postcode(rng),
		MaritalStatus: maritalStatus(rng, years, sex),
		Occupation:    occupation(rng, years, sex),
		Ward:          d.wardAt(years),
		Diagnosis:     d.code,
		Cents:         d.cents(rng),
	}, years, d
}

// admit sets the day of admission and a birth date that gives the age on it.
func admit(rng *rand.Rand, p Patient, years int, day time.Time) Patient {
	p.AdmissionDate = day
	// The days since the last birthday: not 0, for a birthday on the 29th of
	// February falls on the 1st of March in most years, and less than a year.
	days := 1 + rng.IntN(364)
	if p.Ward == wardNeonatal {
		days = rng.IntN(7)
	}
	p.BirthDate = day.AddDate(-years, 0, -days)
	return p
}

// scatter is the finalizer of SplitMix64 (Steele, Lea and Flood 2014), a
// bijection that makes unrelated streams of neighboring numbers.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
