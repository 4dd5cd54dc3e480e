package config

import (
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// longestNameBytes is PostgreSQL's NAMEDATALEN - 1.
const longestNameBytes = 63

// scalar returns a single value's text as it stands in the file, whatever YAML would make of
// it. A ShapeText is not YAML's null, which for a setting can only mean that somebody wanted
// it unset; a ShapeName is a name that PostgreSQL can keep whole.
func (d *decoder) scalar(n *yaml.Node, what string, kind ShapeKind) (string, bool) {
	n = d.follow(n)
	switch {
	case n.Kind != yaml.ScalarNode:
		d.wrong(n, fmt.Sprintf("%s must be a single value, not %s", what, kindOf(n)), "write one word or a text in quotes")
	case !d.untagged(n):
	case n.Value == "":
		d.wrong(n, what+" is empty", "write a value, or remove the key")
	case kind == ShapeText && n.Tag == "!!null" && n.Style == 0:
		d.wrong(n, what+" is null", "write a value, or remove the key")
	case kind != ShapeLiteral && strings.ContainsFunc(n.Value, unicode.IsControl):
		d.wrong(n, what+" contains a control character", "write it on one line, without \\ escapes")
	case kind == ShapeName && len(n.Value) > longestNameBytes:
		d.wrong(n, fmt.Sprintf("%s is longer than PostgreSQL's %d bytes", what, longestNameBytes), "write the name as PostgreSQL stores it")
	default:
		return n.Value, true
	}
	return "", false
}

// plainScalar is the text of a setting that is not quoted; quoted is true if it is.
func (d *decoder) plainScalar(n *yaml.Node, what string) (text string, quoted, ok bool) {
	text, ok = d.scalar(n, what, ShapeText)
	return text, d.follow(n).Style != 0, ok
}

// text is a text of a form of its own.
type text struct {
	kind ShapeKind
	// parse returns the value of a text, or what is wrong with it and how to mend it. What
	// names it in messages. It is nil where the value is the text.
	parse   func(d *decoder, what, text string) (value any, wrong, fix string)
	pattern pattern
}

func (c text) read(d *decoder, n *yaml.Node, what string, to reflect.Value) bool {
	written, ok := d.scalar(n, what, c.kind)
	if !ok {
		return false
	}
	value := any(written)
	if c.parse != nil {
		var wrong, fix string
		if value, wrong, fix = c.parse(d, what, written); wrong != "" {
			d.wrong(d.follow(n), wrong, fix)
			return false
		}
	}
	to.Set(reflect.ValueOf(value).Convert(to.Type()))
	return true
}

func (c text) shape() *Shape { return &Shape{Kind: c.kind, Pattern: c.pattern} }

// integer is a plain decimal number. It is not repeated in messages, since it could be a
// secret in the wrong place.
type integer struct{ least, most int }

func (c integer) read(d *decoder, n *yaml.Node, what string, to reflect.Value) bool {
	text, quoted, ok := d.plainScalar(n, what)
	if !ok {
		return false
	}
	value, err := strconv.Atoi(text)
	switch {
	case err != nil || quoted || strconv.Itoa(value) != text:
		d.wrong(d.follow(n), what+" must be a whole number", fmt.Sprintf("write decimal digits without quotes, between %d and %d", c.least, c.most))
	case value < c.least || value > c.most:
		d.wrong(d.follow(n), what+" is out of range", fmt.Sprintf("write a number between %d and %d", c.least, c.most))
	default:
		to.SetInt(int64(value))
		return true
	}
	return false
}

func (c integer) shape() *Shape {
	return &Shape{Kind: ShapeInteger, Bounds: &Bounds{Least: float64(c.least), Most: float64(c.most)}}
}

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// number is a plain decimal number, or, as a share, percent.
type number struct {
	bounds *Bounds // nil where there are none
	share  bool
}

func (c number) read(d *decoder, n *yaml.Node, what string, to reflect.Value) bool {
	text, quoted, ok := d.plainScalar(n, what)
	if !ok {
		return false
	}
	percent, example := false, "2 or 0.25"
	if c.share {
		text, percent = strings.CutSuffix(text, "%")
		example = "0.25 or 25%"
	}
	value, err := strconv.ParseFloat(text, 64)
	if percent {
		value /= 100
	}
	switch {
	case err != nil || quoted || !decimal.MatchString(text):
		d.wrong(d.follow(n), what+" must be a number", "write decimal digits without quotes, for example "+example)
	case c.bounds != nil && !c.bounds.hold(value):
		fix := "write a number " + c.bounds.String()
		if c.share {
			fix += ", for example 0.1 or 10%"
		}
		d.wrong(d.follow(n), what+" is out of range", fix)
	default:
		to.SetFloat(value)
		return true
	}
	return false
}

func (c number) shape() *Shape {
	if c.share {
		return &Shape{Kind: ShapeShare, Bounds: c.bounds}
	}
	return &Shape{Kind: ShapeNumber, Bounds: c.bounds}
}

func plain(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

type boolean struct{}

func (boolean) read(d *decoder, n *yaml.Node, what string, to reflect.Value) bool {
	text, quoted, ok := d.plainScalar(n, what)
	if ok && (quoted || text != "true" && text != "false") {
		d.wrong(d.follow(n), what+" must be true or false", "write true or false without quotes")
		return false
	}
	to.SetBool(text == "true")
	return ok
}

func (boolean) shape() *Shape { return &Shape{Kind: ShapeBool} }

// duration is a number with its unit; 0 only where least is.
type duration struct{ least, most time.Duration }

const day = 24 * time.Hour

// durationWithin is a duration that is bounded as the tag range says. Without it, it is
// within what PostgreSQL's settings in milliseconds hold.
func durationWithin(least, most string) duration {
	c := duration{time.Millisecond, 24 * day}
	for text, bound := range map[string]*time.Duration{least: &c.least, most: &c.most} {
		if value, err := parseDuration(text); err == nil {
			*bound = value
		}
	}
	return c
}

func (c duration) read(d *decoder, n *yaml.Node, what string, to reflect.Value) bool {
	text, ok := d.scalar(n, what, ShapeText)
	if !ok {
		return false
	}
	n = d.follow(n)
	value, err := parseDuration(text)
	switch {
	case err != nil:
		d.wrong(n, what+" is not a duration", "write a number with its unit, for example 500ms, 30s, 10m, 1h30m or 7d")
	case value < 0 || value > c.most:
		d.wrong(n, what+" is out of range", "write a duration between 0s and "+writeDuration(c.most))
	case value == 0 && c.least > 0:
		d.wrong(n, what+" must not be zero", "write a duration, for example 30s")
	case value > 0 && value < time.Millisecond:
		d.wrong(n, what+" is shorter than a millisecond", "write a longer one, for example 30s")
	default:
		to.SetInt(int64(value))
		return true
	}
	return false
}

func (c duration) shape() *Shape { return &Shape{Kind: ShapeDuration, Zero: c.least == 0} }

var inDays = regexp.MustCompile(`^([0-9]{1,5})d([0-9].*)?$`)

// parseDuration is time.ParseDuration, which may have whole days before all else:
// 7d or 1d12h.
func parseDuration(text string) (time.Duration, error) {
	parts := inDays.FindStringSubmatch(text)
	if parts == nil {
		return time.ParseDuration(text)
	}
	days, err := time.ParseDuration(parts[1] + "h")
	if err != nil {
		return 0, err
	}
	rest := time.Duration(0)
	if parts[2] != "" {
		if rest, err = time.ParseDuration(parts[2]); err != nil {
			return 0, err
		}
	}
	days *= 24 // five digits of days are less than a Duration's 292 years
	return days + min(rest, math.MaxInt64-days), nil
}

// writeDuration is a duration as people write it: 5m and not 5m0s.
func writeDuration(value time.Duration) string {
	if value >= day && value%day == 0 {
		return fmt.Sprintf("%dd", value/day)
	}
	text := value.String()
	if value >= time.Minute {
		text = strings.TrimSuffix(text, "0s")
	}
	if value >= time.Hour {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// choice is one of several words.
type choice struct {
	names  []string
	values []any
	// instead is what to write where it is more than one of the words.
	instead string
}

// words are choices that are only their names.
func words(names ...string) choice {
	c := choice{names: names}
	for _, name := range names {
		c.values = append(c.values, name)
	}
	return c
}

// choicesOf are the values of another package's type, by their names in lower case.
func choicesOf(of fmt.Stringer) choice {
	switch of.(type) {
	case catalog.Role:
		return named(catalog.Identifying, catalog.QuasiIdentifying, catalog.Sensitive, catalog.Insensitive)
	case catalog.Form:
		return named(catalog.FormBoth, catalog.FormValue, catalog.FormRange)
	case catalog.Unpublishable:
		return named(catalog.Withhold, catalog.Refuse)
	case catalog.SummaryForm:
		return named(catalog.SummaryView, catalog.SummaryStored)
	case anonymizer.Effort:
		return named(anonymizer.Fast, anonymizer.Good, anonymizer.Best)
	case catalog.UpdateMode:
		return named(catalog.Immediate, catalog.Guarded)
	case catalog.Pace:
		return named(catalog.Months, catalog.Weeks, catalog.Days)
	case hierarchy.Kind:
		return named(hierarchy.Numeric, hierarchy.Date, hierarchy.Categorical, hierarchy.Prefix, hierarchy.Ordered, hierarchy.Suppression)
	case hierarchy.Unit:
		return named(hierarchy.Day, hierarchy.Month, hierarchy.Quarter, hierarchy.Year, hierarchy.Decade, hierarchy.Century)
	case privacy.Distance:
		return named(privacy.EqualDistance, privacy.OrderedDistance, privacy.HierarchicalDistance)
	case slog.Level:
		return named(slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError)
	}
	panic(fmt.Sprintf("the choices of %T are not known", of))
}

func named[T fmt.Stringer](values ...T) choice {
	var c choice
	for _, v := range values {
		c.names, c.values = append(c.names, strings.ToLower(v.String())), append(c.values, v)
	}
	return c
}

func (c choice) read(d *decoder, n *yaml.Node, what string, to reflect.Value) bool {
	text, ok := d.scalar(n, what, ShapeText)
	if !ok {
		return false
	}
	if i := slices.Index(c.names, text); i >= 0 {
		to.Set(reflect.ValueOf(c.values[i]).Convert(to.Type()))
		return true
	}
	fix := suggestion(text, c.names, "write one of")
	if c.instead != "" {
		fix = "write " + c.instead
	}
	d.wrong(d.follow(n), fmt.Sprintf("%s %s is not known", noun(what), quote(text)), fix)
	return false
}

func (c choice) shape() *Shape { return &Shape{Kind: ShapeChoice, Choices: c.names} }

// boundsOf are the ends of a range as numbers, where < excludes one; nil without them.
func boundsOf(least, most string) *Bounds {
	if least == "" {
		return nil
	}
	least, above := strings.CutSuffix(least, "<")
	most, below := strings.CutPrefix(most, "<")
	return &Bounds{Least: floatIn(least), Most: floatIn(most), Above: above, Below: below}
}

func floatIn(tag string) float64 {
	value, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		panic(fmt.Sprintf("a range in a tag is wrong: %v", err))
	}
	return value
}

func integerIn(tag string) int { return int(floatIn(tag)) }

func (b *Bounds) hold(value float64) bool {
	return (value > b.Least || value == b.Least && !b.Above) && (value < b.Most || value == b.Most && !b.Below)
}

// String says where numbers are.
func (b *Bounds) String() string {
	least, most := plain(b.Least), plain(b.Most)
	switch {
	case b.Above && b.Below:
		return fmt.Sprintf("above %s and below %s", least, most)
	case b.Above:
		return fmt.Sprintf("above %s and up to %s", least, most)
	case b.Below:
		return fmt.Sprintf("from %s on and below %s", least, most)
	}
	return fmt.Sprintf("between %s and %s", least, most)
}
