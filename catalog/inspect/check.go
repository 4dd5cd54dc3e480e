package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// MinVersionNum is the oldest server that can be published from: the first with
// publish_via_partition_root.
const MinVersionNum = 130000

// Check reports everything that stands in the way of publishing, all at once:
// the server's settings, the owner's privileges, the publication, the tables
// under their policies, what setup should have made, and the findings of
// [Audit]. The connection must be the owner's, since row security is asked for
// the session's role.
func Check(ctx context.Context, conn *pgx.Conn, in CheckInput) (Report, error) {
	var report Report
	err := reading(ctx, conn, func() (err error) {
		report, err = check(ctx, conn, in)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("checking the database: %w", err)
	}
	return report, nil
}

func check(ctx context.Context, conn *pgx.Conn, in CheckInput) (Report, error) {
	c := checker{ctx: ctx, conn: conn, in: in, byName: map[catalog.Name]catalog.Relation{}, byOID: map[uint32]catalog.Relation{}}
	if err := c.checkServer(); err != nil {
		return nil, err
	}
	complete, err := c.checkRoles()
	if err != nil {
		return nil, err
	}
	if complete {
		relations, err := readRelations(ctx, conn, c.reader)
		if err != nil {
			return nil, err
		}
		c.relations = relations
		for _, r := range relations {
			c.byName[r.Name], c.byOID[uint32(r.OID)] = r, r
		}
		for _, step := range []func() error{c.checkTables, c.checkPublication, c.checkReadable, c.checkOwn} {
			if err := step(); err != nil {
				return nil, err
			}
		}
	}
	audited, err := audit(ctx, conn, in)
	if err != nil {
		return nil, err
	}
	return append(c.report, audited...), nil
}

// checker gathers the findings of one check.
type checker struct {
	ctx           context.Context
	conn          *pgx.Conn
	in            CheckInput
	owner, reader uint32
	relations     []catalog.Relation
	byName        map[catalog.Name]catalog.Relation
	byOID         map[uint32]catalog.Relation
	report        Report
}

type slotRow struct {
	Plugin   string
	Database string
	Active   bool
}

func (c *checker) checkServer() error {
	server, err := readServer(c.ctx, c.conn)
	if err != nil {
		return err
	}
	slots, err := collect[slotRow](c.ctx, c.conn, "slot", c.in.Slot)
	if err != nil {
		return err
	}
	c.report = append(c.report, judgeServer(server, c.in.Slot, slots)...)
	return nil
}

func judgeServer(server ServerFacts, slot string, slots []slotRow) Report {
	var report Report
	if server.VersionNum < MinVersionNum {
		report.add(Error, "server-version", none, "PostgreSQL "+server.Version+" is too old", "upgrade to PostgreSQL 13 or later")
	}
	if server.WalLevel != "logical" {
		report.add(Error, "wal-level", none, fmt.Sprintf("wal_level is %s, not logical", server.WalLevel),
			"ALTER SYSTEM SET wal_level = logical; -- and restart the server")
	}
	if server.ServerEncoding == "SQL_ASCII" {
		report.add(Warning, "server-encoding", none, "the database's encoding is SQL_ASCII: texts that are not UTF-8 cannot be published",
			"create the database with ENCODING 'UTF8'")
	}
	exists := len(slots) > 0
	if exists && (slots[0].Plugin != "pgoutput" || slots[0].Database != server.Database) {
		report.add(Error, "slot-foreign", none, fmt.Sprintf("replication slot %s exists and belongs to something else", slot),
			"configure another slot name")
	}
	if !exists && server.SlotsInUse >= server.MaxReplicationSlots {
		report.add(Error, "slots", none, fmt.Sprintf("all %d replication slots are taken", server.MaxReplicationSlots),
			fmt.Sprintf("ALTER SYSTEM SET max_replication_slots = %d; -- and restart the server", server.MaxReplicationSlots+2))
	}
	if (!exists || !slots[0].Active) && server.SendersInUse >= server.MaxWalSenders {
		report.add(Error, "wal-senders", none, fmt.Sprintf("all %d WAL senders are taken", server.MaxWalSenders),
			fmt.Sprintf("ALTER SYSTEM SET max_wal_senders = %d; -- and restart the server", server.MaxWalSenders+2))
	}
	return report
}

type ownerRow struct {
	OID         uint32
	Superuser   bool
	Login       bool
	Replication bool
}

// checkRoles looks the two roles up; without them, little else can be asked.
func (c *checker) checkRoles() (complete bool, err error) {
	owner := catalog.QuoteIdentifier(c.in.Owner)
	rows, err := collect[ownerRow](c.ctx, c.conn, "owner", c.in.Owner)
	if err != nil {
		return false, err
	}
	if len(rows) == 0 {
		c.report.add(Error, "owner-missing", none, fmt.Sprintf("there is no role %s", c.in.Owner), "run kproxy setup")
	} else {
		c.owner = rows[0].OID
		if !rows[0].Replication {
			c.report.add(Error, "owner-replication", none, fmt.Sprintf("role %s may not replicate", c.in.Owner), "ALTER ROLE "+owner+" REPLICATION")
		}
		if !rows[0].Login {
			c.report.add(Error, "owner-login", none, fmt.Sprintf("role %s may not log in", c.in.Owner), "ALTER ROLE "+owner+" LOGIN")
		}
		if rows[0].Superuser {
			c.report.add(Warning, "owner-superuser", none, fmt.Sprintf("role %s is a superuser and need not be", c.in.Owner), "ALTER ROLE "+owner+" NOSUPERUSER REPLICATION")
		}
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
	}
	return len(rows) > 0 && len(readers) > 0, nil
}

type publicationRow struct {
	AllTables     bool
	AllOperations bool
	ViaRoot       bool
	Relations     []uint32
	Filtered      []uint32
	BySchema      []string
}

// checkPublication wants exactly the protected tables, whole, with every operation.
func (c *checker) checkPublication() error {
	rows, err := collect[publicationRow](c.ctx, c.conn, "publication", c.in.Publication)
	if err != nil {
		return err
	}
	name := catalog.QuoteIdentifier(c.in.Publication)
	tables := make([]string, len(c.in.Policy.Tables))
	for i, t := range c.in.Policy.Tables {
		tables[i] = "ONLY " + t.Table.SQL()
	}
	const options = " (publish = 'insert, update, delete, truncate', publish_via_partition_root = true)"
	create := "CREATE PUBLICATION " + name + " FOR TABLE " + strings.Join(tables, ", ") + " WITH" + options
	set := "ALTER PUBLICATION " + name + " SET TABLE " + strings.Join(tables, ", ")
	found := func(table catalog.Name, what, fix string) {
		c.report.add(Error, "publication", table, "publication "+c.in.Publication+" "+what, fix)
	}
	if len(rows) == 0 {
		found(none, "does not exist", create)
		return nil
	}
	p := rows[0]
	if p.AllTables {
		found(none, "is for all tables", "DROP PUBLICATION "+name+";\n"+create)
		return nil
	}
	if !p.AllOperations {
		found(none, "leaves out operations", "ALTER PUBLICATION "+name+" SET"+options)
	}
	if !p.ViaRoot {
		found(none, "does not publish partitions as their table", "ALTER PUBLICATION "+name+" SET"+options)
	}
	if len(p.BySchema) > 0 {
		found(none, "holds tables by their schema: "+strings.Join(p.BySchema, ", "), set)
	}
	published := map[uint32]bool{}
	for _, oid := range p.Relations {
		published[oid] = true
	}
	for _, t := range c.in.Policy.Tables {
		if r, exists := c.byName[t.Table]; exists && !published[uint32(r.OID)] {
			found(t.Table, "does not hold the table", set)
		}
		delete(published, uint32(c.byName[t.Table].OID))
	}
	for _, oid := range p.Relations {
		if published[oid] {
			found(c.byOID[oid].Name, "holds a table that is not protected", set)
		}
	}
	for _, oid := range p.Filtered {
		found(c.byOID[oid].Name, "has a row filter or a column list for the table", set)
	}
	return nil
}
