package views

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// A field that is added to a composite type is in every column of the type at once, and in
// what a view computes from them.

// sameFields has a stand-in fail as long as one of the composite types among those given has
// fields that were not accepted; it is empty where there is none among them. The catalogs are
// read under the statement's snapshot. A value that has such a field was written by who had seen
// the field, so that a snapshot which shows the value shows the field, too. PostgreSQL evaluates
// the condition before it reads a row, as no column is in it.
func sameFields(types []catalog.UserType) string {
	var oids []catalog.OID
	var last []string
	for _, y := range types {
		if y.Fields == nil {
			continue
		}
		oids = append(oids, y.OID)
		highest := int16(0)
		for _, f := range y.Fields {
			highest = max(highest, f.Number)
		}
		last = append(last, fmt.Sprint(highest))
	}
	if len(oids) == 0 {
		return ""
	}
	return fmt.Sprintf(sameFieldsSQL, oidArray(oids), strings.Join(last, ","))
}

// sameFieldsSQL wants the composite types %s to have no fields after the numbers %s: numbers are
// never used again. Nothing in it is constant, so that the error is raised by the statement and
// not by its plan.
const sameFieldsSQL = `(SELECT CASE WHEN pg_catalog.count(*) = 0 THEN true
	ELSE pg_catalog.concat('` + changedFields + `', pg_catalog.left(pg_catalog.count(*)::text, 0))::boolean END
	FROM ROWS FROM (pg_catalog.unnest(%s::pg_catalog.oid[]), pg_catalog.unnest('{%s}'::int[])) AS accepted (oid, last)
	JOIN pg_catalog.pg_type AS y ON y.oid = accepted.oid
	JOIN pg_catalog.pg_attribute AS f ON f.attrelid = y.typrelid AND f.attnum > accepted.last AND NOT f.attisdropped)`

func hasComposite(types []catalog.UserType) bool {
	return slices.ContainsFunc(types, func(y catalog.UserType) bool { return y.Fields != nil })
}

// composers are the functions that take a composite type's fields, as they are when they are
// called, from documents: what they show may be older than the field.
var composers = regexp.MustCompile(`\bjsonb?_(populate_record|populate_recordset|to_record|to_recordset)\(`)

// composing is the function among those that a definition calls, or has in a text; else empty.
func composing(definition string) string {
	return strings.TrimSuffix(composers.FindString(definition), "(")
}
