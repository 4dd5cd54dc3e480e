package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// CheckApart is Check where the protected tables are in a database of their own. The source is asked
// for what publishing needs there, as the role source.Config().User, which is its session's; the
// owner's database for everything else, the audit among it.
func CheckApart(ctx context.Context, owner, source *pgx.Conn, in CheckInput) (Report, error) {
	var there, here Report
	var relations []catalog.Relation
	err := readingAgain(ctx, source, func() (err error) {
		there, relations, err = checkSource(ctx, source, in)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("checking the source: %w", err)
	}
	types, err := checkMirroredTypes(ctx, owner, source, in.Policy, relations)
	if err != nil {
		return nil, err
	}
	err = readingAgain(ctx, owner, func() (err error) {
		here, err = checkRelease(ctx, owner, in, relations)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("checking the database of the release: %w", err)
	}
	return slices.Concat(there, types, here), nil
}

// Reach is what CheckApart says of protected data that readers can reach, while the source is away.
func Reach(ctx context.Context, owner *pgx.Conn, in CheckInput) (report Report, err error) {
	err = readingAgain(ctx, owner, func() error {
		of, _, err := in.noted(ctx, owner)
		if err != nil {
			return err
		}
		report, err = audit(ctx, owner, of)
		return err
	})
	return report, err
}

// checkSource reports what stands in the way at the source, whose relations it returns.
func checkSource(ctx context.Context, conn *pgx.Conn, in CheckInput) (Report, []catalog.Relation, error) {
	in.Owner, in.Policy.Readable, in.Policy.Functions = conn.Config().User, nil, nil
	c := checker{ctx: ctx, conn: conn, in: in, apart: true, byName: map[catalog.Name]catalog.Relation{}, byOID: map[uint32]catalog.Relation{}}
	if err := c.checkServer(); err != nil {
		return nil, nil, err
	}
	if err := c.checkOwner(true); err != nil {
		return nil, nil, err
	}
	c.reader = c.owner // nobody reads there for clients
	if err := c.readRelations(); err != nil {
		return nil, nil, err
	}
	for _, step := range []func() error{c.checkNames, c.checkTables, c.checkKeys, c.checkPublication} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	return c.report, c.relations, nil
}

// checkRelease reports what stands in the way in the database of store and release. The relations are
// those of the source.
func checkRelease(ctx context.Context, conn *pgx.Conn, in CheckInput, relations []catalog.Relation) (Report, error) {
	in, moved, err := in.noted(ctx, conn)
	if err != nil {
		return nil, err
	}
	c := checker{ctx: ctx, conn: conn, in: in, report: moved, byName: map[catalog.Name]catalog.Relation{}, byOID: map[uint32]catalog.Relation{}}
	if c.server, err = readServer(ctx, conn); err != nil {
		return nil, err
	}
	judgeVersion(&c.report, c.server)
	if c.server.ServerEncoding != "UTF8" {
		c.report.add(Error, "server-encoding", none, fmt.Sprintf("the encoding of the database of the release is %s, which may lack characters of the source", c.server.ServerEncoding),
			"make that database with ENCODING 'UTF8'")
	}
	complete, err := c.checkRoles(false)
	if err != nil {
		return nil, err
	}
	if complete {
		if err := c.readRelations(); err != nil {
			return nil, err
		}
		if err := c.addMirrored(relations); err != nil {
			return nil, err
		}
		for _, step := range []func() error{c.checkMirroredNames, c.checkReadable, c.checkFunctions, c.checkTypes, c.checkTemporary, c.checkOwn, c.checkAudiences} {
			if err := step(); err != nil {
				return nil, err
			}
		}
	}
	audited, err := audit(ctx, conn, in)
	return append(c.report, audited...), err
}

// addMirrored takes up the protected tables of the source, whose columns have in this database the
// types of the same names.
func (c *checker) addMirrored(relations []catalog.Relation) error {
	for _, name := range c.in.protected() {
		i := slices.IndexFunc(relations, func(r catalog.Relation) bool { return r.Name == name })
		if i < 0 {
			continue
		}
		relation := relations[i]
		types := make([]string, len(relation.Columns))
		for j, column := range relation.Columns {
			types[j] = column.Type
		}
		var found []uint32
		err := c.conn.QueryRow(c.ctx, "SELECT array_agg(coalesce(to_regtype(t), 0)::oid ORDER BY n) FROM unnest($1::text[]) WITH ORDINALITY AS u(t, n)", types).Scan(&found)
		if err != nil {
			return fmt.Errorf("looking for the types of %s: %w", name, err)
		}
		relation.Columns = slices.Clone(relation.Columns)
		for j := range found {
			relation.Columns[j].TypeOID = catalog.OID(found[j])
		}
		c.byName[name] = relation
	}
	return nil
}

// CodeMirrored is about a relation that has the name of a protected table which is in another
// database.
const CodeMirrored = "mirrored-name"

// checkMirroredNames wants listed names to be there, and nothing in the place of protected tables:
// clients would not see it.
func (c *checker) checkMirroredNames() error {
	there, err := readNames(c.ctx, c.conn)
	if err != nil {
		return err
	}
	listed := c.in.Policy
	listed.Tables = nil
	c.report = append(c.report, there.missing(listed)...)
	for _, name := range c.in.protected() {
		if slices.Contains(there.relations, name) {
			c.report.add(Error, CodeMirrored, name, "the database of the release has a relation of its name, though the protected table is in another database",
				"drop or rename it there: clients see the release under that name")
		}
	}
	return nil
}

// RelationsApart returns the relations that clients' statements can name where the protected tables
// are in a database of their own, and those of the source: the protected tables of the source, and
// all of the owner's database.
func RelationsApart(ctx context.Context, owner, source *pgx.Conn, reader string, policy catalog.Policy) (all, ofSource []catalog.Relation, err error) {
	if ofSource, err = Relations(ctx, source, source.Config().User); err != nil {
		return nil, nil, err
	}
	here, err := Relations(ctx, owner, reader)
	if err != nil {
		return nil, nil, err
	}
	protected := CheckInput{Policy: policy}.protected()
	for _, r := range ofSource {
		if slices.Contains(protected, r.Name) {
			r.ReadableByReader = false
			all = append(all, r)
		}
	}
	for _, r := range here {
		if !slices.Contains(protected, r.Name) {
			all = append(all, r)
		}
	}
	return all, ofSource, nil
}
