package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/parquetfile"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/tablefile"
	"github.com/kproxy/kproxy/internal/verify"
)

// maxExamples bounds the examples of one check.
const maxExamples = 5

// check counts what breaks a promise.
type check struct{ verify.Check }

func newCheck(name string) *check { return &check{verify.Check{Name: name, Passed: true}} }

// broken takes note of a violation; the description names no value.
func (c *check) broken(format string, arguments ...any) {
	c.Passed = false
	if c.Violations++; len(c.Examples) < maxExamples {
		c.Examples = append(c.Examples, fmt.Sprintf(format, arguments...))
	}
}

// checked are the checks, in their order.
func checked(checks ...*check) []verify.Check {
	list := make([]verify.Check, len(checks))
	for i, c := range checks {
		list[i] = c.Check
	}
	return list
}

// asRead is what the rows of a file say, coded.
type asRead struct {
	rows int
	// groups number the rows that show the same in some columns.
	groups []*grouping
	// codes are those of the sensitive values of each row.
	codes [][]uint32
	// keys are the pseudonyms, by published column; nil for other columns.
	keys [][]string
}

// grouping numbers rows by what they show in some columns.
type grouping struct {
	columns []int
	of      []int32 // of each row
	count   int32
	texts   []map[string]uint32 // of each column, by text
	joined  []map[uint64]uint32 // of each column but the first: the number of what the columns before and it show
}

func newGrouping(columns []int, rows int) *grouping {
	g := &grouping{columns: columns, of: make([]int32, 0, rows)}
	for range columns {
		g.texts, g.joined = append(g.texts, make(map[string]uint32)), append(g.joined, make(map[uint64]uint32))
	}
	return g
}

// add takes the next row.
func (g *grouping) add(row []parquetfile.Value) {
	group := uint32(0)
	for i, column := range g.columns {
		text := "\x00" // NULL; no text has a zero byte
		if v := row[column]; !v.Null {
			text = v.Text
		}
		number, known := g.texts[i][text]
		if !known {
			number = uint32(len(g.texts[i]))
			g.texts[i][strings.Clone(text)] = number
		}
		key := uint64(group)<<32 | uint64(number)
		joined, known := g.joined[i][key]
		if !known {
			joined = uint32(len(g.joined[i]))
			g.joined[i][key] = joined
		}
		group = joined
	}
	g.count = max(g.count, int32(group)+1)
	g.of = append(g.of, int32(group))
}

