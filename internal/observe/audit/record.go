package audit

import (
	"net/netip"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/kproxy/kproxy/internal/visible"
)

// Event is what a record is about.
type Event string

// Events.
const (
	Statement Event = "statement" // one that has been answered, in whatever way
	Begin     Event = "begin"     // a session
	End       Event = "end"       // of a session
	Rejected  Event = "rejected"  // a connection that did not become a session
)

// Record is a line of the log.
type Record struct {
	Time      time.Time
	Event     Event
	User      string // as the client said where Event is Rejected
	Reader    string
	Audience  string     // whose releases the session reads; "" = those of the policy's own readers
	Client    netip.Addr // the zero Addr is a Unix socket
	Transport string     // plain, tls or unix
	Session   uint64     // 0 where there is none
	// Of a statement: its phase (query, execute or prepare), shape and tables.
	Phase, Shape string
	Tables       []string
	Rows, Bytes  int64
	Duration     time.Duration // of a statement or a session
	SQLState     string        // "" = success, or an orderly end
	Refused      bool          // by kproxy itself
	Reason       string        // why a connection was rejected: a word of proxy.Reasons
}

// must says whether a record must not be lost: one of something that has happened. What
// was refused can be repeated at will while the log cannot be written.
func (r *Record) must() bool {
	switch r.Event {
	case Statement:
		return !r.Refused
	case Begin, End:
		return true
	default:
		return false
	}
}

// stamp is the form of a record's time: RFC 3339 in UTC, to the microsecond.
const stamp = "2006-01-02T15:04:05.000000Z"

// append appends the record's line.
func (r *Record) append(b []byte) []byte {
	b = append(b, `{"time":"`...)
	b = r.Time.UTC().AppendFormat(b, stamp)
	b = appendField(append(b, '"'), "event", string(r.Event))
	b = appendField(b, "user", r.User)
	if r.Reader != "" {
		b = appendField(b, "reader", r.Reader)
	}
	if r.Audience != "" {
		b = appendField(b, "audience", r.Audience)
	}
	client := "unix"
	if r.Client.IsValid() {
		client = r.Client.Unmap().String()
	}
	b = appendField(b, "client", client)
	if r.Transport != "" {
		b = appendField(b, "transport", r.Transport)
	}
	if r.Session > 0 {
		b = strconv.AppendUint(append(b, `,"session":`...), r.Session, 10)
	}
	if r.Event == Statement {
		b = r.appendStatement(b)
	}
	if r.Event == Statement || r.Event == End {
		b = append(b, `,"duration_ms":`...)
		b = strconv.AppendFloat(b, float64(r.Duration.Microseconds())/1000, 'f', 3, 64)
	}
	b = appendField(b, "sqlstate", r.SQLState)
	if r.Reason != "" {
		b = appendField(b, "reason", r.Reason)
	}
	return append(b, '}', '\n')
}

func (r *Record) appendStatement(b []byte) []byte {
	b = appendField(b, "phase", r.Phase)
	b = appendField(b, "shape", r.Shape)
	b = append(b, `,"tables":[`...)
	for i, table := range r.Tables {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, table)
	}
	b = strconv.AppendInt(append(b, `],"rows":`...), r.Rows, 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), r.Bytes, 10)
	return strconv.AppendBool(append(b, `,"refused":`...), r.Refused)
}

func appendField(b []byte, name, text string) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return appendString(b, text)
}

const hexDigits = "0123456789abcdef"

// appendString appends a text as JSON writes it (RFC 8259, 7). What is not valid UTF-8
// becomes U+FFFD, and what could end a line, steer a terminal or turn the direction of text is escaped.
func appendString(b []byte, text string) []byte {
	b = append(b, '"')
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '"', c == '\\':
				b = append(b, '\\', c)
			case c < 0x20, c == 0x7f:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			default:
				b = append(b, c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, `\ufffd`...)
		case r < 0xa0, r == 0x2028, r == 0x2029, visible.Turns(r):
			b = append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			b = append(b, text[i:i+size]...)
		}
		i += size
	}
	return append(b, '"')
}
