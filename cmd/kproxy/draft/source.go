package draft

import (
	"context"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/sample"
	"github.com/kproxy/kproxy/internal/propose"
)

// source is what is looked at of a database.
type source struct {
	role      string
	relations []catalog.Relation // all of the database
	chosen    []catalog.Relation
	// refers are the columns of foreign keys with the tables that they refer to, and foreign the
	// foreign keys by their tables.
	refers  map[column]catalog.Name
	foreign map[catalog.Name][]propose.ForeignKey
	// skipped are relations that cannot be looked at, with the reason.
	skipped []Skipped
}

type column struct {
	table catalog.Name
	name  string
}

// Skipped is a table that was not looked at.
type Skipped struct {
	Table catalog.Name
	Why   string
}

// references are the foreign keys.
//
//go:embed references.sql
var references string

// hidden are the tables that belong to extensions, or that the role may not read.
//
//go:embed hidden.sql
var hidden string

// look finds the tables that the options speak of.
func look(ctx context.Context, tx pgx.Tx, o Options) (*source, error) {
	s := &source{refers: make(map[column]catalog.Name), foreign: make(map[catalog.Name][]propose.ForeignKey)}
	if err := tx.QueryRow(ctx, "SELECT current_user::text").Scan(&s.role); err != nil {
		return nil, fmt.Errorf("asking for the role: %w", err)
	}
	var err error
	if s.relations, err = inspect.Relations(ctx, tx.Conn(), s.role); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, references)
	if err != nil {
		return nil, fmt.Errorf("reading the foreign keys: %w", err)
	}
	var from, to catalog.Name
	var columns, referenced []string
	if _, err := pgx.ForEachRow(rows, []any{&from.Schema, &from.Relation, &to.Schema, &to.Relation, &columns, &referenced}, func() error {
		s.foreign[from] = append(s.foreign[from], propose.ForeignKey{Columns: slices.Clone(columns), To: to, Of: slices.Clone(referenced)})
		for _, name := range columns {
			s.refers[column{from, name}] = to
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("reading the foreign keys: %w", err)
	}
	kept, err := s.readable(ctx, tx)
	if err != nil {
		return nil, err
	}
	return s, s.choose(kept, o)
}

// readable are the relations that are tables of their own, and that the role may read.
func (s *source) readable(ctx context.Context, tx pgx.Tx) ([]catalog.Relation, error) {
	rows, err := tx.Query(ctx, hidden)
	if err != nil {
		return nil, fmt.Errorf("reading the privileges: %w", err)
	}
	whys := make(map[catalog.Name]string)
	var name catalog.Name
	var extension bool
	if _, err := pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &extension}, func() error {
		whys[name] = "role " + s.role + " may not read it"
		if extension {
			whys[name] = ""
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("reading the privileges: %w", err)
	}
	parts := make(map[catalog.Name]bool)
	for _, r := range s.relations {
		for _, leaf := range r.Leaves {
			parts[leaf.Name] = true
		}
	}
	var kept []catalog.Relation
	for _, r := range s.relations {
		why, unreadable := whys[r.Name]
		switch {
		case parts[r.Name] || r.Kind == catalog.KindPartitionedTable && r.HasParents:
		case unreadable && why != "":
			s.skipped = append(s.skipped, Skipped{Table: r.Name, Why: why})
		case !unreadable:
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// choose takes the relations whose names match.
func (s *source) choose(from []catalog.Relation, o Options) error {
	within := func(name catalog.Name) bool { return len(o.Schemas) == 0 || slices.Contains(o.Schemas, name.Schema) }
	for _, schema := range o.Schemas {
		if !slices.ContainsFunc(from, func(r catalog.Relation) bool { return r.Name.Schema == schema }) {
			return fmt.Errorf("the database has no table in schema %s that role %q can read", schema, s.role)
		}
	}
	matched := make([]bool, len(o.Tables))
	for _, r := range from {
		wanted := len(o.Tables) == 0
		for i, pattern := range o.Tables {
			name := r.Name.Relation
			if strings.Contains(pattern, ".") {
				name = r.Name.String()
			}
			matches, err := path.Match(pattern, name)
			if err != nil {
				return fmt.Errorf("the pattern %q of tables: %w", pattern, err)
			}
			if matches && within(r.Name) {
				wanted, matched[i] = true, true
			}
		}
		if wanted && within(r.Name) {
			s.chosen = append(s.chosen, r)
		}
	}
	if i := slices.Index(matched, false); i >= 0 {
		return fmt.Errorf("the database has no table %s that role %q can read", o.Tables[i], s.role)
	}
	if len(o.Tables) > 0 || len(o.Schemas) > 0 {
		s.skipped = slices.DeleteFunc(s.skipped, func(t Skipped) bool { return !within(t.Table) || len(o.Tables) > 0 })
	}
	return nil
}

// read takes records of each table, and says what is known of its columns.
func (s *source) read(ctx context.Context, tx pgx.Tx, o Options) ([]propose.Table, error) {
	var tables []propose.Table
	for i, r := range s.chosen {
		o.tell("reading %s", r.Name)(i, len(s.chosen))
		t := propose.Table{Name: r.Name, Kind: r.Kind}
		if r.Kind == catalog.KindTable || r.Kind == catalog.KindPartitionedTable {
			var err error
			if t, err = s.table(ctx, tx, r, o); err != nil {
				return nil, fmt.Errorf("reading %s: %w", r.Name, err)
			}
		}
		tables = append(tables, t)
	}
	return tables, nil
}

func (s *source) table(ctx context.Context, tx pgx.Tx, r catalog.Relation, o Options) (propose.Table, error) {
	t := propose.Table{Name: r.Name, Kind: r.Kind, Columns: make([]propose.Column, len(r.Columns))}
	names := make([]string, len(r.Columns))
	key := r.PrimaryKey
	if len(key) == 0 && !r.KeyRepeats {
		key = r.Key
	}
	t.Key, t.Foreign = key, s.foreign[r.Name]
	for i, c := range r.Columns {
		names[i] = c.Name
		to := s.refers[column{r.Name, c.Name}]
		t.Columns[i] = propose.Column{
			Name: c.Name, Type: withoutModifier(c.BaseFormat), Enum: c.Enum, Generated: c.Generated, References: to,
			// One column of several tells records apart only together with the others.
			Key: len(key) == 1 && key[0] == c.Name,
		}
	}
	texts := make([]map[string]string, len(names)) // each text once
	for i := range texts {
		texts[i] = make(map[string]string)
	}
	var err error
	t.Total, err = sample.Source{Relation: r, Columns: names}.Read(ctx, tx, o.Sample, o.Seed, o.tell("reading %s", r.Name), func(record [][]byte) {
		for i, value := range record {
			text, known := texts[i][string(value)]
			if !known {
				text = string(value)
				texts[i][text] = text
			}
			t.Columns[i].Values = append(t.Columns[i].Values, text)
		}
	})
	return t, err
}

// withoutModifier is a type without its length or precision: character varying for
// character varying(20), timestamp without time zone for timestamp(3) without time zone.
func withoutModifier(format string) string {
	before, rest, found := strings.Cut(format, "(")
	if !found {
		return format
	}
	_, after, _ := strings.Cut(rest, ")")
	return before + after
}