// rowsOf yields the rows of each group.
func rowsOf(of []int32, groups int32) func(yield func(group int32, rows []int32) bool) {
	ends := make([]int32, groups+1)
	for _, g := range of {
		if g >= 0 {
			ends[g+1]++
		}
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	rows, next := make([]int32, ends[groups]), slices.Clone(ends[:groups])
	for row, g := range of {
		if g >= 0 {
			rows[next[g]] = int32(row)
			next[g]++
		}
	}
	return func(yield func(int32, []int32) bool) {
		for g := range groups {
			if !yield(g, rows[ends[g]:ends[g+1]]) {
				return
			}
		}
	}
}

// reading compares a file, row by row, with the records that it shows.
type reading struct {
	rows      *Rows
	sensitive []privacy.Sensitive
	groups    []*grouping

	columns, count, copies, truths *check
}

func (r *Rows) newReading(sensitive []privacy.Sensitive, groups ...[]int) *reading {
	of := &reading{
		rows: r, sensitive: sensitive,
		columns: newCheck("exactly the published columns"), count: newCheck("one row for each released record"),
		copies: newCheck("values published as they are are those of the record"), truths: newCheck("ranges and labels are true of their records"),
	}
	for _, columns := range groups {
		of.groups = append(of.groups, newGrouping(columns, r.Len()))
	}
	return of
}

// read reads the file at the path. The error is the context's, or that the file cannot be read.
func (of *reading) read(ctx context.Context, format tablefile.Format, path string, told func(rows int)) (*asRead, error) {
	file, err := tablefile.Open(format, path)
	if err != nil {
		return nil, fmt.Errorf("reading back what was written: %w", err)
	}
	defer func() { _ = file.Close() }()
	r := of.rows
	seen := &asRead{groups: of.groups, codes: make([][]uint32, len(of.sensitive)), keys: make([][]string, len(r.Columns))}
	names := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		names[i] = c.Name
	}
	if !slices.Equal(names, file.Columns) {
		of.columns.broken("the file has %s, and %s are published", strings.Join(file.Columns, ", "), strings.Join(names, ", "))
		return seen, nil
	}
	if of.hasTwice(r.order) {
		of.count.broken("a record has two rows")
	}
	compare := of.comparing(seen)
	for row, err := range file.Rows {
		if err != nil {
			return nil, fmt.Errorf("reading back what was written: %w", err)
		}
		if seen.rows < r.Len() {
			compare(row, r.order[seen.rows])
		}
		if seen.rows++; seen.rows%toldRows == 0 {
			if told(seen.rows); ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
	}
	if seen.rows != r.Len() {
		of.count.broken("the file has %d rows, and %d records are released", seen.rows, r.Len())
	}
	return seen, nil
}

// hasTwice tells whether a record is there twice: it would count as two.
func (of *reading) hasTwice(order []int32) bool {
	seen := make([]bool, of.rows.file.Len())
	for _, record := range order {
		if seen[record] {
			return true
		}
		seen[record] = true
	}
	return false
}

// comparing makes the comparison of a row with its record.
func (of *reading) comparing(seen *asRead) func(row []parquetfile.Value, record int32) {
	r := of.rows
	var each []func(row []parquetfile.Value, record int32)
	for i, c := range r.Publication.Columns {
		switch {
		case c.Part == catalog.Copy:
			each = append(each, of.comparingCopy(i, c))
		case c.Generalized():
			each = append(each, of.comparingGeneralized(i, c, seen))
		case c.Part == catalog.Pseudonym:
			each = append(each, func(row []parquetfile.Value, _ int32) {
				seen.keys[i] = append(seen.keys[i], strings.Clone(row[i].Text))
			})
		}
	}
	for s, of := range of.sensitive {
		column := slices.IndexFunc(r.Publication.Columns, func(c catalog.PublishedColumn) bool { return c.Source == of.Name && c.Part == catalog.Copy })
		source, _ := r.Publication.Relation.Column(of.Name)
		codes, raw := make(map[string]uint32), r.copied(of.Name)
		each = append(each, func(row []parquetfile.Value, record int32) {
			v := raw(record) // constraints hold of columns that an audience does not see, too
			if column >= 0 {
				v = row[column]
			}
			if v.Null {
				seen.codes[s] = append(seen.codes[s], of.Values.Null())
				return
			}
			code, known := codes[v.Text]
			if !known {
				code = of.Values.Code(catalog.Canonical(source.BaseType, v.Text))
				codes[strings.Clone(v.Text)] = code
			}
			seen.codes[s] = append(seen.codes[s], code)
		})
	}
	return func(row []parquetfile.Value, record int32) {
		for _, compare := range each {
			compare(row, record)
		}
		for _, g := range of.groups {
			g.add(row)
		}
	}
}

// comparingGeneralized decides whether a generalized value is true of the record, and whether one that stands for a class
// lies in its range.
func (of *reading) comparingGeneralized(i int, c catalog.PublishedColumn, seen *asRead) func(row []parquetfile.Value, record int32) {
	r := of.rows
	source, spec := r.columnOf(c.Source), r.Publication.Attributes[c.Attribute].Spec
	shows := newTruth(c, spec)
	ranged := slices.IndexFunc(r.Publication.Columns, func(o catalog.PublishedColumn) bool {
		return c.Part == catalog.Representative && o.Part == catalog.Range && o.Attribute == c.Attribute
	})
	var within *truth
	if ranged >= 0 {
		within = newTruth(r.Publication.Columns[ranged], spec)
	}
	return func(row []parquetfile.Value, record int32) {
		v := row[i]
		holds := v.Null || shows.holds(v.Text, r.file.Field(int(record), source))
		if within != nil {
			holds = holds && v.Null == row[ranged].Null && (v.Null || within.holds(row[ranged].Text, v.Text))
		}
		if !holds {
			of.truths.broken("row %d, column %s", seen.rows+1, c.Name)
		}
	}
}

// comparingCopy compares a value that is published as it is with the record's.
func (of *reading) comparingCopy(i int, c catalog.PublishedColumn) func(row []parquetfile.Value, record int32) {
	r := of.rows
	source, _ := r.Publication.Relation.Column(c.Source)
	raw := r.copied(c.Source)
	return func(row []parquetfile.Value, record int32) {
		want, v := raw(record), row[i]
		same := v == want || v.Null == want.Null && catalog.Canonical(source.BaseType, v.Text) == catalog.Canonical(source.BaseType, want.Text)
		if !same {
			of.copies.broken("column %s of a row", c.Name)
		}
	}
}

// Prove reads the file that Write has written, and verifies that it keeps the promises of its policy: the rows
// of each group that shows the same meet the constraints, counted from the file, and what is shown is true. The
// error is the context's, or that the file cannot be read.
func (s *Single) Prove(ctx context.Context, format tablefile.Format, path string, told func(rows int)) ([]verify.Check, error) {
	var groups [][]int
	for _, p := range s.parts {
		var columns []int
		for i, c := range s.Publication.Columns {
			if c.Generalized() && slices.Contains(p.Attributes, c.Attribute) {
				columns = append(columns, i)
			}
		}
		groups = append(groups, columns)
	}
	of := s.newReading(s.table.Schema.Sensitive, groups...)
	seen, err := of.read(ctx, format, path, told)
	if err != nil {
		return nil, err
	}
	checks := []*check{of.columns, of.count, of.copies, of.truths}
	if !of.columns.Passed {
		return checked(checks...), nil
	}
	for i, p := range s.parts {
		checks = append(checks, s.proveConstraints(p.Constraints, seen, seen.groups[i])...)
	}
	return checked(checks...), nil
}

// proveConstraints counts the rows of each group, or the persons behind them.
func (s *Single) proveConstraints(constraints privacy.ConstraintSet, seen *asRead, g *grouping) []*check {
	whole, subjects := s.table.Records.Population(), s.table.Records.Subjects()
	var checks []*check
	for _, c := range constraints {
		checks = append(checks, newCheck(c.String()))
	}
	summary := privacy.NewSummary(len(seen.codes))
	codes := make([]uint32, len(seen.codes))
	for _, rows := range rowsOf(g.of, g.count) {
		if len(rows) == 0 {
			continue
		}
		if subjects != nil {
			summary = privacy.NewSubjectSummary(len(seen.codes))
		} else {
			for _, counts := range summary.Sensitive {
				clear(counts)
			}
			summary.Records = 0
		}
		for _, row := range rows {
			for a := range codes {
				codes[a] = seen.codes[a][row]
			}
			if subjects != nil {
				summary.AddOf(subjects[s.order[row]], codes)
			} else {
				summary.Add(codes)
			}
		}
		for i, c := range constraints {
			if !c.Satisfied(summary, whole) {
				checks[i].broken("a group of %d rows", len(rows))
			}
		}
	}
	return checks
}
