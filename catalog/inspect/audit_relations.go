package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// rawRow is a relation that holds or shows raw rows.
type rawRow struct {
	OID      uint32
	Schema   string
	Relation string
	Kind     string
	Owner    uint32
	How      string // a key of rawReasons
	Via      string // the relation or the function that How speaks of
	// Invoker says that it is a view with security_invoker, which shows only what the
	// session could read anyway.
	Invoker  bool
	Readable bool
}

func (r rawRow) name() catalog.Name { return catalog.Name{Schema: r.Schema, Relation: r.Relation} }

var rawReasons = map[string]string{
	"protected": "it is protected",
	"child":     "it holds rows of %s",
	"parent":    "it shows the rows of %s",
	"view":      "it shows rows of %s with its owner's rights",
	"rule":      "a rule on it reads %s with its owner's rights",
	"function":  "it shows what %s finds with another role's rights",
	"sequence":  "it counts the rows of %s",
	"toast":     "it holds values of %s",
	"store":     "it belongs to the private store",
	"system":    "it holds values or secrets of other relations",
}

func (r rawRow) reason() string {
	reason := rawReasons[r.How]
	if strings.Contains(reason, "%s") {
		return fmt.Sprintf(reason, r.Via)
	}
	return reason
}

// instead tells what can be listed in place of the relation, as the end of a comment.
func (r rawRow) instead() string {
	switch catalog.Kind(r.Kind[0]) {
	case catalog.KindMaterializedView:
		return ": it holds copies of rows; write it as a view, which kproxy publishes, or protect a table that is filled like it"
	case catalog.KindForeignTable:
		return ": copy its rows into a table, and protect that"
	default:
		return ""
	}
}

type generationRow struct {
	TableSchema string
	TableName   string
	Generation  int64
	Halted      bool
	Mirrored    bool // the table is not protected
}

// generations are the published generations; none before setup.
func generations(ctx context.Context, conn *pgx.Conn) ([]generationRow, error) {
	var exists bool
	const sql = "SELECT pg_catalog.to_regclass('kproxy_store.generation') IS NOT NULL"
	if err := conn.QueryRow(ctx, sql).Scan(&exists); err != nil {
		return nil, fmt.Errorf("looking for the private store: %w", err)
	}
	if !exists {
		return nil, nil
	}
	return collect[generationRow](ctx, conn, "generations")
}

type grantRow struct {
	Relation   uint32
	Grantee    uint32
	Privileges []string
}

// CodeRawGrant is about a reader's privilege on a relation that shows raw rows.
const CodeRawGrant = "raw-grant"

// auditRelations looks for privileges on everything that shows raw rows.
func (a *auditor) auditRelations() error {
	published, err := generations(a.ctx, a.conn)
	if err != nil {
		return err
	}
	var schemas, tables []string
	var numbers []int64
	var mirrored []bool
	for _, g := range published {
		mirrored = append(mirrored, g.Mirrored)
		schemas, tables, numbers = append(schemas, g.TableSchema), append(tables, g.TableName), append(numbers, g.Generation)
	}
	protectedSchemas, protectedTables := split(a.in.protected())
	held, err := heldHere(a.ctx, a.conn, protectedSchemas, protectedTables)
	if err != nil {
		return err
	}
	a.raw, err = collect[rawRow](a.ctx, a.conn, "audit_reach", a.reach, protectedSchemas, protectedTables,
		schemas, tables, numbers, catalog.StoreSchema, catalog.ReleaseSchemaFor(a.in.audience, ""), held, a.in.audience, mirrored)
	if err != nil {
		return err
	}
	grants, err := collect[grantRow](a.ctx, a.conn, "audit_grants", a.rawOIDs(), a.reach)
	if err != nil {
		return err
	}
	byRelation := make(map[uint32][]grantRow)
	for _, g := range grants {
		byRelation[g.Relation] = append(byRelation[g.Relation], g)
	}
	memberships := len(a.report) > 0
	for _, r := range a.raw {
		a.auditRelation(r, byRelation[r.OID], memberships)
	}
	return nil
}

func (a *auditor) rawOIDs() []uint32 {
	oids := make([]uint32, len(a.raw))
	for i, r := range a.raw {
		oids[i] = r.OID
	}
	return oids
}

