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
	// Empty when a row cannot be identified.
	Key []string
	// ReplicaIdentity is pg_class.relreplident: d(efault), n(othing), f(ull), i(ndex).
	ReplicaIdentity byte
	// ReadableByReader says that the reader role may select from the relation, or
	// from any column of it, by whatever grant.
	ReadableByReader bool
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

// Column is one column of a relation.
type Column struct {
	Name string
	// Type is format_type(atttypid, atttypmod), for example numeric(10,2).
	Type string
	// BaseType is the type's pg_type.typname after domains are followed, without
	// modifier, for example numeric.
	BaseType  string
	NotNull   bool
	Generated bool
}
