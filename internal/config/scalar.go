package config

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// literal returns a scalar's text as it stands in the file, whatever YAML would
// make of it.
func (r *reader) literal(n *yaml.Node, what string) (string, bool) {
	if r.asks(n, ShapeLiteral) {
		return "", false
	}
	n = r.follow(n)
	switch {
	case n.Kind != yaml.ScalarNode:
		r.wrong(n, fmt.Sprintf("%s must be a single value, not %s", what, shape(n)), "write one word or a text in quotes")
		return "", false
	case !r.untagged(n):
		return "", false
	case n.Value == "":
		r.wrong(n, what+" is empty", "write a value, or remove the key")
		return "", false
	}
	return n.Value, true
}

// longestNameBytes is PostgreSQL's NAMEDATALEN - 1.
const longestNameBytes = 63

// name is a literal without control characters that PostgreSQL can keep whole.
func (r *reader) name(n *yaml.Node, what string) (string, bool) {
	if r.asks(n, ShapeName) {
		return "", false
	}
	text, ok := r.literal(n, what)
	if !ok {
		return "", false
	}
	for _, c := range text {
		if unicode.IsControl(c) {
			r.wrong(r.follow(n), what+" contains a control character", "write it on one line, without \\ escapes")
			return "", false
		}
	}
	if len(text) > longestNameBytes {
		r.wrong(r.follow(n), fmt.Sprintf("%s is longer than PostgreSQL's %d bytes", what, longestNameBytes), "write the name as PostgreSQL stores it")
		return "", false
	}
	return text, true
}

// setting is a literal that is not YAML's null, which for a setting can only
// mean that somebody wanted it unset.
func (r *reader) setting(n *yaml.Node, what string) (string, bool) {
	if r.asks(n, ShapeText) {
		return "", false
	}
	text, ok := r.literal(n, what)
	if !ok {
		return "", false
	}
	if n = r.follow(n); n.Tag == "!!null" && n.Style == 0 {
		r.wrong(n, what+" is null", "write a value, or remove the key")
		return "", false
	}
	for _, c := range text {
		if unicode.IsControl(c) {
			r.wrong(n, what+" contains a control character", "write it on one line, without \\ escapes")
			return "", false
		}
	}
	return text, true
}

// integer reads a plain decimal number within bounds. What it stands for is
// named in messages; the number is not trusted to be no secret.
func (r *reader) integer(n *yaml.Node, what string, least, most int) (int, bool) {
	if r.asksNumber(n, ShapeInteger, float64(least), float64(most)) {
		return 0, false
	}
	text, ok := r.setting(n, what)
	if !ok {
		return 0, false
	}
	n = r.follow(n)
	value, err := strconv.Atoi(text)
	if err != nil || n.Style != 0 || strconv.Itoa(value) != text {
		r.wrong(n, what+" must be a whole number", fmt.Sprintf("write decimal digits without quotes, between %d and %d", least, most))
		return 0, false
	}
	if value < least || value > most {
		r.wrong(n, fmt.Sprintf("%s is out of range", what), fmt.Sprintf("write a number between %d and %d", least, most))
		return 0, false
	}
	return value, true
}

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// number reads a plain decimal number. What it stands for is named in messages.
func (r *reader) number(n *yaml.Node, what string) (float64, bool) {
	if r.asks(n, ShapeNumber) {
		return 0, true // so that its bounds are asked for, too
	}
	text, ok := r.setting(n, what)
	if !ok {
		return 0, false
	}
	n = r.follow(n)
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || n.Style != 0 || !decimal.MatchString(text) {
		r.wrong(n, what+" must be a number", "write decimal digits without quotes, for example 2 or 0.25")
		return 0, false
	}
	return value, true
}

// between wants a number above one and below another.
func (r *reader) between(n *yaml.Node, what string, value, above, below float64) bool {
	r.bounded(n, Bounds{Least: above, Most: below, Open: true})
	if value > above && value < below {
		return true
	}
	r.wrong(r.follow(n), what+" is out of range", fmt.Sprintf("write a number above %s and below %s", plain(above), plain(below)))
	return false
}

