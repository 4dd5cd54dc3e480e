package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// maxPlanBytes caps a row of EXPLAIN's output, which is held in memory for its names
// to be mapped.
const maxPlanBytes = 16 << 20

// planColumn is the name of the one column of EXPLAIN's output (ExplainResultDesc).
const planColumn = "QUERY PLAN"

// planDescriptionBytes is the size of the RowDescription of EXPLAIN: the number of
// columns, the name, and 18 bytes of numbers.
const planDescriptionBytes = 2 + len(planColumn) + 1 + 18

// describesPlan reports whether the RowDescription of that size and beginning is one of EXPLAIN, or
// looks like it.
func describesPlan(size int, begin []byte) bool {
	return size == planDescriptionBytes && binary.BigEndian.Uint16(begin) == 1 &&
		string(begin[2:2+len(planColumn)+1]) == planColumn+"\x00"
}

// rows is what the relay knows of the rows that the server sends between two other
// messages, so that it asks once for all of them.
type rows struct {
	described bool // as the output of EXPLAIN, by the last RowDescription
	asked     bool
	plans     bool
}

// arePlans tells whether the rows are the output of EXPLAIN.
func (r *rows) arePlans(t *tracker) bool {
	if !r.asked {
		r.asked, r.plans = true, t.plans(r.described)
	}
	return r.plans
}

// quickPlan is the longest row of a plan, in bytes, that is scrubbed in its turn.
const quickPlan = 16 << 10

// deliverPlan passes a row of EXPLAIN's output on in the client's names. Its one
// column is text, json or xml, which are the same in text and binary format.
func (s *serverSide) deliverPlan(body []byte, out *writeBuffer) (action, error) {
	if s.plan != nil {
		row := *s.plan
		s.plan = nil
		if row == nil {
			return drop, errMalformedRow
		}
		out.add(row)
		return drop, nil
	}
	in := s.tracker.answers()
	scrub := func(value string) string {
		return in.Encode(cleanText(s.config.Gate.ScrubPlan(in.DecodeValid(value))))
	}
	if len(body) > quickPlan && s.later != nil {
		var row []byte
		body = bytes.Clone(body)
		work := func() { row, _ = scrubRow(body, scrub) }
		return s.elsewhere(work, func() { s.plan = &row }), nil
	}
	row, err := scrubRow(body, scrub)
	if err != nil {
		return drop, err
	}
	out.add(row)
	return drop, nil
}

// errMalformedRow reports a DataRow that is none.
var errMalformedRow = errors.Join(errOutOfStep, errors.New("malformed DataRow"))

// scrubRow returns the DataRow with the body, each of its values scrubbed.
func scrubRow(body []byte, scrub func(string) string) ([]byte, error) {
	if len(body) < 2 {
		return nil, errMalformedRow
	}
	row := append(make([]byte, 0, len(body)), body[:2]...)
	columns, rest := int(binary.BigEndian.Uint16(body)), body[2:]
	for range columns {
		if len(rest) < 4 {
			return nil, errMalformedRow
		}
		size := int32(binary.BigEndian.Uint32(rest))
		rest = rest[4:]
		if size == -1 {
			row = binary.BigEndian.AppendUint32(row, 0xffff_ffff)
			continue
		}
		if size < 0 || int(size) > len(rest) {
			return nil, errMalformedRow
		}
		value := scrub(string(rest[:size]))
		rest = rest[size:]
		row = binary.BigEndian.AppendUint32(row, uint32(len(value)))
		row = append(row, value...)
	}
	if len(rest) > 0 {
		return nil, errMalformedRow
	}
	return appendFrame(nil, 'D', row), nil
}
