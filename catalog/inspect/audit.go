package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// CheckInput says what is to be checked. All names must be set.
type CheckInput struct {
	Policy catalog.Policy
	Owner  string
	Reader string
	// Readers are further roles that clients' sessions run as: members of Reader, or of the first
	// role of their audience, with no rights of their own. They include the audiences' first roles.
	Readers []string
	// Finest are those of Readers that are in no audience on purpose.
	Finest      []string
	Publication string
	Slot        string
	// Standby says that the source is meant to be a physical standby.
	Standby bool
	// Place and Fingerprint are where the configuration was read from and that of its policy.
	Place, Fingerprint string
	// TemporaryTables says that sessions may make temporary tables, and so are not
	// read-only.
	TemporaryTables bool
	// Distribute says that rows of the release are on the workers of Citus.
	Distribute bool

	// audience is that of Reader and Readers, and others are all other reader roles. See groups.
	audience string
	others   []string
}

func (in CheckInput) protected() []catalog.Name {
	names := make([]catalog.Name, len(in.Policy.Tables))
	for i, t := range in.Policy.Tables {
		names[i] = t.Table
	}
	return names
}

// split turns names into the two arrays that queries take.
func split(names []catalog.Name) (schemas, relations []string) {
	schemas, relations = make([]string, len(names)), make([]string, len(names))
	for i, n := range names {
		schemas[i], relations[i] = n.Schema, n.Relation
	}
	return schemas, relations
}

// audit asks whether a session of a reader role could reach a raw row: by the
// role's attributes and memberships, by a grant on a protected table, its
// partitions, parents or sequences, by a view with its owner's rights, by a
// function with its owner's rights, by foreign data, files or large objects, or
// by a privilege on the private store. It errs on the side of a finding. The
// fix of each finding is a script that removes it. Row security policies are no
// concern: their conditions run with the rights of the session. It also asks whether
// further reader roles have any rights but those of the first one.
//
// The connection must be the owner's, or another role's that may read
// kproxy_store.
func audit(ctx context.Context, conn *pgx.Conn, in CheckInput) (Report, error) {
	var report Report
	for _, group := range in.groups() {
		found, err := auditGroup(ctx, conn, group)
		if err != nil {
			return nil, err
		}
		report.addNew(found)
	}
	return report, nil
}

// auditGroup audits the readers of one audience, or the policy's own readers.
func auditGroup(ctx context.Context, conn *pgx.Conn, in CheckInput) (Report, error) {
	a := auditor{ctx: ctx, conn: conn, in: in, reader: catalog.QuoteIdentifier(in.Reader)}
	oid, err := roleOID(ctx, conn, in.Reader)
	if errors.Is(err, errNoRole) && in.audience != "" {
		return nil, nil // nobody logs in as it, which a check tells
	}
	if errors.Is(err, errNoRole) {
		a.report.add(Error, "reader-missing", none, fmt.Sprintf("there is no role %s", in.Reader),
			"CREATE ROLE "+a.reader+" LOGIN NOINHERIT")
		return a.report, nil
	}
	if err != nil {
		return nil, err
	}
	if err := a.findReaders(oid); err != nil {
		return nil, err
	}
	if !a.auditRoles() {
		// A superuser is a member of every role: all else follows from that.
		return a.report, nil
	}
	if a.views, err = readViews(ctx, conn, in.Policy); err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		a.auditRelations, func() error { return a.auditViews(oid) }, a.auditFunctions, a.auditAdded, a.auditObjects, a.auditForeign, a.auditSettings, a.auditWrites, a.auditAudiences, a.auditFurther,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return a.report, nil
}

// auditor gathers the findings of one audit.
type auditor struct {
	ctx    context.Context
	conn   *pgx.Conn
	in     CheckInput
	reader string // the first one, quoted
	// readers are the roles that sessions run as, the first one first.
	readers []readerRow
	roles   []roleRow
	reach   []uint32 // the roles' identifiers
	raw     []rawRow
	views   []catalog.View // those over protected tables
	report  Report
}

// roleRow is a role that a reader is or can become.
type roleRow struct {
	OID  uint32
	Name string
	// Reader is the first reader that it is or that can become it.
	Reader      string
	Superuser   bool
	BypassRLS   bool `db:"bypass_rls"`
	CreateRole  bool
	CreateDB    bool `db:"create_db"`
	Replication bool
	Members     []string
}

// dangerousRoles let a member read data without a grant, run programs, or see
// what other sessions do. The last are those of managed services.
var dangerousRoles = []string{
	"pg_read_all_data", "pg_write_all_data", "pg_read_server_files", "pg_write_server_files",
	"pg_execute_server_program", "pg_monitor", "pg_read_all_stats", "pg_stat_scan_tables",
	"pg_signal_backend", "pg_create_subscription", "pg_maintain",
	"rds_superuser", "rds_replication", "cloudsqlsuperuser", "azure_pg_admin", "neon_superuser",
}

// auditRoles examines the readers' attributes and memberships. It reports whether the
// audit needs to go on.
func (a *auditor) auditRoles() bool {
	for _, r := range a.roles {
		if a.isReader(r.OID) && r.Superuser {
			a.report.add(Error, "reader-superuser", none, fmt.Sprintf("role %s is a superuser", r.Name),
				"ALTER ROLE "+catalog.QuoteIdentifier(r.Name)+" NOSUPERUSER")
		}
	}
	if len(a.report) > 0 {
		return false
	}
	for _, r := range a.roles {
		for _, attribute := range []struct {
			has  bool
			name string
		}{
			{r.Superuser, "SUPERUSER"},
			{r.BypassRLS, "BYPASSRLS"},
			{r.CreateRole, "CREATEROLE"},
			{r.CreateDB, "CREATEDB"},
			{r.Replication, "REPLICATION"},
		} {
			switch {
			case !attribute.has:
			case a.isReader(r.OID):
				a.report.add(Error, "reader-attribute", none, fmt.Sprintf("role %s has the attribute %s", r.Name, attribute.name),
					"ALTER ROLE "+catalog.QuoteIdentifier(r.Name)+" NO"+attribute.name)
			default:
				a.report.add(Error, "reader-member", none,
					fmt.Sprintf("role %s can become role %s, which has the attribute %s", r.Reader, r.Name, attribute.name), expel(r))
			}
		}
		// What a further reader is a member of is told by auditFurther.
		other := slices.Contains(a.in.others, r.Name) && r.Reader == a.in.Reader && !a.isReader(r.OID)
		if slices.Contains(dangerousRoles, r.Name) || (r.Name == a.in.Owner && !a.isReader(r.OID)) || other {
			a.report.add(Error, "reader-member", none, fmt.Sprintf("role %s is a member of %s", r.Reader, r.Name), expel(r))
		}
	}
	return true
}

// expel ends every membership through which a reader can become the role.
func expel(r roleRow) string {
	var script string
	for i, member := range r.Members {
		if i > 0 {
			script += ";\n"
		}
		script += "REVOKE " + catalog.QuoteIdentifier(r.Name) + " FROM " + catalog.QuoteIdentifier(member)
	}
	return script
}

// role is the name of one of the readers' roles, 0 being PUBLIC, as SQL.
func (a *auditor) role(oid uint32) string {
	for _, r := range a.roles {
		if r.OID == oid {
			return catalog.QuoteIdentifier(r.Name)
		}
	}
	return "PUBLIC"
}
