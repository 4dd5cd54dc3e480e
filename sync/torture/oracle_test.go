package torture

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

// oracle knows the protected tables as of any commit: it keeps every change since they
// were empty, from a slot of its own. It is not safe for concurrent use.
type oracle struct {
	dsn, slot string
	conn      *pgx.Conn
	relations map[uint32]*replica // nil: none of the protected tables
	replicas  map[string]*replica // by the table's name
	described map[uint32]described
	// end is behind the last transaction that was read; what lies before comes again
	// where the server has forgotten that it was acknowledged.
	end pglogrepl.LSN
	// last is the commit of the last transaction that changed a protected table, and
	// transactions how many did.
	last         pglogrepl.LSN
	transactions int
	messages     bool // the server sends them (PostgreSQL 14)
}

// oracleMessage begins the messages in the stream that are for the oracle.
const oracleMessage = "torture"

// oraclePublication is a publication of its own: what becomes of kproxy's must not matter.
const oraclePublication = "torture_oracle"

// newOracle begins with empty tables.
func newOracle(ctx context.Context, admin *pgx.Conn, dsn, slot string, shapes []*shape) (*oracle, error) {
	o := &oracle{
		dsn: dsn, slot: slot, relations: make(map[uint32]*replica), replicas: make(map[string]*replica), described: make(map[uint32]described),
	}
	sql := "CREATE PUBLICATION " + oraclePublication + " FOR TABLE "
	for i, s := range shapes {
		o.replicas[s.name] = newReplica()
		for _, leaf := range s.everyLeaf() {
			o.replicas[leaf] = o.replicas[s.name]
		}
		if i > 0 {
			sql += ", "
		}
		sql += s.sql()
		if s.far != "" { // detached, too
			sql += ", " + s.far
		}
	}
	if _, err := admin.Exec(ctx, sql); err != nil {
		return nil, fmt.Errorf("making the oracle's publication: %w", err)
	}
	if _, err := admin.Exec(ctx, "SELECT pg_create_logical_replication_slot($1, 'pgoutput')", slot); err != nil {
		return nil, fmt.Errorf("making the oracle's slot: %w", err)
	}
	return o, nil
}

func (o *oracle) close(ctx context.Context) {
	if o.conn != nil {
		_ = o.conn.Close(ctx)
	}
}

// catchUp reads everything that has been committed. It peeks and moves the slot only
// behind what it has: an answer that is lost comes again.
func (o *oracle) catchUp(ctx context.Context) error {
	for start := time.Now(); ; pause(ctx, 50*time.Millisecond) {
		err := o.read(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !survivable(err) || time.Since(start) > time.Minute:
			return fmt.Errorf("the oracle: %w", err)
		}
	}
}

func (o *oracle) read(ctx context.Context) error {
	if o.conn == nil || o.conn.IsClosed() {
		var err error
		if o.conn, err = connect(ctx, o.dsn); err != nil {
			o.conn = nil
			return err
		}
	}
	options := ""
	if o.messages {
		options = ", 'messages', 'true'"
	}
	rows, err := o.conn.Query(ctx, "SELECT data FROM pg_logical_slot_peek_binary_changes($1, NULL, NULL, 'proto_version', '1', 'publication_names', $2"+options+")",
		o.slot, oraclePublication)
	if err != nil {
		return err
	}
	messages, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return err
	}
	if err := o.decode(messages); err != nil {
		return &mistake{fmt.Sprintf("the oracle cannot read the stream: %v", err)}
	}
	if len(messages) == 0 {
		return nil
	}
	_, err = o.conn.Exec(ctx, "SELECT pg_replication_slot_advance($1, $2::text::pg_lsn)", o.slot, o.end.String())
	return err
}

func (o *oracle) decode(messages [][]byte) error {
	var c change
	known := false
	for _, message := range messages {
		r := &reader{rest: message}
		kind := r.byte()
		switch kind {
		case 'B':
			c = change{commit: r.lsn()}
			known = c.commit < o.end
		case 'C':
			r.byte()
			r.lsn()
			o.end = max(o.end, r.lsn())
		case 'R':
			id, d := r.relation()
			o.described[id], o.relations[id] = d, o.replicas[d.name]
			if d.schema != "public" {
				o.relations[id] = nil
			}
		case 'I', 'U', 'D':
			one := change{commit: c.commit, kind: kind, relation: r.long()}
			if r.rowChange(&one); r.err == nil && !known {
				o.keep(one)
			}
		case 'M':
			r.byte()
			r.lsn()
			if prefix := r.name(); prefix == oracleMessage && !known {
				o.keepMembership(c.commit, string(r.take(int(r.long()))))
			}
		case 'T':
			count := int(r.long())
			r.byte()
			for range count {
				if one := (change{commit: c.commit, kind: kind, relation: r.long()}); !known {
					o.keep(one)
				}
			}
		}
		if r.err != nil {
			return fmt.Errorf("message %q: %w", kind, r.err)
		}
	}
	return nil
}