// within wants a number between two or equal to one of them.
func (r *reader) within(n *yaml.Node, what string, value, least, most float64) bool {
	r.bounded(n, Bounds{Least: least, Most: most})
	if value >= least && value <= most {
		return true
	}
	r.wrong(r.follow(n), what+" is out of range", fmt.Sprintf("write a number between %s and %s", plain(least), plain(most)))
	return false
}

func plain(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

func (r *reader) storeInteger(to *int, what string, least, most int) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.integerByDefault(n, *to, least)
		if value, ok := r.integer(n, what, least, most); ok {
			*to = value
		}
	}
}

func (r *reader) storeBool(to *bool, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if r.asks(n, ShapeBool) {
			r.byDefault(n, strconv.FormatBool(*to))
			return
		}
		text, ok := r.setting(n, what)
		if !ok {
			return
		}
		if n = r.follow(n); n.Style != 0 || text != "true" && text != "false" {
			r.wrong(n, what+" must be true or false", "write true or false without quotes")
			return
		}
		*to = text == "true"
	}
}

// share reads a part of a whole: a plain decimal number, or percent.
func (r *reader) share(n *yaml.Node, what string) (float64, bool) {
	if r.asks(n, ShapeShare) {
		return 0, true // so that its bounds are asked for, too
	}
	text, ok := r.setting(n, what)
	if !ok {
		return 0, false
	}
	n = r.follow(n)
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || n.Style != 0 || !decimal.MatchString(number) {
		r.wrong(n, what+" must be a number", "write decimal digits without quotes, for example 0.25 or 25%")
		return 0, false
	}
	if percent {
		value /= 100
	}
	return value, true
}

// maxDuration keeps durations within what PostgreSQL's millisecond settings hold.
const maxDuration = 24 * day

// storeDuration reads a duration with its unit; zero only where it means no bound.
func (r *reader) storeDuration(to *time.Duration, what string, zero bool, most time.Duration) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if r.asks(n, ShapeDuration) {
			r.durationByDefault(n, *to, zero)
			return
		}
		text, ok := r.setting(n, what)
		if !ok {
			return
		}
		n = r.follow(n)
		value, err := parseDuration(text)
		switch {
		case err != nil:
			r.wrong(n, what+" is not a duration", "write a number with its unit, for example 500ms, 30s, 10m, 1h30m or 7d")
		case value < 0 || value > most:
			r.wrong(n, what+" is out of range", fmt.Sprintf("write a duration between 0s and %dd", most/day))
		case value == 0 && !zero:
			r.wrong(n, what+" must not be zero", "write a duration, for example 30s")
		case value > 0 && value < time.Millisecond:
			r.wrong(n, what+" is shorter than a millisecond", "write a longer one, for example 30s")
		default:
			*to = value
		}
	}
}

const day = 24 * time.Hour

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

// storeName reads a name as PostgreSQL stores it.
func (r *reader) storeName(to *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.textByDefault(n, *to)
		if text, ok := r.name(n, what); ok {
			*to = text
		}
	}
}

// word is a choice that is only its name.
type word string

func (w word) String() string { return string(w) }

func words(texts []string) []word {
	list := make([]word, len(texts))
	for i, t := range texts {
		list[i] = word(t)
	}
	return list
}

// choose reads one of the choices by its name.
func choose[T fmt.Stringer](r *reader, n *yaml.Node, what string, choices ...T) (T, bool) {
	var none T
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = c.String()
	}
	if r.asksChoice(n, names) {
		return none, false
	}
	text, ok := r.setting(n, what)
	if !ok {
		return none, false
	}
	if i := slices.Index(names, text); i >= 0 {
		return choices[i], true
	}
	r.wrong(r.follow(n), fmt.Sprintf("%s %s is not known", what, quote(text)), suggestion(text, names, "write one of"))
	return none, false
}

// storeChoice reads one of the choices by its name and keeps it.
func storeChoice[T fmt.Stringer](r *reader, to *T, what string, choices ...T) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if current := (*to).String(); slices.ContainsFunc(choices, func(c T) bool { return c.String() == current }) {
			r.byDefault(n, current)
		}
		if choice, ok := choose(r, n, what, choices...); ok {
			*to = choice
		}
	}
}
