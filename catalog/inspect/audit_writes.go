package inspect

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

type writeRow struct {
	Schema, Relation string
	Sequence         bool
	Grantee          uint32
	Privileges       string
}

// auditWrites looks for what the reader may write where sessions may make temporary tables.
// Such sessions are not read-only, so the grants must forbid what kproxy refuses.
func (a *auditor) auditWrites() error {
	if !a.in.TemporaryTables {
		return nil
	}
	rows, err := collect[writeRow](a.ctx, a.conn, "audit_writes", a.reach)
	if err != nil {
		return err
	}
	for _, r := range rows {
		name, role, kind := catalog.Name{Schema: r.Schema, Relation: r.Relation}, a.role(r.Grantee), "TABLE "
		if r.Sequence {
			kind = "SEQUENCE "
		}
		fix := "REVOKE INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER ON TABLE " + name.SQL() + " FROM " + role
		switch {
		case strings.Contains(r.Privileges, "OWNER"):
			fix = "ALTER " + kind + name.SQL() + " OWNER TO CURRENT_USER"
		case r.Sequence:
			fix = "REVOKE USAGE, UPDATE ON SEQUENCE " + name.SQL() + " FROM " + role
		case strings.Contains(r.Privileges, "("):
			fix += ";\nREVOKE " + r.Privileges + " ON TABLE " + name.SQL() + " FROM " + role
		}
		a.report.add(Error, "reader-writes", name,
			fmt.Sprintf("%s has %s: sessions that make temporary tables are not read-only", role, r.Privileges), fix)
	}
	return nil
}
