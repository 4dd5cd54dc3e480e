package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Views are the views and materialized views that show rows of the policy's protected
// tables, whether the policy lists them or not, ordered by name. PostgreSQL's chapters
// "Views and the Rule System", pg_rewrite and pg_depend are the sources. Known are the
// definitions that the last call found, and then those that this one does; where it is nil, none
// are read.
func Views(ctx context.Context, conn *pgx.Conn, policy catalog.Policy, known *Definitions) ([]catalog.View, error) {
	var views []catalog.View
	err := readingAgain(ctx, conn, func() (err error) {
		if views, err = readViews(ctx, conn, policy); err != nil || known == nil {
			return err
		}
		var listed []catalog.OID
		for _, v := range views {
			if v.Publishable() {
				listed = append(listed, v.OID)
			}
		}
		if err = known.read(ctx, conn, listed); err != nil {
			return err
		}
		for i, v := range views {
			views[i].Definition, views[i].Unread = known.last[v.OID].Definition, known.last[v.OID].Blocker
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the views over protected tables: %w", err)
	}
	return views, nil
}

type viewRow struct {
	OID            uint32
	Schema         string
	Relation       string
	Kind           string
	Listed         bool
	Columns        []string
	ReadSchemas    []string
	ReadRelations  []string
	TableSchemas   []string
	TableRelations []string
	Barrier        bool
}

func readViews(ctx context.Context, conn *pgx.Conn, policy catalog.Policy) ([]catalog.View, error) {
	schemas, relations := split(CheckInput{Policy: policy}.protected())
	listedSchemas, listedRelations := split(policy.Readable)
	rows, err := collect[viewRow](ctx, conn, "views", schemas, relations, listedSchemas, listedRelations, catalog.ReleaseSchema(""))
	if err != nil {
		return nil, err
	}
	views := make([]catalog.View, len(rows))
	for i, row := range rows {
		views[i] = catalog.View{
			OID: catalog.OID(row.OID), Name: catalog.Name{Schema: row.Schema, Relation: row.Relation}, Kind: catalog.Kind(row.Kind[0]),
			Listed: row.Listed, Columns: row.Columns,
			Reads: joined(row.ReadSchemas, row.ReadRelations), Tables: joined(row.TableSchemas, row.TableRelations),
			Barrier: row.Barrier,
		}
	}
	return views, nil
}

// joined is the reverse of split.
func joined(schemas, relations []string) []catalog.Name {
	names := make([]catalog.Name, len(schemas))
	for i := range schemas {
		names[i] = catalog.Name{Schema: schemas[i], Relation: relations[i]}
	}
	return names
}

// ViewSource is a relation that a view reads, or that is read in its place.
type ViewSource struct {
	OID     catalog.OID
	Columns []string // in order
	// Readable says that the reader role may read all of it.
	Readable bool
	// RowSecurity says that policies may show different rows to different roles.
	RowSecurity bool
}

type sourceRow struct {
	OID         uint32
	Schema      string
	Relation    string
	Columns     []string
	Readable    bool
	RowSecurity bool
}

// ViewSources describes those of the named relations that exist. The reader is the
// role whose access Readable tells of; it must exist.
func ViewSources(ctx context.Context, conn *pgx.Conn, reader string, names []catalog.Name) (map[catalog.Name]ViewSource, error) {
	sources := make(map[catalog.Name]ViewSource, len(names))
	err := reading(ctx, conn, func() error {
		oid, err := roleOID(ctx, conn, reader)
		if err != nil {
			return err
		}
		schemas, relations := split(names)
		rows, err := collect[sourceRow](ctx, conn, "view_sources", schemas, relations, oid)
		for _, row := range rows {
			sources[catalog.Name{Schema: row.Schema, Relation: row.Relation}] = ViewSource{
				OID: catalog.OID(row.OID), Columns: row.Columns, Readable: row.Readable, RowSecurity: row.RowSecurity,
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading what views read: %w", err)
	}
	return sources, nil
}

// Widening is a published view through which the reader role could read a relation
// that it may not read itself.
type Widening struct {
	View   catalog.Name // in its release schema
	Source string       // the relation, quoted where it must be
}

type wideningRow struct{ Schema, Relation, Source string }

// Widenings looks for what is published of views for an audience, or for the policy's own readers, that
// shows their role more than it may read itself. There should be none: a view's owner reads with other rights.
func Widenings(ctx context.Context, conn *pgx.Conn, audience, reader string) ([]Widening, error) {
	return readWidenings(ctx, conn, audience, reader, "")
}

// WidenedBy is [Widenings] for one published view.
func WidenedBy(ctx context.Context, conn *pgx.Conn, audience, reader string, view catalog.Name) ([]Widening, error) {
	return readWidenings(ctx, conn, audience, reader, view.SQL())
}

func readWidenings(ctx context.Context, conn *pgx.Conn, audience, reader, view string) ([]Widening, error) {
	var found []Widening
	err := reading(ctx, conn, func() error {
		oid, err := roleOID(ctx, conn, reader)
		if err != nil {
			return err
		}
		found, err = widenings(ctx, conn, oid, audience, view)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading what published views read: %w", err)
	}
	return found, nil
}

// widenings are those of one view, quoted where it must be, or of all where that is empty.
func widenings(ctx context.Context, conn *pgx.Conn, reader uint32, audience, view string) ([]Widening, error) {
	published, err := generations(ctx, conn)
	if err != nil {
		return nil, err
	}
	var tables []catalog.Name
	for _, g := range published {
		tables = append(tables, catalog.Name{Schema: g.TableSchema, Relation: g.TableName})
	}
	schemas, relations := split(tables)
	rows, err := collect[wideningRow](ctx, conn, "widened", catalog.ReleaseSchemaFor(audience, ""), reader, schemas, relations, view)
	if err != nil {
		return nil, err
	}
	found := make([]Widening, len(rows))
	for i, row := range rows {
		found[i] = Widening{View: catalog.Name{Schema: row.Schema, Relation: row.Relation}, Source: row.Source}
	}
	return found, nil
}

// auditViews looks for published views that widen what the reader may read.
func (a *auditor) auditViews(reader uint32) error {
	found, err := widenings(a.ctx, a.conn, reader, a.in.audience, "")
	if err != nil {
		return err
	}
	for _, w := range found {
		a.report.add(Error, "view-widens", w.View,
			fmt.Sprintf("it shows role %s rows of %s, which that role may not read", a.in.Reader, w.Source),
			"DROP VIEW "+w.View.SQL()+" CASCADE;\n-- kproxy makes it again where it can")
	}
	return nil
}

// overProtected says whether the relation is a view among those that show rows of
// protected tables.
func overProtected(views []catalog.View, name catalog.Name) bool {
	return slices.ContainsFunc(views, func(v catalog.View) bool { return v.Name == name && v.Kind == catalog.KindView })
}
