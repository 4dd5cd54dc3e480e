package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Relations returns all relations of the database outside the system's schemas,
// kproxy's own left out, ordered by name. The reader is the role whose access
// ReadableByReader tells of; it must exist.
func Relations(ctx context.Context, conn *pgx.Conn, reader string) ([]catalog.Relation, error) {
	var relations []catalog.Relation
	err := reading(ctx, conn, func() error {
		oid, err := roleOID(ctx, conn, reader)
		if err != nil {
			return err
		}
		relations, err = readRelations(ctx, conn, oid)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the database's relations: %w", err)
	}
	return relations, nil
}

type relationRow struct {
	OID             uint32
	Schema          string
	Relation        string
	Kind            string
	Names           []string
	Numbers         []int16
	TypeOIDs        []uint32 `db:"type_oids"`
	Modifiers       []int32
	Types           []string
	BaseFormats     []string
	BaseTypes       []string
	Domains         []bool
	Enums           []bool
	Composites      []bool
	UserSchemas     []string `db:"user_schemas"` // of user_types
	UserTypes       []string `db:"user_types"`   // empty for PostgreSQL's own
	Deterministic   []bool
	NotNulls        []bool
	Generated       []bool
	HasParents      bool
	HasChildren     bool
	Parent          uint32 // of a partition; 0 for what is none
	Key             []string
	PrimaryKey      []string
	Uniques         [][]string // of a partitioned table: the columns of its unique indexes
	ReplicaIdentity string
	Readable        bool
	Marked          bool
}

func readRelations(ctx context.Context, conn *pgx.Conn, reader uint32) ([]catalog.Relation, error) {
	rows, err := collect[relationRow](ctx, conn, "relations", reader)
	if err != nil {
		return nil, err
	}
	var types []uint32
	for _, row := range rows {
		types = append(types, row.TypeOIDs...)
	}
	naming, err := objectTypes(ctx, conn, types)
	if err != nil {
		return nil, err
	}
	tree := newPartitions(rows)
	relations := make([]catalog.Relation, 0, len(rows))
	for _, row := range rows {
		if catalog.IsOwn(row.Schema) {
			continue
		}
		r := tree.relation(row)
		for i, c := range r.Columns {
			_, r.Columns[i].NamesObjects = naming[uint32(c.TypeOID)]
		}
		relations = append(relations, r)
	}
	return relations, nil
}

func (row relationRow) name() catalog.Name {
	return catalog.Name{Schema: row.Schema, Relation: row.Relation}
}

// relation describes the row's relation but for its leaves.
func (row relationRow) relation() catalog.Relation {
	r := catalog.Relation{
		OID:              catalog.OID(row.OID),
		Name:             row.name(),
		Kind:             catalog.Kind(row.Kind[0]),
		Key:              row.Key,
		PrimaryKey:       row.PrimaryKey,
		ReplicaIdentity:  row.ReplicaIdentity[0],
		ReadableByReader: row.Readable,
		Marked:           row.Marked,
		HasParents:       row.HasParents,
		HasChildren:      row.HasChildren,
		Columns:          row.columns(),
	}
	if r.ReplicaIdentity == 'f' && len(r.Key) == 0 {
		r.Key = r.Replicated()
		r.KeyRepeats = len(r.Key) > 0
	}
	return r
}

func (row relationRow) columns() []catalog.Column {
	columns := make([]catalog.Column, len(row.Names))
	for i, name := range row.Names {
		columns[i] = catalog.Column{
			Name: name, Number: row.Numbers[i],
			Type: row.Types[i], TypeOID: catalog.OID(row.TypeOIDs[i]), Modifier: row.Modifiers[i],
			BaseFormat: row.BaseFormats[i], BaseType: row.BaseTypes[i],
			UserType: catalog.Name{Schema: row.UserSchemas[i], Relation: row.UserTypes[i]},
			Domain:   row.Domains[i], Enum: row.Enums[i], Composite: row.Composites[i], Deterministic: row.Deterministic[i],
			NotNull: row.NotNulls[i], Generated: row.Generated[i],
		}
	}
	return columns
}

// errNoRole is wrapped by the error for a role that does not exist.
var errNoRole = errors.New("there is no such role")

func roleOID(ctx context.Context, conn *pgx.Conn, name string) (uint32, error) {
	var oid uint32
	err := conn.QueryRow(ctx, "SELECT oid FROM pg_catalog.pg_roles WHERE rolname = $1", name).Scan(&oid)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("role %s: %w: run kproxy setup", name, errNoRole)
	}
	if err != nil {
		return 0, fmt.Errorf("looking up role %s: %w", name, err)
	}
	return oid, nil
}
