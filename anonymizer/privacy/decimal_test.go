package privacy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

// written is the shortest decimal form of a bound as a fraction, without what is beyond the
// 18th place.
func written(t *testing.T, x float64) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
	if !ok {
		t.Fatalf("%v is no number", x)
	}
	unit := big.NewInt(1e18)
	r.Mul(r, new(big.Rat).SetInt(unit))
	return r.SetFrac(new(big.Int).Quo(r.Num(), r.Denom()), unit)
}

func whole(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) }

// TestDecimals: a bound is the decimal that it is written as, and so are its multiples and
// its reciprocal.
func TestDecimals(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var bounds []float64
	for range 5000 {
		switch mantissa := float64(random.IntN(1_000_000)); random.IntN(3) {
		case 0:
			bounds = append(bounds, mantissa/math.Pow10(random.IntN(12)))
		case 1:
			bounds = append(bounds, random.Float64()*math.Pow10(random.IntN(40)-21))
		default:
			bounds = append(bounds, 1/(1+mantissa), mantissa)
		}
	}
	for _, x := range append(bounds, 1, 0.1, 1e17, 999999999999999900, 1e-18, 9.9e-18, 1e-19, 1e-300, 0.3333333333333333) {
		if x >= 1e18 || x <= 0 {
			continue
		}
		d, want := decimalOf(x), written(t, x)
		if d.rat().Cmp(want) != 0 {
			t.Fatalf("%v is %v/%v, %v expected", x, d.num, d.den, want)
		}
		for _, n := range []int{0, 1, 2, 3, random.IntN(1000), random.IntN(math.MaxInt32), math.MaxInt32} {
			most := new(big.Int).SetInt64(int64(n))
			if want.Cmp(big.NewRat(1, 1)) < 0 {
				most = whole(new(big.Rat).Mul(want, new(big.Rat).SetInt64(int64(n))))
			}
			if got := d.of(n); big.NewInt(int64(got)).Cmp(most) != 0 {
				t.Fatalf("%v of %d is %d, %v expected", x, n, got, most)
			}
		}
		times := big.NewInt(math.MaxInt32)
		if want.Sign() > 0 {
			if q := whole(new(big.Rat).Inv(want)); q.Cmp(times) < 0 {
				times = q
			}
		}
		if got := d.reciprocal(); big.NewInt(int64(got)).Cmp(times) != 0 {
			t.Fatalf("%v is in 1 %d times, %v expected", x, got, times)
		}
	}
	for x, want := range map[float64]string{math.Inf(1): "1000000000000000000/1", 1e18: "1000000000000000000/1", 0: "0/1", -1: "0/1", math.Inf(-1): "0/1"} {
		if got := decimalOf(x).rat().String(); got != want {
			t.Errorf("%v is %v, %v expected", x, got, want)
		}
	}
	if decimalOf(math.NaN()).num != 0 {
		t.Error("what is not a number is not 0")
	}
}

// TestWide numbers are added, subtracted and compared as whole numbers of any size are.
func TestWide(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	draw := func() uint64 { return random.Uint64() >> random.IntN(64) }
	for range 5000 {
		a, b, c, d := draw()>>1, draw()>>1, draw()>>1, draw()>>1
		v, w := product(a, b), product(c, d)
		x := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
		y := new(big.Int).Mul(new(big.Int).SetUint64(c), new(big.Int).SetUint64(d))
		if v.big().Cmp(x) != 0 || w.big().Cmp(y) != 0 {
			t.Fatalf("%d * %d is %v", a, b, v.big())
		}
		if sum := new(big.Int).Add(x, y); v.plus(w).big().Cmp(sum) != 0 {
			t.Fatalf("%v + %v is %v", x, y, v.plus(w).big())
		}
		if v.less(w) != (x.Cmp(y) < 0) || v.less(v) {
			t.Fatalf("%v < %v is %v", x, y, v.less(w))
		}
		if x.Cmp(y) >= 0 {
			if rest := new(big.Int).Sub(x, y); v.minus(w).big().Cmp(rest) != 0 {
				t.Fatalf("%v - %v is %v", x, y, v.minus(w).big())
			}
		}
		near, _ := new(big.Float).SetInt(x).Float64()
		if got := v.float(); math.Abs(got-near) > 1e-15*near {
			t.Fatalf("%v is about %v", x, got)
		}
		if v.less(product(c, 0)) {
			t.Fatalf("%v is below 0", x)
		}
	}
}
