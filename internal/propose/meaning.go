package propose

import (
	"slices"
	"strings"
	"unicode"
)

// meaning is what a column's name says of it.
type meaning int

const (
	unknown meaning = iota
	direct          // names a person
	known           // known of a person by others
	secret          // must not become known of a person
)

// conceptOf is what a column holds by its name, nil where the name says nothing. The last
// word decides, since it says what the others are about, unless it is of what names a
// person: the city of address_city is known to others. Else what names a person goes before
// everything, and what must not become known before what others know.
func conceptOf(column string) *concept {
	words := split(column)
	if len(words) == 0 {
		return nil
	}
	if len(words) == 1 && slices.Contains([]string{"first", "last", "given", "family", "middle"}, words[0]) {
		return &concepts[0] // beside others, these words mean anything
	}
	all := slices.Concat(words, []string{strings.Join(words, "_")}) // as in estado_civil
	if last := matching(words[len(words)-1:], direct, secret, known); last != nil && last.meaning != direct {
		return matching(all, last.meaning) // a birth date is a birth first
	}
	return matching(all, direct, secret, known)
}

// matching is the first concept of the meanings that one of the words is of.
func matching(words []string, meanings ...meaning) *concept {
	for i, c := range concepts {
		if slices.Contains(meanings, c.meaning) && slices.ContainsFunc(words, func(w string) bool { return isOf(w, c.words) }) {
			return &concepts[i]
		}
	}
	return nil
}

func meaningOf(column string) meaning {
	if c := conceptOf(column); c != nil {
		return c.meaning
	}
	return unknown
}

// isQualified says that a name speaks of a kind or a state of the thing that it names.
func isQualified(column string) bool {
	words := split(column)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	return isOf(last, compounds) && !isOf(last, qualifiers) || len(words) > 1 && isOf(last, qualifiers)
}

// isIdentifier says that a column is one of identifiers by its name, and whether
// they are those of persons. The state or the kind of a person tells nobody apart.
func isIdentifier(column string) (is, ofPersons bool) {
	if isQualified(column) {
		return false, false
	}
	among := func(list []string) bool {
		return slices.ContainsFunc(split(column), func(word string) bool { return isOf(word, list) })
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

// isActor says that a column tells who did something to a row, or answers for it.
func isActor(column string) bool {
	return slices.ContainsFunc(split(column), func(word string) bool { return isOf(word, actors) })
}

// namesPersons says that a table is one of persons by its name, which is that of its last
// word: user_roles are roles.
func namesPersons(table string) bool {
	words := split(table)
	return len(words) > 0 && isOf(words[len(words)-1], persons)
}

// refersToPersons says whether a column's name is that of a person, or of what tells persons apart.
func refersToPersons(column string) bool {
	words := split(column)
	for len(words) > 1 && isOf(words[len(words)-1], identifiers) {
		words = words[:len(words)-1]
	}
	return len(words) > 0 && isOf(words[len(words)-1], persons)
}

// namesBodies says the same of firms, and of other things that have names and addresses.
func namesBodies(table string) bool {
	words := split(table)
	return len(words) > 0 && isOf(words[len(words)-1], bodies)
}

// isCode says that a column of numbers holds codes whose beginnings mean a place.
func isCode(column string) bool {
	return slices.ContainsFunc(split(column), func(word string) bool {
		return isOf(word, []string{"zip*", "postcode*", "postal*", "plz", "postleitzahl", "cp", "cap", "codepostal", "postnummer"})
	})
}

// isOf says that a word is one of a list in which a star at an end stands for any letters.
func isOf(word string, list []string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		middle := strings.Trim(pattern, "*")
		before, after := strings.HasPrefix(pattern, "*"), strings.HasSuffix(pattern, "*")
		switch {
		case before && after:
			return strings.Contains(word, middle)
		case before:
			return strings.HasSuffix(word, middle)
		case after:
			return strings.HasPrefix(word, middle)
		default:
			return word == middle
		}
	})
}

// split takes birth_date, birth-date, birthDate and BIRTHDate apart. Numbers behind a word
// are left out: phone2 is a phone.
func split(name string) []string {
	var b strings.Builder
	letters := []rune(name)
	for i, c := range letters {
		upper := unicode.IsUpper(c)
		afterLower := i > 0 && unicode.IsLower(letters[i-1])
		beforeLower := i > 0 && unicode.IsUpper(letters[i-1]) && i+1 < len(letters) && unicode.IsLower(letters[i+1])
		if upper && (afterLower || beforeLower) {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	words := strings.FieldsFunc(fold(b.String()), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	for i, word := range words {
		if bare := strings.TrimRight(word, "0123456789"); bare != "" {
			words[i] = bare
		}
	}
	return words
}

// fold brings a text to small letters without accents, umlauts as those write them who
// have none.
func fold(text string) string { return accents.Replace(strings.ToLower(text)) }

var accents = strings.NewReplacer(
	"ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "æ", "ae", "ø", "o", "å", "a", "à", "a", "á", "a", "â", "a", "ã", "a", "ą", "a",
	"ç", "c", "ć", "c", "č", "c", "è", "e", "é", "e", "ê", "e", "ë", "e", "ę", "e", "ì", "i", "í", "i", "î", "i", "ï", "i", "ł", "l",
	"ñ", "n", "ń", "n", "ò", "o", "ó", "o", "ô", "o", "õ", "o", "ś", "s", "š", "s", "ù", "u", "ú", "u", "û", "u", "ý", "y", "ź", "z", "ż", "z", "ž", "z",
)
