package sync

import (
	"encoding/binary"
	"math"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// array is an array of texts or of numbers on its way to the server, in the binary form in
// which it is sent (PostgreSQL, array_recv): what a group writes is written into it at
// once, and not kept as values beside.
type array struct {
	bytes []byte
	count int
}

// arrayHeader are the bytes before the elements: one dimension, whether there are NULLs,
// the elements' type, their number, and the index of the first.
const arrayHeader = 20

// newTexts is an empty array of texts with room for some of them.
func newTexts(room int) *array { return newArray(pgtype.TextOID, room*16) }

func newArray(element uint32, room int) *array {
	a := &array{bytes: make([]byte, arrayHeader, arrayHeader+room)}
	binary.BigEndian.PutUint32(a.bytes, 1)
	binary.BigEndian.PutUint32(a.bytes[8:], element)
	binary.BigEndian.PutUint32(a.bytes[16:], 1)
	return a
}

// add appends a text, or NULL.
func (a *array) add(v value) {
	if a.counted(); v.null {
		a.bytes[7] = 1
		a.bytes = binary.BigEndian.AppendUint32(a.bytes, math.MaxUint32)
		return
	}
	a.bytes = binary.BigEndian.AppendUint32(a.bytes, uint32(len(v.text)))
	a.bytes = append(a.bytes, v.text...)
}

// addNumber appends a number to an array of numbers.
func (a *array) addNumber(n int64) {
	a.counted()
	a.bytes = binary.BigEndian.AppendUint32(a.bytes, 8)
	a.bytes = binary.BigEndian.AppendUint64(a.bytes, uint64(n))
}

func (a *array) counted() {
	a.count++
	binary.BigEndian.PutUint32(a.bytes[12:], uint32(a.count))
}

// numbers are ids as the store keeps them.
func numbers[ID ~int64](ids []ID) *array {
	a := newArray(pgtype.Int8OID, 12*len(ids))
	for _, id := range ids {
		a.addNumber(int64(id))
	}
	return a
}

func recordNumbers(ids []incremental.RecordID) *array { return numbers(ids) }

// arrayCodec has a connection send an array as it is.
type arrayCodec struct{ pgtype.Codec }

// registerArrays has the connection's types take arrays.
func registerArrays(types *pgtype.Map) {
	for _, oid := range []uint32{pgtype.TextArrayOID, pgtype.Int8ArrayOID} {
		if t, known := types.TypeForOID(oid); known {
			types.RegisterType(&pgtype.Type{Name: t.Name, OID: oid, Codec: arrayCodec{t.Codec}})
		}
	}
}

// PlanEncode implements pgtype.Codec.
func (c arrayCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, v any) pgtype.EncodePlan {
	if _, is := v.(*array); is && format == pgtype.BinaryFormatCode {
		return encodeArray{}
	}
	return c.Codec.PlanEncode(m, oid, format, v)
}

type encodeArray struct{}

// Encode implements pgtype.EncodePlan.
func (encodeArray) Encode(v any, buf []byte) ([]byte, error) {
	return append(buf, v.(*array).bytes...), nil
}
