package proxy

import (
	"encoding/binary"
	"errors"
	"slices"
)

// firstUserOID is the first object identifier of what initdb did not make
// (FirstNormalObjectId).
const firstUserOID = 16384

// namingTypes are the types, and their arrays, that print the name of whatever
// object a number stands for, or a transaction's number: reg* and xid, cid, tid
// (pg_type.dat). The gate keeps them out of statements; a parameter's type is
// declared beside the statement.
var namingTypes = []uint32{
	24, 2202, 2203, 2204, 2205, 2206, 3734, 3769, 4089, 4096, 4191,
	1008, 2207, 2208, 2209, 2210, 2211, 3735, 3770, 4090, 4097, 4192,
	27, 28, 29, 5069, 1010, 1011, 1012, 271,
}

// errParameterType refuses a declared type.
type errParameterType struct{ error }

// SQLState is feature_not_supported.
func (errParameterType) SQLState() string { return stateFeatureNotSupported }

// Hint tells what to do instead.
func (errParameterType) Hint() string {
	return "Leave the parameter's type to the server (0), or declare it as text or oid."
}

// checkTypes returns the refusal of a parameter's declared type, if any.
func (m parseMessage) checkTypes() *refusal {
	for types := m.types[2:]; len(types) >= 4; types = types[4:] {
		if oid := binary.BigEndian.Uint32(types); oid >= firstUserOID || slices.Contains(namingTypes, oid) {
			return newRefusal(errParameterType{errors.New("a parameter is declared with a type that is not allowed here")}, stateFeatureNotSupported)
		}
	}
	return nil
}
