package pattern

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// isSSN: nine digits in groups; no group is all zeros, and numbers do not begin with 666
// or 9 (US Social Security Administration, randomization of 2011).
func isSSN(text string) bool {
	return ssn.MatchString(text) && text[:3] != "000" && text[:3] != "666" && text[0] != '9' && text[4:6] != "00" && text[7:] != "0000"
}

var ssn = regexp.MustCompile(`^[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}$`)

// isNINO: two letters, six digits and a letter from A to D (UK HMRC, NIM39110).
func isNINO(text string) bool {
	text = strings.ReplaceAll(strings.ToUpper(text), " ", "")
	return nino.MatchString(text) && !slices.Contains([]string{"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}, text[:2])
}

var nino = regexp.MustCompile(`^[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][0-9]{6}[A-D]$`)

// isNHS: ten digits, the last by modulus 11 (NHS Data Dictionary).
func isNHS(text string) bool {
	ds, ok := digits(text, 10)
	return ok && !same(ds) && (11-weighted(ds, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11)%11 == ds[9]
}

// isSteuerID: eleven digits, not beginning with 0; of the first ten one comes twice or
// three times and the others once (German Federal Central Tax Office).
func isSteuerID(text string) bool {
	ds, ok := digits(text, 11)
	if !ok || ds[0] == 0 || !mod1110(ds) {
		return false
	}
	var times [10]int
	for _, d := range ds[:10] {
		times[d]++
	}
	repeated := 0
	for _, n := range times {
		if n > 3 {
			return false
		}
		if n > 1 {
			repeated++
		}
	}
	return repeated == 1
}

// isRVNR: area, day of birth, letter, serial number and check digit (German VKVV, § 2
// and § 4).
func isRVNR(text string) bool {
	text = strings.ReplaceAll(strings.ToUpper(text), " ", "")
	if !rvnr.MatchString(text) {
		return false
	}
	ds, ok := digits(text[:8]+letterNumber(text[8])+text[9:], 13)
	// Women's and men's serial numbers have no bearing on the check digit, and the day can
	// be beyond 31 where numbers had run out.
	return ok && ds[4]*10+ds[5] <= 12 && crossSum(ds, 2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)%10 == ds[12]
}

var rvnr = regexp.MustCompile(`^[0-9]{8}[A-Z][0-9]{3}$`)

// isKVNR: a letter, eight digits and a check digit (GKV-Spitzenverband, § 290 SGB V).
func isKVNR(text string) bool {
	text = strings.ToUpper(text)
	if !kvnr.MatchString(text) {
		return false
	}
	ds, ok := digits(letterNumber(text[0])+text[1:], 11)
	return ok && crossSum(ds, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2)%10 == ds[10]
}

var kvnr = regexp.MustCompile(`^[A-Z][0-9]{9}$`)

// letterNumber is a letter's place in the alphabet, in two digits.
func letterNumber(letter byte) string {
	place := strconv.Itoa(int(letter-'A') + 1)
	return strings.Repeat("0", 2-len(place)) + place
}

// crossSum is the sum of the digits of the first digits times their weights.
func crossSum(ds []int, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += ds[i]*w/10 + ds[i]*w%10
	}
	return sum
}

// isNIR: sex, year, month, place, serial number and a key of two digits (INSEE); 2A and 2B
// are the departments of Corsica.
func isNIR(text string) bool {
	text = strings.NewReplacer(" ", "", "2A", "19", "2B", "18").Replace(strings.ToUpper(text))
	ds, ok := digits(text, 15)
	if !ok || ds[0] != 1 && ds[0] != 2 || ds[0] == 0 {
		return false
	}
	return 97-number(ds[:13])%97 == number(ds[13:])
}

// isDNI: eight digits, of foreigners X, Y or Z and seven, and a letter (Spanish Ministry
// of the Interior).
func isDNI(text string) bool {
	text = strings.NewReplacer("-", "", " ", "").Replace(strings.ToUpper(text))
	if !dni.MatchString(text) {
		return false
	}
	n, err := strconv.Atoi(strings.NewReplacer("X", "0", "Y", "1", "Z", "2").Replace(text[:1]) + text[1:8])
	return err == nil && "TRWAGMYFPDXBNJZSQVHLCKE"[n%23] == text[8]
}

var dni = regexp.MustCompile(`^[0-9XYZ][0-9]{7}[A-Z]$`)

// isCodiceFiscale: sixteen characters, the last a check letter over values that depend on
// the place (Italian decree of 23 December 1976); digits can be written as letters where
// two people have the same.
func isCodiceFiscale(text string) bool {
	text = strings.ToUpper(text)
	if !codiceFiscale.MatchString(text) {
		return false
	}
	odd := []int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23}
	sum := 0
	for i, c := range []byte(text[:15]) {
		value := int(c - 'A')
		if c <= '9' {
			value = int(c - '0')
		}
		if i%2 == 0 {
			value = odd[value]
		}
		sum += value
	}
	return text[15] == byte('A'+sum%26)
}

var codiceFiscale = regexp.MustCompile(`^[A-Z]{6}[0-9LMNP-V]{2}[A-EHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]$`)

// isBSN: nine digits, or eight without the zero before them, by the 11-test (Dutch
// National Office for Identity Data).
func isBSN(text string) bool {
	ds, ok := digits(text, 9)
	return ok && !same(ds) && weighted(ds, 9, 8, 7, 6, 5, 4, 3, 2, -1)%11 == 0
}

// isPESEL: a day of birth, whose month says the century, serial number and check digit
// (Polish act on population records).
func isPESEL(text string) bool {
	ds, ok := digits(text, 11)
	return ok && isDay(number(ds[:2]), number(ds[2:4])%20, number(ds[4:6])) &&
		weighted(ds, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)%10 == 0
}

// isPersonnummer: a day of birth, of coordination numbers plus 60, and four digits, the
// last by Luhn over ten (Swedish Tax Agency, SKV 704).
func isPersonnummer(text string) bool {
	if !personnummer.MatchString(text) {
		return false
	}
	text = strings.NewReplacer("-", "", "+", "").Replace(text)
	ds, ok := digits(text[len(text)-10:], 10)
	day := number(ds[4:6])
	if day > 60 {
		day -= 60
	}
	return ok && isDay(number(ds[:2]), number(ds[2:4]), day) && luhn(ds)
}

var personnummer = regexp.MustCompile(`^([0-9]{2})?[0-9]{6}[-+]?[0-9]{4}$`)

// isFodselsnummer: a day of birth, a number and two check digits by modulus 11 (Norwegian
// Tax Administration); D-numbers add 40 to the day.
func isFodselsnummer(text string) bool {
	ds, ok := digits(text, 11)
	if !ok {
		return false
	}
	day := number(ds[:2])
	if day > 40 {
		day -= 40
	}
	return isDay(number(ds[4:6]), number(ds[2:4]), day) &&
		weighted(ds, 3, 7, 6, 1, 8, 9, 4, 5, 2, 1)%11 == 0 && weighted(ds, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)%11 == 0
}

// isCPR: a day of birth and four digits, without a check that all numbers keep since 2007
// (Danish Civil Registration System).
func isCPR(text string) bool {
	ds, ok := digits(text, 10)
	return ok && len(text) == 11 && text[6] == '-' && isDay(number(ds[4:6]), number(ds[2:4]), number(ds[:2]))
}

// isHETU: a day of birth, a sign for the century, three digits and a check character
// (Finnish Digital and Population Data Services Agency).
func isHETU(text string) bool {
	text = strings.ToUpper(text)
	if !hetu.MatchString(text) {
		return false
	}
	ds, ok := digits(text[:6]+text[7:10], 9)
	return ok && isDay(number(ds[4:6]), number(ds[2:4]), number(ds[:2])) && "0123456789ABCDEFHJKLMNPRSTUVWXY"[number(ds)%31] == text[10]
}

var hetu = regexp.MustCompile(`^[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-Y]$`)

// isBelgian: a day of birth, serial number and 97 minus the remainder of it all, with a 2
// before for births since 2000 (Belgian royal decree of 3 April 1984).
func isBelgian(text string) bool {
	ds, ok := digits(text, 11)
	if !ok || !isDay(number(ds[:2]), number(ds[2:4]), number(ds[4:6])) {
		return false
	}
	check, first := number(ds[9:]), number(ds[:9])
	return 97-first%97 == check || 97-(2_000_000_000+first)%97 == check
}

// isAHV: thirteen digits that begin with the country's 756, the last as in EAN-13 (Swiss
// Central Compensation Office).
func isAHV(text string) bool {
	ds, ok := digits(text, 13)
	return ok && number(ds[:3]) == 756 && weighted(ds, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1)%10 == 0
}

// isSVNR: a serial number, a check digit and a day of birth (Austrian social insurance);
// a month can be 13 or more where numbers had run out.
func isSVNR(text string) bool {
	ds, ok := digits(text, 10)
	return ok && ds[0] != 0 && isDay(number(ds[8:]), min(number(ds[6:8]), 12), number(ds[4:6])) &&
		weighted(ds, 3, 7, 9, 0, 5, 8, 4, 2, 1, 6)%11 == ds[3]
}

// isNIF: nine digits by modulus 11 (Portuguese decree-law 14/2013); firms' begin with 5,
// 6, 8 or 9.
func isNIF(text string) bool {
	ds, ok := digits(text, 9)
	if !ok || ds[0] != 1 && ds[0] != 2 && ds[0] != 3 {
		return false
	}
	check := 11 - weighted(ds, 9, 8, 7, 6, 5, 4, 3, 2)%11
	if check > 9 {
		check = 0
	}
	return check == ds[8]
}

// isCPF: eleven digits, the last two by modulus 11 (Brazilian Federal Revenue).
func isCPF(text string) bool {
	ds, ok := digits(text, 11)
	return ok && !same(ds) && weighted(ds, 10, 9, 8, 7, 6, 5, 4, 3, 2)*10%11%10 == ds[9] &&
		weighted(ds, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)*10%11%10 == ds[10]
}

// isSIN: nine digits by Luhn; none begins with 0 or 8 (Employment and Social Development
// Canada).
func isSIN(text string) bool {
	ds, ok := digits(text, 9)
	return ok && ds[0] != 0 && ds[0] != 8 && luhn(ds)
}

// isTurkish: eleven digits, not beginning with 0, two of them checks (Turkish General
// Directorate of Civil Registration).
func isTurkish(text string) bool {
	ds, ok := digits(text, 11)
	if !ok || ds[0] == 0 {
		return false
	}
	tenth := weighted(ds, 7, 9, 7, 9, 7, 9, 7, 9, 7) // -1 is 9 modulo ten
	return tenth%10 == ds[9] && weighted(ds, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)%10 == ds[10]
}

// isAadhaar: twelve digits, not beginning with 0 or 1, by Verhoeff (Unique Identification
// Authority of India).
func isAadhaar(text string) bool {
	ds, ok := digits(text, 12)
	return ok && ds[0] > 1 && verhoeff(ds)
}

// isResidentIdentity: place, day of birth, serial number and a check character (Chinese
// standard GB 11643-1999).
func isResidentIdentity(text string) bool {
	if len(text) != 18 {
		return false
	}
	ds, ok := digits(text[:17], 17)
	if !ok || !isDay(number(ds[6:10]), number(ds[10:12]), number(ds[12:14])) {
		return false
	}
	return "10X98765432"[weighted(ds, 7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)%11] == strings.ToUpper(text)[17]
}
