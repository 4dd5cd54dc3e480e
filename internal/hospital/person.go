package hospital

import (
	"math/rand/v2"
	"slices"
	"strconv"
)

// agePyramid is the age distribution of a hospital's patients, which is older
// than a country's: years up to and including the bound, and the share.
var agePyramid = []struct {
	upTo  int
	share float64
}{
	{0, 4},
	{4, 3},
	{14, 4},
	{24, 8},
	{39, 17},
	{54, 17},
	{64, 14},
	{74, 15},
	{84, 13},
	{94, 4.6},
	{oldest, 0.4},
}

// oldest is the highest age in years.
const oldest = 102

var ageBands = func() weighted {
	shares := make([]float64, len(agePyramid))
	for i, band := range agePyramid {
		shares[i] = band.share
	}
	return newWeighted(shares)
}()

// age draws an age in years, uniform within its band.
func age(rng *rand.Rand) int {
	band := ageBands.draw(rng)
	from := 0
	if band > 0 {
		from = agePyramid[band-1].upTo + 1
	}
	return from + rng.IntN(agePyramid[band].upTo-from+1)
}

const (
	female = "F"
	male   = "M"
)

// sexAt draws a sex: slightly more boys are born, more women grow old.
func sexAt(rng *rand.Rand, years int) string {
	women := 0.488
	switch {
	case years >= 85:
		women = 0.66
	case years >= 65:
		women = 0.53
	case years >= 15:
		women = 0.54
	}
	if rng.Float64() < women {
		return female
	}
	return male
}

// name draws a given and a family name; the first in the lists are the most
// common.
func name(rng *rand.Rand, sex string) string {
	given := givenNames[sex]
	return given[ranked(rng, len(given))] + " " + familyNames[ranked(rng, len(familyNames))]
}

const (
	// nationalIDs is how many national ids there are, and nationalIDStep is a
	// number without a common divisor with it: multiplying by it, modulo
	// nationalIDs, is a bijection.
	nationalIDs    = 1_000_000_000
	nationalIDStep = 387_420_489
)

// nationalID is the national id of a patient: nine digits that differ from
// patient to patient and show no order, and a check digit.
func nationalID(seed uint64, id int64) string {
	number := (uint64(id)%nationalIDs*nationalIDStep + scatter(seed)%nationalIDs) % nationalIDs
	digits := strconv.FormatUint(nationalIDs+number, 10)[1:]
	return digits + string(checkDigit(digits))
}

// checkDigit is the digit that Luhn's formula (ISO/IEC 7812-1, annex B)
// appends to a string of digits.
func checkDigit(digits string) byte {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 0 {
			d *= 2
			if d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return byte('0' + (10-sum%10)%10)
}

// ValidNationalID reports whether a national id has ten digits and the right
// check digit.
func ValidNationalID(id string) bool {
	if len(id) != 10 || slices.ContainsFunc([]byte(id), func(c byte) bool { return c < '0' || c > '9' }) {
		return false
	}
	return checkDigit(id[:9]) == id[9]
}
