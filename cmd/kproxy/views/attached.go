package views

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/catalog"
)

// A table that becomes a partition or child of a protected one holds protected rows from then on.

// sameParents has a stand-in fail as long as the relation, or one under it, is a partition of what
// it was no partition of when the stand-in was made, or inherits from it.
func (p *planner) sameParents(r catalog.ReadableRelation) string {
	tree := p.trees(r)
	slices.Sort(tree)
	holders := []catalog.OID{r.OID}
	for _, part := range r.Parts {
		holders = append(holders, part.OID)
	}
	oids := oidArray(slices.Compact(tree))
	return fmt.Sprintf(sameParentsSQL, oids, oids, oidArray(holders))
}

// trees are the relation's tree and, for a materialized view, those of all that fills it.
func (p *planner) trees(r catalog.ReadableRelation) []catalog.OID {
	tree := slices.Clone(r.Tree)
	for _, name := range r.Reads {
		tree = append(tree, p.trees(p.readables[name])...)
	}
	return tree
}

// sameParentsSQL wants the relations %s to have no parents but the same %s, and the relations %s,
// which hold the rows, to be in the files that the statement's snapshot knows. A snapshot that
// shows a row which was written after the attachment shows the attachment, unless the row was
// written as frozen, by COPY FREEZE or REFRESH: that needs a new file. Nothing in it is constant,
// so that the error is raised by the statement and not by its plan.
const sameParentsSQL = ` AND (SELECT CASE WHEN pg_catalog.count(*) = 0 THEN true
	ELSE pg_catalog.concat('` + changedParent + `', pg_catalog.left(pg_catalog.count(*)::text, 0))::boolean END
	FROM (SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = ANY (%s::pg_catalog.oid[]) AND i.inhparent <> ALL (%s::pg_catalog.oid[])
	UNION ALL SELECT FROM pg_catalog.pg_class AS c WHERE c.oid = ANY (%s::pg_catalog.oid[]) AND c.relfilenode <> pg_catalog.pg_relation_filenode(c.oid)) AS other)`
