package torture

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// image is a release as one snapshot shows it.
type image struct {
	publication catalog.Publication
	shown       []catalog.PublishedColumn // those that show something of the source
	release     [][]datum                 // the classes, then shown
	published   [][]datum                 // the published relation as readers see it
	all         [][]datum                 // the release, reduced to the published columns
	outside     []string                  // ranges that do not hold a value of their class
	marks       [][]datum                 // of a guarded table: kproxy_row, kproxy_person of each row of the release
	rows        [][]datum                 // of a guarded table: each record's kproxy_row and whether it has changed since
}

func guarded(p catalog.Publication) bool { return p.Policy.Updates.Mode == catalog.Guarded }

func readImage(ctx context.Context, admin, reader *pgx.Conn, p catalog.Publication, generation int64) (*image, error) {
	i := &image{publication: p}
	var names, published []string
	for _, c := range p.Columns {
		published = append(published, c.Name)
		if c.Part != catalog.ClassNumber && c.Part != catalog.Weight {
			i.shown, names = append(i.shown, c), append(names, c.Name)
		}
	}
	records, release := fmt.Sprintf("kproxy_store.records_%d", generation), fmt.Sprintf("kproxy_store.release_%d", generation)
	order := "" // packed rows have none
	if guarded(p) {
		order = " ORDER BY ctid" // in which marks stand beside the rows
	}
	queries := []struct {
		into *[][]datum
		conn *pgx.Conn
		sql  string
		skip bool
	}{
		{&i.release, admin, fmt.Sprintf("SELECT %s, %s FROM %s%s", quoted(classColumns(p), ""), quoted(names, ""), release, order), false},
		{&i.all, admin, fmt.Sprintf("SELECT %s FROM %s", quoted(published, ""), weighed(p, release, generation)), false},
		{&i.published, reader, fmt.Sprintf("SELECT %s FROM %s", quoted(published, ""), catalog.Published(p.Policy.Table).SQL()), false},
		{&i.marks, admin, fmt.Sprintf("SELECT kproxy_row, kproxy_person FROM %s%s", release, order), !guarded(p)},
		{&i.rows, admin, fmt.Sprintf("SELECT kproxy_row, kproxy_since IS NOT NULL, %s FROM %s", quoted(stored(p), ""), records), !guarded(p)},
	}
	for _, q := range queries {
		if q.skip {
			continue
		}
		var err error
		if *q.into, err = textRows(ctx, q.conn, q.sql); err != nil {
			return nil, err
		}
	}
	return i, i.readRanges(ctx, admin, records, release)
}

// weighed is the release with the weight of each row. Of a guarded table weights lie apart, by class, and
// class 0 tells of the whole table: a share of its rows, or, above 1, 2 less the share of ghosts to leave out.
func weighed(p catalog.Publication, release string, generation int64) string {
	if !guarded(p) {
		return release
	}
	return fmt.Sprintf(`(SELECT r.*, (CASE WHEN a.share > 1 THEN 1 - (2 - a.share) * (1 - w.share) ELSE w.share * a.share END)::real AS kproxy_weight
		FROM %[1]s r,
		LATERAL (SELECT coalesce(min(kproxy_weight), 1) AS share FROM %[2]s c WHERE c.kproxy_class = r.kproxy_class) w,
		(SELECT coalesce(min(kproxy_weight), 1) AS share FROM %[2]s WHERE kproxy_class = 0) a) r`,
		release, fmt.Sprintf("kproxy_store.cellweight_%d", generation))
}

// readRanges has the server tell which ranges do not hold a value of their class.
func (i *image) readRanges(ctx context.Context, admin *pgx.Conn, records, release string) error {
	for _, c := range i.shown {
		if c.Part != catalog.Range {
			continue
		}
		class := catalog.ClassColumn(componentOf(i.publication, c.Attribute))
		asPublished := ""
		if guarded(i.publication) {
			asPublished = " AND r.kproxy_row IS NOT NULL AND r.kproxy_since IS NULL"
		}
		rows, err := textRows(ctx, admin, fmt.Sprintf(`SELECT DISTINCT g.class FROM (SELECT DISTINCT %[1]s AS class, %[2]s AS held FROM %[3]s) g
			JOIN %[4]s r ON r.%[1]s = g.class WHERE g.held IS NOT NULL AND (g.held @> r.%[5]s) IS NOT TRUE%[6]s`,
			class, catalog.QuoteIdentifier(c.Name), release, records, catalog.QuoteIdentifier(c.Source), asPublished))
		if err != nil {
			return err
		}
		for _, row := range rows {
			i.outside = append(i.outside, fmt.Sprintf("class %s: %s does not hold every value", row[0].text, c.Name))
		}
	}
	return nil
}

// check compares the image with the records of the same snapshot.
func (i *image) check(m moment) error {
	published, all := make(bag), make(bag)
	for _, row := range i.published {
		published[rowKey(row)]++
	}
	for _, row := range i.all {
		all[rowKey(row)]++
	}
	if missing, surplus := published.compare(all); missing+surplus > 0 {
		return &mistake{fmt.Sprintf("readers lack %d rows of the release and see %d others", missing, surplus)}
	}
	if len(i.outside) > 0 {
		return &mistake{strings.Join(i.outside, "; ")}
	}
	if err := i.checkClasses(); err != nil {
		return err
	}
	if guarded(i.publication) {
		return i.checkGuarded()
	}
	return i.checkImmediate(m)
}

