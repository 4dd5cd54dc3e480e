package catalog

// OID is a PostgreSQL object identifier.
type OID uint32

// Kind is pg_class.relkind.
type Kind byte

// The relation kinds that can stand in a FROM clause (PostgreSQL, chapter pg_class).
const (
	KindTable            Kind = 'r'
	KindPartitionedTable Kind = 'p'
	KindView             Kind = 'v'
	KindMaterializedView Kind = 'm'
	KindForeignTable     Kind = 'f'
)

// Relation is a relation of the database as PostgreSQL describes it.
type Relation struct {
	OID     OID
	Name    Name
	Kind    Kind
	Columns []Column
	// Key are the columns of the replica identity by which a changed row is found
	// again, in index order; with REPLICA IDENTITY FULL, those of the primary key.
	// Where there is none, all columns that are replicated, and KeyRepeats says that
	// equal rows are possible. Empty when a row cannot be identified. That of a
	// partitioned table holds for all of its leaves together.
	Key        []string
	KeyRepeats bool
	// PrimaryKey are the columns of the primary key, in index order; empty where
	// there is none, or where it is deferrable: rows may then share a key until
	// their transaction ends, and PostgreSQL takes it for no replica identity.
	PrimaryKey []string
	// ReplicaIdentity is pg_class.relreplident: d(efault), n(othing), f(ull), i(ndex).
	ReplicaIdentity byte
	// ReadableByReader says that the reader role may select from the relation, or
	// from any column of it, by whatever grant.
	ReadableByReader bool
	// Marked says that the reader role has the privilege REFERENCES on it, by which the
	// stand-ins for the system catalogs know a readable relation.
	Marked bool
	// HasParents and HasChildren tell of inheritance; a partition's table is its
	// parent.
	HasParents, HasChildren bool
	// Leaves are where the rows of a partitioned table lie, ordered by OID: the tables
	// that the replication stream names.
	Leaves []Leaf
}

// Leaf is a partition that holds rows.
type Leaf struct {
	OID  OID
	Name Name
	Kind Kind // KindTable or KindForeignTable
	// Parent is what it is a partition of: the protected table or one of its
	// partitions.
	Parent Name
	// Key, KeyRepeats and ReplicaIdentity are those of the leaf alone. Changes that
	// the replication stream tells of it are told by them.
	Key             []string
	KeyRepeats      bool
	ReplicaIdentity byte
}

// Column returns the named column.
func (r Relation) Column(name string) (Column, bool) {
	for _, c := range r.Columns {
		if c.Name == name {
			return c, true
		}
	}
	return Column{}, false
}

// Replicated are the names of the columns that logical replication sends: all but
// generated ones.
func (r Relation) Replicated() []string {
	var names []string
	for _, c := range r.Columns {
		if !c.Generated {
			names = append(names, c.Name)
		}
	}
	return names
}

// Column is one column of a relation.
type Column struct {
	Name string
	// Number is pg_attribute.attnum; columns dropped before it count.
	Number int16
	// Type is format_type(atttypid, atttypmod), for example numeric(10,2); types
	// outside pg_catalog are qualified.
	Type string
	// TypeOID and Modifier are the declared type's atttypid and atttypmod, -1
	// being no modifier. A domain's own modifier is not in it.
	TypeOID  OID
	Modifier int32
	// BaseFormat is the type after domains are followed, in the form of Type and
	// with the domain's modifier.
	BaseFormat string
	// BaseType is pg_type.typname of the type after domains are followed, without
	// modifier, for example numeric; qualified as in Type where the type is not
	// PostgreSQL's own.
	BaseType string
	// UserType is the declared type, or that of an array's elements, if it is not one of
	// PostgreSQL's own and clients may name it, but where NamesObjects.
	// Nothing that is stored depends on it, so that the digest of a store leaves it out.
	UserType Name `json:"-"`
	// NamesObjects says that values of the type are names of objects (regclass and its
	// like), or have such in them. Another session may not be able to read them. A store's
	// digest leaves it out.
	NamesObjects bool `json:"-"`
	// Domain says that the declared type is a domain, Enum that the type after
	// domains are followed is an enumeration.
	Domain, Enum bool
	// Composite says that the values may consist of those of a composite type of users. A
	// store's digest leaves it out.
	Composite bool `json:"-"`
	// Deterministic says that equal texts are equal bytes: the collation is
	// deterministic, or the type has none.
	Deterministic bool
	NotNull       bool
	Generated     bool
}
