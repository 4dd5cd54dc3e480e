package inspect

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/catalog"
)

type functionRow struct {
	Routine   string // as regprocedure: qualified, with its argument types
	How       string
	Component string // the function that makes an aggregate a finding
	Grantee   uint32
	Trigger   bool
	Owner     string
}

// finding is the code of the finding about the function, and what the function does for its caller.
func (f functionRow) finding() (code, does string) {
	switch f.How {
	case "file":
		return "file-function", "which reads the server's files"
	case "dblink":
		return "dblink-function", "which opens sessions of other roles"
	case "untrusted":
		return "untrusted-function", "which is written in a language without limits"
	case "aggregate":
		return "definer-function", fmt.Sprintf("an aggregate that calls %s with the rights of %s", f.Component, f.Owner)
	default:
		return "definer-function", "which runs with the rights of " + f.Owner
	}
}

// auditFunctions looks for functions that read what their callers may not.
func (a *auditor) auditFunctions() error {
	rows, err := collect[functionRow](a.ctx, a.conn, "audit_functions", a.reach)
	if err != nil {
		return err
	}
	for _, f := range rows {
		code, does := f.finding()
		severity, kind := Error, ""
		if f.Trigger {
			// No query can call it, only a trigger on a table of the caller's own.
			severity, kind = Warning, "the trigger function "
		}
		a.report.add(severity, code, none, fmt.Sprintf("%s may execute %s%s, %s", a.role(f.Grantee), kind, f.Routine, does),
			"REVOKE EXECUTE ON ROUTINE "+f.Routine+" FROM "+a.role(f.Grantee))
	}
	return nil
}

type objectRow struct {
	Kind      string
	Name      string
	Grantee   uint32
	Privilege string
}

// auditObjects looks at schemas, the database, foreign servers and default
// privileges.
func (a *auditor) auditObjects() error {
	rows, err := collect[objectRow](a.ctx, a.conn, "audit_objects", a.reach, catalog.StoreSchema, a.in.Owner)
	if err != nil {
		return err
	}
	for _, o := range rows {
		a.auditObject(o)
	}
	return nil
}

func (a *auditor) auditObject(o objectRow) {
	name, role := catalog.QuoteIdentifier(o.Name), a.role(o.Grantee)
	has := fmt.Sprintf("%s has %s on %s %s", role, o.Privilege, o.Kind, o.Name)
	revoke := func(on string) string { return "REVOKE " + o.Privilege + " ON " + on + name + " FROM " + role }
	switch {
	case o.Privilege == "OWNER" && o.Kind == "schema":
		a.owned(o.Grantee, "schema-owned", none, "schema "+o.Name, "ALTER SCHEMA "+name)
	case o.Privilege == "OWNER":
		a.owned(o.Grantee, "database-owned", none, "database "+o.Name, "ALTER DATABASE "+name)
	case o.Kind == "schema" && o.Name == catalog.StoreSchema:
		a.report.add(Error, "store-grant", none, has+", the private store", revoke("SCHEMA "))
	case o.Kind == "schema":
		a.report.add(Error, "schema-create", none, has+": objects made there can stand in for others'", revoke("SCHEMA "))
	case o.Kind == "database" && o.Privilege == "TEMPORARY" && a.in.TemporaryTables: // as it is to be
	case o.Kind == "database" && o.Privilege == "TEMPORARY":
		// The proxy refuses to create anything; this is the second lock.
		a.report.add(Warning, "database-temporary", none, has, revoke("DATABASE "))
	case o.Kind == "database":
		a.report.add(Error, "database-create", none, has, revoke("DATABASE "))
	case o.Kind == "server":
		a.report.add(Error, "user-mapping", none, has+", which has a user mapping for PUBLIC", revoke("FOREIGN SERVER "))
	case o.Kind == "mapping":
		a.report.add(Error, "user-mapping", none, fmt.Sprintf("role %s has a user mapping for foreign server %s", role, o.Name),
			"DROP USER MAPPING FOR "+role+" SERVER "+name)
	case o.Kind == "default":
		in := ""
		if o.Name != "" {
			in = " IN SCHEMA " + name
		}
		// Whether the entry is for tables or for sequences, both lines are harmless.
		alter := "ALTER DEFAULT PRIVILEGES FOR ROLE " + catalog.QuoteIdentifier(a.in.Owner) + in + " REVOKE ALL ON "
		a.report.add(Error, "default-privilege", none,
			fmt.Sprintf("relations that role %s makes are born with %s for %s", a.in.Owner, o.Privilege, role),
			alter+"TABLES FROM "+role+";\n"+alter+"SEQUENCES FROM "+role)
	}
}

