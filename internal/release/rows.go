// Package release makes releases of files under their policy, without a server, and proves the files
// that it has written.
//
// Of is the release of one table, and People that of tables about the same persons. Both give Rows,
// which Write writes to a file and Prove compares with what is read back from it: Prove shares the
// policy with what makes a release, and the definitions of constraints, but neither its classes nor its
// generalizations.
//
// Memory: beside the file's own fields (package dataset), a table takes eight bytes for each
// quasi-identifying value, four for each bounded sensitive one, and some thirty for each record; its
// method takes more while it runs.
package release

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/parquetfile"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/tablefile"
)

// Rows are the published rows of one table, in an order that depends on what they show alone.
type Rows struct {
	Publication catalog.Publication
	// Columns are the published columns.
	Columns []tablefile.Column

	file  *dataset.File
	parts []*shownPart
	// order has the record of each row.
	order  []int32
	values []func(record int32) parquetfile.Value // of each column
	keys   []func(record int32) uint64            // of each column that shows pseudonyms
}

// Len is the number of rows.
func (r *Rows) Len() int { return len(r.order) }

// Withheld is the number of records that are not published.
func (r *Rows) Withheld() int { return r.file.Len() - len(r.order) }

// shownPart is what is published of the classes of one part of a table, or of the cells of a table about
// persons.
type shownPart struct {
	of      []int32 // the class of each record, -1 for none
	columns []shownColumn
	rank    []uint32 // of each class, by what it shows
}

// shownColumn is what the classes show in one column.
type shownColumn struct {
	texts []string
	codes []uint32 // of each class, the index in texts; hidden for NULL
}

const hidden = ^uint32(0)

func (c shownColumn) value(class int32) parquetfile.Value {
	if code := c.codes[class]; code != hidden {
		return parquetfile.Of(c.texts[code])
	}
	return parquetfile.Null()
}

// newRows begins the rows of a table. Without more, no row is published.
func newRows(p catalog.Publication, file *dataset.File) *Rows {
	r := &Rows{Publication: p, file: file}
	for _, c := range p.Columns {
		r.Columns = append(r.Columns, tablefile.Column{Name: c.Name, Type: c.Type})
	}
	r.values = make([]func(int32) parquetfile.Value, len(p.Columns))
	for i, c := range p.Columns {
		if c.Part == catalog.Copy {
			r.values[i] = r.copied(c.Source)
		}
	}
	return r
}

// copied shows the fields of a column as they are.
func (r *Rows) copied(source string) func(record int32) parquetfile.Value {
	column := r.columnOf(source)
	return func(record int32) parquetfile.Value {
		text := r.file.Field(int(record), column)
		return parquetfile.Value{Text: text, Null: text == ""}
	}
}

// columnOf is the index of a file's column. All columns that are published are the file's:
// dataset.CheckEveryColumn refuses the generated key.
func (r *Rows) columnOf(source string) int {
	column := slices.Index(r.file.Columns, source)
	if column < 0 {
		panic("release: published column " + source + " is none of the file")
	}
	return column
}

// addPart adds what the classes of a part show. Attributes are those of the part's table as indexes of the
// publication's.
func (r *Rows) addPart(attributes []int, t *anonymizer.Table, classes []anonymizer.EquivalenceClass) {
	r.addLabeled(attributes, t, classes, func(class int) []hierarchy.Generalization { return t.Generalize(classes[class]) })
}

// addLabeled does the same where labels say what is shown of a class.
func (r *Rows) addLabeled(attributes []int, t *anonymizer.Table, classes []anonymizer.EquivalenceClass, labels func(class int) []hierarchy.Generalization) {
	p := &shownPart{of: make([]int32, r.file.Len())}
	for i := range p.of {
		p.of[i] = -1
	}
	type target struct {
		column catalog.PublishedColumn
		local  int // index of the attribute in t
		codes  map[string]uint32
	}
	var targets []target
	for i, c := range r.Publication.Columns {
		if local := slices.Index(attributes, c.Attribute); c.Generalized() && local >= 0 {
			at := len(p.columns)
			p.columns = append(p.columns, shownColumn{codes: make([]uint32, len(classes))})
			targets = append(targets, target{c, local, make(map[string]uint32)})
			r.values[i] = func(record int32) parquetfile.Value { return p.columns[at].value(p.of[record]) }
		}
	}
	for number, class := range classes {
		for _, record := range class {
			p.of[record] = int32(number)
		}
		shown := labels(number)
		for i, to := range targets {
			column := &p.columns[i]
			text, visible := to.column.Output(r.Publication.Attributes[to.column.Attribute].Spec, shown[to.local])
			if !visible {
				column.codes[number] = hidden
				continue
			}
			code, known := to.codes[text]
			if !known {
				code = uint32(len(column.texts))
				to.codes[text], column.texts = code, append(column.texts, text)
			}
			column.codes[number] = code
		}
	}
	p.sort(len(classes))
	r.parts = append(r.parts, p)
}

