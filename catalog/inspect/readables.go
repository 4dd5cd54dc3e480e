package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Readables are the relations that the policy lists under readable, and those that the
// views among them read, at any depth, by name. The connection must be the owner's, whose
// privileges Granted tells of. Known are the definitions that the last call found, and then
// those that this one does.
func Readables(ctx context.Context, conn *pgx.Conn, policy catalog.Policy, known *Definitions) (map[catalog.Name]catalog.ReadableRelation, error) {
	var found map[catalog.Name]catalog.ReadableRelation
	err := readingAgain(ctx, conn, func() (err error) {
		if found, err = readReadables(ctx, conn, policy); err != nil {
			return err
		}
		var views []catalog.OID
		for _, r := range found {
			if r.Kind == catalog.KindView || r.Kind == catalog.KindMaterializedView {
				views = append(views, r.OID)
			}
		}
		if err = known.read(ctx, conn, views); err != nil {
			return err
		}
		for name, r := range found {
			view := known.last[r.OID]
			r.Definition, r.Unread, r.Rule, r.Made = view.Definition, view.Blocker, view.Rule, view.Made
			found[name] = r
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the readable relations: %w", err)
	}
	return found, nil
}

type readableRow struct {
	OID           uint32
	Schema        string
	Relation      string
	Kind          string
	Listed        bool
	Numbers       []int16
	Names         []string
	Types         []string
	TypeOIDs      []uint32 `db:"type_oids"`
	NamedTypes    []uint32 // those that a view's definition names, and of what its functions return
	Key           []string
	ReadSchemas   []string
	ReadRelations []string
	Barrier       bool
	Parts         string // JSON
	Tree          []uint32
	IsForeign     bool
	RowSecurity   bool
	Function      string
	SystemReads   []string
	SystemCalls   []string
	Raw           bool
	Granted       bool
}

func readReadables(ctx context.Context, conn *pgx.Conn, policy catalog.Policy) (map[catalog.Name]catalog.ReadableRelation, error) {
	if len(policy.Readable) == 0 {
		return map[catalog.Name]catalog.ReadableRelation{}, nil
	}
	schemas, relations := split(CheckInput{Policy: policy}.protected())
	listedSchemas, listedRelations := split(policy.Readable)
	held, err := heldHere(ctx, conn, schemas, relations)
	if err != nil {
		return nil, err
	}
	rows, err := collect[readableRow](ctx, conn, "readables", schemas, relations, listedSchemas, listedRelations,
		catalog.StoreSchema, catalog.CatalogSchema, catalog.ReleaseSchema(""), held)
	if err != nil {
		return nil, err
	}
	var types []uint32
	for _, row := range rows {
		types = append(append(types, row.TypeOIDs...), row.NamedTypes...)
	}
	naming, err := objectTypes(ctx, conn, types)
	if err != nil {
		return nil, err
	}
	of, err := userTypes(ctx, conn, types)
	if err != nil {
		return nil, err
	}
	found := make(map[catalog.Name]catalog.ReadableRelation, len(rows))
	for _, row := range rows {
		r := catalog.ReadableRelation{
			OID: catalog.OID(row.OID), Name: catalog.Name{Schema: row.Schema, Relation: row.Relation}, Kind: catalog.Kind(row.Kind[0]),
			Listed: row.Listed, Key: row.Key, Reads: joined(row.ReadSchemas, row.ReadRelations), Barrier: row.Barrier,
			Foreign: row.IsForeign, RowSecurity: row.RowSecurity, Function: row.Function, SystemReads: row.SystemReads, SystemCalls: row.SystemCalls, Raw: row.Raw, Granted: row.Granted,
		}
		for _, oid := range row.Tree {
			r.Tree = append(r.Tree, catalog.OID(oid))
		}
		for i, name := range row.Names {
			r.Columns = append(r.Columns, catalog.ReadableColumn{Number: row.Numbers[i], Name: name, Type: row.Types[i], TypeOID: catalog.OID(row.TypeOIDs[i]), Shown: naming[row.TypeOIDs[i]]})
		}
		for _, oid := range slices.Concat(row.TypeOIDs, row.NamedTypes) {
			r.Types = append(r.Types, of[oid]...)
		}
		r.Types = catalog.UniqueTypes(r.Types)
		if err := json.Unmarshal([]byte(row.Parts), &r.Parts); err != nil {
			return nil, fmt.Errorf("reading the parts of %s: %w", r.Name, err)
		}
		found[r.Name] = r
	}
	return found, nil
}

// Held are the relations that have rows of the policy's protected tables by what was accepted, under
// whatever names.
func Held(ctx context.Context, conn *pgx.Conn, policy catalog.Policy) (map[catalog.OID]bool, error) {
	schemas, relations := split(CheckInput{Policy: policy}.protected())
	oids, err := heldOIDs(ctx, conn, schemas, relations)
	held := make(map[catalog.OID]bool, len(oids))
	for _, oid := range oids {
		held[catalog.OID(oid)] = true
	}
	return held, err
}

// heldOIDs are the relations that have rows of protected tables by what was accepted: these tables
// under whatever names, and partitions that the store has noted. Their rows stay protected where
// they are renamed, detached, and attached elsewhere.
func heldOIDs(ctx context.Context, conn *pgx.Conn, schemas, relations []string) ([]uint32, error) {
	var noted bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('kproxy_store.accepted') IS NOT NULL").Scan(&noted); err != nil {
		return nil, fmt.Errorf("looking for what was accepted: %w", err)
	}
	if !noted {
		return nil, nil // no table was protected yet
	}
	rows, err := conn.Query(ctx, query("held"), schemas, relations)
	if err != nil {
		return nil, fmt.Errorf("reading what was protected: %w", err)
	}
	held, err := pgx.CollectRows(rows, pgx.RowTo[uint32])
	if err != nil {
		return nil, fmt.Errorf("reading what was protected: %w", err)
	}
	return held, nil
}

// heldHere is heldOIDs of the database that has the store: none where the protected tables are in another one, as
// their numbers are those of other relations here. It errs on the side of some.
func heldHere(ctx context.Context, conn *pgx.Conn, schemas, relations []string) ([]uint32, error) {
	held, err := heldOIDs(ctx, conn, schemas, relations)
	if err != nil || len(held) == 0 {
		return nil, err
	}
	var apart bool
	const sql = `SELECT coalesce(bool_and(to_jsonb(p) ->> 'store_system' IS NOT NULL), false) FROM kproxy_store.position p`
	if err := conn.QueryRow(ctx, sql).Scan(&apart); err != nil {
		return nil, fmt.Errorf("asking where the protected tables are: %w", err)
	}
	if apart {
		return nil, nil
	}
	return held, nil
}
