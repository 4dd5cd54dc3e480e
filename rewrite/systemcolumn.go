package rewrite

import (
	"slices"

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

// systemColumns are those that every table has besides its own (PostgreSQL, chapter "System
// Columns"). What clients read are views, which have none; temporary tables and a few system
// catalogs are tables, whose rows have numbers of the server's transactions, and places.
var systemColumns = words("cmax cmin ctid tableoid xmax xmin")

// refuseSystemColumn refuses a bare name that could be that of a system column: it is
// another column's only where no relation is in reach, as of a subquery. Names behind a dot
// are attribute's.
func refuseSystemColumn(n *pg.ColumnRef, s *scope) error {
	name := lastName(n.GetFields())
	if len(n.GetFields()) != 1 || !systemColumns[name] {
		return nil
	}
	system := s == nil
	for at := s; at != nil; at = at.outer {
		system = system || slices.ContainsFunc(at.items, func(i fromItem) bool { return i.stored })
	}
	if !system {
		return nil
	}
	return missingSystemColumn(catalog.QuoteIdentifier(name)).at(n.GetLocation())
}

// missingSystemColumn says that there is none, with the name as PostgreSQL writes it.
func missingSystemColumn(name string) *Refusal {
	return refuse(UndefinedColumn, "Tables have no system columns here, as views have none.", "column %s does not exist", name)
}

// systemColumn replaces a system column of a catalog, which the stand-in, a view, does not have:
// psql and pg_dump use tableoid to find which catalog a row is from, and DataGrip uses xmin to find
// what is new.
func (w *walker) systemColumn(node *pg.Node, n *pg.ColumnRef, s *scope) (replaced bool) {
	fields := n.GetFields()
	name := lastName(fields)
	if name != "tableoid" && name != "xmin" {
		return false
	}
	var items []fromItem
	if len(fields) > 1 {
		items = s.item(fields[len(fields)-2].GetString_().GetSval())
	} else if s != nil {
		items = s.items // pg_dump qualifies them only where it has to
	}
	if len(items) != 1 || items[0].standsFor == "" {
		return false
	}
	if name == "tableoid" {
		expression{w, node}.put(casted(castNode(items[0].standsFor, "regclass"), "oid"))
	} else {
		expression{w, node}.put(castNode(frozen, "xid"))
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
