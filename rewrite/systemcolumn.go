package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// frozen is PostgreSQL's FrozenTransactionId: the row is older than all transactions.
// It is what rows of catalogs seem to be of, since transaction numbers tell of changes
// that are not shown. frozenAge is what age() says of it.
const (
	frozen    = "2"
	frozenAge = 2147483647
)

// systemColumn replaces a qualified system column of a catalog, which the stand-in, a
// view, does not have: tableoid tells psql and pg_dump which catalog a row is from,
// and DataGrip asks by xmin what is new.
func (w *walker) systemColumn(node *pg.Node, n *pg.ColumnRef, s *scope) (replaced bool) {
	fields := n.GetFields()
	if len(fields) < 2 {
		return false
	}
	name, table := fields[len(fields)-1].GetString_().GetSval(), fields[len(fields)-2].GetString_().GetSval()
	if name != "tableoid" && name != "xmin" {
		return false
	}
	items := s.item(table)
	if len(items) != 1 || items[0].standsFor == "" {
		return false
	}
	w.replaced++
	if name == "tableoid" {
		node.Node = casted(castNode(items[0].standsFor, "regclass"), "oid").GetNode()
	} else {
		node.Node = castNode(frozen, "xid").GetNode()
	}
	return true
}

// standsFor is the system catalog, as text for a cast, that a stand-in takes the place
// of; empty if the resolution is of anything else.
func standsFor(r catalog.Resolution) string {
	if r.Disposition != catalog.SystemCatalog || r.Source.Schema != "pg_catalog" {
		return ""
	}
	return "pg_catalog." + catalog.QuoteIdentifier(r.Source.Relation)
}
