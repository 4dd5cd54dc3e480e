package hierarchy

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// prefixes is the Prefix hierarchy: codes such as postcodes whose beginning
// names a wider region. A cell is an index into the dictionary of the texts
// met so far.
type prefixes struct {
	codes map[string]int32
	texts []string
	keep  []int // numbers of characters that may be published, descending; empty for all
}

func newPrefixes(keep []int) *prefixes {
	return &prefixes{codes: map[string]int32{}, keep: slices.Clone(keep)}
}

func (p *prefixes) Kind() Kind { return Prefix }

func (p *prefixes) Encode(value string) Cell {
	code, known := p.codes[value]
	if !known {
		value = strings.Clone(value)
		code = int32(len(p.texts))
		p.codes[value] = code
		p.texts = append(p.texts, value)
	}
	return Cell(code)
}

func (p *prefixes) text(c Cell) (string, bool) {
	if !(c >= 0 && c < float64(len(p.texts))) {
		return "", false
	}
	return p.texts[int(c)], true
}

// axisBytes is how many leading bytes make a position: 48 bits are exact in a
// float64. Texts that differ later only share a position.
const axisBytes = 6

func (p *prefixes) Position(c Cell) float64 {
	text, ok := p.text(c)
	if !ok {
		return math.NaN()
	}
	return axisPosition(text)
}

func axisPosition(text string) float64 {
	var position uint64
	for i := range axisBytes {
		position <<= 8
		if i < len(text) {
			position |= uint64(text[i])
		}
	}
	return float64(position)
}

// Generalize publishes the longest common prefix, cut between runes, or as much
// of it as may be published. Members of one length keep it, masked by asterisks;
// otherwise one asterisk stands for the rest. Equal members publish the value
// itself unless it is too long.
func (p *prefixes) Generalize(cells []Cell) Generalization {
	if len(cells) == 0 {
		return Generalization{Hidden: true}
	}
	var first, common string
	var runes int
	equal, sameLength := true, true
	for i, c := range cells {
		text, ok := p.text(c)
		if !ok {
			return Generalization{Hidden: true}
		}
		if i == 0 {
			first, common, runes = text, text, utf8.RuneCountInString(text)
			continue
		}
		if text == common && equal {
			continue
		}
		equal = false
		sameLength = sameLength && utf8.RuneCountInString(text) == runes
		common = commonPrefix(common, text)
	}
	if equal && (len(p.keep) == 0 || runes <= p.keep[0]) {
		return Generalization{Value: first}
	}
	keep := utf8.RuneCountInString(common)
	if len(p.keep) > 0 {
		allowed := slices.IndexFunc(p.keep, func(n int) bool { return n <= keep })
		if allowed < 0 {
			return Generalization{Value: Root}
		}
		keep = p.keep[allowed]
	}
	return Generalization{Value: masked(first, keep, sameLength)}
}

// masked is the beginning of a code with asterisks in place of the rest: as many
// as are missing where all codes that it stands for have the same length, else
// one for any number.
func masked(text string, keep int, sameLength bool) string {
	kept := leading(text, keep)
	if !sameLength {
		return kept + "*"
	}
	return kept + strings.Repeat("*", utf8.RuneCountInString(text[len(kept):]))
}

// leading returns the first characters of the text.
func leading(text string, characters int) string {
	end := 0
	for ; characters > 0 && end < len(text); characters-- {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return text[:end]
}

// commonPrefix compares rune by rune; a byte that is no valid rune counts as
// one of its own.
func commonPrefix(a, b string) string {
	end := 0
	for end < len(a) {
		r, size := utf8.DecodeRuneInString(a[end:])
		s, other := utf8.DecodeRuneInString(b[end:])
		if r != s || size != other || a[end:end+size] != b[end:end+size] {
			break
		}
		end += size
	}
	return a[:end]
}
