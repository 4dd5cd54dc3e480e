package pattern_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/propose/pattern"
)

// known are texts that are what they look like, made up or published as examples by those
// who give such numbers out; mistaken ones differ from them by a digit or so.
var known = map[string]struct{ right, mistaken []string }{
	"e-mail":           {[]string{"ann@example.org", "a.b+c@mail.example.co.uk", "jörg@münchen.example"}, []string{"ann", "ann@", "@example.org", "ann@example", "a b@example.org"}},
	"IBANs":            {[]string{"DE89370400440532013000", "GB29 NWBK 6016 1331 9268 19", "FR1420041010050500013M02606"}, []string{"DE88370400440532013000", "DE8937040044", "89370400440532013000"}},
	"French":           {[]string{"255081416802538", "2 55 08 14 168 025 38"}, []string{"255081416802539", "355081416802538", "2550814168025"}},
	"Italian":          {[]string{"RSSMRA85T10A562S"}, []string{"RSSMRA85T10A562T", "RSSMRA85Z10A562S"}},
	"Spanish":          {[]string{"12345678Z", "X1234567L", "12345678-Z"}, []string{"12345678A", "1234567Z"}},
	"RVNR":             {[]string{"15070649C103", "15 070649 C 103"}, []string{"15070649C104", "15079949C103"}},
	"KVNR":             {[]string{"A123456780"}, []string{"A123456781", "1234567801"}},
	"Finnish":          {[]string{"131052-308T"}, []string{"131052-308U", "321352-308T"}},
	"Chinese":          {[]string{"11010519491231002X"}, []string{"110105194912310021", "11010519491331002X"}},
	"Norwegian":        {[]string{"29029600013"}, []string{"29029600014", "31029600013"}},
	"Turkish":          {[]string{"10000000146"}, []string{"10000000147", "00000000146"}},
	"Brazilian":        {[]string{"529.982.247-25"}, []string{"529.982.247-24", "111.111.111-11"}},
	"Belgian":          {[]string{"85.07.30-033 28"}, []string{"85.07.30-033 29"}},
	"Polish":           {[]string{"44051401359"}, []string{"44051401358", "44991401359"}},
	"Steuer-ID":        {[]string{"86095742719", "47036892816", "65929970489"}, []string{"86095742718", "12345678903", "11111111110"}},
	"Swiss":            {[]string{"756.9217.0769.85"}, []string{"756.9217.0769.84", "755.9217.0769.85"}},
	"Swedish":          {[]string{"811218-9876", "19811218-9876"}, []string{"811218-9875", "811318-9876"}},
	"Austrian":         {[]string{"1237010180"}, []string{"1238010180"}},
	"Danish":           {[]string{"070761-4285"}, []string{"320761-4285", "0707614285"}},
	"US social":        {[]string{"219-09-9999", "078-05-1120"}, []string{"000-12-3456", "666-12-3456", "912-12-3456", "123-00-4567", "123456789"}},
	"UK national":      {[]string{"AB123456C", "AB 12 34 56 C"}, []string{"QQ123456C", "AB123456E", "GB123456C"}},
	"Aadhaar":          {[]string{"9999 4105 7058"}, []string{"9999 4105 7059"}},
	"payment":          {[]string{"4111 1111 1111 1111", "5500005555555559", "378282246310005"}, []string{"4111111111111112", "4111"}},
	"IMEI":             {[]string{"356938035643809"}, []string{"356938035643808"}},
	"NHS":              {[]string{"943 476 5919"}, []string{"943 476 5918", "1111111111"}},
	"Dutch":            {[]string{"111222333", "123456782"}, []string{"111222334", "12345678"}},
	"Portuguese":       {[]string{"123456789"}, []string{"123456788", "523456789"}},
	"Canadian":         {[]string{"130 692 544"}, []string{"130 692 545"}},
	"vehicle":          {[]string{"1HGCM82633A004352"}, []string{"1HGCM82643A004352", "1HGCM82633A00435"}},
	"UUID":             {[]string{"123e4567-e89b-12d3-a456-426614174000"}, []string{"123e4567-e89b-12d3-a456-42661417400", "x"}},
	"hardware":         {[]string{"00:1b:44:11:3A:B7", "00-1B-44-11-3A-B7", "001b.4411.3ab7"}, []string{"00:1b:44:11:3A", "00:1b:44:11:3A:G7"}},
	"network":          {[]string{"192.0.2.1", "2001:db8::1", "192.0.2.1/32"}, []string{"192.0.2.256", "192.0.2", "192.0.2.1/x"}},
	"phone numbers":    {[]string{"+49 30 1234567", "(030) 123 45 67", "0171/1234567", "212-555-0123", "+1 (212) 555-0123"}, []string{"1990-05-17", "17.05.1990", "12345", "2024-11-21 10:00", "0000000000"}},
	"addresses of pag": {[]string{"https://example.org/u/ann", "www.example.org"}, []string{"example", "https://"}},
	"places":           {[]string{"52.520008, 13.404954", "(52.520008,13.404954)", "-33.8688 151.2093"}, []string{"152.520008, 13.404954", "52.5, 13.4", "52.520008"}},
}

