package release

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/parquetfile"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/persons"
	"github.com/kproxy/kproxy/internal/pseudonym"
)

// People is the release of tables about the same persons.
type People struct {
	// Kind is the policy's.
	Kind catalog.People
	// Tables are the root and the other tables, in the order of Kind.Names, and Figures those of each.
	Tables  []*Rows
	Figures []Figures

	builder *persons.Builder
	persons *persons.Persons
	release *people.Release
	own     []func(record int32) uint64 // of each table: the pseudonym of a record's own key, 0 for none
}

// OfPeople makes the release of the files of a policy's kind of person. Errors: those of Of.
func OfPeople(ctx context.Context, files map[catalog.Name]*dataset.File, policy *config.PolicyFile, o Options) (p *People, warnings []string, err error) {
	kind := policy.People[0]
	var errs []error
	for _, t := range policy.Policy().Tables {
		errs = append(errs, dataset.CheckEveryColumn(files[t.Table], policy.Of(t), keysOf(kind, t.Table)))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	builder, warnings, err := dataset.Persons(policy, files)
	if err != nil {
		return nil, nil, err
	}
	publication := builder.Publication()
	for table := people.Root; table < len(kind.Tables); table++ {
		of := publication.Of(table)
		errs = append(errs, files[of.Policy.Table].CheckNearlyUnique(of, policy, nil))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	p = &People{Kind: publication.People, builder: builder}
	if p.persons, err = builder.Persons(kind.Knows); err != nil {
		return nil, nil, err
	}
	method, err := methods.Trying(publication.Root.Policy.Method, publication.Root.Policy.Effort)
	if err != nil {
		return nil, nil, err
	}
	p.release, err = people.Anonymize(ctx, p.persons.Data, p.persons.Constraints, kind.Knows.Granted(), people.Options{
		Options: anonymizer.Options{Seed: o.Seed, Progress: o.Progress}, Method: method,
	})
	if err != nil {
		return nil, nil, err
	}
	if len(p.release.Classes) == 0 {
		return nil, nil, &InfeasibleError{errors.New("all persons together do not meet the constraints, or are too few for one class")}
	}
	p.own = make([]func(int32) uint64, 1+len(kind.Tables))
	for table := people.Root; table < len(kind.Tables); table++ {
		if err := p.add(publication.Of(table), files[kind.Names()[table+1]], table); err != nil {
			return nil, nil, err
		}
	}
	return p, warnings, ctx.Err()
}

// keysOf are the columns of a table that are published as pseudonyms.
func keysOf(kind catalog.People, table catalog.Name) []string {
	if table == kind.Root {
		return kind.Key
	}
	at := slices.IndexFunc(kind.Tables, func(t catalog.PeopleTable) bool { return t.Table == table })
	return kind.Tables[at].Keys()
}

// add adds the rows of a table; its parent's are there.
func (p *People) add(publication catalog.Publication, file *dataset.File, table int) error {
	r := newRows(publication, file)
	records := p.records(table)
	attributes := make([]int, len(records.Attributes()))
	for a := range attributes {
		attributes[a] = a
	}
	classes := p.classes(table)
	r.addPart(attributes, records, classes)
	keyed := p.keyed(table)
	if err := p.drawKeys(publication, table, keyed, file.Len()); err != nil {
		return err
	}
	for i, c := range publication.Columns {
		if c.Part != catalog.Pseudonym {
			continue
		}
		number := p.own[table+1]
		if !publication.Membership.IsOwn(c) {
			number = p.link(table, keyed)
		}
		form := publication.Membership.Form(c)
		r.keys = append(r.keys, number)
		r.values[i] = func(record int32) parquetfile.Value {
			if n := number(record); n != 0 {
				return parquetfile.Of(form.Text(n))
			}
			return parquetfile.Null()
		}
	}
	r.arrange()
	figures := Figures{Table: publication.Policy.Table.String(), Records: file.Len(), Dropped: file.Dropped, Rows: r.Len(), Withheld: r.Withheld(), Smallest: math.MaxInt}
	figures.addClasses(classes)
	if len(classes) == 0 {
		figures.Smallest = 0
	}
	if len(attributes) > 0 {
		figures.Loss = metric.PublishedLoss(records, &anonymizer.Release{Classes: classes, Withheld: p.withheld(table)})
	}
	p.Tables, p.Figures = append(p.Tables, r), append(p.Figures, figures)
	return nil
}

func (p *People) records(table int) *anonymizer.Table {
	if table == people.Root {
		return p.persons.Data.Root
	}
	return p.persons.Data.Tables[table].Rows
}

// classes are those of a table's records that are published with the same values: first those with keys.
func (p *People) classes(table int) []anonymizer.EquivalenceClass {
	if table == people.Root {
		return p.release.Classes
	}
	of := p.release.Tables[table]
	var classes []anonymizer.EquivalenceClass
	for _, cell := range of.Cells {
		classes = append(classes, cell.Rows)
	}
	return append(classes, of.Pooled...)
}

func (p *People) withheld(table int) []int32 {
	if table == people.Root {
		return p.release.Withheld
	}
	return p.release.Tables[table].Withheld
}

// keyed has the cell of each record that keeps its keys, -1 for others; of the root, its class.
func (p *People) keyed(table int) []int32 {
	of := make([]int32, p.records(table).Len())
	for i := range of {
		of[i] = -1
	}
	number := func(i int, rows anonymizer.EquivalenceClass) {
		for _, row := range rows {
			of[row] = int32(i)
		}
	}
	if table == people.Root {
		for i, class := range p.release.Classes {
			number(i, class)
		}
		return of
	}
	for i, cell := range p.release.Tables[table].Cells {
		number(i, cell.Rows)
	}
	return of
}

// drawKeys gives the records that keep their keys pseudonyms of their own, where they have keys.
func (p *People) drawKeys(publication catalog.Publication, table int, keyed []int32, records int) error {
	forms := publication.Membership.Own
	if len(forms) == 0 {
		p.own[table+1] = func(int32) uint64 { return 0 }
		return nil
	}
	from, err := pseudonym.New(forms[0].Bits)
	if err != nil {
		return err
	}
	numbers := make([]uint64, records)
	for record, cell := range keyed {
		if cell < 0 {
			continue
		}
		if numbers[record], err = from.Next(); err != nil {
			return err
		}
	}
	p.own[table+1] = func(record int32) uint64 { return numbers[record] }
	return nil
}

// link is the pseudonym of what a record belongs to; 0 for records without keys. A row that belongs to a
// person directly carries the pseudonym that the person has in its window.
func (p *People) link(table int, keyed []int32) func(record int32) uint64 {
	of := p.persons.Data.Tables[table]
	if of.Parent != people.Root {
		above := p.own[of.Parent+1]
		return func(record int32) uint64 {
			if keyed[record] < 0 {
				return 0
			}
			return above(of.Of[record])
		}
	}
	cells, root := p.release.Tables[table].Cells, p.own[people.Root+1]
	return func(record int32) uint64 {
		cell := keyed[record]
		if cell < 0 {
			return 0
		}
		window := int32(0)
		if len(p.release.Aliases) > 1 {
			window = cells[cell].Window
		}
		return root(p.release.Aliases[window][of.Of[record]])
	}
}
