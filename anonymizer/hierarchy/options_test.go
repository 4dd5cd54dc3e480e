package hierarchy_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

func TestSteps(t *testing.T) {
	t.Parallel()
	integer := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger, Steps: []float64{5, 10, 50}}
	checkRows(t, integer, []generalized{
		{[]string{"34"}, "32", "30", "34"},
		{[]string{"30", "34"}, "32", "30", "34"},
		{[]string{"30", "35"}, "34", "30", "39"},
		{[]string{"39", "40"}, "24", "0", "49"},
		{[]string{"-1"}, "-3", "-5", "-1"},
		{[]string{"-1", "0"}, "", "", ""}, // no interval has both
		{[]string{"1", "NULL"}, "", "", ""},
		{[]string{"100000000000001"}, "", "", ""}, // beyond 10^14
		{[]string{"-100000000000000"}, "-99999999999998", "-100000000000000", "-99999999999996"},
	})
	integer.Origin = 3
	checkRows(t, integer, []generalized{{[]string{"2", "3"}, "", "", ""}, {[]string{"3", "7"}, "5", "3", "7"}, {[]string{"52", "53"}, "", "", ""}})
	checkRows(t, hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal, Steps: []float64{0.1, 1}}, []generalized{
		{[]string{"0.3"}, "0.35", "0.3", "0.4"},
		{[]string{"0.3", "0.39999999999999999999"}, "0.35", "0.3", "0.4"},
		{[]string{"0.3", "0.4"}, "0.5", "0", "1"},
		{[]string{"0.29999999999999999999999"}, "0.25", "0.2", "0.3"},
		{[]string{"-0"}, "0.05", "0", "0.1"},
		{[]string{"-0.0000000000000000000001"}, "-0.05", "-0.1", "0"},
		{[]string{"1e14"}, "", "", ""},
	})
}

// TestGridIsExact places random decimals and compares with exact arithmetic.
func TestGridIsExact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		scale := math.Pow10(random.IntN(8))
		width := float64(1 + random.IntN(2000))
		spec := hierarchy.Spec{
			Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal,
			Steps:  []float64{width / scale, width * float64(2+random.IntN(9)) / scale},
			Origin: float64(random.IntN(5000)-2500) / scale,
		}
		h := build(t, spec)
		for range 60 {
			// On a bound, or within a hair of it.
			steps := random.Int64N(2000) - 1000
			bound := new(big.Rat).Mul(rational(spec.Steps[random.IntN(2)]), big.NewRat(steps, 1))
			bound.Add(bound, rational(spec.Origin))
			hair := big.NewRat(int64(random.IntN(3)-1), 1)
			hair.Mul(hair, rational(math.Pow10(-random.IntN(30))))
			text := bound.Add(bound, hair).FloatString(40)
			if err := anonymizertest.CheckGeneralization(spec, []string{text}, h.Generalize(encode(h, text))); err != nil {
				t.Fatalf("%+v: %v", spec, err)
			}
		}
	}
}

func rational(f float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return r
}

func TestUnits(t *testing.T) {
	t.Parallel()
	units := []hierarchy.Unit{hierarchy.Day, hierarchy.Month, hierarchy.Quarter, hierarchy.Year, hierarchy.Decade, hierarchy.Century}
	checkRows(t, hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate, Units: units}, []generalized{
		{[]string{"2024-05-06"}, "2024-05-06", "2024-05-06", "2024-05-06"},
		{[]string{"2024-02-01", "2024-02-29"}, "2024-02-15", "2024-02-01", "2024-02-29"},
		{[]string{"2024-05-06", "2024-06-01"}, "2024-05-16", "2024-04-01", "2024-06-30"},
		{[]string{"2024-03-31", "2024-04-01"}, "2024-07-01", "2024-01-01", "2024-12-31"},
		{[]string{"2020-03-31", "2029-04-01"}, "2024-12-31", "2020-01-01", "2029-12-31"},
		{[]string{"2029-12-31", "2030-01-01"}, "2049-12-31", "2000-01-01", "2099-12-31"},
		{[]string{"1999-12-31", "2000-01-01"}, "", "", ""},
		{[]string{"1999-12-31", "infinity"}, "", "", ""},
	})
	checkRows(t, hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestampTZ, Units: []hierarchy.Unit{hierarchy.Day, hierarchy.Month}}, []generalized{
		{[]string{"2024-05-06 23:59:59.999999+00"}, "2024-05-06 11:59:59.999999+00", "2024-05-06 00:00:00+00", "2024-05-06 23:59:59.999999+00"},
		{[]string{"2024-05-06 23:30:00-01", "2024-05-07 12:00:00+00"}, "2024-05-07 11:59:59.999999+00", "2024-05-07 00:00:00+00", "2024-05-07 23:59:59.999999+00"},
		{[]string{"2024-05-06 00:00:00+00", "2024-05-07 00:00:00+00"}, "2024-05-16 11:59:59.999999+00", "2024-05-01 00:00:00+00", "2024-05-31 23:59:59.999999+00"},
	})
}

