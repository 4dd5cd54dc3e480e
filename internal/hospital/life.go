package hospital

import "math/rand/v2"

// Taxonomy is a tree of labels of two levels for a column that is a
// quasi-identifier: what a policy lists as the column's hierarchy.
type Taxonomy struct {
	Column string
	Groups []Group
}

// Group is a label that stands for several values.
type Group struct {
	Label  string
	Values []string
}

// Taxonomies returns the hierarchies of marital_status and occupation. Every
// value that a patient can have is in exactly one group.
func Taxonomies() []Taxonomy {
	return []Taxonomy{
		{Column: "marital_status", Groups: []Group{
			{"in a couple", []string{"married", "registered partnership"}},
			{"alone", []string{"single", "divorced", "widowed"}},
		}},
		{Column: "occupation", Groups: []Group{
			{"in education", []string{"preschool child", "pupil", "student"}},
			{"care and teaching", []string{"nurse", "physician", "teacher"}},
			{"office and sales", []string{"engineer", "office clerk", "sales assistant"}},
			{"manual work", []string{"construction worker", "truck driver", "farmer"}},
			{"not working", []string{"unemployed", "retired"}},
		}},
	}
}

// maritalShares gives, for ages up to and including the bound, the shares of
// single, married, registered partnership, divorced and widowed.
var maritalShares = []struct {
	upTo   int
	shares [5]float64
}{
	{17, [5]float64{100, 0, 0, 0, 0}},
	{24, [5]float64{93, 5, 2, 0, 0}},
	{34, [5]float64{57, 34, 5, 3.8, 0.2}},
	{49, [5]float64{27, 55, 5, 12, 1}},
	{64, [5]float64{14, 60, 3, 18, 5}},
	{79, [5]float64{7, 58, 2, 13, 20}},
	{oldest, [5]float64{5, 36, 1, 7, 51}},
}

var maritalStatuses = [5]string{"single", "married", "registered partnership", "divorced", "widowed"}

// maritalStatus draws a marital status. Women outlive their husbands more
// often than the reverse.
func maritalStatus(rng *rand.Rand, years int, sex string) string {
	shares := maritalShares[len(maritalShares)-1].shares
	for _, row := range maritalShares {
		if years <= row.upTo {
			shares = row.shares
			break
		}
	}
	if sex == female {
		shares[4] *= 1.5
	} else {
		shares[4] *= 0.5
	}
	return maritalStatuses[newWeighted(shares[:]).draw(rng)]
}

// jobs are the occupations of people who work: the youngest age, and the
// shares among women and among men.
var jobs = []struct {
	label      string
	from       int
	women, men float64
}{
	{"office clerk", 18, 30, 18},
	{"sales assistant", 18, 20, 10},
	{"nurse", 21, 16, 4},
	{"teacher", 23, 13, 6},
	{"engineer", 23, 5, 16},
	{"truck driver", 20, 1, 14},
	{"construction worker", 18, 1, 17},
	{"physician", 26, 4, 4},
	{"farmer", 18, 3, 6},
	{"unemployed", 18, 7, 7},
}

// occupation draws an occupation.
func occupation(rng *rand.Rand, years int, sex string) string {
	u := rng.Float64()
	switch {
	case years < 6:
		return "preschool child"
	case years < 18:
		return "pupil"
	case years < 25 && u < 0.5, years >= 25 && years < 30 && u < 0.12:
		return "student"
	case years >= 70, years >= 66 && u < 0.93, years >= 61 && u < 0.4:
		return "retired"
	}
	shares := make([]float64, len(jobs))
	for i, job := range jobs {
		switch {
		case years < job.from:
		case sex == female:
			shares[i] = job.women
		default:
			shares[i] = job.men
		}
	}
	return jobs[newWeighted(shares).draw(rng)].label
}
