// Package pattern recognizes what identifies a person by the form of its texts, and by
// their check digits where they have some: addresses of persons and machines, numbers of
// accounts and cards, and the numbers by which states know people.
//
// The sources are the standards and the public descriptions that each recognizer names.
// A text that matches need not be such a number: Chance says how often one of the same
// form matches by accident, so that a column is judged by most of its values, never by
// one.
package pattern

import (
	"strings"
	"time"
)

// Pattern recognizes one kind of text.
type Pattern struct {
	// Name says what the texts are, as in "e-mail addresses".
	Name string
	// Matches looks at one text, without spaces around it.
	Matches func(text string) bool
	// Shape is what Chance speaks of: digits for 9, capital letters for A, hexadecimal
	// digits for F, all else as it is.
	Shape string
	// Chance is the share of random texts of the shape that match, at most: 0 to 1.
	Chance float64
	// Person says that one such text belongs to one person. Others, such as addresses of
	// pages, are only often close to one.
	Person bool
}

// All are the patterns, those that say most first.
func All() []Pattern {
	return []Pattern{
		{"e-mail addresses", isEmail, "AAAAAA@AAAAAA.AAA", 1, true},
		{"IBANs (ISO 13616, mod 97)", isIBAN, "DE99999999999999999999", 0.012, true},
		{"French social security numbers (NIR, mod 97)", isNIR, "199057599999999", 0.012, true},
		{"Italian tax codes (codice fiscale, check letter)", isCodiceFiscale, "AAAAAA99A99A999A", 0.025, true},
		{"Spanish identity numbers (DNI or NIE, check letter)", isDNI, "99999999A", 0.045, true},
		{"German pension insurance numbers (RVNR, check digit)", isRVNR, "65150680A999", 0.11, true},
		{"German health insurance numbers (KVNR, check digit)", isKVNR, "A999999999", 0.11, true},
		{"Finnish personal identity codes (HETU, check character)", isHETU, "150680-999A", 0.05, true},
		{"Chinese resident identity numbers (ISO 7064, mod 11-2)", isResidentIdentity, "110105199001019999", 0.1, true},
		{"Norwegian birth numbers (two check digits)", isFodselsnummer, "15068099999", 0.015, true},
		{"Turkish identity numbers (two check digits)", isTurkish, "99999999999", 0.012, true},
		{"Brazilian taxpayer numbers (CPF, two check digits)", isCPF, "99999999999", 0.012, true},
		{"Belgian national register numbers (mod 97)", isBelgian, "80061599999", 0.025, true},
		{"Polish PESEL numbers (date and check digit)", isPESEL, "80061599999", 0.11, true},
		{"German tax numbers (Steuer-ID, ISO 7064 mod 11,10)", isSteuerID, "99999999999", 0.004, true},
		{"Swiss insurance numbers (AHV, EAN-13)", isAHV, "7569999999999", 0.11, true},
		{"Swedish personal identity numbers (date and Luhn)", isPersonnummer, "800615-9999", 0.11, true},
		{"Austrian insurance numbers (date and check digit)", isSVNR, "9999150680", 0.11, true},
		{"Danish CPR numbers (date)", isCPR, "150680-9999", 1, true},
		{"US social security numbers", isSSN, "999-99-9999", 0.92, true},
		{"UK national insurance numbers", isNINO, "AA999999C", 0.7, true},
		{"Indian Aadhaar numbers (Verhoeff)", isAadhaar, "999999999999", 0.09, true},
		{"payment card numbers (Luhn)", isCard, "4999999999999999", 0.11, true},
		{"IMEIs of phones (Luhn)", isIMEI, "359999999999999", 0.11, true},
		{"UK NHS numbers (mod 11)", isNHS, "9999999999", 0.1, true},
		{"Dutch citizen service numbers (BSN, 11-test)", isBSN, "999999999", 0.1, true},
		{"Portuguese taxpayer numbers (NIF, mod 11)", isNIF, "299999999", 0.11, true},
		{"Canadian social insurance numbers (Luhn)", isSIN, "499999999", 0.11, true},
		{"vehicle identification numbers (check digit)", isVIN, "1HGCM8263AA999999", 0.1, true},
		{"UUIDs", isUUID, "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", 1, true},
		{"hardware addresses (MAC)", isMAC, "FF:FF:FF:FF:FF:FF", 1, true},
		{"network addresses (IP)", isIP, "99.99.99.99", 1, true},
		{"phone numbers", isPhone, "+99 99 99999999", 1, true},
		{"addresses of pages (URL)", isURL, "https://AAAAA.AAA/AAAA", 1, false},
		{"places on a map", isPlace, "49.999999, 9.999999", 1, true},
	}
}

// Enough is the share of a column's different values from which they are taken for those
// of a pattern: mistyped and missing ones are everywhere.
const Enough = 0.8

// few is how many different values a column must have for that.
const few = 5

// Of is the pattern that the column's different values have; false where there is none, or
// where so many could match by accident.
func Of(values []string) (Pattern, bool) {
	if len(values) < few {
		return Pattern{}, false
	}
	for _, p := range All() {
		matching := 0
		for _, v := range values {
			if p.Matches(strings.TrimSpace(v)) {
				matching++
			}
		}
		if float64(matching) >= Enough*float64(len(values)) {
			return p, true
		}
	}
	return Pattern{}, false
}

// Within is how many of the texts have an e-mail address or a phone number somewhere in
// them.
func Within(texts []string) int {
	n := 0
	for _, text := range texts {
		if hasContact(text) {
			n++
		}
	}
	return n
}

// digits are those of a text without the spaces, hyphens and dots by which people group
// them; false where there is anything else, or not length of them.
func digits(text string, length int) ([]int, bool) {
	var ds []int
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			ds = append(ds, int(c-'0'))
		case c != ' ' && c != '-' && c != '.' && c != '/':
			return nil, false
		}
	}
	return ds, len(ds) == length
}

// weighted is the sum of the first digits, each times its weight.
func weighted(ds []int, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += ds[i] * w
	}
	return sum
}

// number is what some digits say in the decimal system.
func number(ds []int) int {
	n := 0
	for _, d := range ds {
		n = 10*n + d
	}
	return n
}

// same says that all digits are one, as in numbers that people make up.
func same(ds []int) bool {
	for _, d := range ds {
		if d != ds[0] {
			return false
		}
	}
	return true
}

// isDay says that there is such a day in the year of that number or, where it has two
// digits, in one of a century.
func isDay(year, month, day int) bool {
	if year < 100 {
		year += 2000 // a leap year for the year 00 as well
	}
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	return day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
