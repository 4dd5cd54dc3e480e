package propose

import (
	"slices"
	"strings"
)

// meaning is what a column's name says of it.
type meaning int

const (
	unknown meaning = iota
	direct          // names a person
	known           // known of a person by others
	secret          // must not become known of a person
)

// words are those that names of columns are made of, as they appear between
// underscores, hyphens, spaces and changes of case. The identifiers follow the
// list of the HIPAA safe harbor rule, 45 CFR 164.514(b)(2).
var words = map[meaning][]string{
	direct: {
		"name", "firstname", "lastname", "surname", "forename", "fullname", "username", "login", "nickname", "maiden",
		"email", "mail", "phone", "telephone", "mobile", "fax", "ssn", "nin", "passport", "license", "iban", "account",
		"card", "insurance", "policy", "plate", "vin", "ip", "mac", "device", "url", "photo", "image", "fingerprint",
		"street", "address", "id", "uuid", "guid", "key", "identifier", "mrn", "signature", "comment", "comments", "note", "notes",
	},
	known: {
		"age", "birth", "birthday", "birthdate", "born", "dob", "sex", "gender", "zip", "zipcode", "postcode", "postal", "city", "town",
		"county", "region", "state", "country", "nationality", "native", "race", "ethnicity", "religion", "marital", "married", "spouse",
		"children", "relationship", "occupation", "job", "profession", "employer", "workclass", "education", "degree", "school",
		"language", "height", "weight", "admission", "discharge", "death", "date", "year",
	},
	secret: {
		"diagnosis", "disease", "condition", "illness", "symptom", "treatment", "therapy", "medication", "drug", "prescription",
		"test", "result", "hiv", "icd", "procedure", "salary", "income", "wage", "earnings", "wealth", "debt", "credit", "score",
		"balance", "cost", "price", "charge", "gain", "loss", "tax", "grade", "rating", "crime", "offense", "verdict", "sentence",
		"vote", "party", "orientation", "pregnancy", "disability",
	},
}

// persons are words for a person, and identifiers those for what tells one from
// another.
var (
	persons = []string{
		"patient", "person", "customer", "client", "member", "employee", "worker", "student", "pupil", "citizen", "resident",
		"user", "subject", "participant", "respondent", "donor", "insured", "driver", "tenant", "passenger",
	}
	identifiers = []string{
		"id", "uuid", "guid", "key", "identifier", "mrn", "ssn", "nin", "passport", "license", "account", "insurance", "email", "number", "no", "nr", "code",
	}
)

// isIdentifier says that a column is one of identifiers by its name, and whether
// they are those of persons.
func isIdentifier(column string) (is, ofPersons bool) {
	among := func(list []string) bool {
		return slices.ContainsFunc(split(column), func(word string) bool { return slices.Contains(list, word) })
	}
	ofPersons = among(persons)
	switch meaningOf(column) {
	case direct:
		return among(identifiers), ofPersons
	case unknown:
		return ofPersons, ofPersons
	default:
		return false, ofPersons
	}
}

// isOfPersons says that a column's name speaks of persons.
func isOfPersons(column string) bool {
	_, ofPersons := isIdentifier(column)
	return ofPersons
}

// isCode says that a column of numbers holds codes whose beginnings mean a place.
func isCode(column string) bool {
	return slices.ContainsFunc(split(column), func(word string) bool {
		return slices.Contains([]string{"zip", "zipcode", "postcode", "postal"}, word)
	})
}

// meaningOf looks at the words of a column's name. What names a person goes
// before everything, and what must not become known before what others know.
func meaningOf(column string) meaning {
	parts := split(column)
	for _, m := range []meaning{direct, secret, known} {
		for _, word := range words[m] {
			if slices.Contains(parts, word) {
				return m
			}
		}
	}
	return unknown
}

// split takes birth_date, birth-date and birthDate apart.
func split(name string) []string {
	var b strings.Builder
	var before rune
	for _, c := range name {
		if c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z' {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
		before = c
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(c rune) bool {
		word := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c > 127
		return !word
	})
}
