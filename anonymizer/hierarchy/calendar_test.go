package hierarchy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

func TestDate(t *testing.T) {
	t.Parallel()
	checkRows(t, hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate}, []generalized{
		{[]string{"2000-01-01"}, "2000-01-01", "2000-01-01", "2000-01-01"},
		{[]string{"1999-12-31", "2000-01-01"}, "1999-12-31", "1999-12-31", "2000-01-01"},
		{[]string{"2000-02-28", "2000-03-01"}, "2000-02-29", "2000-02-28", "2000-03-01"},
		{[]string{"0001-01-01", "0001-12-31 BC"}, "0001-12-31 BC", "0001-12-31 BC", "0001-01-01"},
		{[]string{"4713-01-01 BC"}, "4713-01-01 BC", "4713-01-01 BC", "4713-01-01 BC"},
		{[]string{"5874897-12-31", "12345-06-07"}, "2943621-09-18", "12345-06-07", "5874897-12-31"},
		{[]string{"2000-01-01", "infinity"}, "", "", ""},
	})
}

func TestTimestamp(t *testing.T) {
	t.Parallel()
	checkRows(t, hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestamp}, []generalized{
		{[]string{"2024-05-06 07:08:09.5"}, "2024-05-06 07:08:09.5", "2024-05-06 07:08:09.5", "2024-05-06 07:08:09.5"},
		{[]string{"1999-12-31 23:59:59.999999", "2000-01-01 00:00:00"}, "1999-12-31 23:59:59.999999", "1999-12-31 23:59:59.999999", "2000-01-01 00:00:00"},
		{[]string{"0044-03-15 12:00:00 BC"}, "0044-03-15 12:00:00 BC", "0044-03-15 11:59:59.999992 BC", "0044-03-15 12:00:00.000008 BC"},
		{[]string{"294276-12-31 23:59:59.999999"}, "294276-12-31 23:59:59.999487", "294276-12-31 23:59:59.998976", "294276-12-31 23:59:59.999999"},
	})
	checkRows(t, hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestampTZ}, []generalized{
		{[]string{"2024-05-06 07:08:09+00"}, "2024-05-06 07:08:09+00", "2024-05-06 07:08:09+00", "2024-05-06 07:08:09+00"},
		{[]string{"2024-01-01 00:30:00+05:30", "2023-12-31 15:00:00-04"}, "2023-12-31 19:00:00+00", "2023-12-31 19:00:00+00", "2023-12-31 19:00:00+00"},
		{[]string{"1890-01-01 00:00:00+00:19:32"}, "1889-12-31 23:40:28+00", "1889-12-31 23:40:28+00", "1889-12-31 23:40:28+00"},
	})
}

// postgres writes a time as PostgreSQL does, by way of package time.
func postgres(at time.Time, domain hierarchy.Domain) string {
	era := ""
	if at.Year() < 1 {
		era = " BC"
		at = at.AddDate(1-2*at.Year(), 0, 0)
	}
	text := fmt.Sprintf("%04d-%02d-%02d", at.Year(), at.Month(), at.Day())
	if domain != hierarchy.DomainDate {
		clock := at.Format("15:04:05.000000")
		text += " " + strings.TrimRight(strings.TrimRight(clock, "0"), ".")
	}
	if domain == hierarchy.DomainTimestampTZ {
		text += "+00"
	}
	return text + era
}

// TestCalendarAgainstTime compares positions with package time, and has every
// single value published as it is.
func TestCalendarAgainstTime(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, domain := range []hierarchy.Domain{hierarchy.DomainDate, hierarchy.DomainTimestamp, hierarchy.DomainTimestampTZ} {
		h := build(t, hierarchy.Spec{Kind: hierarchy.Date, Domain: domain})
		for range 5000 {
			years := 280
			if domain == hierarchy.DomainDate {
				years = 60_000 // back to 4713 BC, and as far ahead
			}
			day := random.IntN(years*365) - min(years*182, 2_400_000)
			at := epoch.AddDate(0, 0, day)
			if at.Year() < 1 && at.Month() == 2 {
				continue // AddDate in postgres above may land on another day
			}
			want := float64(day)
			if domain != hierarchy.DomainDate {
				micro := random.Int64N(86_400_000_000)
				at = at.Add(time.Duration(micro) * time.Microsecond)
				want = float64(day)*86_400_000_000 + float64(micro)
			}
			text := postgres(at, domain)
			c := h.Encode(text)
			if h.Position(c) != want {
				t.Fatalf("%v %s lies at %v, %v expected", domain, text, h.Position(c), want)
			}
			if g := h.Generalize([]hierarchy.Cell{c, c}); g.Value != text || g.Lower != text || g.Upper != text {
				t.Fatalf("%v %s is published as %+v", domain, text, g)
			}
		}
	}
}

func FuzzMoment(f *testing.F) {
	for _, seed := range []string{"", "infinity", "2000-01-01", "0044-03-15 BC", "2024-05-06 07:08:09.5", "2024-05-06 07:08:09+05:30", "12345-06-07 00:00:00-08 BC", "294276-12-31 23:59:59.999999", "2000-01-01 +", "--"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, domain := range []hierarchy.Domain{hierarchy.DomainDate, hierarchy.DomainTimestamp, hierarchy.DomainTimestampTZ} {
			h := build(t, hierarchy.Spec{Kind: hierarchy.Date, Domain: domain})
			c := h.Encode(text)
			if hierarchy.IsOffScale(c) {
				continue
			}
			g := h.Generalize([]hierarchy.Cell{c})
			low, high := h.Encode(g.Lower), h.Encode(g.Upper)
			if !(low <= c && c <= high) {
				t.Errorf("%v %q: %v is not between %v and %v", domain, text, c, low, high)
			}
		}
	})
}