// TestUnitsHoldFarMoments: bounds are honest where a cell is not exact.
func TestUnitsHoldFarMoments(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 9))
	plain := build(t, hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestamp})
	for range 3000 {
		unit := hierarchy.Unit(random.IntN(6))
		h := build(t, hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestamp, Units: []hierarchy.Unit{unit}})
		clock := []string{"00:00:00", "00:00:00.000001", "23:59:59.999999", "23:59:59.9995"}[random.IntN(4)]
		year := 2300 + random.IntN(291_000)
		text := fmt.Sprintf("%d-%s %s", year, []string{"12-31", "01-01", "07-01", "06-30"}[random.IntN(4)], clock)
		g := h.Generalize(encode(h, text))
		// Texts of one length compare like the moments they tell.
		if g.Hidden || pad(g.Lower) > pad(text) || pad(g.Upper) < pad(text) {
			t.Fatalf("%v of %s is %+v", unit, text, g)
		}
		if low := encode(plain, g.Lower); low[0] > plain.Encode(text) {
			t.Fatalf("%v of %s begins at %s", unit, text, g.Lower)
		}
	}
}

func pad(text string) string {
	date, clock, _ := strings.Cut(text, " ")
	return fmt.Sprintf("%12s %-15s", date, clock)
}

func TestKeep(t *testing.T) {
	t.Parallel()
	checkRows(t, hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText, Keep: []int{4, 2}}, []generalized{
		{[]string{"12345", "12345"}, "1234*", "", ""},
		{[]string{"12345", "12346"}, "1234*", "", ""},
		{[]string{"12345", "12388"}, "12***", "", ""},
		{[]string{"12345", "1238"}, "12*", "", ""},
		{[]string{"1234"}, "1234", "", ""},
		{[]string{"123"}, "123", "", ""},
		{[]string{"1234", "12345"}, "1234*", "", ""},
		{[]string{"1", "12345"}, "*", "", ""},
		{[]string{"1", "1"}, "1", "", ""},
		{[]string{"12345", "13345"}, "*", "", ""},
		{[]string{"żółw", "żółć"}, "żó**", "", ""},
		{[]string{"", "12"}, "*", "", ""},
	})
}

func TestOrdered(t *testing.T) {
	t.Parallel()
	s := hierarchy.Spec{Kind: hierarchy.Ordered, Domain: hierarchy.DomainText, Order: []string{"low", "medium", "high"}}
	checkRows(t, s, []generalized{
		{[]string{"low"}, "low", "", ""},
		{[]string{"high", "low", "high"}, "low..high", "", ""},
		{[]string{"high", "medium"}, "medium..high", "", ""},
		{[]string{"high", "unknown"}, "", "", ""},
		{[]string{"high", ""}, "", "", ""},
		{[]string{"High"}, "", "", ""},
	})
	h := build(t, s)
	for i, label := range s.Order {
		if p := h.Position(h.Encode(label)); p != float64(i) {
			t.Errorf("%s lies at %v", label, p)
		}
	}
	if !math.IsNaN(h.Position(3)) || !math.IsNaN(h.Position(-1)) {
		t.Error("ranks beyond the order have a place")
	}
	before := s.Order[0]
	s.Order[0] = "changed"
	if g := h.Generalize([]hierarchy.Cell{0}); g.Value != before {
		t.Error("the hierarchy follows its caller's slice")
	}
}

func TestSuppression(t *testing.T) {
	t.Parallel()
	s := hierarchy.Spec{Kind: hierarchy.Suppression, Domain: hierarchy.DomainInteger}
	checkRows(t, s, []generalized{
		{[]string{"a", "a"}, "a", "", ""},
		{[]string{"a", "b"}, "*", "", ""},
		{[]string{"", ""}, "", "", ""},
	}[:2])
	h := build(t, s)
	if g := h.Generalize(encode(h, "", "")); g.Hidden || g.Value != "" {
		t.Errorf("the empty text is published as %+v", g)
	}
	if g := h.Generalize(append(encode(h, "a"), hierarchy.OffScale())); !g.Hidden {
		t.Errorf("a class with NULL is published as %+v", g)
	}
}

