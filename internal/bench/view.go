package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/internal/bench/result"
)

// view is a table of the page: a row for each combination of parameters, a column for each
// figure by each way, and behind the ways of a figure the ratios of kproxy's to theirs.
type view struct {
	title string
	names []string          // figures
	by    []string          // parameters that rows differ by
	where map[string]string // parameters that figures must have
	plain bool              // without ratios
	full  bool              // only what is measured in full size has it
	// across, if not empty, is a parameter each value of which has a column; cells are then
	// medians alone, of one figure.
	across string
}

// column is a figure by a way, or its ratio to another, or a figure for a value of the
// parameter across.
type column struct{ name, way, to, value string }

// write appends the table; nothing where there are no figures.
func (v view) write(to *strings.Builder, s *result.Section) {
	var figures []result.Figure
	for _, f := range s.Figures {
		if slices.Contains(v.names, f.Name) && has(f, v.where) {
			figures = append(figures, f)
		}
	}
	if len(figures) == 0 {
		return
	}
	columns, units := v.columns(figures)
	var rows []string
	cells := map[string]map[column]string{}
	for _, f := range figures {
		row := v.row(f)
		if cells[row] == nil {
			rows = append(rows, row)
			cells[row] = map[column]string{}
		}
		if v.across != "" {
			cells[row][column{name: f.Name, value: f.Parameters[v.across]}] = number(f.Median)
			continue
		}
		cells[row][column{name: f.Name, way: f.Way}] = spread(f.Spread, len(f.Rounds))
		for _, r := range f.Against {
			cells[row][column{name: f.Name, way: f.Way, to: r.Way}] = ratioText(r.Spread, len(f.Rounds))
		}
	}
	fmt.Fprintf(to, "### %s\n\n", v.title)
	for _, parameter := range v.by {
		fmt.Fprintf(to, "| %s ", parameter)
	}
	for _, c := range columns {
		fmt.Fprintf(to, "| %s ", v.heading(c, units[c.name]))
	}
	fmt.Fprintf(to, "|\n%s|\n", strings.Repeat("| --- ", len(v.by))+strings.Repeat("| ---: ", len(columns)))
	for _, row := range rows {
		to.WriteString(row)
		for _, c := range columns {
			fmt.Fprintf(to, "| %s ", cells[row][c])
		}
		to.WriteString("|\n")
	}
	to.WriteString("\n")
}

// columns in the order of the view's names; ways in the order in which they were measured.
func (v view) columns(figures []result.Figure) (columns []column, units map[string]string) {
	units = map[string]string{}
	for _, name := range v.names {
		var ratios []column
		for _, f := range figures {
			if f.Name != name {
				continue
			}
			units[name] = f.Unit
			if v.across != "" {
				if c := (column{name: name, value: f.Parameters[v.across]}); !slices.Contains(columns, c) {
					columns = append(columns, c)
				}
				continue
			}
			if c := (column{name: name, way: f.Way}); !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
			for _, r := range f.Against {
				if c := (column{name: name, way: f.Way, to: r.Way}); !v.plain && !slices.Contains(ratios, c) {
					ratios = append(ratios, c)
				}
			}
		}
		columns = append(columns, ratios...)
	}
	if v.across != "" {
		slices.SortStableFunc(columns, func(a, b column) int { return cmp.Compare(valueOf(a), valueOf(b)) })
	}
	return columns, units
}

func valueOf(c column) float64 {
	value, err := strconv.ParseFloat(c.value, 64)
	if err != nil {
		return 0
	}
	return value
}

// row is the first cells of a figure's row, which tell it from others.
func (v view) row(f result.Figure) string {
	var text strings.Builder
	for _, parameter := range v.by {
		value := f.Parameters[parameter]
		if n, err := strconv.Atoi(value); err == nil {
			value = number(float64(n))
		}
		fmt.Fprintf(&text, "| %s ", value)
	}
	return text.String()
}

func has(f result.Figure, parameters map[string]string) bool {
	for name, value := range parameters {
		if f.Parameters[name] != value {
			return false
		}
	}
	return true
}

// heading leaves out what the names of all figures begin with, up to a dash: lookup-p50
// stands below "One row".
func (v view) heading(c column, unit string) string {
	if c.value != "" {
		return number(valueOf(c))
	}
	name := c.name
	before, after, found := strings.Cut(name, "-")
	if found && !slices.ContainsFunc(v.names, func(other string) bool { return !strings.HasPrefix(other, before+"-") }) {
		name = after
	}
	if c.to != "" {
		return fmt.Sprintf("%s: %s by %s", name, c.way, c.to)
	}
	text := name + ", " + c.way
	if unit != "" {
		text += ", " + unit
	}
	return text
}

func spread(s result.Spread, rounds int) string {
	low, high := number(s.Low), number(s.High)
	if rounds < 2 || low == high {
		return number(s.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", number(s.Median), low, high)
}

func ratioText(s result.Spread, rounds int) string {
	if rounds < 2 {
		return fmt.Sprintf("%.2f", s.Median)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Low, s.High)
}

// number writes three digits that tell something, and commas into thousands.
func number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1000 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	if math.Abs(x) < 1000 {
		digits := 0
		if x != 0 {
			digits = max(0, 2-int(math.Floor(math.Log10(math.Abs(x)))))
		}
		return strconv.FormatFloat(x, 'f', min(digits, 9), 64)
	}
	if math.Abs(x) >= 1e15 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	digits := strconv.FormatFloat(math.Abs(x), 'f', 0, 64)
	var text strings.Builder
	if x < 0 {
		text.WriteByte('-')
	}
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			text.WriteByte(',')
		}
		text.WriteRune(digit)
	}
	return text.String()
}

// unfed tells which tables and pictures of a section have no figures, though nothing that
// they are made of was left out: a name that no command writes any more.
func (s section) unfed(measured *result.Section) error {
	if len(measured.Missing) > 0 || measured.Size == string(tiny) {
		return nil
	}
	var empty []string
	for _, v := range s.views {
		for _, name := range v.names {
			fed := slices.ContainsFunc(measured.Figures, func(f result.Figure) bool { return f.Name == name && has(f, v.where) })
			if !fed && (!v.full || measured.Size == string(full)) {
				empty = append(empty, fmt.Sprintf("%q has no %s", v.title, name))
			}
		}
	}
	for _, p := range s.charts {
		fed := slices.ContainsFunc(measured.Figures, func(f result.Figure) bool { return f.Name == p.name && has(f, p.where) })
		if !fed && !p.drawn {
			empty = append(empty, fmt.Sprintf("the picture %q has no %s", p.title, p.name))
		}
	}
	if len(empty) > 0 {
		return errors.New(strings.Join(empty, "; "))
	}
	return nil
}