// auditRelation reports how the reader reaches one raw relation. Where a membership was
// reported already, it is taken to explain the privileges that come neither from a grant nor
// from ownership.
func (a *auditor) auditRelation(r rawRow, grants []grantRow, memberships bool) {
	// A listed view over protected tables is published in another form.
	if r.How != "rule" && slices.Contains(a.in.Policy.Readable, r.name()) && !overProtected(a.views, r.name()) {
		severity := Error
		if r.Kind == string(catalog.KindMaterializedView) || r.Kind == string(catalog.KindView) && r.How == "view" {
			severity = Warning // whatever it is filled with or reads, it is withdrawn by itself
		}
		a.report.add(severity, CodeReadableRaw, r.name(),
			"the policy lists it as readable, but "+r.reason(),
			"REVOKE ALL PRIVILEGES ON TABLE "+r.name().SQL()+" FROM "+a.quoted()+";\n-- and remove it from the policy's readable relations"+r.instead())
	}
	if r.Invoker {
		return
	}
	if listed, is := a.standsFor(r.name()); is {
		a.report.add(Error, CodeReadableRaw, listed, "what stands for it, "+r.name().String()+", shows protected rows: "+r.reason(),
			"nothing, if kproxy serves, which drops it within seconds; else start kproxy")
		return
	}
	found := slices.Contains(a.reach, r.Owner)
	// A table's sequences and TOAST table have no owner of their own.
	if found && r.How != "sequence" && r.How != "toast" {
		a.owned(r.Owner, "raw-owned", r.name(), "it, and "+r.reason(), alterOwner(r))
	}
	for _, g := range grants {
		privileges := g.Privileges
		if r.How == "rule" {
			privileges = slices.DeleteFunc(slices.Clone(privileges), func(p string) bool {
				return !slices.Contains([]string{"INSERT", "UPDATE", "DELETE"}, strings.Fields(p)[0])
			})
		}
		if slices.Contains(a.in.Policy.Readable, r.name()) {
			// It marks what is listed. It lets its holder make foreign keys, by which rows could be
			// found, but readers cannot make tables, and temporary ones cannot refer to others.
			privileges = slices.DeleteFunc(slices.Clone(privileges), func(p string) bool { return p == "REFERENCES" })
		}
		if len(privileges) == 0 {
			continue
		}
		found = true
		if a.role(g.Grantee) == catalog.QuoteIdentifier(a.in.Owner) {
			continue // which needs it: the membership is what is wrong, and has been told
		}
		fix := "REVOKE " + strings.Join(privileges, ", ") + " ON TABLE " + r.name().SQL() + " FROM " + a.role(g.Grantee)
		isItsRelease := func(protected catalog.Name) bool { return catalog.PublishedFor(a.in.audience, protected) == r.name() }
		if slices.ContainsFunc(a.in.protected(), isItsRelease) { // it stood for the table while that was readable
			fix = "run 'kproxy reload', or start kproxy, which drops it"
		}
		a.report.add(Error, CodeRawGrant, r.name(),
			fmt.Sprintf("%s has %s on it, and %s", a.role(g.Grantee), strings.Join(privileges, ", "), r.reason()), fix)
	}
	if r.Readable && r.How != "rule" && !found && !memberships {
		a.report.add(Error, "raw-readable", r.name(), fmt.Sprintf("role %s may read it, and %s", a.anyReader(), r.reason()),
			"REVOKE ALL PRIVILEGES ON TABLE "+r.name().SQL()+" FROM PUBLIC, "+a.quoted())
	}
}

// standsFor is the listed relation that is read through one of kproxy's own. Only the listed one is
// refused to readers, until kproxy has dropped or replaced its own.
func (a *auditor) standsFor(name catalog.Name) (listed catalog.Name, is bool) {
	at := slices.IndexFunc(a.in.Policy.Readable, func(listed catalog.Name) bool { return catalog.PublishedFor(a.in.audience, listed) == name })
	if at < 0 {
		return catalog.Name{}, false
	}
	return a.in.Policy.Readable[at], true
}

// owned reports that one of the readers' roles owns an object. Where that role is not a
// reader itself, the finding is about the membership. Membership in kproxy's owner role
// is reported separately, and so is ownership of the database, which makes the reader a
// member of pg_database_owner.
func (a *auditor) owned(owner uint32, code string, table catalog.Name, what, alter string) {
	for _, r := range a.roles {
		switch {
		case r.OID != owner || r.Name == a.in.Owner || r.Name == "pg_database_owner":
		case a.isReader(r.OID):
			a.report.add(Error, code, table, fmt.Sprintf("role %s owns %s", r.Name, what), alter+" OWNER TO CURRENT_USER")
		default:
			a.report.add(Error, code, table, fmt.Sprintf("role %s is a member of %s, which owns %s", r.Reader, r.Name, what), expel(r))
		}
	}
}

// alterOwner starts the statement that gives a relation to another role.
func alterOwner(r rawRow) string {
	switch r.Kind {
	case "v":
		return "ALTER VIEW " + r.name().SQL()
	case "m":
		return "ALTER MATERIALIZED VIEW " + r.name().SQL()
	case "f":
		return "ALTER FOREIGN TABLE " + r.name().SQL()
	case "S":
		return "ALTER SEQUENCE " + r.name().SQL()
	default:
		return "ALTER TABLE " + r.name().SQL()
	}
}
