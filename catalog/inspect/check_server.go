package inspect

import (
	"fmt"
	"slices"
)

// MinVersionNum is the oldest server that can be published from: the first that
// publishes the changes of partitions of a published table.
const MinVersionNum = 130000

// generatedVersion is the first server on which UPDATE and DELETE fail where the
// replica identity holds a generated column that is not published.
const generatedVersion = 180000

// What kproxy needs of the server: a slot for the stream, a second one while tables are
// published, and a WAL sender for each.
const (
	slotsNeeded   = 2
	sendersNeeded = 2
)

type slotRow struct {
	Plugin    string
	Database  string
	Temporary bool
	// Failover says that standbys keep a copy of the slot (PostgreSQL 17).
	Failover bool
	// Kept is how much of its log the server keeps for the slot, with its unit; nil where
	// that is not known.
	Kept *string
}

func (c *checker) checkServer() (err error) {
	if c.server, err = readServer(c.ctx, c.conn); err != nil {
		return err
	}
	slots, err := collect[slotRow](c.ctx, c.conn, "slot", c.in.Slot)
	if err != nil {
		return err
	}
	c.report = append(c.report, judgeServer(c.server, c.in.Slot, slots)...)
	if c.apart {
		c.report = append(c.report, judgeStandby(c.server, c.in.Standby)...)
	}
	return nil
}

// judgeServer reports what the server lacks. slots holds the slot of that name, or is
// empty.
func judgeServer(server ServerFacts, slot string, slots []slotRow) Report {
	var report Report
	judgeVersion(&report, server)
	if server.WalLevel != "logical" {
		report.add(Error, "wal-level", none, fmt.Sprintf("wal_level is %s, not logical", server.WalLevel),
			"ALTER SYSTEM SET wal_level = logical;\n-- and restart the server")
	}
	exists := len(slots) > 0
	if exists && (slots[0].Plugin != "pgoutput" || slots[0].Database != server.Database || slots[0].Temporary) {
		report.add(Error, "slot-foreign", none, fmt.Sprintf("replication slot %s exists and belongs to something else", slot),
			"configure another slot name")
	}
	judgeCapacity(&report, server, exists)
	judgeRetention(&report, server, slot, slots)
	return report
}

// Codes of findings about a source that is a standby, or is meant to be one.
const (
	CodeSourceStandby   = "source-standby"
	codeStandbyFeedback = "standby-feedback"
)

// standbyVersion is the first server that decodes its log as a standby.
const standbyVersion = 160000

// judgeStandby reports what a source that is a standby lacks. Meant says that the configuration names its primary.
func judgeStandby(server ServerFacts, meant bool) (report Report) {
	switch {
	case !server.Standby && meant:
		report.add(Hint, CodeSourceStandby, none, "the source is no standby (any more), though source.primary names a primary of it",
			"take primary out of the section source; until then kproxy takes the source for the primary that it is")
		return report
	case !server.Standby:
		return nil
	case !meant:
		report.add(Error, CodeSourceStandby, none, "the source is a standby, and nothing says that it is meant to be",
			"name its primary as source.primary, to have slot and reading on the standby; or let source lead to the primary")
	case server.VersionNum < standbyVersion:
		report.add(Error, CodeSourceStandby, none, "the source is a standby with PostgreSQL "+server.Version+", which decodes nothing as one: that came with PostgreSQL 16",
			"let source lead to the primary, without source.primary")
	}
	if !server.Feedback || !server.Reserves {
		report.add(Warning, codeStandbyFeedback, none, "the primary may remove rows of catalogs that decoding on the standby needs: the slot is then invalidated, and tables are resynchronized",
			"ALTER SYSTEM SET hot_standby_feedback = on;\n-- on the standby, with a physical slot of the primary as primary_slot_name; and SELECT pg_reload_conf();")
	}
	return report
}

// judgeVersion requires a version that kproxy knows, and an encoding that it can read.
func judgeVersion(report *Report, server ServerFacts) {
	if server.VersionNum < MinVersionNum {
		report.add(Error, "server-version", none, "PostgreSQL "+server.Version+" is too old", "upgrade to PostgreSQL 13 or later")
	}
	if slices.Contains(unconvertible, server.ServerEncoding) {
		report.add(Error, "server-encoding", none,
			fmt.Sprintf("the database's encoding is %s, which the server cannot convert to UTF-8: what its texts say is not known", server.ServerEncoding),
			"move the data to a database with ENCODING 'UTF8', converted by pg_dump with --encoding of the texts' real encoding")
	}
}

// unconvertible are the encodings from which PostgreSQL has no conversion to UTF8.
var unconvertible = []string{"SQL_ASCII", "MULE_INTERNAL"}

// judgeCapacity requires free slots and WAL senders. Where the slot exists, tables that are
// published already can be served without them.
func judgeCapacity(report *Report, server ServerFacts, exists bool) {
	free, needed, severity := server.MaxReplicationSlots-server.SlotsInUse, slotsNeeded, Error
	if exists {
		needed, severity = needed-1, Warning
	}
	if free < needed {
		report.add(severity, "slots", none,
			fmt.Sprintf("%d of %d replication slots are free, but %d are needed: one of them while tables are published", max(free, 0), server.MaxReplicationSlots, needed),
			fmt.Sprintf("ALTER SYSTEM SET max_replication_slots = %d;\n-- and restart the server", server.SlotsInUse+needed))
	}
	if free := server.MaxWalSenders - server.SendersInUse; free < sendersNeeded {
		if free > 0 && exists {
			severity = Warning
		} else {
			severity = Error
		}
		report.add(severity, "wal-senders", none,
			fmt.Sprintf("%d of %d WAL senders are left for kproxy, but %d are needed: one of them while tables are published", max(free, 0), server.MaxWalSenders, sendersNeeded),
			fmt.Sprintf("ALTER SYSTEM SET max_wal_senders = %d;\n-- and restart the server", server.SendersInUse+sendersNeeded))
	}
}

// judgeRetention hints at what becomes of the slot while kproxy is away.
func judgeRetention(report *Report, server ServerFacts, slot string, slots []slotRow) {
	if server.MaxSlotWALKeepMB < 0 {
		now := fmt.Sprintf("there is no slot %s yet, so nothing is kept for it now", slot)
		switch {
		case len(slots) > 0 && slots[0].Kept != nil:
			now = fmt.Sprintf("slot %s keeps %s now", slot, *slots[0].Kept)
		case len(slots) > 0: // a standby does not say how far the log is
			now = fmt.Sprintf("slot %s is there", slot)
		}
		report.add(Warning, "wal-kept", none,
			"max_slot_wal_keep_size is -1: while kproxy is away, its slot keeps write-ahead log without bound, and can fill the disk, which stops the source; "+now,
			"ALTER SYSTEM SET max_slot_wal_keep_size = '100GB';\nSELECT pg_reload_conf();\n-- what the disk can spare: beyond it the slot is lost and tables are resynchronized")
	}
	if server.VersionNum >= 170000 && server.Standbys && !server.Standby && len(slots) > 0 && !slots[0].Failover {
		report.add(Hint, "slot-failover", none,
			fmt.Sprintf("replication slot %s is not kept on standbys: after a failover, tables are resynchronized", slot),
			fmt.Sprintf("stop kproxy and send over a replication connection: ALTER_REPLICATION_SLOT %s (FAILOVER true);\n-- standbys need sync_replication_slots = on", slot))
	}
}