type foreignRow struct {
	OID      uint32
	Schema   string
	Relation string
	Owner    uint32
}

// auditForeign looks for foreign tables, which can lead back to raw rows.
func (a *auditor) auditForeign() error {
	rows, err := collect[foreignRow](a.ctx, a.conn, "audit_foreign", a.reach)
	if err != nil {
		return err
	}
	for _, f := range rows {
		name := catalog.Name{Schema: f.Schema, Relation: f.Relation}
		fix := "REVOKE ALL PRIVILEGES ON TABLE " + name.SQL() + " FROM PUBLIC"
		for _, r := range a.roles {
			fix += ", " + catalog.QuoteIdentifier(r.Name)
		}
		if slices.Contains(a.reach, f.Owner) {
			fix = "ALTER FOREIGN TABLE " + name.SQL() + " OWNER TO CURRENT_USER;\n" + fix
		}
		if slices.Contains(a.in.Policy.Readable, name) {
			a.report.add(Warning, "foreign-table", name, "is a foreign table that the policy lets analysts read: what it leads to cannot be checked", fix)
			continue
		}
		a.report.add(Error, "foreign-table", name, fmt.Sprintf("role %s may read this foreign table", a.anyReader()), fix)
	}
	return nil
}

type settingsRow struct {
	LargeObjects     int64
	LargeObjectsOpen bool
	ReadOnly         bool
}

// revokeLargeObjects revokes the privileges on large objects from all of the roles. There can
// be millions of objects: they share one script and one finding.
const revokeLargeObjects = `DO $kproxy$
DECLARE o record;
BEGIN
  FOR o IN SELECT DISTINCT l.oid, l.lomowner = ANY (ARRAY[%[1]s]::pg_catalog.oid[]) AS own FROM pg_catalog.pg_largeobject_metadata l
           CROSS JOIN LATERAL pg_catalog.aclexplode(coalesce(l.lomacl, pg_catalog.acldefault('L', l.lomowner))) a
           WHERE a.grantee = 0 OR a.grantee = ANY (ARRAY[%[1]s]::pg_catalog.oid[]) LOOP
    IF o.own THEN
      EXECUTE pg_catalog.format('ALTER LARGE OBJECT %%s OWNER TO CURRENT_USER', o.oid);
    END IF;
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON LARGE OBJECT %%s FROM PUBLIC, %%s', o.oid, %[2]s);
  END LOOP;
END
$kproxy$`

// auditSettings looks at large objects and at the readers' own settings.
func (a *auditor) auditSettings() error {
	for i, r := range a.readers {
		rows, err := collect[settingsRow](a.ctx, a.conn, "audit_settings", a.reach, r.OID)
		if err != nil {
			return err
		}
		s, reader := rows[0], catalog.QuoteIdentifier(r.Name)
		if i == 0 && s.LargeObjects > 0 {
			a.report.add(Error, "large-object", none, fmt.Sprintf("role %s may read %d large objects", a.anyReader(), s.LargeObjects), a.closeLargeObjects())
		}
		if s.LargeObjectsOpen {
			a.report.add(Error, "large-object", none, fmt.Sprintf("lo_compat_privileges is on: role %s may read all large objects", r.Name),
				"ALTER ROLE "+reader+" SET lo_compat_privileges = off")
		}
		if !s.ReadOnly && !a.in.TemporaryTables {
			a.report.add(Warning, "reader-writable", none, fmt.Sprintf("transactions of role %s are not read-only by default", r.Name),
				"ALTER ROLE "+reader+" SET default_transaction_read_only = on")
		}
	}
	return nil
}

// closeLargeObjects is [revokeLargeObjects] for all roles.
func (a *auditor) closeLargeObjects() string {
	var oids, names string
	for i, r := range a.roles {
		if i > 0 {
			oids, names = oids+", ", names+", "
		}
		oids += fmt.Sprint(r.OID)
		names += catalog.QuoteIdentifier(r.Name)
	}
	return fmt.Sprintf(revokeLargeObjects, oids, catalog.QuoteLiteral(names))
}
