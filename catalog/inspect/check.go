package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Check reports everything that stands in the way of publishing, all at once:
// the server's settings, the owner's privileges, the publication, the tables
// under their policies, what setup should have made, and the findings of the
// audit: whether a reader role could reach a raw row. The connection must be the owner's, since row security is asked for
// the session's role.
func Check(ctx context.Context, conn *pgx.Conn, in CheckInput) (Report, error) {
	var report Report
	err := readingAgain(ctx, conn, func() (err error) {
		report, err = check(ctx, conn, in)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("checking the database: %w", err)
	}
	return report, nil
}

func check(ctx context.Context, conn *pgx.Conn, in CheckInput) (Report, error) {
	in, moved, err := in.noted(ctx, conn)
	if err != nil {
		return nil, err
	}
	c := checker{ctx: ctx, conn: conn, in: in, report: moved, byName: map[catalog.Name]catalog.Relation{}, byOID: map[uint32]catalog.Relation{}}
	if err := c.checkServer(); err != nil {
		return nil, err
	}
	complete, err := c.checkRoles(true)
	if err != nil {
		return nil, err
	}
	if complete {
		if err := c.readRelations(); err != nil {
			return nil, err
		}
		if c.views, err = readViews(ctx, conn, in.Policy); err != nil {
			return nil, err
		}
		for _, step := range []func() error{c.checkNames, c.checkTables, c.checkKeys, c.checkPublication, c.checkReadable, c.checkFunctions, c.checkTypes, c.checkTemporary, c.checkOwn, c.checkAudiences} {
			if err := step(); err != nil {
				return nil, err
			}
		}
	}
	audited, err := audit(ctx, conn, in)
	if err != nil {
		return nil, err
	}
	// Privileges on what shows raw rows are revoked, never granted.
	c.report = slices.DeleteFunc(c.report, func(f Finding) bool {
		return f.Code == CodeReadableGrant && slices.ContainsFunc(audited, func(a Finding) bool { return a.Code == CodeReadableRaw && a.Table == f.Table })
	})
	return append(c.report, audited...), nil
}

// checker gathers the findings of one check.
type checker struct {
	ctx           context.Context
	conn          *pgx.Conn
	in            CheckInput
	server        ServerFacts
	apart         bool // the database is that of the source, and another one has store and release
	owner, reader uint32
	relations     []catalog.Relation
	byName        map[catalog.Name]catalog.Relation
	byOID         map[uint32]catalog.Relation
	views         []catalog.View // those over protected tables
	report        Report
}

type ownerRow struct {
	OID         uint32
	Superuser   bool
	Login       bool
	Replication bool
}

// readRelations reads the database's relations.
func (c *checker) readRelations() error {
	relations, err := readRelations(c.ctx, c.conn, c.reader)
	if err != nil {
		return err
	}
	c.relations = relations
	for _, r := range relations {
		c.byName[r.Name], c.byOID[uint32(r.OID)] = r, r
	}
	return nil
}

// checkOwner looks up the role that owns the store, or reads the source, or both.
func (c *checker) checkOwner(replicates bool) error {
	owner := catalog.QuoteIdentifier(c.in.Owner)
	rows, err := collect[ownerRow](c.ctx, c.conn, "owner", c.in.Owner)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		c.report.add(Error, "owner-missing", none, fmt.Sprintf("there is no role %s", c.in.Owner), "run kproxy setup")
		return nil
	}
	c.owner = rows[0].OID
	if replicates && !rows[0].Replication {
		c.report.add(Error, "owner-replication", none, fmt.Sprintf("role %s may not replicate", c.in.Owner), "ALTER ROLE "+owner+" REPLICATION")
	}
	if !rows[0].Login {
		c.report.add(Error, "owner-login", none, fmt.Sprintf("role %s may not log in", c.in.Owner), "ALTER ROLE "+owner+" LOGIN")
	}
	if rows[0].Superuser {
		fix := "ALTER ROLE " + owner + " NOSUPERUSER"
		if replicates {
			fix += " REPLICATION"
		}
		c.report.add(Warning, "owner-superuser", none, fmt.Sprintf("role %s is a superuser and need not be", c.in.Owner), fix)
	}
	return nil
}

// checkRoles looks the roles up; without owner and reader, little else can be asked.
func (c *checker) checkRoles(replicates bool) (complete bool, err error) {
	if err := c.checkOwner(replicates); err != nil {
		return false, err
	}
	readers, err := collect[ownerRow](c.ctx, c.conn, "owner", c.in.Reader)
	if err != nil {
		return false, err
	}
	if len(readers) > 0 {
		c.reader = readers[0].OID
		if !readers[0].Login {
			c.report.add(Error, "reader-login", none, fmt.Sprintf("role %s may not log in", c.in.Reader),
				"ALTER ROLE "+catalog.QuoteIdentifier(c.in.Reader)+" LOGIN")
		}
		if err := c.checkReaders(); err != nil {
			return false, err
		}
	}
	return c.owner != 0 && len(readers) > 0, nil
}
