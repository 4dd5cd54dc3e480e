package catalog

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestRepresentatives rounds what stands for a class to its column's type: half away from zero, no
// further than the type goes, and into the interval of the members.
func TestRepresentatives(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sqlType, text string
		within        Bounds
		want          string
	}{
		{"smallint", "34999", Bounds{"30000", "39999", false}, "32767"},
		{"smallint", "-34999", Bounds{}, "-32768"},
		{"smallint", "32767.4", Bounds{}, "32767"},
		{"smallint", "-5", Bounds{"-10", "0", false}, "-5"},
		{"smallint", "x", Bounds{}, "x"},
		{"integer", "2147484999", Bounds{}, "2147483647"},
		{"integer", "-2147484999", Bounds{}, "-2147483648"},
		{"integer", "40000", Bounds{}, "40000"},
		{"integer", "2.5", Bounds{}, "3"},
		{"integer", "-2.5", Bounds{}, "-3"},
		{"integer", "2.4", Bounds{}, "2"},
		{"integer", "0.5", Bounds{"0", "0.5", false}, "0"},
		{"integer", "4.5", Bounds{"4", "5", true}, "4"},
		{"integer", "4.5", Bounds{"4", "5", false}, "5"},
		{"integer", "4.5", Bounds{"4", "5.5", true}, "5"},
		{"integer", "4.4", Bounds{"4.2", "9", false}, "5"},
		{"integer", "4.4", Bounds{"4", "9", false}, "4"},
		{"integer", "-4.4", Bounds{"-4.2", "9", false}, "-4"},
		{"integer", "-4.5", Bounds{"-9", "-5", true}, "-6"},
		{"integer", "7", Bounds{"x", "y", false}, "7"},
		{"bigint", "2.5", Bounds{}, "2.5"},
		{"text", "x", Bounds{}, "x"},
		{"character varying(5)", "long text", Bounds{}, "long text"},
		{"numeric(5,2)", "5000", Bounds{"0", "10000", true}, "999.99"},
		{"numeric(5,2)", "-1e3", Bounds{}, "-999.99"},
		{"numeric(5,2)", "1.005", Bounds{}, "1.01"},
		{"numeric(5,2)", "1.005", Bounds{"1", "1.005", false}, "1.00"},
		{"numeric(5,2)", "1", Bounds{}, "1.00"},
		{"numeric(4,0)", "0.5", Bounds{"0", "1", true}, "0"},
		{"numeric(3,5)", "0.1", Bounds{}, "0.00999"},
		{"numeric(3,-2)", "149", Bounds{}, "100"},
		{"numeric(3,-2)", "150", Bounds{}, "200"},
		{"numeric(3,-2)", "1e9", Bounds{}, "99900"},
		{"numeric(3,-2)", "150", Bounds{"0", "199", false}, "100"},
		{"timestamp(0) without time zone", "2000-01-01 00:00:00.5", Bounds{}, "2000-01-01 00:00:01"},
		{"timestamp(0) without time zone", "1999-12-31 23:59:59.5", Bounds{}, "1999-12-31 23:59:59"},
		{"timestamp(0) without time zone", "1999-12-31 23:59:59.6", Bounds{}, "2000-01-01 00:00:00"},
		{"timestamp(1) without time zone", "2000-01-01 00:00:00.55", Bounds{}, "2000-01-01 00:00:00.6"},
		{"timestamp(3) with time zone", "2000-01-01 00:00:00.0015+00", Bounds{}, "2000-01-01 00:00:00.002+00"},
		{"timestamp(6) without time zone", "2000-01-01 00:00:00.123456", Bounds{}, "2000-01-01 00:00:00.123456"},
		{"timestamp(0) without time zone", "2000-01-01 00:00:00.5", Bounds{"2000-01-01 00:00:00", "2000-01-01 00:00:00.7", false}, "2000-01-01 00:00:00"},
		{"timestamp(0) without time zone", "2000-01-01 00:00:00.5", Bounds{"2000-01-01 00:00:00", "2000-01-01 00:00:01", false}, "2000-01-01 00:00:01"},
		{"timestamp(0) without time zone", "2000-01-01 00:00:00.4", Bounds{"2000-01-01 00:00:00.2", "2000-01-01 00:00:09", false}, "2000-01-01 00:00:01"},
		{"timestamp(0) without time zone", "2000-01-01 00:00:00.4", Bounds{"2000-01-01 00:00:00", "2000-01-01 00:00:09", false}, "2000-01-01 00:00:00"},
	} {
		if got := Representable(test.sqlType, test.text, test.within); got != test.want {
			t.Errorf("%s within %+v is %s as %s, not %s", test.text, test.within, got, test.sqlType, test.want)
		}
	}
}

