package inspect

import (
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// The first servers with publications of whole schemas, and with lists of columns.
const (
	schemasVersion = 150000
	listsVersion   = 150000
)

// publicationRow is the publication as a whole.
type publicationRow struct {
	AllTables     bool
	AllOperations bool
	ViaRoot       bool
	Generated     bool // stored generated columns are sent, too
}

// publishedTable is a table that a publication names.
type publishedTable struct {
	OID      uint32
	Schema   string
	Relation string
	Filtered bool
	// Listed says that only Columns are sent.
	Listed  bool
	Columns []string
}

func (t publishedTable) name() catalog.Name {
	return catalog.Name{Schema: t.Schema, Relation: t.Relation}
}

// publicationJudge compares a publication with the protected tables. It accepts any that sends
// all of their changes whole, whoever made it, and reports what one that sends more costs.
type publicationJudge struct {
	c       *checker
	flags   publicationRow
	tables  []publishedTable
	schemas []string
	// set makes the protected tables those of the publication. anew replaces a publication that is of
	// no use.
	create, anew, set, options string
}

// checkPublication requires the protected tables, whole, with every operation.
func (c *checker) checkPublication() error {
	j := c.newPublicationJudge()
	flags, err := collect[publicationRow](c.ctx, c.conn, "publication", c.in.Publication)
	if err != nil {
		return err
	}
	if len(flags) == 0 {
		j.found(Error, none, "does not exist", j.create)
		return nil
	}
	j.flags = flags[0]
	if j.tables, err = collect[publishedTable](c.ctx, c.conn, "publication_tables", c.in.Publication); err != nil {
		return err
	}
	if c.server.VersionNum >= schemasVersion {
		schemas, err := collect[nameRow](c.ctx, c.conn, "publication_schemas", c.in.Publication)
		if err != nil {
			return err
		}
		for _, s := range schemas {
			j.schemas = append(j.schemas, s.Name)
		}
	}
	j.judge()
	return nil
}

func (c *checker) newPublicationJudge() *publicationJudge {
	name := catalog.QuoteIdentifier(c.in.Publication)
	tables := make([]string, len(c.in.Policy.Tables))
	for i, t := range c.in.Policy.Tables {
		tables[i] = "ONLY " + t.Table.SQL()
	}
	const options = "(publish = 'insert, update, delete, truncate', publish_via_partition_root = false)"
	j := &publicationJudge{
		c:       c,
		create:  "CREATE PUBLICATION " + name + " FOR TABLE " + strings.Join(tables, ", ") + " WITH " + options,
		set:     "ALTER PUBLICATION " + name + " SET TABLE " + strings.Join(tables, ", "),
		options: "ALTER PUBLICATION " + name + " SET " + options,
	}
	j.anew = "DROP PUBLICATION " + name + ";\n" + j.create
	if c.apart {
		// It lists columns.
		j.create = "run 'kproxy setup --side source'"
		j.set, j.anew = j.create, "drop the publication, and "+j.create
	}
	if c.incomplete() {
		j.create = "correct the names of the missing tables, and run 'kproxy setup'"
		j.set = j.create
	}
	return j
}

func (j *publicationJudge) found(severity Severity, table catalog.Name, what, fix string) {
	j.c.report.add(severity, "publication", table, "publication "+j.c.in.Publication+" "+what, fix)
}

func (j *publicationJudge) judge() {
	if j.flags.AllTables {
		j.found(Error, none, "is for all tables and so for those that kproxy keeps: what it writes would be sent back to it",
			j.anew)
		return
	}
	if !j.flags.AllOperations {
		j.found(Error, none, "leaves out operations", j.options)
	}
	protected := map[uint32]bool{}
	for _, t := range j.c.in.Policy.Tables {
		r, exists := j.c.byName[t.Table]
		if !exists {
			continue
		}
		protected[uint32(r.OID)] = true
		for _, leaf := range r.Leaves {
			protected[uint32(leaf.OID)] = true
		}
		j.judgeTable(r)
	}
	j.judgeRest(protected)
}

// add makes a table one of the publication's, which may have others that somebody else needs.
func (j *publicationJudge) add(table catalog.Name) string {
	if j.c.apart || j.c.incomplete() {
		return j.set
	}
	return "ALTER PUBLICATION " + catalog.QuoteIdentifier(j.c.in.Publication) + " ADD TABLE ONLY " + table.SQL()
}

// judgeTable examines what is sent of one protected table.
func (j *publicationJudge) judgeTable(r catalog.Relation) {
	named := slices.ContainsFunc(j.tables, func(t publishedTable) bool { return t.OID == uint32(r.OID) })
	if !named && !slices.Contains(j.schemas, r.Name.Schema) {
		what := "does not hold the table"
		if len(r.Leaves) > 0 {
			what += " itself, so that new partitions would be missed"
		}
		j.found(Error, r.Name, what, j.add(r.Name))
	}
	if j.flags.ViaRoot && r.Kind == catalog.KindPartitionedTable {
		// PostgreSQL then leaves TRUNCATE of a partition out, and does not say in which
		// partition a row lies, so that DETACH and DROP of one could not be followed.
		j.found(Error, r.Name, "sends changes of partitions as their table's (publish_via_partition_root), and nothing of TRUNCATE of a partition", j.options)
	}
	if j.c.server.VersionNum >= generatedVersion {
		j.judgeGenerated(r)
	}
	if extra := j.unneeded(r); len(extra) > 0 {
		j.found(Warning, r.Name, "sends columns that the policy does not need, out of the source's database: "+strings.Join(extra, ", "), j.set)
	}
}

// unneeded are the columns that leave a source of its own though publishing does not need them and a
// column list would keep them there. PostgreSQL takes no list for partitioned tables, nor where whole
// rows identify.
func (j *publicationJudge) unneeded(r catalog.Relation) (columns []string) {
	if !j.c.apart || j.c.server.VersionNum < listsVersion || r.Kind != catalog.KindTable || r.ReplicaIdentity == 'f' {
		return nil
	}
	needed := j.needed(r)
	i := slices.IndexFunc(j.tables, func(t publishedTable) bool { return t.OID == uint32(r.OID) && t.Listed })
	for _, column := range r.Columns {
		sent := !column.Generated || j.flags.Generated
		if i >= 0 {
			sent = slices.Contains(j.tables[i].Columns, column.Name)
		}
		if sent && !slices.Contains(needed, column.Name) {
			columns = append(columns, column.Name)
		}
	}
	return columns
}

// needed are the columns that publishing needs of a protected table.
func (j *publicationJudge) needed(r catalog.Relation) []string {
	i := slices.IndexFunc(j.c.in.Policy.Tables, func(p catalog.TablePolicy) bool { return p.Table == r.Name })
	return slices.Concat(r.Key, j.c.in.Policy.NeededColumns(j.c.in.Policy.Tables[i]))
}

// judgeGenerated finds tables whose UPDATE and DELETE fail at the source, since
// their whole rows identify them and hold generated columns that are not sent.
func (j *publicationJudge) judgeGenerated(r catalog.Relation) {
	if !slices.ContainsFunc(r.Columns, func(c catalog.Column) bool { return c.Generated }) || j.flags.Generated {
		return
	}
	full := []catalog.Leaf{{Name: r.Name, ReplicaIdentity: r.ReplicaIdentity}}
	if r.Kind == catalog.KindPartitionedTable {
		full = r.Leaves
	}
	for _, leaf := range full {
		if leaf.ReplicaIdentity != 'f' {
			continue
		}
		fix := "ALTER TABLE " + leaf.Name.SQL() + " REPLICA IDENTITY DEFAULT"
		if len(r.PrimaryKey) == 0 {
			fix = "ALTER PUBLICATION " + catalog.QuoteIdentifier(j.c.in.Publication) +
				" SET (publish_generated_columns = stored);\n-- or give the table a primary key and REPLICA IDENTITY DEFAULT; virtual columns allow nothing else"
		}
		j.c.report.add(Error, "replica-identity", leaf.Name,
			"it has REPLICA IDENTITY FULL and a generated column, which is not published: UPDATE and DELETE fail at the source", fix)
	}
}

// missing are the columns that publishing needs of a table and the publication's list leaves out.
func (j *publicationJudge) missing(t publishedTable) []string {
	r, whole := j.c.byName[t.name()]
	if !whole || !slices.ContainsFunc(j.c.in.Policy.Tables, func(p catalog.TablePolicy) bool { return p.Table == t.name() }) {
		return []string{"what its partition needs"}
	}
	return slices.DeleteFunc(j.needed(r), func(column string) bool { return slices.Contains(t.Columns, column) })
}

// judgeRest examines what else the publication holds, and the partitions of protected tables
// that it names.
func (j *publicationJudge) judgeRest(protected map[uint32]bool) {
	const own = ", where kproxy keeps what it writes: it would be sent back to it"
	const cost = ": their changes are sent and thrown away, which costs time and network"
	for _, schema := range j.schemas {
		if catalog.IsOwn(schema) {
			j.found(Error, none, "holds all tables of schema "+schema+own, j.set)
			continue
		}
		j.found(Warning, none, "holds all tables of schema "+schema+", also those that are not protected"+cost, j.set)
	}
	for _, t := range j.tables {
		switch {
		case protected[t.OID] && t.Filtered:
			j.found(Error, t.name(), "has a row filter for the table", j.set)
		case protected[t.OID] && t.Listed && len(j.missing(t)) > 0:
			j.found(Error, t.name(), "has a column list for the table without "+strings.Join(j.missing(t), ", "), j.set)
		case protected[t.OID] && t.Listed && j.c.byName[t.name()].ReplicaIdentity == 'f':
			j.found(Error, t.name(), "has a column list for the table, which has REPLICA IDENTITY FULL: UPDATE and DELETE fail at the source", j.set)
		case protected[t.OID]:
		case catalog.IsOwn(t.Schema):
			j.found(Error, t.name(), "holds a table of schema "+t.Schema+own, j.set)
		default:
			j.found(Warning, t.name(), "holds tables that are not protected"+cost, "run kproxy setup")
		}
	}
}
