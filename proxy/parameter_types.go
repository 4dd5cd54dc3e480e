package proxy

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// declarableTypes are the types, each with its array, that a client may declare for a parameter
// (pg_type.dat). Left out are those that print the name of whatever object a number stands for
// (reg*), transaction and row identifiers, and row types: the gate keeps them out of statements,
// and a declared type is not part of the statement. 0 leaves the type to the server, 705 is
// unknown, and 2278, void, is what JDBC declares for what a call returns.
var declarableTypes = []uint32{
	0, 705, 2278,
	16, 1000, 17, 1001, 18, 1002, 19, 1003, 20, 1016, 21, 1005, 23, 1007, 25, 1009, 26, 1028, // bool to oid
	700, 1021, 701, 1022, 790, 791, 1700, 1231, // numbers
	1042, 1014, 1043, 1015, 1560, 1561, 1562, 1563, 2950, 2951, // bpchar, varchar, bit, varbit, uuid
	1082, 1182, 1083, 1183, 1114, 1115, 1184, 1185, 1186, 1187, 1266, 1270, // date and time
	114, 199, 142, 143, 3802, 3807, 4072, 4073, // json, xml, jsonb, jsonpath
	600, 1017, 601, 1018, 602, 1019, 603, 1020, 604, 1027, 628, 629, 718, 719, // geometry
	829, 1040, 774, 775, 869, 1041, 650, 651, // network addresses
	3614, 3643, 3615, 3645, // text search
	3904, 3905, 3906, 3907, 3908, 3909, 3910, 3911, 3912, 3913, 3926, 3927, // ranges
	4451, 6150, 4532, 6151, 4533, 6152, 4534, 6153, 4535, 6155, 4536, 6157, // multiranges
}

// errParameterType refuses a declared type.
type errParameterType struct{ error }

// SQLState is feature_not_supported.
func (errParameterType) SQLState() string { return stateFeatureNotSupported }

// Hint tells what to do instead.
func (errParameterType) Hint() string {
	return "Leave the parameter's type to the server (0), or declare it as text."
}

const (
	// firstUserType is the first OID of types that are not PostgreSQL's own
	// (FirstNormalObjectId).
	firstUserType = 16384

	// maxTypes is how many types are remembered of a session, and maxTypesBytes how much
	// of a ParameterDescription is looked at for them.
	maxTypes      = 256
	maxTypesBytes = 2 + 4*maxTypes
)

// parameterTypes are the database's own types that the server has reported for parameters: drivers
// declare the types that were reported to them. It belongs to a relay.
type parameterTypes map[uint32]struct{}

// learn records the database's types in the beginning of a ParameterDescription.
func (p *parameterTypes) learn(begin []byte) {
	if len(begin) < 2 {
		return
	}
	for types := begin[2:]; len(types) >= 4; types = types[4:] {
		oid := binary.BigEndian.Uint32(types)
		if oid < firstUserType || len(*p) >= maxTypes {
			continue
		}
		if *p == nil {
			*p = make(parameterTypes)
		}
		(*p)[oid] = struct{}{}
	}
}

// refuse returns the refusal of a parameter's declared type, if any. One of the database's own
// types that the server has not reported is left to the server: sqlx, for example, looks up the
// numbers of enumerations in pg_type. The server infers the type from the parameter's position, or
// reports that it cannot.
func (p *parameterTypes) refuse(m parseMessage) *refusal {
	for types := m.types[2:]; len(types) >= 4; types = types[4:] {
		oid := binary.BigEndian.Uint32(types)
		if _, known := (*p)[oid]; known || slices.Contains(declarableTypes, oid) {
			continue
		}
		if oid >= firstUserType {
			binary.BigEndian.PutUint32(types, 0)
		} else {
			return newRefusal(errParameterType{fmt.Errorf("a parameter is declared with type %d, which is not allowed here", oid)}, stateFeatureNotSupported)
		}
	}
	return nil
}
