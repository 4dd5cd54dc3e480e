package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Risk is what the rows of a table give away that agree in all published quasi-identifiers of a part. It is counted by
// GROUP BY over them as clients see them. It holds no value of a row.
type Risk struct {
	Table string `json:"table"`
	// Over are the quasi-identifying columns; none where the table has none.
	Over []string `json:"over"`
	// Unit is what is counted: rows, or persons where rows belong to these.
	Unit   string `json:"unit"`
	Groups int64  `json:"groups"`
	Size   int64  `json:"size"` // of all groups together
	// Smallest is the size of the smallest group, 0 without groups.
	Smallest int64 `json:"smallest"`
	// Single counts the members that are alone in their group.
	Single int64 `json:"single"`
	// Above is the size of all groups whose members are identified with a probability above the threshold.
	Above int64 `json:"above_threshold"`
	// Alone counts the source's records that no other agrees with in all of Over, of Records that are stored. Both are
	// 0 where the private store is sealed: nobody can count them there.
	Alone   int64 `json:"alone_in_source"`
	Records int64 `json:"records_in_source"`
	// Sensitive is what groups tell of sensitive columns.
	Sensitive []Disclosure `json:"sensitive"`
}

// Highest is the probability, 0 to 1, with which somebody who knows that a person is in the table, and all
// quasi-identifiers of the person, identifies the member of the smallest group.
func (r Risk) Highest() float64 {
	if r.Smallest == 0 {
		return 0
	}
	return 1 / float64(r.Smallest)
}

// Average is the mean of that probability over all members: the share that somebody identifies who tries all.
func (r Risk) Average() float64 {
	if r.Size == 0 {
		return 0
	}
	return float64(r.Groups) / float64(r.Size)
}

// Disclosure is how well a sensitive value is guessed: the most frequent one of the group that fits.
type Disclosure struct {
	Column string `json:"column"`
	// Highest is the greatest share of one value in a group, 0 to 1.
	Highest float64 `json:"highest"`
	// Right is the share of all members whose value is guessed right, and Baseline that of who always guesses the most
	// frequent value of the table.
	Right    float64 `json:"right"`
	Baseline float64 `json:"baseline"`
	// Certain counts the members of groups that have one value.
	Certain int64 `json:"certain"`
}

// MeasureRisks counts the risks of what is published: for each table one of each of its parts. Tables that are released
// together are counted by persons: those that have a row, or a tree of rows, that shows the same in one window; rows of
// which outsiders know none are left out. Tables that are not published are left out. Tx is read-only and of one snapshot. Its settings are
// changed until it ends. Threshold is a probability above 0.
func MeasureRisks(ctx context.Context, tx pgx.Tx, publications []catalog.Publication, threshold float64) ([]Risk, error) {
	if _, err := tx.Conn().PgConn().Exec(ctx, begin).ReadAll(); err != nil {
		return nil, fmt.Errorf("measuring risks: %w", err)
	}
	if _, err := tx.Exec(ctx, noNestedLoops); err != nil {
		return nil, fmt.Errorf("measuring risks: %w", err)
	}
	s := session{ctx: ctx, tx: tx, tell: func(string, string) {}}
	var found []Risk
	kinds := make(map[string]*persons)
	for _, p := range publications {
		if p.Membership != nil {
			of := kinds[p.Membership.People.Kind]
			if of == nil {
				of = s.newPersons()
				kinds[p.Membership.People.Kind] = of
			}
			of.add(p)
		}
	}
	for _, of := range kinds {
		if err := of.areAllThere(); err != nil {
			return nil, fmt.Errorf("measuring risks: %w", err)
		}
	}
	for _, p := range publications {
		var risks []Risk
		var err error
		if p.Membership != nil {
			risks, err = kinds[p.Membership.People.Kind].members[p.Membership.Table].risks(threshold)
		} else {
			t := s.newTable(p)
			risks, err = t.risks(threshold)
		}
		if err != nil {
			return nil, fmt.Errorf("measuring the risks of %s: %w", p.Policy.Table, err)
		}
		found = append(found, risks...)
	}
	return found, nil
}

// areAllThere wants all tables of the kind.
func (p *persons) areAllThere() error {
	for _, number := range p.numbers() {
		if p.members[number] == nil {
			return fmt.Errorf("table %s is released with others of which none can be measured without it", p.people.Names()[number+1])
		}
	}
	return nil
}

// sizes counts groups and their sizes; %s is a query for the size n of each.
const sizes = `SELECT count(*), coalesce(sum(n), 0)::bigint, coalesce(min(n), 0), count(*) FILTER (WHERE n = 1), coalesce(sum(n) FILTER (WHERE 1 / n::float8 > $1 + ` + tolerance + `), 0)::bigint FROM (%s) s`

