package release

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
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
	// Kind is the policy's, with the constraints that hold for the audience.
	Kind catalog.People
	// Audience is whom the release is for; empty for the tables' own readers.
	Audience string
	// Tables are the root and the other tables, in the order of Kind.Names, and Figures those of each.
	Tables  []*Rows
	Figures []Figures

	builder *persons.Builder
	persons *persons.Persons
	release *people.Release               // nil where it follows another one, or is followed
	own     []func(record int32) uint64   // of each table: the pseudonym of a record's own key, 0 for none
	classes []anonymizer.EquivalenceClass // of persons
	finer   *People                       // whose classes are united; nil for the tables' own readers
}

// OfPeople makes the release of the files of a policy's kind of person. Errors: those of Of.
func OfPeople(ctx context.Context, files map[catalog.Name]*dataset.File, policy *config.PolicyFile, o Options) (p *People, warnings []string, err error) {
	if p, warnings, err = ofFiles(files, policy); err != nil {
		return nil, nil, err
	}
	method, err := p.method()
	if err != nil {
		return nil, nil, err
	}
	p.release, err = people.Anonymize(ctx, p.persons.Data, p.persons.Constraints, p.Kind.Knows.Granted(), people.Options{
		Options: anonymizer.Options{Seed: o.Seed, Progress: o.Progress}, Method: method,
	})
	if err != nil {
		return nil, nil, err
	}
	if len(p.release.Classes) == 0 {
		return nil, nil, errInfeasible()
	}
	p.own = make([]func(int32) uint64, 1+len(p.Kind.Tables))
	p.classes = p.release.Classes
	for table := people.Root; table < len(p.Kind.Tables); table++ {
		publication, keyed := p.builder.Publication().Of(table), p.keyed(table)
		if err := p.drawKeys(publication, table, keyed, p.records(table).Len()); err != nil {
			return nil, nil, err
		}
		p.add(publication, files[publication.Policy.Table], table, publishedTable{classes: p.classesOf(table), withheld: p.withheld(table), link: p.link(table, keyed)})
	}
	return p, warnings, ctx.Err()
}

func errInfeasible() error {
	return &InfeasibleError{errors.New("all persons together do not meet the constraints, or are too few for one class")}
}

func (p *People) method() (anonymizer.Method, error) {
	root := p.builder.Publication().Root.Policy
	return methods.Trying(root.Method, root.Effort)
}

// ofFiles takes the records of the files of a policy's kind of person.
func ofFiles(files map[catalog.Name]*dataset.File, policy *config.PolicyFile) (p *People, warnings []string, err error) {
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
	p.persons, err = builder.Persons(kind.Knows)
	return p, warnings, err
}

// keysOf are the columns of a table that are published as pseudonyms.
func keysOf(kind catalog.People, table catalog.Name) []string {
	if table == kind.Root {
		return kind.Key
	}
	at := slices.IndexFunc(kind.Tables, func(t catalog.PeopleTable) bool { return t.Table == table })
	return kind.Tables[at].Keys()
}

// publishedTable is what is published of the records of a table.
type publishedTable struct {
	// classes are published with the same values each: with labels or, where these are nil, what stands for the records.
	classes  []anonymizer.EquivalenceClass
	labels   [][]hierarchy.Generalization
	withheld []int32
	// link is the pseudonym of what a record belongs to, 0 for none.
	link func(record int32) uint64
	// shown are the attributes as they are shown; nil for the table's own.
	shown []anonymizer.Attribute
}

// add adds the rows of a table, whose own pseudonyms are there.
func (p *People) add(publication catalog.Publication, file *dataset.File, table int, of publishedTable) {
	r := newRows(publication, file)
	records := p.records(table)
	attributes := make([]int, len(records.Attributes()))
	for a := range attributes {
		attributes[a] = a
	}
	if of.labels == nil {
		r.addPart(attributes, records, of.classes)
	} else {
		r.addLabeled(attributes, records, of.classes, func(class int) []hierarchy.Generalization { return of.labels[class] })
	}
	for i, c := range publication.Columns {
		if c.Part != catalog.Pseudonym {
			continue
		}
		number := p.own[table+1]
		if !publication.Membership.IsOwn(c) {
			number = of.link
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
	figures := Figures{Table: publication.Policy.Table.String(), Audience: p.Audience, Records: file.Len(), Dropped: file.Dropped, Rows: r.Len(), Withheld: r.Withheld(), Smallest: math.MaxInt}
	figures.addClasses(of.classes)
	if len(of.classes) == 0 {
		figures.Smallest = 0
	}
	if len(attributes) > 0 {
		if of.shown != nil {
			records = records.ShownBy(of.shown)
		}
		figures.Loss = metric.PublishedLoss(records, &anonymizer.Release{Classes: of.classes, Withheld: of.withheld})
	}
	p.Tables, p.Figures = append(p.Tables, r), append(p.Figures, figures)
}

func (p *People) records(table int) *anonymizer.Table {
	if table == people.Root {
		return p.persons.Data.Root
	}
	return p.persons.Data.Tables[table].Rows
}

// classesOf are those of a table's records that are published with the same values: first those with keys.
func (p *People) classesOf(table int) []anonymizer.EquivalenceClass {
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

// link is the pseudonym of what a record belongs to; 0 for records without keys. There is none of the root. A row that belongs to a
// person directly carries the pseudonym that the person has in its window.
func (p *People) link(table int, keyed []int32) func(record int32) uint64 {
	if table == people.Root {
		return nil
	}
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
