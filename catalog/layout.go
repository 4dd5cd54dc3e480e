package catalog

import "strings"

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
