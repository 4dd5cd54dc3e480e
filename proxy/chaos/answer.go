package chaos

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// AppendMessage appends a message: its type, its length and its body.
func AppendMessage(dst []byte, kind byte, body []byte) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, kind), uint32(len(body)+4))
	return append(dst, body...)
}

// appendReport appends an ErrorResponse or a NoticeResponse with the least of fields.
func appendReport(dst []byte, kind byte, severity, state, message string) []byte {
	body := "S" + severity + "\x00V" + severity + "\x00C" + state + "\x00M" + message + "\x00\x00"
	return AppendMessage(dst, kind, []byte(body))
}

// Types and sizes of columns (pg_type).
const (
	typeInt4 = 23
	typeText = 25
)

// column is a column of a result.
type column struct {
	name string
	oid  uint32
}

// columnsOf are those of a statement's result; nil = it has none.
func columnsOf(s Statement) []column {
	switch {
	case s.Verb == Explain:
		return []column{{"QUERY PLAN", typeText}}
	case s.selects():
		return []column{{"id", typeInt4}, {"n", typeInt4}, {"pad", typeText}}
	default:
		return nil
	}
}

// formatOf is the format of the i-th column by the format codes of a Bind.
func formatOf(formats []int16, i int) int16 {
	switch len(formats) {
	case 0:
		return 0
	case 1:
		return formats[0]
	default:
		return formats[i]
	}
}

// appendDescription appends what describes a result: RowDescription or NoData.
func appendDescription(dst []byte, columns []column, formats []int16) []byte {
	if columns == nil {
		return AppendMessage(dst, 'n', nil)
	}
	body := binary.BigEndian.AppendUint16(nil, uint16(len(columns)))
	for i, c := range columns {
		size := int16(-1)
		if c.oid == typeInt4 {
			size = 4
		}
		body = append(append(body, c.name...), 0, 0, 0, 0, 0, 0, 0)
		body = binary.BigEndian.AppendUint32(body, c.oid)
		body = binary.BigEndian.AppendUint16(body, uint16(size))
		body = append(body, 0xff, 0xff, 0xff, 0xff) // no type modifier
		body = binary.BigEndian.AppendUint16(body, uint16(formatOf(formats, i)))
	}
	return AppendMessage(dst, 'T', body)
}

// appendRow appends the n-th row of a statement, from 1.
func (m *Model) appendRow(dst []byte, p *portal, n int) []byte {
	s := p.statement
	if s.Verb == Explain {
		return appendValues(dst, "Result")
	}
	number, pad := n, ""
	switch s.Verb {
	case Rows:
		pad = strings.Repeat("x", s.B)
	case Parameter:
		number = p.argument
	case Sleep:
		number = 0
	case Where:
		number = p.path
	}
	texts := []string{strconv.Itoa(s.ID), strconv.Itoa(number), pad}
	for i, value := range []int{s.ID, number} {
		if formatOf(p.formats, i) == 1 {
			texts[i] = string(binary.BigEndian.AppendUint32(nil, uint32(value)))
		}
	}
	return appendValues(dst, texts...)
}

// appendValues appends a DataRow.
func appendValues(dst []byte, values ...string) []byte {
	body := binary.BigEndian.AppendUint16(nil, uint16(len(values)))
	for _, v := range values {
		body = binary.BigEndian.AppendUint32(body, uint32(len(v)))
		body = append(body, v...)
	}
	return AppendMessage(dst, 'D', body)
}

// appendTag appends CommandComplete.
func appendTag(dst []byte, tag string) []byte {
	return AppendMessage(dst, 'C', append([]byte(tag), 0))
}

// appendSetting appends a ParameterStatus.
func appendSetting(dst []byte, name, value string) []byte {
	return AppendMessage(dst, 'S', []byte(name+"\x00"+value+"\x00"))
}
