package sync

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	gosync "sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// parametersOf are the types of a statement's parameters; 0 for one that only the value tells.
func parametersOf(sql string) []uint32 {
	oids := map[int]uint32{}
	for _, p := range parameter.FindAllStringSubmatch(sql, -1) {
		n, _ := strconv.Atoi(p[1])
		oids[n] = max(oids[n], castOIDs[p[2]])
	}
	for _, p := range anyOf.FindAllStringSubmatch(sql, -1) {
		n, _ := strconv.Atoi(p[1])
		oids[n] = max(oids[n], pgtype.Int8ArrayOID)
	}
	list := make([]uint32, 0, len(oids))
	for _, n := range slices.Sorted(maps.Keys(oids)) {
		list = append(list, oids[n])
	}
	return list
}

// memoryTypes are used by one session at a time: they remember how values are coded.
var (
	memoryTypes = pgtype.NewMap()
	memoryTurn  gosync.Mutex
)

// textOf is an argument as people read it.
func textOf(oid uint32, format int16, value []byte) string {
	if format == pgtype.TextFormatCode {
		return string(value)
	}
	memoryTurn.Lock()
	defer memoryTurn.Unlock()
	t, known := memoryTypes.TypeForOID(oid)
	if !known {
		return fmt.Sprintf("%x", value)
	}
	seen, err := t.Codec.DecodeValue(memoryTypes, oid, format, value)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(seen)
}

// encoded is a value as a server sends it.
func encoded(v any, format int16) ([]byte, error) {
	memoryTurn.Lock()
	defer memoryTurn.Unlock()
	return memoryTypes.Encode(typeOf(v), format, v, []byte{})
}

// typeOf is the type of a column with such values.
func typeOf(v any) uint32 {
	switch v.(type) {
	case int:
		return pgtype.Int8OID
	case bool:
		return pgtype.BoolOID
	case float64:
		return pgtype.Float8OID
	case []byte:
		return pgtype.ByteaOID
	case time.Time:
		return pgtype.TimestamptzOID
	case []string:
		return pgtype.TextArrayOID
	case []int64:
		return pgtype.Int8ArrayOID
	case []int32:
		return pgtype.Int4ArrayOID
	case []uint32:
		return pgtype.OIDArrayOID
	}
	return pgtype.TextOID
}

// anyOf is a parameter that a column of numbers is looked for in.
var anyOf = regexp.MustCompile(`_(?:class(?:_\d+)?|record|row) = ANY\(\$(\d+)\)`)

var returnsRows = regexp.MustCompile(`(?m)^(SELECT|WITH|SHOW|IDENTIFY|CREATE_REP)|RETURNING`)
