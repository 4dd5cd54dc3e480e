package torture

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pglogrepl"
)

// reader takes a message of pgoutput apart (PostgreSQL, "Logical Replication Message
// Formats", protocol version 1). What is missing is remembered as an error.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.err = fmt.Errorf("a message ends early")
		return make([]byte, max(0, min(n, 8)))
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) byte() byte         { return r.take(1)[0] }
func (r *reader) short() int         { return int(binary.BigEndian.Uint16(r.take(2))) }
func (r *reader) long() uint32       { return binary.BigEndian.Uint32(r.take(4)) }
func (r *reader) lsn() pglogrepl.LSN { return pglogrepl.LSN(binary.BigEndian.Uint64(r.take(8))) }

func (r *reader) name() string {
	end := bytes.IndexByte(r.rest, 0)
	if end < 0 {
		r.err = fmt.Errorf("a name does not end")
		return ""
	}
	return string(r.take(end + 1)[:end])
}

func (r *reader) tuple() []datum {
	row := make([]datum, r.short())
	for i := range row {
		switch kind := r.byte(); kind {
		case 'n':
			row[i].null = true
		case 'u':
			row[i].kept = true
		case 't':
			row[i].text = string(r.take(int(r.long())))
		default:
			r.err = fmt.Errorf("a value of kind %q", kind)
		}
		if r.err != nil {
			return nil
		}
	}
	return row
}

// described is a relation as the stream describes it.
type described struct {
	schema, name string
	columns      []string
	identity     []bool // the columns by which rows are found
}

func (r *reader) relation() (uint32, described) {
	id := r.long()
	d := described{schema: r.name(), name: r.name()}
	r.byte()
	for range r.short() {
		d.identity = append(d.identity, r.byte()&1 != 0)
		d.columns = append(d.columns, r.name())
		r.long()
		r.long()
	}
	return id, d
}

// change is one change of one relation, in a transaction whose commit record lies at
// commit.
type change struct {
	commit   pglogrepl.LSN
	relation uint32
	kind     byte   // I, U, D or T; + or - for a partition that comes or goes
	leaf     string // the relation's name
	identity []bool
	old      []datum // nil where the identity did not change
	row      []datum
}

// rowChange reads an insert, an update or a delete behind its relation's number.
func (r *reader) rowChange(c *change) {
	for len(r.rest) > 0 && r.err == nil {
		switch kind := r.byte(); kind {
		case 'K', 'O':
			c.old = r.tuple()
		case 'N':
			c.row = r.tuple()
		default:
			r.err = fmt.Errorf("a row of kind %q", kind)
		}
	}
}
