package proxy

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"regexp"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/internal/charset"
)

// maxReportBytes is how much of an upstream error or notice is read; the rest,
// which can only be the end of an overlong message, is skipped.
const maxReportBytes = 64 << 10

// report is what clients see of an error or a notice. The other fields of the protocol can hold
// values, statements or the names of private objects.
type report struct {
	severity string // not localized: ERROR, FATAL, PANIC, WARNING, NOTICE, ...
	state    string // SQLSTATE
	message  string
	hint     string // "" = none
	detail   string // only of errors that keepDetail names; "" = none
	routine  string // of the server's source code, only where keepsRoutine says so; "" = none
	position int    // 1-based, in characters of the client's text; 0 = none
}

// fatal ends a session and is its last word to the client.
type fatal report

func (f *fatal) Error() string { return f.message }

// newFatal returns a fatal without a hint. Its message is also logged and must
// not hold statements, values or secrets.
func newFatal(state, message string) *fatal {
	return &fatal{severity: "FATAL", state: state, message: message}
}

// withHint returns f with a hint.
func (f *fatal) withHint(hint string) *fatal {
	f.hint = hint
	return f
}

// violation is the end of a session whose client breaks the protocol.
func violation(message string) *fatal {
	return newFatal(stateProtocolViolation, message)
}

// parseReport reads the body of ErrorResponse or NoticeResponse in an encoding. It takes a
// body that is cut off or malformed for what it still says.
func parseReport(body []byte, in *charset.Charset) report {
	r := report{severity: "ERROR", state: stateInternalError}
	localized := true
	for len(body) > 0 && body[0] != 0 {
		field, text := body[0], body[1:]
		body = nil
		if end := bytes.IndexByte(text, 0); end >= 0 {
			text, body = text[:end], text[end+1:]
		}
		value := in.DecodeValid(string(text))
		switch field {
		case 'S':
			if localized {
				r.severity = value
			}
		case 'V':
			r.severity, localized = value, false
		case 'C':
			if validSQLState(value) {
				r.state = value
			}
		case 'M':
			r.message = value
		case 'H':
			r.hint = value
		case 'D':
			r.detail = value
		case 'P':
			r.position = parsePosition(value)
		case 'R':
			r.routine = value
		}
	}
	if hidden := deniedSchema.FindStringSubmatch(r.message); r.state == "42501" && hidden != nil {
		r.state, r.message = "3F000", `schema "`+hidden[1]+`" does not exist`
	}
	if !keepsRoutine(r.state) || !isRoutine.MatchString(r.routine) {
		r.routine = ""
	}
	if !keepDetail[r.state] {
		r.detail = ""
	}
	return r
}

// keepDetail are the SQLSTATEs whose DETAIL is made of names in the statement and of
// types only: columns and tables that "cannot be referenced from this part of the
// query" (undefined_column, undefined_table), and casts between row types that do not
// match (cannot_coerce). All others are dropped: most quote values, keys or rows.
var keepDetail = map[string]bool{"42703": true, "42P01": true, "42846": true}

// keepsRoutine reports whether clients see where in the server's source code an error was raised:
// for statements that are wrong (class 42) or not supported (class 0A). These depend on statements
// and catalogs, not on rows. Tools tell errors apart by it: pgjdbc and Active Record prepare a
// statement again after "cached plan must not change result type" only if it comes from
// RevalidateCachedQuery.
func keepsRoutine(state string) bool {
	return strings.HasPrefix(state, "42") || strings.HasPrefix(state, "0A")
}

// deniedSchema matches the error of a name in a schema that the session may not use, such as that
// of a text search configuration. Clients get the error for an absent schema.
var deniedSchema = regexp.MustCompile(`(?s)^permission denied for schema (.*)$`)

// isRoutine matches names of functions in C.
var isRoutine = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

// parsePosition reads a position; 0 = none.
func parsePosition(text string) int {
	position, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return max(position, 0)
}

// locate maps a position in the text that was sent to one in the client's own, of
// which m is about; 0 = unknown. What is published may have changed since, and the
// Gate maps positions in what it makes of the text now: that must be what was sent. It
// is compared last, so that no change in between goes unseen.
func (m *message) locate(gate Gate, sent int) int {
	if sent == 0 || m.sql == "" {
		return 0
	}
	if m.escaped {
		now, err := gate.Rewrite(m.sql, m.in)
		if err != nil {
			return 0
		}
		sent = gate.Unescape(now.SQL, sent)
	}
	position := gate.Position(m.sql, m.in, sent)
	if now, err := gate.Rewrite(m.sql, m.in); err != nil || fingerprint(now.SQL) != m.sent {
		return 0
	}
	return position
}

var fingerprintSeed = maphash.MakeSeed()

// fingerprint tells texts apart that are not kept.
func fingerprint(text string) uint64 { return maphash.String(fingerprintSeed, text) }

// scrubbed returns r with the gate's names for those of private objects.
func (r report) scrubbed(gate Gate) report {
	r.message = gate.ScrubMessage(r.message)
	if r.hint != "" {
		r.hint = gate.ScrubMessage(r.hint)
	}
	if r.detail != "" {
		r.detail = gate.ScrubMessage(r.detail)
	}
	return r
}

// isLog reports whether r is a message for the server's log, which reaches clients that lower
// client_min_messages and reveals statements and plans. auto_explain sends plans at the level that
// the operator has chosen, always in these words.
func (r report) isLog() bool {
	switch r.severity {
	case "WARNING", "NOTICE", "INFO":
		return strings.HasPrefix(r.message, "duration: ") && strings.Contains(r.message, " plan:\n")
	default:
		return true
	}
}

// append appends r as a frame in an encoding: kind is 'E' for ErrorResponse, 'N' for
// NoticeResponse.
func (r report) append(dst []byte, kind byte, in *charset.Charset) []byte {
	start := len(dst)
	dst = append(dst, kind, 0, 0, 0, 0)
	field := func(name byte, text string) {
		dst = append(dst, name)
		dst = append(dst, in.Encode(cleanText(text))...)
		dst = append(dst, 0)
	}
	field('S', r.severity)
	field('V', r.severity)
	field('C', r.state)
	field('M', r.message)
	if r.detail != "" {
		field('D', r.detail)
	}
	if r.hint != "" {
		field('H', r.hint)
	}
	if r.position > 0 {
		field('P', strconv.Itoa(r.position))
	}
	if r.routine != "" {
		field('R', r.routine)
	}
	dst = append(dst, 0)
	binary.BigEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-1))
	return dst
}

// cleanText makes text fit for a protocol string in UTF-8.
func cleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}
