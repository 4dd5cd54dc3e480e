package propose_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/propose"
)

// generator makes the text of a column in record i.
type generator func(r *rand.Rand, i int) string

// field is a column of a made-up table, with what somebody who knows the data says that it
// is: i(dentifying), q(uasi-identifying), s(ensitive), or two of them where either will do.
type field struct {
	name, sqlType, truth string
	make                 generator
	key                  bool
	references           string
}

// relation is a made-up table, with what is to be proposed for it.
type relation struct {
	name    string
	verdict propose.Verdict
	records int
	fields  []field
}

// schema is a made-up database.
type schema struct {
	name      string
	relations []relation
}

// tables makes the records.
func (s schema) tables() []propose.Table {
	var all []propose.Table
	for at, made := range s.relations {
		rng := rand.New(rand.NewPCG(uint64(at), uint64(len(s.name))))
		t := propose.Table{Name: catalog.ParseName(made.name), Total: int64(made.records), Kind: catalog.KindTable}
		for _, f := range made.fields {
			c := propose.Column{Name: f.name, Type: f.sqlType, Key: f.key}
			if f.references != "" {
				c.References = catalog.ParseName(f.references)
				if key := s.key(f.references); len(key) == 1 {
					t.Foreign = append(t.Foreign, propose.ForeignKey{Columns: []string{f.name}, To: c.References, Of: key})
				}
			}
			if f.key {
				t.Key = append(t.Key, f.name)
			}
			for i := range made.records {
				c.Values = append(c.Values, f.make(rng, i))
			}
			t.Columns = append(t.Columns, c)
		}
		all = append(all, t)
	}
	return all
}

// key are the columns of a relation's key.
func (s schema) key(relation string) (key []string) {
	for _, made := range s.relations {
		for _, f := range made.fields {
			if made.name == relation && f.key {
				key = append(key, f.name)
			}
		}
	}
	return key
}

var (
	given  = strings.Fields("Anna Ben Clara David Emma Felix Greta Hans Ida Jonas Karl Lena Maria Noah Oskar Paula Quentin Rosa Simon Tina Uwe Vera Walter Yusuf Zoe")
	family = strings.Fields("Miller Smith Schneider Meyer Rossi Garcia Dubois Kowalski Jansen Nilsson Berger Wagner Hoffmann Lopez Martin Bernard Silva Fischer Becker Schulz Keller Huber Wolf Braun Krause")
)

func serial(from int) generator {
	return func(_ *rand.Rand, i int) string { return fmt.Sprint(from + i) }
}

// of is a number of a row of a table of so many.
func of(records int) generator {
	return func(r *rand.Rand, _ int) string { return fmt.Sprint(1 + r.IntN(records)) }
}

func one(texts ...string) generator {
	return func(r *rand.Rand, _ int) string { return texts[r.IntN(len(texts))] }
}

func number(low, high int) generator {
	return func(r *rand.Rand, _ int) string { return fmt.Sprint(low + r.IntN(high-low)) }
}

func money(r *rand.Rand, _ int) string { return fmt.Sprintf("%d.%02d", 10+r.IntN(9000), r.IntN(100)) }

func digits(format string, n int) generator {
	return func(r *rand.Rand, _ int) string {
		text := ""
		for range n {
			text += fmt.Sprint(r.IntN(10))
		}
		return fmt.Sprintf(format, text)
	}
}

func day(from, to int) generator {
	return func(r *rand.Rand, _ int) string {
		return time.Date(from+r.IntN(to-from), 1, 1+r.IntN(365), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
}

func moment(r *rand.Rand, i int) string { return day(2020, 2026)(r, i) + " 10:20:30.123456+00" }

func first(r *rand.Rand, i int) string { return one(given...)(r, i) }
func last(r *rand.Rand, i int) string  { return one(family...)(r, i) }
func full(r *rand.Rand, i int) string  { return first(r, i) + " " + last(r, i) }

func email(r *rand.Rand, i int) string {
	return strings.ToLower(first(r, i)) + fmt.Sprint(i) + "@example.org"
}

func phone(r *rand.Rand, i int) string { return digits("+49 30 %s", 8)(r, i) }

func street(r *rand.Rand, i int) string {
	return one("Main", "Oak", "Park", "Lake")(r, i) + " Street " + number(1, 200)(r, i)
}

func iban(r *rand.Rand, _ int) string {
	account := ""
	for range 18 {
		account += fmt.Sprint(r.IntN(10))
	}
	rest := 0
	for _, c := range account + "131400" { // DE00 at the end
		rest = (10*rest + int(c-'0')) % 97
	}
	return fmt.Sprintf("DE%02d%s", 98-rest, account)
}

// luhn makes a number of so many digits with its check digit.
func luhn(prefix string, length int) generator {
	return func(r *rand.Rand, _ int) string {
		text := prefix
		for len(text) < length-1 {
			text += fmt.Sprint(r.IntN(10))
		}
		sum := 0
		for i := range text {
			d := int(text[len(text)-1-i] - '0')
			if i%2 == 0 {
				if d *= 2; d > 9 {
					d -= 9
				}
			}
			sum += d
		}
		return text + fmt.Sprint((10-sum%10)%10)
	}
}

func icd(r *rand.Rand, _ int) string {
	return []string{"I10", "E11", "J45", "M54", "F32", "C50", "G40", "K21", "N18", "I25", "J18", "S72"}[r.IntN(12)]
}

func prose(r *rand.Rand, i int) string {
	return "Seen today with " + one("pain", "fever", "a cough")(r, i) + ", sent home, called " + full(r, i) + " about the outcome"
}

func address(r *rand.Rand, _ int) string {
	return fmt.Sprintf("10.%d.%d.%d", r.IntN(256), r.IntN(256), r.IntN(256))
}

func uuid(r *rand.Rand, _ int) string {
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<12), r.Uint64N(1<<48))
}

// nothing is a value for some records only.
func nothing(g generator, percent int) generator {
	return func(r *rand.Rand, i int) string {
		if text := g(r, i); r.IntN(100) >= percent {
			return text
		}
		return ""
	}
}

// codes are the first so many of a list of look-up codes.
func code(prefix string) generator {
	return func(_ *rand.Rand, i int) string { return fmt.Sprintf("%s%02d", prefix, i) }
}

func label(words ...string) generator {
	return func(_ *rand.Rand, i int) string { return words[i%len(words)] + " " + fmt.Sprint(i/len(words)+1) }
}