func (t *table) readSizes(of *Risk, threshold float64, query string) error {
	return t.tx.QueryRow(t.ctx, fmt.Sprintf(sizes, query), threshold).Scan(&of.Groups, &of.Size, &of.Smallest, &of.Single, &of.Above)
}

// readAlone counts the records that are alone.
func (t *table) readAlone(of *Risk) error {
	if t.relations.isSealed() {
		return nil
	}
	columns := make([]string, len(of.Over))
	for i, c := range of.Over {
		columns[i] = quoted("r", c)
	}
	by := "r.kproxy_record"
	if len(columns) > 0 {
		by = strings.Join(columns, ", ")
	}
	query := fmt.Sprintf("SELECT coalesce(sum(n), 0)::bigint, count(*) FILTER (WHERE n = 1) FROM (SELECT count(*) AS n FROM %s r GROUP BY %s) s", t.relations.records, by)
	if err := t.tx.QueryRow(t.ctx, query).Scan(&of.Records, &of.Alone); err != nil {
		return err
	}
	if len(columns) == 0 {
		of.Alone = 0
	}
	return nil
}

func (t *table) risks(threshold float64) ([]Risk, error) {
	if found, err := t.locate(); err != nil || !found {
		return nil, err
	}
	var risks []Risk
	for _, p := range t.relations.parts {
		g := t.relations.groups(p)
		of := Risk{Table: t.report.Table, Over: p.sources(), Unit: g.unit(), Sensitive: []Disclosure{}}
		query := fmt.Sprintf("SELECT %s AS n FROM (%s) rows GROUP BY %s", g.counted(), g.rows(""), strings.Join(g.names(), ", "))
		if err := t.readSizes(&of, threshold, query); err != nil {
			return nil, err
		}
		if err := t.readAlone(&of); err != nil {
			return nil, err
		}
		for _, column := range t.sensitive() {
			d, err := t.disclosure(column.Name, g.tally(column, "NULL::text"))
			if err != nil {
				return nil, err
			}
			of.Sensitive = append(of.Sensitive, d)
		}
		risks = append(risks, of)
	}
	return risks, nil
}

// sensitive are the sensitive columns that are published as they are.
func (t *table) sensitive() (columns []catalog.Column) {
	for _, c := range t.relations.publication.Policy.Columns {
		if column, exists := t.relations.publication.Relation.Column(c.Name); exists && c.Role == catalog.Sensitive && t.relations.isCopied(c.Name) {
			columns = append(columns, column)
		}
	}
	return columns
}

// disclosure reads what groups tell of a column; counted is a query like tallied.
func (t *table) disclosure(name, counted string) (Disclosure, error) {
	d := Disclosure{Column: name}
	query := counted + `SELECT coalesce(max(n::float8 / size), 0), coalesce(sum(n)::float8 / nullif(sum(size), 0), 0), coalesce(sum(size) FILTER (WHERE n = size), 0)::bigint,
		coalesce((SELECT max(w.n)::float8 FROM whole w) / nullif((SELECT t.n FROM total t), 0), 0) FROM counted WHERE rank = 1`
	err := t.tx.QueryRow(t.ctx, query).Scan(&d.Highest, &d.Right, &d.Certain, &d.Baseline)
	return d, err
}

func (m *member) risks(threshold float64) ([]Risk, error) {
	for _, other := range m.of.members {
		if found, err := other.locate(); err != nil || !found {
			return nil, err
		}
	}
	of := Risk{Table: m.report.Table, Over: m.relations.parts[0].sources(), Unit: "persons", Sensitive: []Disclosure{}}
	if err := m.readAlone(&of); err != nil {
		return nil, err
	}
	if m.isUnknown() {
		return []Risk{of}, nil
	}
	shown := m.shown()
	names := strings.Join(append(slices.Clone(shown), "win"), ", ")
	query := fmt.Sprintf("SELECT count(DISTINCT person) AS n FROM (%s) rows WHERE person IS NOT NULL GROUP BY %s", m.rows(), names)
	if err := m.readSizes(&of, threshold, query); err != nil {
		return nil, err
	}
	if !m.isRoot() {
		return []Risk{of}, nil
	}
	for _, number := range m.of.numbers() {
		other := m.of.members[number]
		if !other.relations.publication.IsSeen() {
			continue
		}
		for _, column := range other.sensitive() {
			crowd := m.classes(other, column)
			const whole = `, whole AS (SELECT count(DISTINCT who) AS n FROM rows GROUP BY v), total AS (SELECT count(DISTINCT who) AS n FROM members)
`
			d, err := m.disclosure(other.report.Table+"."+column.Name, fmt.Sprintf(ofPersons, crowd.members, crowd.values, "true")+whole)
			if err != nil {
				return nil, err
			}
			of.Sensitive = append(of.Sensitive, d)
		}
	}
	return []Risk{of}, nil
}
