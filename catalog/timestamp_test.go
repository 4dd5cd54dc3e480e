package catalog

import (
	"math/rand/v2"
	"testing"
)

// TestMomentsAreReadAsTheyAreWritten writes moments of all ages, and reads them.
func TestMomentsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	for _, fixed := range []struct {
		micros int64
		text   string
	}{
		{0, "2000-01-01 00:00:00"}, {-1, "1999-12-31 23:59:59.999999"}, {1_500_000, "2000-01-01 00:00:01.5"},
	} {
		if got := formatTimestamp(fixed.micros, ""); got != fixed.text {
			t.Errorf("%d is written %s", fixed.micros, got)
		}
	}
	for _, text := range []string{"0001-01-01 00:00:00 BC", "0044-03-15 12:30:00.25+00 BC", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999+00"} {
		if micros, zone, readable := parseTimestamp(text); !readable || formatTimestamp(micros, zone) != text {
			t.Errorf("%s is read as %d, and written %s", text, micros, formatTimestamp(micros, zone))
		}
	}
	for range 20_000 {
		micros := random.Int64N(4_000_000*86_400*microsPerSecond/1000) * (2*random.Int64N(2) - 1)
		zone := []string{"", "+00"}[random.IntN(2)]
		again, of, readable := parseTimestamp(formatTimestamp(micros, zone))
		if !readable || again != micros || of != zone {
			t.Fatalf("%d is written %s, and read as %d", micros, formatTimestamp(micros, zone), again)
		}
		unit := []int64{1, 10, 1000, 1_000_000}[random.IntN(4)]
		if floor := floorTo(micros, unit); floor > micros || micros-floor >= unit || floor%unit != 0 {
			t.Fatalf("%d is %d by %d", micros, floor, unit)
		}
	}
	for _, digits := range []int{-1, 7} {
		if got := roundTimestamp("2000-01-01 00:00:00.5", digits, Bounds{}); got != "2000-01-01 00:00:00.5" {
			t.Errorf("to %d digits, it is %s", digits, got)
		}
	}
	for _, text := range []string{"", "infinity", "2000-01-01", "2000-01-01 00:00:00.1234567", "2000-01-01 00:00:00.x"} {
		if _, _, readable := parseTimestamp(text); readable {
			t.Errorf("%q is a moment", text)
		}
		if got := roundTimestamp(text, 0, Bounds{}); got != text {
			t.Errorf("%q is rounded to %q", text, got)
		}
	}
}