// TestBoundsHold compares numbers with bounds of both kinds, and with what bounds nothing.
func TestBoundsHold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		within Bounds
		text   string
		want   bool
	}{
		{Bounds{"1", "3", false}, "1", true},
		{Bounds{"1", "3", false}, "0.9", false},
		{Bounds{"1", "3", false}, "3", true},
		{Bounds{"1", "3", true}, "3", false},
		{Bounds{"1", "3", true}, "2.9", true},
		{Bounds{"1", "3", true}, "4", false},
		{Bounds{"1", "3", false}, "4", false},
		{Bounds{"1", "3", false}, "x", true},
		{Bounds{"", "3", false}, "-9", true},
		{Bounds{"1", "", false}, "9", true},
		{Bounds{"1", "", false}, "0", false},
	} {
		if got := test.within.hold(test.text); got != test.want {
			t.Errorf("%+v hold %s: %t", test.within, test.text, got)
		}
	}
}

// TestSinglePrecision rounds numbers to reals: the nearest one, or one beside it that lies among
// the members where that one does not, as the server writes it.
func TestSinglePrecision(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text   string
		within Bounds
		want   string
	}{
		{"0", Bounds{}, "0"},
		{"-0", Bounds{}, "0"},
		{"1e-60", Bounds{}, "0"},
		{"0.1", Bounds{}, "0.1"},
		{"-2.5", Bounds{}, "-2.5"},
		{"1e40", Bounds{}, "3.4028235e+38"},
		{"-1e40", Bounds{}, "-3.4028235e+38"},
		{"inf", Bounds{}, "3.4028235e+38"},
		{"-inf", Bounds{}, "-3.4028235e+38"},
		{"x", Bounds{}, "x"},
		{"", Bounds{}, ""},
		{"16777217", Bounds{}, "1.6777216e+07"},
		{"16777217", Bounds{"16777217", "16777219", false}, "1.6777218e+07"},
		{"16777219", Bounds{"16777217", "16777219", false}, "1.6777218e+07"},
		{"16777217", Bounds{"16777215", "16777216", true}, "1.6777215e+07"},
		{"16777217", Bounds{"20000000", "20000001", false}, "1.6777216e+07"},
		{"16777216", Bounds{"16777219", "16777221", false}, "1.677722e+07"},
		{"16777216", Bounds{"16777213.5", "16777214.5", false}, "1.6777214e+07"},
	} {
		if got := Representable("real", test.text, test.within); got != test.want {
			t.Errorf("%s within %+v is %s, not %s", test.text, test.within, got, test.want)
		}
	}
}

// TestTextsOfReals compares the text of reals with what it has to be: read again, each is the same
// real, which lies nearer to the text than its neighbors do, and no shorter text is.
func TestTextsOfReals(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	reals := []float32{1, -1, 0.1, 16777216, 33554432, 8388608, 9007199254740992, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 1.1754944e-38, 0.25, 67108864, 1 << 90, 1 << 100}
	for range 5000 {
		if f := math.Float32frombits(random.Uint32()); f == f && !math.IsInf(float64(f), 0) {
			reals = append(reals, f, float32(math.Ldexp(1, random.IntN(240)-120)))
		}
	}
	for _, f := range reals {
		text := realText(f)
		again, err := strconv.ParseFloat(text, 32)
		if err != nil || float32(again) != f {
			t.Fatalf("%v is written %s", f, text)
		}
		if f == 0 {
			continue
		}
		number, _ := new(big.Rat).SetString(text)
		own := new(big.Rat).SetFloat64(float64(f))
		distance := new(big.Rat).Sub(number, own)
		distance.Abs(distance)
		for _, side := range []float64{math.Inf(-1), math.Inf(1)} {
			neighbor := float64(math.Nextafter32(f, float32(side)))
			if math.IsInf(neighbor, 0) {
				continue
			}
			other := new(big.Rat).Sub(number, new(big.Rat).SetFloat64(neighbor))
			if other.Abs(other).Cmp(distance) <= 0 {
				t.Fatalf("%v is written %s, which %v is as near to", f, text, neighbor)
			}
		}
		if shorter := strconv.FormatFloat(float64(f), 'g', -1, 32); len(shorter) < len(text) && nearestTo(f, shorter) {
			t.Fatalf("%v is written %s, which is longer than %s", f, text, shorter)
		}
	}
	for _, test := range []struct {
		f    float32
		text string
		want bool
	}{{16777216, "16777217", false}, {16777216, "16777216.9", true}, {16777216, "16777215.4", false}, {16777216, "16777215.5", false}, {16777216, "16777215.6", true}, {math.MaxFloat32, "4e38", true}, {-math.MaxFloat32, "-4e38", true}} {
		if got := nearestTo(test.f, test.text); got != test.want {
			t.Errorf("%s is nearest to %v: %t", test.text, test.f, got)
		}
	}
}
