package console

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// functions are the functions of templates.
var functions = template.FuncMap{
	"number":   number[int64],
	"count":    number[int],
	"percent":  percent,
	"share":    func(f *float64) string { return optional(f, percent) },
	"bytes":    byteSize,
	"duration": shortDuration,
	"seconds":  func(s float64) string { return shortDuration(time.Duration(s * float64(time.Second))) },
	"moment":   moment,
	"machine":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"path":     url.PathEscape,
	"hundred":  func(f *float64) string { return strconv.FormatFloat(100**f, 'f', 1, 64) },
	"plain":    func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) },
	"short":    short,
	"given":    given,
	"parts":    parts,
	"join":     func(texts []string) string { return strings.Join(texts, ", ") },
	"panel":    func(p page, v any) panel { return panel{p, v} },
}

// panel is a part of a page together with the page.
type panel struct {
	Page page
	V    any
}

// number writes a whole number with commas.
func number[T int | int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// percent writes a share of 0 to 1 with three digits at most.
func percent(share float64) string {
	p := 100 * share
	switch {
	case math.IsNaN(p):
		return "–"
	case p == 0:
		return "0 %"
	case p < 0.1:
		return "< 0.1 %"
	case p < 99.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	default:
		return "100 %"
	}
}

func optional(f *float64, write func(float64) string) string {
	if f == nil {
		return "–"
	}
	return write(*f)
}

// byteSize writes a number of bytes as `kproxy status` does.
func byteSize(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	value, unit := float64(n), 0
	for math.Abs(value) >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if unit == 0 || math.Abs(value) >= 99.5 {
		return fmt.Sprintf("%.0f %s", value, units[unit])
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

// shortDuration writes a duration in one or two units.
func shortDuration(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return pair(int(d.Minutes()), "min", int(d.Seconds())%60, "s")
	case d < 24*time.Hour:
		return pair(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	default:
		return pair(int(d.Hours())/24, "d", int(d.Hours())%24, "h")
	}
}

func pair(great int, greater string, small int, smaller string) string {
	if small == 0 {
		return fmt.Sprintf("%d %s", great, greater)
	}
	return fmt.Sprintf("%d %s %d %s", great, greater, small, smaller)
}

func ago(d time.Duration) string {
	if d < 2*time.Second {
		return "just now"
	}
	d = d.Truncate(time.Second)
	if d >= time.Minute {
		d = d.Truncate(time.Minute)
	}
	if d < 10*time.Second {
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	}
	return shortDuration(d) + " ago"
}

// moment writes a time in UTC: operators can be in any time zone.
func moment(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2 Jan 2006, 15:04:05 UTC")
}