func TestValidateOptions(t *testing.T) {
	t.Parallel()
	numeric := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal}
	with := func(s hierarchy.Spec, change func(*hierarchy.Spec)) hierarchy.Spec {
		change(&s)
		return s
	}
	for _, row := range []struct {
		spec  hierarchy.Spec
		parts []string // of the error; none = valid
	}{
		{with(numeric, func(s *hierarchy.Spec) { s.Steps = []float64{0.5, 1, 10}; s.Origin = -0.25 }), nil},
		{with(numeric, func(s *hierarchy.Spec) { s.Steps = []float64{0, -1, math.NaN(), math.Inf(1)} }), []string{"0 is no width", "-1 is no width", "NaN is no width", "+Inf is no width"}},
		{with(numeric, func(s *hierarchy.Spec) { s.Steps = []float64{5, 5, 2} }), []string{"5 does not exceed 5", "2 does not exceed 5"}},
		{with(numeric, func(s *hierarchy.Spec) { s.Steps = []float64{5, 12} }), []string{"12 is no whole multiple"}},
		{with(numeric, func(s *hierarchy.Spec) { s.Steps = []float64{0.1, 1e15} }), []string{"too large for the last decimal place"}},
		{with(numeric, func(s *hierarchy.Spec) { s.Steps = []float64{1e-23} }), []string{"too many decimal places"}},
		{with(numeric, func(s *hierarchy.Spec) { s.Steps = []float64{1}; s.Origin = math.NaN() }), []string{"NaN is no place"}},
		{with(numeric, func(s *hierarchy.Spec) { s.Origin = 2 }), []string{"add steps, or remove origin"}},
		{
			with(numeric, func(s *hierarchy.Spec) { s.Domain = hierarchy.DomainInteger; s.Steps = []float64{0.5} }),
			[]string{"must be whole"},
		},
		{
			hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Steps: []float64{1}, Origin: 1, Units: []hierarchy.Unit{hierarchy.Day}, Keep: []int{1}, Order: []string{"a"}},
			[]string{"takes no steps", "takes no origin", "takes no units", "takes no keep: remove it, or choose prefix", "takes no order"},
		},
		{hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate, Units: []hierarchy.Unit{hierarchy.Day, hierarchy.Century}}, nil},
		{
			hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate, Units: []hierarchy.Unit{hierarchy.Year, hierarchy.Month, 9, -1}},
			[]string{"month does not exceed year", "Unit(9) is unknown: write some of day", "Unit(-1) is unknown"},
		},
		{hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText, Keep: []int{3, 3, 0, -1}}, []string{"3 is not below 3", "0 is no number", "-1 is no number"}},
		{hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText, Keep: descending(33)}, []string{"33 lengths: write at most 32"}},
		{hierarchy.Spec{Kind: hierarchy.Ordered, Domain: hierarchy.DomainText}, []string{"write the values from the least"}},
		{
			hierarchy.Spec{Kind: hierarchy.Ordered, Domain: hierarchy.DomainText, Order: []string{"a", "*", "", "a", "a..b", ".b", "b."}},
			[]string{`"*" is reserved`, "value 3 is empty", `"a" stands in 2 places`, `"a..b" could be mistaken`, `".b" could be mistaken`, `"b." could be mistaken`},
		},
		{hierarchy.Spec{Kind: hierarchy.Suppression, Domain: hierarchy.DomainTimestampTZ}, nil},
		{hierarchy.Spec{Kind: hierarchy.Suppression, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{{Label: "a"}}}, []string{"takes no taxonomy"}},
	} {
		err := row.spec.Validate()
		if (err == nil) != (len(row.parts) == 0) {
			t.Errorf("%+v: %v", row.spec, err)
			continue
		}
		for _, part := range row.parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is missing in:\n%v", part, err)
			}
		}
		if _, made := hierarchy.New(row.spec); (made == nil) != (err == nil) {
			t.Errorf("%+v: New gives %v", row.spec, made)
		}
	}
}

func descending(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = n - i
	}
	return numbers
}
