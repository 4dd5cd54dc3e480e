package torture

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// datum is a value in its type's text form, or NULL. Kept is what the stream left out:
// an unchanged value that is stored out of line.
type datum struct {
	text string
	null bool
	kept bool
}

func (d datum) literal() string {
	if d.null {
		return "NULL"
	}
	return catalog.QuoteLiteral(d.text)
}

var copyEscapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// copyText is the value in COPY's text format.
func (d datum) copyText() string {
	if d.null {
		return `\N`
	}
	return copyEscapes.Replace(d.text)
}

// rowKey joins values so that different rows have different keys.
func rowKey(row []datum) string {
	var b strings.Builder
	for _, d := range row {
		if d.null {
			b.WriteString("-;")
			continue
		}
		b.WriteString(strconv.Itoa(len(d.text)))
		b.WriteByte(':')
		b.WriteString(d.text)
	}
	return b.String()
}

// values draws a value.
type values func(*rand.Rand) datum

const null = "\x00" // among the texts of oneOf

func oneOf(texts ...string) values {
	return func(r *rand.Rand) datum {
		text := texts[r.IntN(len(texts))]
		if text == null {
			return datum{null: true}
		}
		return datum{text: text}
	}
}

func number(low, high int) values {
	return func(r *rand.Rand) datum { return datum{text: strconv.Itoa(low + r.IntN(high-low+1))} }
}

func formatted(format string, low, high int) values {
	return func(r *rand.Rand) datum { return datum{text: fmt.Sprintf(format, low+r.IntN(high-low+1))} }
}

// now and then draws from the second, else from the first.
func mixed(mostly, oneIn int, usual, rare values) values {
	return func(r *rand.Rand) datum {
		if r.IntN(oneIn) >= mostly {
			return rare(r)
		}
		return usual(r)
	}
}

// long draws texts that PostgreSQL stores out of line, and short ones.
func long(letters string) values {
	return func(r *rand.Rand) datum {
		letter := letters[r.IntN(len(letters))]
		length := []int{0, 3, 40, 40, 2100, 2500, 9000}[r.IntN(7)]
		return datum{text: strings.Repeat(string(letter), length)}
	}
}

// digits draws numbers of many digits.
func digits(r *rand.Rand) datum {
	switch r.IntN(6) {
	case 0:
		return datum{null: true}
	case 1:
		return datum{text: "NaN"}
	case 2:
		return datum{text: "-" + strings.Repeat("7", 1+r.IntN(1000)) + "." + strings.Repeat("3", 1+r.IntN(200))}
	default:
		return datum{text: fmt.Sprintf("%d.%0*d", r.IntN(1000), 1+r.IntN(5), r.IntN(10))}
	}
}

func bytea(r *rand.Rand) datum {
	b := make([]byte, r.IntN(12))
	for i := range b {
		b[i] = byte(r.IntN(256))
	}
	return datum{text: fmt.Sprintf(`\x%x`, b)}
}

// dates lie in a century, at its edges, before Christ and beyond the calendar.
func dates(r *rand.Rand) datum {
	if r.IntN(12) == 0 {
		return oneOf("infinity", "-infinity", "0044-03-15 BC", "5874897-12-31", null)(r)
	}
	return datum{text: fmt.Sprintf("%d-%02d-%02d", 1930+r.IntN(90), 1+r.IntN(12), 1+r.IntN(28))}
}

func instants(r *rand.Rand) datum {
	if r.IntN(12) == 0 {
		return oneOf("infinity", "-infinity", "0100-01-01 00:00:00+00 BC", null)(r)
	}
	return datum{text: fmt.Sprintf("2024-%02d-%02d %02d:%02d:%02d.%03d+02", 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000))}
}

var odd = oneOf("", " ", "a", "b:1", "1:b", "a\tb", "c\\n", "'quoted'", "\"d\"", "line\nbreak", "NULL", "\\N", "grün", "字", "😀", "{a,b}", "x,y", null)