// checkClasses wants one generalization for each class of each part.
func (i *image) checkClasses() error {
	parts := len(i.publication.Components())
	for part := range parts {
		looks := make(map[string]string)
		for _, row := range i.release {
			var look []datum
			for at, c := range i.shown {
				if c.Generalized() && componentOf(i.publication, c.Attribute) == part {
					look = append(look, row[parts+at])
				}
			}
			class, now := row[part].text, rowKey(look)
			if row[part].null {
				return &mistake{"a published row has no class"}
			}
			if was, known := looks[class]; known && was != now {
				return &mistake{fmt.Sprintf("class %s of part %d has two generalizations", class, part+1)}
			}
			looks[class] = now
		}
	}
	return nil
}

// checkImmediate wants the classes and copied values of the rows to be those of the
// records: of all of them or, where the table is withheld, of none.
func (i *image) checkImmediate(m moment) error {
	columns, parts := stored(i.publication), len(i.publication.Components())
	want, have := make(bag), make(bag)
	withheld := 0
	for _, record := range m.records {
		null := 0
		for _, class := range record[:parts] {
			if class.null {
				null++
			}
		}
		if null > 0 && null < parts {
			return &mistake{"a record has a class in some parts only"}
		}
		if null > 0 {
			withheld++
			continue
		}
		want[rowKey(append(record[:parts:parts], i.copied(columns, record[parts:])...))]++
	}
	if withheld > 0 && withheld < len(m.records) {
		return &mistake{fmt.Sprintf("%d of %d records are withheld", withheld, len(m.records))}
	}
	labels := make(map[string][]datum) // of each class of each part
	for _, row := range i.release {
		have[rowKey(append(row[:parts:parts], i.copies(row[parts:])...))]++
		for part := range parts {
			labels[fmt.Sprint(part, "/", row[part].text)] = row[parts:]
		}
	}
	if missing, surplus := have.compare(want); missing+surplus > 0 {
		return &mistake{fmt.Sprintf("the release lacks %d of the records' rows and has %d others", missing, surplus)}
	}
	if withheld > 0 {
		return nil
	}
	for _, record := range m.records {
		for at, c := range i.shown {
			if c.Part != catalog.Label {
				continue
			}
			part := componentOf(i.publication, c.Attribute)
			shown := labels[fmt.Sprint(part, "/", record[part].text)]
			if !holds(i.publication.Attributes[c.Attribute].Spec, shown[at], record[parts+place(columns, c.Source)]) {
				return &mistake{fmt.Sprintf("class %s of part %d: %s is not true of a record", record[part].text, part+1, c.Name)}
			}
		}
	}
	return nil
}

// checkGuarded wants every record that is published as it is to have a row that shows
// it, and no row to belong to two records.
func (i *image) checkGuarded() error {
	columns, rows := stored(i.publication), make(map[string][]datum)
	persons := make(map[string]map[string]bool)
	for at, mark := range i.marks {
		rows[mark[0].text] = i.release[at]
		class := i.release[at][0].text
		if persons[class] == nil {
			persons[class] = make(map[string]bool)
		}
		persons[class][mark[1].text] = true
	}
	if len(rows) != len(i.release) {
		return &mistake{"rows of the release share a number"}
	}
	for class, different := range persons {
		if k := i.publication.Policy.Constraints[0].K; len(different) < k {
			return &mistake{fmt.Sprintf("class %s is of %d persons, fewer than %d", class, len(different), k)}
		}
	}
	taken := make(map[string]bool)
	for _, record := range i.rows {
		if record[0].null {
			continue
		}
		row, ok := rows[record[0].text]
		if !ok || taken[record[0].text] {
			return &mistake{fmt.Sprintf("row %s of a record is missing, or two records'", record[0].text)}
		}
		taken[record[0].text] = true
		if record[1].text == "t" {
			continue // published as it was
		}
		if rowKey(i.copied(columns, record[2:])) != rowKey(i.copies(row[1:])) {
			return &mistake{fmt.Sprintf("row %s does not show its record as it is", record[0].text)}
		}
		for at, c := range i.shown {
			if c.Part == catalog.Label && !holds(i.publication.Attributes[c.Attribute].Spec, row[1+at], record[2+place(columns, c.Source)]) {
				return &mistake{fmt.Sprintf("row %s: %s is not true of its record", record[0].text, c.Name)}
			}
		}
	}
	return nil
}

// copied are the values of a record that are published as they are, and copies the
// corresponding ones of a row.
func (i *image) copied(columns []string, record []datum) []datum {
	var list []datum
	for _, c := range i.shown {
		if c.Part == catalog.Copy {
			list = append(list, record[place(columns, c.Source)])
		}
	}
	return list
}

func (i *image) copies(row []datum) []datum {
	var list []datum
	for at, c := range i.shown {
		if c.Part == catalog.Copy {
			list = append(list, row[at])
		}
	}
	return list
}

func place(columns []string, name string) int {
	for i, c := range columns {
		if c == name {
			return i
		}
	}
	return -1
}

// holds tells whether a label is true of a value; a hidden one always is. It is lenient
// with labels that end in an asterisk: those of the policies here keep any prefix.
func holds(spec hierarchy.Spec, label, value datum) bool {
	switch {
	case label.null || label.text == "*":
		return true
	case value.null:
		return false
	case label.text == value.text:
		return true
	default:
		return spec.Kind == hierarchy.Prefix && strings.HasSuffix(label.text, "*") && strings.HasPrefix(value.text, strings.TrimRight(label.text, "*"))
	}
}
