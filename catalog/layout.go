package catalog

import (
	"regexp"
	"slices"
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
	// audiencePrefix starts the name of that of an audience, whose own name follows.
	audiencePrefix = "kproxy_audience_"
)

// ReleaseSchema is the schema that holds the published relations of the tables
// of a source schema.
func ReleaseSchema(source string) string { return ReleaseSchemaFor("", source) }

// ReleaseSchemaFor is the same of what is published for an audience.
func ReleaseSchemaFor(audience, source string) string {
	if audience == "" {
		return releasePrefix + source
	}
	return audiencePrefix + audience + "_" + source
}

// ReleaseSchemaPattern is how the names of such schemas begin; the rest is the source's schema. It is
// for PostgreSQL, too.
const ReleaseSchemaPattern = "kproxy_(release|audience_[a-z][a-z0-9]*)_"

// AudienceSchemaPattern is that of the schemas that are for audiences what ReleaseSchema of the
// source's is for the policy's own readers.
func AudienceSchemaPattern(source string) string {
	return audiencePrefix + "[a-z][a-z0-9]*_" + regexp.QuoteMeta(source)
}

var isReleaseSchema = regexp.MustCompile("^" + ReleaseSchemaPattern)

// Published is the name of the relation that is read in place of a protected table.
func Published(table Name) Name { return PublishedFor("", table) }

// PublishedFor is the same of what is published for an audience.
func PublishedFor(audience string, table Name) Name {
	return Name{Schema: ReleaseSchemaFor(audience, table.Schema), Relation: table.Relation}
}

// IsOwn says whether the schema belongs to kproxy.
func IsOwn(schema string) bool {
	return schema == StoreSchema || schema == CatalogSchema || schema == HelperSchema || isReleaseSchema.MatchString(schema)
}

// RecordColumn is the column of the private store that numbers a table's records.
const RecordColumn = "kproxy_record"

// MembersColumn is the column of a packed release that holds some records of a class.
const MembersColumn = "kproxy_members"

// CiphertextColumn is the column of a sealed private store that holds the rows.
const CiphertextColumn = "kproxy_ciphertext"

// SectionColumn is the column of a packed release that numbers the sections of a class.
const SectionColumn = "kproxy_section"

// Columns that a guarded table has besides. ClassColumn(0) and WeightColumn are
// published: classes never change, so that their numbers tell nothing that comparing
// versions would not.
const (
	// RowColumn numbers the published rows; in the records, it is a record's row.
	RowColumn = "kproxy_row"
	// PersonColumn numbers the persons of each class in the release.
	PersonColumn = "kproxy_person"
	// WeightColumn is the share of a class's rows that stand for somebody, as far as
	// it may be known.
	WeightColumn = "kproxy_weight"
	// DiscountedColumn is how many rows a weight leaves out, and LeaversColumn how many persons'
	// they are. They are beside the weights, not in rows.
	DiscountedColumn = "kproxy_discounted"
	LeaversColumn    = "kproxy_leavers"
	// SealedColumn says that a class is not cut any more (anonymizer/lineage).
	SealedColumn = "kproxy_sealed"
	// ChangedColumn says which values of a record are not those published, and
	// SinceColumn since when; NULL where all are.
	ChangedColumn = "kproxy_changed"
	// SinceColumn is since when a record waits, or is published as it was; NULL where
	// neither is so.
	SinceColumn = "kproxy_since"
	// ExpiredColumn says that a record waited in vain and is withheld for good.
	ExpiredColumn = "kproxy_expired"
)

// Columns that guarded tables have besides which are released together; see people.StoredRow
// and people.Place. PersonColumn numbers the persons of a class there, ClassColumn(0) the cells.
const (
	// PersonsColumn numbers the class of persons; NULL in rows without keys.
	PersonsColumn = "kproxy_persons"
	// WindowColumn numbers the window of time.
	WindowColumn = "kproxy_window"
	// ParentColumn is the published row that a row belongs to, as RowColumn numbers it.
	ParentColumn = "kproxy_parent"
	// OwnColumn and AliasColumn are the pseudonyms of the row and of the person.
	OwnColumn   = "kproxy_own"
	AliasColumn = "kproxy_alias"
	// PoolingColumn says of a record that it waits to be published without keys, and StaleColumn
	// that it is published as it was.
	PoolingColumn = "kproxy_pooling"
	StaleColumn   = "kproxy_stale"
)

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
	switch name {
	case RecordColumn, CiphertextColumn, CountColumn, MembersColumn, SectionColumn, RowColumn, PersonColumn, WeightColumn, SealedColumn, ChangedColumn, SinceColumn, ExpiredColumn,
		PersonsColumn, WindowColumn, ParentColumn, OwnColumn, AliasColumn, DiscountedColumn, LeaversColumn, PoolingColumn, StaleColumn:
		return true
	}
	return slices.ContainsFunc([]string{classColumn, known, sum, least, greatest}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
