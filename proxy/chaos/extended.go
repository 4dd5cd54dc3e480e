package chaos

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// maxName is how much of the name of a statement or a portal the server looks at
// (NAMEDATALEN - 1).
const maxName = 63

// reader takes a message's body apart.
type reader struct {
	left []byte
	bad  bool // it is too short
}

func (r *reader) text() string {
	text, rest, found := bytes.Cut(r.left, []byte{0})
	r.left, r.bad = rest, r.bad || !found
	return string(text)
}

func (r *reader) name() string {
	name := r.text()
	return name[:min(len(name), maxName)]
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.left) {
		r.bad = true
		return make([]byte, max(min(n, 4), 0))
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

func (r *reader) int16() int16 { return int16(binary.BigEndian.Uint16(r.bytes(2))) }
func (r *reader) int32() int32 { return int32(binary.BigEndian.Uint32(r.bytes(4))) }

// extended answers a message of the extended protocol. The text is what an error is
// about.
func (m *Model) extended(kind byte, body []byte) (out []byte, state, text string) {
	r := &reader{left: body}
	switch kind {
	case 'P':
		if m.tooLong(body) {
			out, state = m.refused(&tooLong)
			return out, state, ""
		}
		return m.parse(r)
	case 'B':
		out, state = m.bind(r)
	case 'D':
		out, state = m.describe(r)
	case 'E':
		out, state = m.execute(r)
	case 'C':
		out, state = m.close(r)
	}
	return out, state, ""
}

func (m *Model) parse(r *reader) (out []byte, state, text string) {
	name := r.name()
	text = r.text()
	types := r.bytes(4 * int(r.int16()))
	if r.bad || len(r.left) > 0 {
		return nil, stateProtocolViolation, ""
	}
	var refusal *Refusal
	if m.Refuse != nil {
		refusal = m.Refuse(text)
	}
	if name == "" {
		delete(m.statements, "")
	}
	if refusal != nil {
		_, state = m.refused(refusal)
		return nil, state, text
	}
	all := parseTexts(text)
	made := statement{empty: all == nil, types: types}
	switch {
	case len(all) > 1 || len(all) == 1 && all[0].Verb == Syntax:
		return nil, stateSyntaxError, text
	case len(all) == 1:
		made.Statement = all[0]
		if state := m.analyze(all[0], true); state != "" {
			return nil, state, text
		}
		made.path = m.pathOf(all[0])
	}
	if made.Verb == Parameter && len(types) == 0 {
		made.types = []byte{0, 0, 0, typeInt4}
	}
	if _, taken := m.statements[name]; taken && name != "" {
		return nil, stateDuplicateName, text
	}
	if m.statements == nil {
		m.statements = make(map[string]statement)
	}
	m.statements[name] = made
	return AppendMessage(nil, '1', nil), "", text
}

func (m *Model) bind(r *reader) (out []byte, state string) {
	name, of := r.name(), r.name()
	s, found := m.statements[of]
	if !found && !r.bad {
		return nil, stateNoStatement
	}
	formats := r.formats()
	arguments := int(r.int16())
	if r.bad || len(formats) > 1 && len(formats) != arguments || arguments != len(s.types)/4 {
		return nil, stateProtocolViolation
	}
	if m.failed && (s.empty || !s.exits()) {
		return nil, stateFailedTransaction
	}
	if _, taken := m.portals[name]; taken && name != "" {
		return nil, stateDuplicatePortal
	}
	p := &portal{statement: s, level: len(m.points), path: m.pathOf(s.Statement)}
	if of == "" && m.Rewriting {
		p.path = s.path
	}
	for i := range arguments {
		value := r.bytes(int(r.int32()))
		if p.argument, state = argument(value, formatOf(formats, i)); state != "" {
			return nil, state
		}
	}
	p.formats = r.formats()
	if r.bad || len(r.left) > 0 || len(p.formats) > 1 && len(p.formats) != len(columnsOf(s.Statement)) {
		return nil, stateProtocolViolation
	}
	m.unbound = m.unbound && name != ""
	m.hold(name, p)
	return AppendMessage(nil, '2', nil), ""
}

// formats reads a number of format codes.
func (r *reader) formats() []int16 {
	codes := r.bytes(2 * int(r.int16()))
	formats := make([]int16, len(codes)/2)
	for i := range formats {
		formats[i] = int16(binary.BigEndian.Uint16(codes[2*i:]))
	}
	return formats
}

// argument reads the value of a parameter.
func argument(value []byte, format int16) (n int, state string) {
	if format == 1 {
		if len(value) != 4 {
			return 0, stateProtocolViolation
		}
		return int(int32(binary.BigEndian.Uint32(value))), ""
	}
	parsed, err := strconv.ParseInt(string(value), 10, 32)
	if err != nil {
		return 0, stateInvalidText
	}
	return int(parsed), ""
}

func (m *Model) describe(r *reader) (out []byte, state string) {
	kind := r.bytes(1)[0]
	name := r.name()
	if r.bad || len(r.left) > 0 {
		return nil, stateProtocolViolation
	}
	switch kind {
	case 'S':
		s, found := m.statements[name]
		if !found {
			return nil, stateNoStatement
		}
		columns := columnsOf(s.Statement)
		if m.failed && columns != nil {
			return nil, stateFailedTransaction
		}
		types := binary.BigEndian.AppendUint16(nil, uint16(len(s.types)/4))
		out = AppendMessage(nil, 't', append(types, s.types...))
		return appendDescription(out, columns, nil), ""
	case 'P':
		p, found := m.portals[name]
		if !found {
			return nil, stateNoPortal
		}
		columns := columnsOf(p.Statement)
		if m.failed && columns != nil {
			return nil, stateFailedTransaction
		}
		return appendDescription(nil, columns, p.formats), ""
	default:
		return nil, stateProtocolViolation
	}
}

func (m *Model) execute(r *reader) (out []byte, state string) {
	name := r.name()
	most := r.int32()
	if r.bad || len(r.left) > 0 {
		return nil, stateProtocolViolation
	}
	p, found := m.portals[name]
	switch {
	case !found:
		return nil, stateNoPortal
	case p.empty:
		return AppendMessage(nil, 'I', nil), ""
	case m.failed && (!p.exits() || p.aborted):
		return nil, stateFailedTransaction
	}
	return m.run(nil, p, max(int(most), 0))
}

func (m *Model) close(r *reader) (out []byte, state string) {
	kind := r.bytes(1)[0]
	name := r.name()
	if r.bad || len(r.left) > 0 {
		return nil, stateProtocolViolation
	}
	switch kind {
	case 'S':
		delete(m.statements, name)
	case 'P':
		delete(m.portals, name)
	default:
		return nil, stateProtocolViolation
	}
	return AppendMessage(nil, '3', nil), ""
}
