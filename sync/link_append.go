package sync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pseudonym"
)

// A new link of a lineage begins empty: all classes of the release before wait for it, with what that shows of them.
// So whatever it will show is made of what readers of that release see (lineage.Coarser).

// appendLink makes what the store has of the link at a place, behind all others, of which the lineage had so many before.
func (s *session) appendLink(ctx context.Context, tx pgx.Tx, t *table, place, before int) error {
	a, class := &t.layout.audiences[place], t.parts[0].column
	release := a.relation("release", t.release.generation)
	statements, indexed := []string{}, []string{class}
	if t.layout.isLinked() {
		statements = append(statements, t.createFollowed(a), t.placedFor(a))
		statements = append(statements, t.createFollowingOf(a)...)
		statements = append(statements, t.keyIndexes(a)...)
		indexed = t.linkedIndexed()
	} else {
		statements = append(statements, t.createCoarserOf(place)...)
	}
	for _, column := range indexed {
		statements = append(statements, fmt.Sprintf("CREATE INDEX ON %s (%s)", release, column))
	}
	if spread := s.syncer.config.spreading; spread != nil {
		statements = slices.Insert(statements, 1, spread(release, class)...)
	}
	for _, sql := range statements {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return fmt.Errorf("making its tables: %w", err)
		}
	}
	if place > before { // nothing is shown of the link in front of it, which is new as well
		return nil
	}
	waiting, err := t.shownBefore(ctx, tx, place)
	if err != nil {
		return err
	}
	to := sendTo(ctx, tx)
	t.noteWaiting(to, a, waiting)
	if err := to.close(); err != nil {
		return fmt.Errorf("noting what waits for it: %w", err)
	}
	return nil
}

// drawPseudonyms is what the pseudonyms of a table are made of with those of a new link, given those before; nil where
// it has none, or nothing was published.
func (t *table) drawPseudonyms(before []byte) ([]byte, error) {
	m := t.layout.publication.Membership
	if m == nil || len(m.Own) == 0 || before == nil {
		return before, nil
	}
	of, err := pseudonym.New(m.Own[0].Bits)
	if err != nil {
		return nil, &TableError{Table: t.layout.name(), What: "no pseudonyms can be drawn for an audience", Err: err, Fix: fixReload}
	}
	return append(slices.Clone(before), of.State()...), nil
}

// shownClass is a class of the release before, with what may be seen of its labels.
type shownClass struct {
	class  int64
	labels []hierarchy.Generalization
}

// shownBefore are the classes that are shown by the release before that of the audience at a place.
func (t *table) shownBefore(ctx context.Context, tx pgx.Tx, place int) (all []shownClass, err error) {
	from, shown, attributes := t.release.releaseTable(), t.layout.kept, t.layout.attributes
	if place > 0 {
		before := &t.layout.audiences[place-1]
		from, shown, attributes = before.relation("release", t.release.generation), before.kept, before.attributes
	}
	class, condition := t.parts[0].column, ""
	if t.layout.isLinked() { // rows without keys are for nobody else
		condition = " WHERE " + catalog.PersonsColumn + " IS NOT NULL"
	}
	labels, err := boundsOf(shown, attributes)
	if err != nil {
		return nil, &TableError{Table: t.layout.name(), What: err.Error(), Fix: fixLineage}
	}
	rows, err := tx.Query(ctx, fmt.Sprintf("SELECT DISTINCT ON (%[1]s) %[1]s, ARRAY[%[2]s]::text[] FROM %[3]s%[4]s ORDER BY %[1]s", class, strings.Join(labels, ", "), from, condition))
	if err != nil {
		return nil, fmt.Errorf("reading what is shown: %w", err)
	}
	var texts []*string
	var of int64
	if _, err := pgx.ForEachRow(rows, []any{&of, &texts}, func() error {
		all = append(all, shownClass{of, t.layout.audiences[place].seenOf(attributes, texts)})
		return nil
	}); err != nil {
		return nil, fmt.Errorf("reading what is shown: %w", err)
	}
	return all, nil
}

// boundsOf are two expressions for each attribute of what rows show: its bounds, or its label and nothing.
func boundsOf(shown catalog.Publication, attributes []anonymizer.Attribute) (list []string, err error) {
	for i := range attributes {
		at := slices.IndexFunc(shown.Columns, func(c catalog.PublishedColumn) bool {
			return c.Attribute == i && (c.Part == catalog.Range || c.Part == catalog.Label)
		})
		if at < 0 {
			return nil, errors.New("rows that are published show no ranges of " + attributes[i].Name)
		}
		c := shown.Columns[at]
		name := catalog.QuoteIdentifier(c.Name)
		switch {
		case c.Part == catalog.Label:
			list = append(list, name, "NULL")
		case c.Type == "int4range" || c.Type == "int8range" || c.Type == "daterange": // they end before their upper bounds
			list = append(list, "pg_catalog.lower("+name+")::text", "(pg_catalog.upper("+name+") - 1)::text")
		default:
			list = append(list, "pg_catalog.lower("+name+")::text", "pg_catalog.upper("+name+")::text")
		}
	}
	return list, nil
}

// seenOf is what the audience may see of a class, by the texts of boundsOf, which the attributes of the release before show.
func (a *audience) seenOf(before []anonymizer.Attribute, texts []*string) []hierarchy.Generalization {
	labels := make([]hierarchy.Generalization, len(before))
	for i, attribute := range before {
		shown, first, second := hierarchy.Generalization{Hidden: true}, texts[2*i], texts[2*i+1]
		kind := attribute.Hierarchy.Kind()
		switch ranges := kind == hierarchy.Numeric || kind == hierarchy.Date; {
		case ranges && first != nil && second != nil:
			shown = hierarchy.Between(attribute.Hierarchy, *first, *second)
		case !ranges && first != nil:
			shown = hierarchy.Generalization{Value: *first}
		}
		labels[i] = hierarchy.Show(a.attributes[i].Hierarchy, shown)
	}
	return labels
}

// noteWaiting notes that classes of the release before wait for an audience.
func (t *table) noteWaiting(to queue, a *audience, waiting []shownClass) {
	columns, values := "class, labels", "u.class, u.labels::jsonb"
	if !t.layout.isLinked() {
		columns, values = "class, withheld, labels", "u.class, false, u.labels::jsonb"
	}
	for chunk := range slices.Chunk(waiting, writeChunk) {
		classes, labels := make([]int64, len(chunk)), make([]string, len(chunk))
		for i, w := range chunk {
			text, err := json.Marshal(append([]hierarchy.Generalization{}, w.labels...)) // never withheldLabels
			if err != nil {
				to.Fail(internal(err))
				return
			}
			classes[i], labels[i] = w.class, string(text)
		}
		to.Queue(fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM unnest($1::bigint[], $2::text[]) AS u(class, labels)", a.followedTable(t.release.generation), columns, values), numbers(classes), labels)
	}
}