func (o *oracle) keep(c change) {
	table := o.relations[c.relation]
	if table == nil {
		return
	}
	d := o.described[c.relation]
	c.identity, c.leaf = d.identity, d.name
	table.columns[d.name] = d.columns
	table.changes = append(table.changes, c)
	if o.last != c.commit {
		o.last = c.commit
		o.transactions++
	}
}

// keepMembership notes that a partition has come (+) or gone (-).
func (o *oracle) keepMembership(commit pglogrepl.LSN, what string) {
	table := o.replicas[what[1:]]
	table.changes = append(table.changes, change{commit: commit, kind: what[0], leaf: what[1:]})
	o.last = commit
}

// replica is one table as the oracle knows it.
type replica struct {
	columns map[string][]string // by relation: partitions order theirs as they like
	changes []change
	applied int
	rows    map[string]map[string][][]datum // by relation and identity; equal rows are possible
	gone    map[string]bool                 // partitions that are detached
}

func newReplica() *replica {
	return &replica{columns: make(map[string][]string), rows: make(map[string]map[string][][]datum), gone: make(map[string]bool)}
}

// at brings the table to where it was when every transaction had been applied whose
// commit record lies before a position, and no other.
func (t *replica) at(position pglogrepl.LSN) error {
	if t.applied > 0 && t.changes[t.applied-1].commit >= position { // back
		t.applied = 0
		clear(t.rows)
		clear(t.gone)
	}
	for ; t.applied < len(t.changes) && t.changes[t.applied].commit < position; t.applied++ {
		if err := t.apply(t.changes[t.applied]); err != nil {
			return &mistake{fmt.Sprintf("the oracle, at %s: %v", t.changes[t.applied].commit, err)}
		}
	}
	return nil
}

func (t *replica) apply(c change) error {
	switch c.kind {
	case '+', '-':
		t.gone[c.leaf] = c.kind == '-'
		return nil
	case 'I':
		t.add(c, c.row)
		return nil
	case 'D':
		_, err := t.take(c, c.old)
		return err
	case 'T':
		delete(t.rows, c.leaf)
		return nil
	}
	identity := c.old
	if identity == nil {
		identity = c.row
	}
	before, err := t.take(c, identity)
	if err != nil {
		return err
	}
	after := slices.Clone(c.row)
	for i := range after {
		if after[i].kept {
			after[i] = before[i]
		}
	}
	t.add(c, after)
	return nil
}

func (c change) key(row []datum) string {
	var identity []datum
	for i, part := range c.identity {
		if part {
			identity = append(identity, row[i])
		}
	}
	return rowKey(identity)
}

func (t *replica) add(c change, row []datum) {
	if t.rows[c.leaf] == nil {
		t.rows[c.leaf] = make(map[string][][]datum)
	}
	key := c.key(row)
	t.rows[c.leaf][key] = append(t.rows[c.leaf][key], row)
}

// take removes the row with an identity, one of several equal ones.
func (t *replica) take(c change, identity []datum) ([]datum, error) {
	if len(identity) != len(c.identity) {
		return nil, fmt.Errorf("change %q has a row of %d columns, its relation %d", c.kind, len(identity), len(c.identity))
	}
	key, rows := c.key(identity), t.rows[c.leaf]
	found := rows[key]
	if len(found) == 0 {
		return nil, fmt.Errorf("change %q of a row that is not there", c.kind)
	}
	if len(found) == 1 {
		delete(rows, key)
	} else {
		rows[key] = found[:len(found)-1]
	}
	return found[len(found)-1], nil
}

// project counts the rows, reduced to some columns, without those of partitions that
// are gone.
func (t *replica) project(columns []string, gone map[string]bool) (bag, error) {
	b := make(bag)
	for leaf, rows := range t.rows {
		if gone[leaf] {
			continue
		}
		places := make([]int, len(columns))
		for i, name := range columns {
			if places[i] = slices.Index(t.columns[leaf], name); places[i] < 0 {
				return nil, &mistake{fmt.Sprintf("the oracle has no column %s of %s", name, leaf)}
			}
		}
		for _, equal := range rows {
			for _, row := range equal {
				reduced := make([]datum, len(places))
				for i, place := range places {
					reduced[i] = row[place]
				}
				b[rowKey(reduced)]++
			}
		}
	}
	return b, nil
}

// memberships are the partitions that may be missing from what the stream has told: it
// does not tell of partitions that come and go.
func (t *replica) memberships() []map[string]bool {
	list := []map[string]bool{t.gone}
	for _, c := range t.changes {
		if c.kind == '+' || c.kind == '-' {
			other := maps.Clone(t.gone)
			other[c.leaf] = !other[c.leaf]
			return append(list, other)
		}
	}
	return list
}

// bag counts rows by what rowKey makes of them.
type bag map[string]int

// compare tells how many rows only one of both has.
func (b bag) compare(other bag) (missing, surplus int) {
	for key, n := range other {
		missing += max(0, n-b[key])
	}
	for key, n := range b {
		surplus += max(0, n-other[key])
	}
	return missing, surplus
}

// mistake is what a run must not find.
type mistake struct{ what string }

func (m *mistake) Error() string { return m.what }