func named(t *testing.T, part string) pattern.Pattern {
	t.Helper()
	for _, p := range pattern.All() {
		if strings.Contains(p.Name, part) {
			return p
		}
	}
	t.Fatalf("there is no pattern of %q", part)
	return pattern.Pattern{}
}

func TestKnownTexts(t *testing.T) {
	t.Parallel()
	if len(known) != len(pattern.All()) {
		t.Errorf("%d patterns are known, of %d", len(known), len(pattern.All()))
	}
	for part, texts := range known {
		p := named(t, part)
		for _, text := range texts.right {
			if !p.Matches(text) {
				t.Errorf("%s: %q does not match", p.Name, text)
			}
		}
		for _, text := range texts.mistaken {
			if p.Matches(text) {
				t.Errorf("%s: %q matches", p.Name, text)
			}
		}
	}
}

// random is a text of a shape.
func random(r *rand.Rand, shape string) string {
	b := []byte(shape)
	for i, c := range b {
		switch c {
		case '9':
			b[i] = byte('0' + r.IntN(10))
		case 'A':
			b[i] = byte('A' + r.IntN(26))
		case 'F':
			b[i] = "0123456789abcdef"[r.IntN(16)]
		}
	}
	return string(b)
}

// TestChance: random texts match as seldom as is claimed, and, where a check digit is what
// tells, the claim is not far above that.
func TestChance(t *testing.T) {
	t.Parallel()
	const trials = 20_000
	for _, p := range pattern.All() {
		r := rand.New(rand.NewPCG(1, 2))
		matching := 0
		for range trials {
			if p.Matches(random(r, p.Shape)) {
				matching++
			}
		}
		rate := float64(matching) / trials
		t.Logf("%-60s %.4f of random texts match, %.3f claimed", p.Name, rate, p.Chance)
		if rate > p.Chance || p.Chance < 1 && rate < p.Chance/4 {
			t.Errorf("%s: %v of random texts match, claimed is %v", p.Name, rate, p.Chance)
		}
	}
}

// TestColumnsOfRandomDigits are no numbers of anything: a column has too many that do not
// match.
func TestColumnsOfRandomDigits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for length := 1; length <= 20; length++ {
		values := make([]string, 200)
		for i := range values {
			values[i] = fmt.Sprint(1+r.IntN(9)) + random(r, strings.Repeat("9", length-1))
		}
		if p, found := pattern.Of(values); found {
			t.Errorf("%d random digits are taken for %s", length, p.Name)
		}
	}
}

func TestColumnsArePatternsByMostOfTheirValues(t *testing.T) {
	t.Parallel()
	var values []string
	for i := range 100 {
		values = append(values, fmt.Sprintf("person%d@example.org", i))
	}
	if p, found := pattern.Of(append(values, "none", "-", "unknown")); !found || !strings.HasPrefix(p.Name, "e-mail") {
		t.Errorf("%v, %v", p.Name, found)
	}
	if _, found := pattern.Of(append(values, values[:0]...)[:4]); found {
		t.Error("four values are enough")
	}
	mixed := append([]string{}, values[:70]...)
	for i := range 30 {
		mixed = append(mixed, fmt.Sprint(i))
	}
	if _, found := pattern.Of(mixed); found {
		t.Error("70 % are enough")
	}
}

func TestContactsWithinTexts(t *testing.T) {
	t.Parallel()
	texts := []string{"please write to ann@example.org", "call +49 30 1234567 after six", "Tel. 030 1234567", "cost 1200.50 on 2024-01-02", "see room 12-14"}
	if n := pattern.Within(texts); n != 3 {
		t.Errorf("%d texts have a contact, 3 expected", n)
	}
}

// FuzzPatterns: whatever text there is, every pattern answers.
func FuzzPatterns(f *testing.F) {
	for _, texts := range known {
		for _, text := range texts.right {
			f.Add(text)
		}
	}
	f.Add("")
	f.Add("É\x00")
	f.Fuzz(func(_ *testing.T, text string) {
		for _, p := range pattern.All() {
			p.Matches(text)
		}
		pattern.Within([]string{text})
	})
}
