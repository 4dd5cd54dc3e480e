package release

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/pseudonym"
)

// OfPeopleFor makes the releases of the files of a policy's kind of person for the tables' own readers and for each audience,
// in this order. They are made as those of tables that are served are at first: people.Coarser unites what people.Maintained
// publishes. Errors: those of Of.
func OfPeopleFor(ctx context.Context, files map[catalog.Name]*dataset.File, policy *config.PolicyFile, o Options) (all []*People, warnings []string, err error) {
	own, warnings, err := ofFiles(files, policy)
	if err != nil {
		return nil, nil, err
	}
	c := &peopleChain{files: files, options: o, attributes: own.allAttributes()}
	if err := c.begin(ctx, own); err != nil {
		return nil, nil, err
	}
	all = []*People{own}
	for _, a := range own.builder.Publication().Root.Policy.Audiences {
		next, err := c.next(ctx, all[len(all)-1], a.Audience)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, next)
	}
	return all, warnings, ctx.Err()
}

// peopleChain makes releases of tables about the same persons, each of the one before.
type peopleChain struct {
	files      map[catalog.Name]*dataset.File
	options    Options
	attributes [][]anonymizer.Attribute // of each table, the root's first, as the last readers see them
	maintained *people.Maintained
	changes    *people.MaintainedChanges // what is published to the last readers
	drawn      error                     // why no pseudonym could be drawn
}

func (p *People) allAttributes() (all [][]anonymizer.Attribute) {
	for table := people.Root; table < len(p.Kind.Tables); table++ {
		all = append(all, p.records(table).Attributes())
	}
	return all
}

// random is for the choices of one of the releases.
func (c *peopleChain) random(release uint64) *rand.Rand {
	return rand.New(rand.NewPCG(c.options.Seed, 2+release))
}

// pseudonyms draw the pseudonyms of one of the releases.
func (c *peopleChain) pseudonyms(p *People) (func(table int) uint64, error) {
	from := make([]*pseudonym.Generator, 1+len(p.Kind.Tables))
	for table := range from {
		if forms := p.builder.Publication().Of(table - 1).Membership.Own; len(forms) > 0 {
			var err error
			if from[table], err = pseudonym.New(forms[0].Bits); err != nil {
				return nil, err
			}
		}
	}
	return func(table int) uint64 {
		if from[table+1] == nil {
			return 0
		}
		number, err := from[table+1].Next()
		if err != nil {
			c.drawn = err
		}
		return number
	}, nil
}

// begin makes the release for the tables' own readers.
func (c *peopleChain) begin(ctx context.Context, p *People) error {
	data := p.persons.Data
	shape := people.Shape{Root: data.Root.Attributes(), RootSensitive: data.Root.SensitiveLen()}
	for _, t := range data.Tables {
		shape.Tables = append(shape.Tables, people.TableShape{Name: t.Name, Attributes: t.Rows.Attributes(), Sensitive: t.Rows.SensitiveLen(), Parent: t.Parent, Order: t.Order, Unknown: t.Unknown})
	}
	method, err := p.method()
	if err != nil {
		return err
	}
	draw, err := c.pseudonyms(p)
	if err != nil {
		return err
	}
	c.maintained, err = people.NewMaintained(shape, p.persons.Constraints, p.Kind.Knows.Granted(), people.MaintainedOptions{
		Method: method, Seed: c.options.Seed, Pseudonym: draw, Random: c.random(0), Progress: c.options.Progress,
	})
	if err != nil {
		return fmt.Errorf("releases for audiences: %w", err)
	}
	for table := people.Root; table < len(data.Tables); table++ {
		for record := range int32(p.records(table).Len()) {
			if err := c.maintained.Insert(table, p.row(table, record)); err != nil {
				return err
			}
		}
	}
	return c.publish(ctx, p, func() (*people.MaintainedChanges, error) { return c.maintained.Settle(ctx) }, c.maintained.Feasible)
}

