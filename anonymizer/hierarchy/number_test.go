package hierarchy_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

func TestInteger(t *testing.T) {
	t.Parallel()
	checkRows(t, hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}, []generalized{
		{[]string{"42"}, "42", "42", "42"},
		{[]string{"20", "21"}, "20", "20", "21"},
		{[]string{"-20", "-21"}, "-21", "-21", "-20"},
		{[]string{"9007199254740991"}, "9007199254740991", "9007199254740991", "9007199254740991"},
		{[]string{"9007199254740993"}, "9007199254740992", "9007199254740991", "9007199254740994"},
		{[]string{"9223372036854775807", "-9223372036854775808"}, "-1", "-9223372036854775808", "9223372036854775807"},
		{[]string{"1", "NULL"}, "", "", ""},
	})
}

func TestDecimal(t *testing.T) {
	t.Parallel()
	checkRows(t, hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal}, []generalized{
		{[]string{"12.50"}, "12.5", "12.5", "12.5"},
		{[]string{"0.1", "0.2"}, "0.15", "0.1", "0.2"},
		{[]string{"-0", "0.000"}, "0", "0", "0"},
		{[]string{"1e3", "2E+3"}, "1500", "1000", "2000"},
		{[]string{"1e300", "-1e300"}, "0", "-1e+300", "1e+300"},
		{[]string{"0.1000000000000000055511151231257827"}, "0.10000000000000002", "0.1", "0.10000000000000003"},
		{[]string{"0.09999999999999999999999"}, "0.09999999999999999", "0.09999999999999998", "0.1"},
		{[]string{"1e-320"}, "1e-320", "9.995e-321", "1.0005e-320"},
	})
}

// randomDecimal makes texts that sit on and near the edges of float64.
func randomDecimal(random *rand.Rand) string {
	switch random.IntN(6) {
	case 0: // few digits
		return strconv.FormatFloat(float64(random.IntN(2_000_000)-1_000_000)/100, 'f', 2, 64)
	case 1: // a double's own text
		return strconv.FormatFloat(math.Float64frombits(random.Uint64()), 'g', -1, 64)
	case 2: // a short decimal and a long tail of zeros or nines
		tail := strings.Repeat([]string{"0", "9"}[random.IntN(2)], random.IntN(25))
		return fmt.Sprintf("%s%d.%d%s%d", []string{"", "-"}[random.IntN(2)], random.IntN(100), random.IntN(1000), tail, random.IntN(10))
	case 3: // halfway between two doubles, exactly or almost
		f := math.Float64frombits(random.Uint64()&^(0x7ff<<52) | uint64(1000+random.IntN(50))<<52)
		mid := new(big.Float).SetPrec(2000).Add(big.NewFloat(f), big.NewFloat(math.Nextafter(f, math.Inf(1))))
		return mid.Quo(mid, big.NewFloat(2)).Text('f', 60+random.IntN(1000))
	case 4: // many digits with an exponent
		var digits strings.Builder
		for range 1 + random.IntN(40) {
			digits.WriteByte(byte('0' + random.IntN(10)))
		}
		return fmt.Sprintf("%s.%de%d", digits.String(), random.Uint64(), random.IntN(700)-350)
	default: // near the least magnitudes
		return fmt.Sprintf("%d.%de-%d", random.IntN(10), random.Uint64(), 295+random.IntN(40))
	}
}

func checkBounds(h hierarchy.Hierarchy, texts []string) error {
	var exact []*big.Rat
	var cells []hierarchy.Cell
	for _, text := range texts {
		c := h.Encode(text)
		if hierarchy.IsOffScale(c) {
			continue
		}
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			return fmt.Errorf("%q has a cell and is no number", text)
		}
		cells, exact = append(cells, c), append(exact, r)
	}
	if len(cells) == 0 {
		return nil
	}
	g := h.Generalize(cells)
	lower, lowerOK := new(big.Rat).SetString(g.Lower)
	upper, upperOK := new(big.Rat).SetString(g.Upper)
	value, valueOK := new(big.Rat).SetString(g.Value)
	if !lowerOK || !upperOK || !valueOK || value.Cmp(lower) < 0 || value.Cmp(upper) > 0 {
		return fmt.Errorf("%q: value %q is not between %q and %q", texts, g.Value, g.Lower, g.Upper)
	}
	for i, x := range exact {
		if x.Cmp(lower) < 0 || x.Cmp(upper) > 0 {
			return fmt.Errorf("%q is not between %q and %q", texts[i], g.Lower, g.Upper)
		}
	}
	return nil
}

func TestDecimalBoundsAreHonest(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	h := build(t, hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal})
	for range 60_000 {
		texts := []string{randomDecimal(random)}
		if random.IntN(3) == 0 {
			texts = append(texts, randomDecimal(random))
		}
		if err := checkBounds(h, texts); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShortDecimalsAreExact: up to 15 significant digits, nothing is widened.
func TestShortDecimalsAreExact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	h := build(t, hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal})
	for range 20_000 {
		text := fmt.Sprintf("%de%d", random.Int64N(1e15), random.IntN(500)-250)
		g := h.Generalize(encode(h, text, text))
		exact, _ := new(big.Rat).SetString(text)
		for _, published := range []string{g.Lower, g.Value, g.Upper} {
			if back, ok := new(big.Rat).SetString(published); !ok || back.Cmp(exact) != 0 {
				t.Fatalf("%s is published as %+v", text, g)
			}
		}
	}
}

func TestIntegerBoundsAreHonest(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 10))
	h := build(t, hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	for range 50_000 {
		n := int64(random.Uint64()) >> random.IntN(64)
		edge := int64(1)<<(50+random.IntN(13)) + random.Int64N(9) - 4
		texts := []string{strconv.FormatInt(n, 10), strconv.FormatInt(edge, 10), strconv.FormatInt(-edge, 10)}
		if err := checkBounds(h, texts[:1+random.IntN(3)]); err != nil {
			t.Fatal(err)
		}
		if n > -1<<53 && n < 1<<53 {
			if g := h.Generalize(encode(h, texts[0])); g.Lower != texts[0] || g.Upper != texts[0] || g.Value != texts[0] {
				t.Fatalf("%s is published as %+v", texts[0], g)
			}
		}
	}
}

func FuzzDecimal(f *testing.F) {
	for _, seed := range []string{"", "0", "-0.0", "1e-400", "1e400", "0.1000000000000000055", "9007199254740993", "1e99999999999999999999", "0e99999999999999999999", ".5", "5.", "+1", "NaN"} {
		f.Add(seed)
	}
	h := build(f, hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal})
	f.Fuzz(func(t *testing.T, text string) {
		if e := strings.IndexAny(text, "eE"); e >= 0 && len(text)-e > 6 {
			h.Encode(text) // too large an exponent for the exact comparison
			return
		}
		if err := checkBounds(h, []string{text}); err != nil {
			t.Error(err)
		}
	})
}
