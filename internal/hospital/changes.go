package hospital

import (
	"iter"
	"math/rand/v2"
	"time"
)

// Kind is what happens to a patient.
type Kind string

// The kinds of changes.
const (
	Admission  Kind = "admission"  // a new row
	Discharge  Kind = "discharge"  // a row is deleted
	Move       Kind = "move"       // the postcode changes
	Wedding    Kind = "wedding"    // the marital status changes
	Correction Kind = "correction" // diagnosis, ward and cost change
)

// Change is a statement that changes one row of the table patients.
type Change struct {
	Kind      Kind
	PatientID int64
	// SQL has parameters $1, $2, ...; Args are their values: int64, string
	// and time.Time.
	SQL  string
	Args []any
}

const insertPatient = `INSERT INTO patients
    (patient_id, name, national_id, birth_date, sex, postcode, marital_status,
     occupation, ward, admission_date, diagnosis, cost)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

// Shares of the kinds, in percent. Admissions and discharges are equally frequent.
const (
	admissionShare = 35
	dischargeShare = 35
	moveShare      = 14
	weddingShare   = 4
)

// admissionsADay is the number of patients admitted on each day, beginning with the day after
// the last that Generate uses.
const admissionsADay = 68

// Changes yields an endless sequence of changes of a hospital that Load filled with the same n
// and seed. Each change requires the ones before it.
func Changes(n int, seed uint64) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		h := &history{
			generator: newGenerator(seed),
			rng:       rand.New(rand.NewPCG(seed, scatter(0))),
			first:     int64(n),
			last:      int64(n),
		}
		for id := int64(1); id <= h.last; id++ {
			h.present = append(h.present, id)
		}
		for yield(h.next()) {
		}
	}
}

// history is a hospital over time.
type history struct {
	*generator
	rng     *rand.Rand
	present []int64 // the ids of the present patients, in no order
	first   int64   // the highest id that Load made
	last    int64   // the highest id in use
}

// next draws a change and updates the history.
func (h *history) next() Change {
	u := h.rng.IntN(100)
	if len(h.present) == 0 || u < admissionShare {
		return h.admission()
	}
	i := h.rng.IntN(len(h.present))
	id := h.present[i]
	switch u -= admissionShare; {
	case u < dischargeShare:
		h.present[i] = h.present[len(h.present)-1]
		h.present = h.present[:len(h.present)-1]
		return Change{Discharge, id, "DELETE FROM patients WHERE patient_id = $1", []any{id}}
	case u < dischargeShare+moveShare:
		return Change{
			Move, id, "UPDATE patients SET postcode = $2 WHERE patient_id = $1",
			[]any{id, postcode(h.rng)},
		}
	case u < dischargeShare+moveShare+weddingShare && h.grownUp(id):
		return Change{
			Wedding, id, "UPDATE patients SET marital_status = $2 WHERE patient_id = $1",
			[]any{id, "married"},
		}
	default:
		return h.correction(id)
	}
}

// admission admits the next patient.
func (h *history) admission() Change {
	h.last++
	h.present = append(h.present, h.last)
	p := h.later(h.last, h.admissionDay(h.last))
	return Change{Admission, p.ID, insertPatient, []any{
		p.ID, p.Name, p.NationalID, p.BirthDate, p.Sex, p.Postcode, p.MaritalStatus,
		p.Occupation, p.Ward, p.AdmissionDate, p.Diagnosis, p.Cost(),
	}}
}

// admissionDay is the day on which a later patient is admitted.
func (h *history) admissionDay(id int64) time.Time {
	days := int(id-h.first-1) / admissionsADay
	return time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, days)
}

// correction draws another diagnosis that suits the patient's age and sex.
func (h *history) correction(id int64) Change {
	p, years, _ := h.person(h.stream(id), id)
	d := h.cases.draw(h.rng, years, p.Sex)
	p.Cents = d.cents(h.rng)
	return Change{
		Correction, id,
		"UPDATE patients SET diagnosis = $2, ward = $3, cost = $4 WHERE patient_id = $1",
		[]any{id, d.code, d.wardAt(years), p.Cost()},
	}
}

// grownUp reports whether a patient is old enough to marry.
func (h *history) grownUp(id int64) bool {
	_, years, _ := h.person(h.stream(id), id)
	return years >= 18
}