// row is a record as people.Maintained takes it.
func (p *People) row(table int, record int32) people.Row {
	records := p.records(table)
	r := people.Row{ID: incremental.RecordID(record) + 1, Key: keyOf(table, record)}
	for a := range records.Attributes() {
		r.Cells = append(r.Cells, records.Cells(a)[record])
	}
	for a := range records.SensitiveLen() {
		r.Sensitive = append(r.Sensitive, records.Sensitive(a)[record])
	}
	if table == people.Root {
		return r
	}
	of := p.persons.Data.Tables[table]
	r.Of = keyOf(of.Parent, of.Of[record])
	if of.Window != nil {
		r.Window = of.Window[record]
	}
	return r
}

// keyOf names a record of a table. That of people.Nobody names none.
func keyOf(table int, record int32) (key people.Key) {
	binary.LittleEndian.PutUint32(key[:], uint32(table+2))
	binary.LittleEndian.PutUint32(key[8:], uint32(record))
	return key
}

// next makes the release for an audience.
func (c *peopleChain) next(ctx context.Context, finer *People, audience string) (*People, error) {
	p := &People{Audience: audience, builder: finer.builder, persons: finer.persons, finer: finer}
	publication := p.builder.Publication()
	root, _ := publication.Root.MadeFor(audience)
	p.Kind = root.Membership.People
	for table := range c.attributes {
		var err error
		if c.attributes[table], err = publication.Of(table-1).AttributesFor(audience, c.attributes[table]); err != nil {
			return nil, err
		}
	}
	draw, err := c.pseudonyms(p)
	if err != nil {
		return nil, err
	}
	stated, err := publication.StatedFor(audience, p.persons.Schema)
	if err != nil {
		return nil, err
	}
	place := uint64(1)
	for of := finer; of.finer != nil; of = of.finer {
		place++
	}
	coarser, err := people.NewCoarser(c.maintained, people.CoarserOptions{
		K: p.Kind.K(), Constraints: stated, Root: c.attributes[0], Tables: c.attributes[1:], Seed: c.options.Seed, Pseudonym: draw, Random: c.random(place),
	})
	if err != nil {
		return nil, err
	}
	err = c.publish(ctx, p, func() (*people.MaintainedChanges, error) { return coarser.Settle(ctx, c.changes) }, coarser.Feasible)
	return p, err
}

// publish makes the rows of all tables of what is settled.
func (c *peopleChain) publish(ctx context.Context, p *People, settle func() (*people.MaintainedChanges, error), feasible func() error) (err error) {
	if c.changes, err = settle(); err != nil || c.drawn != nil {
		if err == nil {
			err = c.drawn
		}
		return err
	}
	if len(c.changes.Root.Cells) == 0 {
		why := feasible()
		if why == nil {
			return errInfeasible()
		}
		if p.Audience != "" {
			why = fmt.Errorf("for audience %s: %w", p.Audience, why)
		}
		return &InfeasibleError{why}
	}
	p.own = make([]func(int32) uint64, 1+len(p.Kind.Tables))
	for table := people.Root; table < len(p.Kind.Tables); table++ {
		publication, changes := p.builder.Publication().Of(table), c.changes.Root
		if table != people.Root {
			changes = c.changes.Tables[table]
		}
		file := c.files[publication.Policy.Table]
		if p.Audience != "" {
			publication, _ = publication.MadeFor(p.Audience)
		}
		p.take(publication, file, table, changes.Cells, c.attributes[table+1])
	}
	return ctx.Err()
}

// take adds the rows of a table, of its cells.
func (p *People) take(publication catalog.Publication, file *dataset.File, table int, cells []people.PublishedCell, shown []anonymizer.Attribute) {
	own, link, published := make([]uint64, file.Len()), make([]uint64, file.Len()), make([]bool, file.Len())
	of := publishedTable{labels: [][]hierarchy.Generalization{}, link: func(record int32) uint64 { return link[record] }, shown: shown}
	for _, cell := range cells {
		var class anonymizer.EquivalenceClass
		for _, r := range cell.Rows {
			record := int32(r.ID) - 1
			class, published[record] = append(class, record), true
			if !cell.Pooled {
				own[record], link[record] = r.Own, r.Of
			}
		}
		of.classes, of.labels = append(of.classes, class), append(of.labels, cell.Values)
	}
	for record, is := range published {
		if !is {
			of.withheld = append(of.withheld, int32(record))
		}
	}
	if table == people.Root {
		p.classes = of.classes
	}
	p.own[table+1] = func(record int32) uint64 { return own[record] }
	p.add(publication, file, table, of)
}
