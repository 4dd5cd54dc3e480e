package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// CheckApart is Check for protected tables that are in another database than the release. It asks the source
// what publishing needs there, as the session's role source.Config().User, and the owner's database everything
// else, including the audit.
func CheckApart(ctx context.Context, owner, source *pgx.Conn, in CheckInput) (Report, error) {
	var there, here Report
	var relations []catalog.Relation
	var views []catalog.View
	err := readingAgain(ctx, source, func() (err error) {
		if there, relations, err = checkSource(ctx, source, in); err != nil {
			return err
		}
		views, err = readViews(ctx, source, in.Policy)
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
		here, err = checkRelease(ctx, owner, in, relations, views)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("checking the database of the release: %w", err)
	}
	return slices.Concat(there, types, here), nil
}

// Reach is the part of CheckApart about protected data that readers can reach. It does not need the source.
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

// CheckRelease is the part of CheckApart about the database of store and release. It does not need the source:
// it is given the source's relations as they were, and the views over protected tables.
func CheckRelease(ctx context.Context, owner *pgx.Conn, in CheckInput, relations []catalog.Relation, views []catalog.View) (report Report, err error) {
	err = readingAgain(ctx, owner, func() (err error) {
		report, err = checkRelease(ctx, owner, in, relations, views)
		return err
	})
	if err != nil {
		err = fmt.Errorf("checking the database of the release: %w", err)
	}
	return report, err
}

// checkSource reports what stands in the way at the source, and returns the source's relations.
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
// those of the source, and the views those among them that are over protected tables.
func checkRelease(ctx context.Context, conn *pgx.Conn, in CheckInput, relations []catalog.Relation, views []catalog.View) (Report, error) {
	in, moved, err := in.noted(ctx, conn)
	if err != nil {
		return nil, err
	}
	c := checker{ctx: ctx, conn: conn, in: in, report: moved, views: listed(views), byName: map[catalog.Name]catalog.Relation{}, byOID: map[uint32]catalog.Relation{}}
	if c.server, err = readServer(ctx, conn); err != nil {
		return nil, err
	}
	judgeVersion(&c.report, c.server)
	if c.server.ServerEncoding != "UTF8" {
		c.report.add(Error, "server-encoding", none, fmt.Sprintf("the encoding of the database of the release is %s, which may lack characters of the source", c.server.ServerEncoding),
			"make that database with ENCODING 'UTF8'")
	}
	if err := c.checkCitus(); err != nil {
		return nil, err
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
		if err := c.checkMirroredNames(relations); err != nil {
			return nil, err
		}
		for _, step := range []func() error{c.checkReadable, c.checkFunctions, c.checkTypes, c.checkTemporary, c.checkOwn, c.checkAudiences} {
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

// CodeMirrored is about a relation with the name of a protected table, or of a view over one, that is in
// another database.
const CodeMirrored = "mirrored-name"

// checkMirroredNames requires listed names to exist here or at the source. Nothing here may have the name of
// a protected table or of a view over one: clients would not see it.
func (c *checker) checkMirroredNames(ofSource []catalog.Relation) error {
	there, err := readNames(c.ctx, c.conn)
	if err != nil {
		return err
	}
	asked := c.in.Policy
	asked.Tables, asked.Readable = nil, slices.DeleteFunc(slices.Clone(asked.Readable), func(name catalog.Name) bool { return isAmong(c.views, name) })
	c.report = append(c.report, unmirrored(there.missing(asked), ofSource)...)
	for _, v := range c.views {
		if slices.Contains(there.relations, v.Name) {
			c.report.add(Error, CodeMirrored, v.Name, "it is a view of the source over protected or mirrored tables, and the database of the release has a relation of its name, too",
				"drop or rename one of them: clients see one relation under that name")
		}
	}
	for _, name := range c.in.protected() {
		if slices.Contains(there.relations, name) {
			c.report.add(Error, CodeMirrored, name, "the database of the release has a relation of its name, though the protected table is in another database",
				"drop or rename it there: clients see the release under that name")
		}
	}
	return nil
}

// unmirrored tells what listed names that the database of the release lacks are at the source.
func unmirrored(missing Report, ofSource []catalog.Relation) Report {
	for i, f := range missing {
		at := slices.IndexFunc(ofSource, func(r catalog.Relation) bool { return r.Name == f.Table })
		switch {
		case f.Code != CodeReadableMissing || at < 0:
		case ofSource[at].Kind == catalog.KindView || ofSource[at].Kind == catalog.KindMaterializedView:
			missing[i].What = "it is a view of the source that reads no protected or mirrored table, and the database of the release has no relation of its name"
			missing[i].Fix = "list the tables that it reads under mirrored, or take it off readable"
		default:
			missing[i].What = "it is a table of the source, and the database of the release has no relation of its name"
			missing[i].Fix = "list it under mirrored in place of readable, with the columns that analysts may have"
		}
	}
	return missing
}

// listed are the views that the policy lists.
func listed(views []catalog.View) []catalog.View {
	return slices.DeleteFunc(slices.Clone(views), func(v catalog.View) bool { return !v.Listed })
}

// isAmong reports whether one of the views has the name.
func isAmong(views []catalog.View, name catalog.Name) bool {
	return slices.ContainsFunc(views, func(v catalog.View) bool { return v.Name == name })
}

// RelationsApart returns the relations that clients' statements can name where the protected tables
// are in a database of their own, and those of the source: the protected tables of the source, and
// all of the owner's database.
func RelationsApart(ctx context.Context, owner, source *pgx.Conn, reader string, policy catalog.Policy) (all, ofSource []catalog.Relation, err error) {
	if ofSource, err = Relations(ctx, source, source.Config().User); err != nil {
		return nil, nil, err
	}
	all, err = RelationsBeside(ctx, owner, reader, policy, ofSource)
	return all, ofSource, err
}

// RelationsBeside returns the relations that clients' statements can name, given those of the source.
func RelationsBeside(ctx context.Context, owner *pgx.Conn, reader string, policy catalog.Policy, ofSource []catalog.Relation) (all []catalog.Relation, err error) {
	here, err := Relations(ctx, owner, reader)
	if err != nil {
		return nil, err
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
	return all, nil
}