// sort ranks the classes by what they show. Those that show the same have the same rank.
func (p *shownPart) sort(classes int) {
	ranks := make([][]uint32, len(p.columns))
	for i, c := range p.columns {
		ranks[i] = rankOf(c.texts)
	}
	rank := func(column int, class int32) uint32 {
		if code := p.columns[column].codes[class]; code != hidden {
			return ranks[column][code]
		}
		return hidden
	}
	sorted := make([]int32, classes)
	for i := range sorted {
		sorted[i] = int32(i)
	}
	compare := func(a, b int32) int {
		for i := range p.columns {
			if c := cmp.Compare(rank(i, a), rank(i, b)); c != 0 {
				return c
			}
		}
		return 0
	}
	slices.SortFunc(sorted, compare)
	p.rank = make([]uint32, classes)
	for i, class := range sorted {
		if p.rank[class] = uint32(i); i > 0 && compare(sorted[i-1], class) == 0 {
			p.rank[class] = p.rank[sorted[i-1]]
		}
	}
}

// rankOf numbers texts by their order.
func rankOf(texts []string) []uint32 {
	sorted := make([]uint32, len(texts))
	for i := range sorted {
		sorted[i] = uint32(i)
	}
	slices.SortFunc(sorted, func(a, b uint32) int { return cmp.Compare(texts[a], texts[b]) })
	rank := make([]uint32, len(texts))
	for i, at := range sorted {
		rank[at] = uint32(i)
	}
	return rank
}

// arrange puts the records that are in a class of every part into an order that what they show decides:
// no order of the source can be seen in it.
func (r *Rows) arrange() {
	r.order = r.order[:0]
	for record := range int32(r.file.Len()) {
		if !slices.ContainsFunc(r.parts, func(p *shownPart) bool { return p.of[record] < 0 }) {
			r.order = append(r.order, record)
		}
	}
	var by []func(a, b int32) int
	for _, p := range r.parts {
		by = append(by, func(a, b int32) int { return cmp.Compare(p.rank[p.of[a]], p.rank[p.of[b]]) })
	}
	for _, c := range r.Publication.Columns {
		if c.Part == catalog.Copy {
			by = append(by, r.file.Compare(r.columnOf(c.Source)))
		}
	}
	for _, key := range r.keys {
		by = append(by, func(a, b int32) int { return cmp.Compare(key(a), key(b)) })
	}
	slices.SortFunc(r.order, func(a, b int32) int {
		for _, compare := range by {
			if c := compare(a, b); c != 0 {
				return c
			}
		}
		return 0
	})
}

// countDigits counts the digits of the published numbers, for formats that need them: those of withheld records do not
// count, since the type of a column would tell of them.
func (r *Rows) countDigits() {
	for i := range r.Columns {
		column := &r.Columns[i]
		if !column.NeedsDigits() {
			continue
		}
		column.Digits = tablefile.Digits{}
		for _, record := range r.order {
			if v := r.values[i](record); !v.Null {
				column.Digits.Add(v.Text)
			}
		}
	}
}

// toldRows is after how many rows progress is told, and the context asked.
const toldRows = 1 << 14

// Write writes the rows. It calls told from time to time with how many are written. The errors are the
// context's and those of writing.
func (r *Rows) Write(ctx context.Context, format tablefile.Format, to io.Writer, told func(rows int)) error {
	if format == tablefile.Parquet {
		r.countDigits()
	}
	w, err := tablefile.NewWriter(format, to, r.Columns)
	if err != nil {
		return err
	}
	row := make([]parquetfile.Value, len(r.Columns))
	for n, record := range r.order {
		for i, value := range r.values {
			row[i] = value(record)
		}
		if err := w.Write(row); err != nil {
			return err
		}
		if n%toldRows == 0 {
			if told(n); ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return w.Close()
}
