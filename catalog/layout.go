package catalog

import (
	"strconv"
	"strings"
)

// Where kproxy's own objects live inside the database.
const (
	// StoreSchema is the private store: keys, raw values, classes, position. No
	// role but the owner has any privilege on it.
	StoreSchema = "kproxy_store"
	// CatalogSchema holds the stand-ins for the system catalogs that clients read.
	CatalogSchema = "kproxy_catalog"
	// releasePrefix starts the name of the schema with the published relations of
	// one source schema.
	releasePrefix = "kproxy_release_"
)

// ReleaseSchema is the schema that holds the published relations of the tables
// of a source schema.
func ReleaseSchema(source string) string { return releasePrefix + source }

// Published is the name of the relation that is read in place of a protected table.
func Published(table Name) Name {
	return Name{Schema: ReleaseSchema(table.Schema), Relation: table.Relation}
}

// IsOwn says whether the schema belongs to kproxy.
func IsOwn(schema string) bool {
	return schema == StoreSchema || schema == CatalogSchema || strings.HasPrefix(schema, releasePrefix)
}

// RecordColumn is the column of the private store that numbers a table's records.
const RecordColumn = "kproxy_record"

const classColumn = "kproxy_class"

// ClassColumn is the column of the private store, in its records and in its
// release, with the number of a record's equivalence class in the part with that
// index among Publication.Components: kproxy_class, kproxy_class_2,
// kproxy_class_3 and so on.
func ClassColumn(component int) string {
	if component == 0 {
		return classColumn
	}
	return classColumn + "_" + strconv.Itoa(component+1)
}

// isOwnColumn says whether a column of the private store bears the name.
func isOwnColumn(name string) bool {
	return name == RecordColumn || strings.HasPrefix(name, classColumn)
}
