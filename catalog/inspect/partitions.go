package inspect

import (
	"cmp"
	"slices"

	"github.com/kproxy/kproxy/catalog"
)

// partitions are the database's relations with what lies below each.
type partitions struct {
	rows  map[uint32]relationRow
	below map[uint32][]uint32
}

func newPartitions(rows []relationRow) partitions {
	p := partitions{rows: make(map[uint32]relationRow, len(rows)), below: map[uint32][]uint32{}}
	for _, row := range rows {
		p.rows[row.OID] = row
		if row.Parent != 0 {
			p.below[row.Parent] = append(p.below[row.Parent], row.OID)
		}
	}
	return p
}

// relation describes the row's relation, with its leaves.
func (p partitions) relation(row relationRow) catalog.Relation {
	r := row.relation()
	if r.Kind != catalog.KindPartitionedTable {
		return r
	}
	r.Leaves = p.leaves(row.OID, nil)
	slices.SortFunc(r.Leaves, func(a, b catalog.Leaf) int { return cmp.Compare(a.OID, b.OID) })
	r.Key, r.KeyRepeats = r.CommonKey(row.Uniques)
	return r
}

// leaves appends what holds the rows of the partitioned table: a partition that
// is partitioned itself holds none.
func (p partitions) leaves(table uint32, found []catalog.Leaf) []catalog.Leaf {
	for _, oid := range p.below[table] {
		row := p.rows[oid]
		r := row.relation()
		if r.Kind == catalog.KindPartitionedTable {
			found = p.leaves(oid, found)
			continue
		}
		found = append(found, catalog.Leaf{
			OID: r.OID, Name: r.Name, Kind: r.Kind, Parent: p.rows[table].name(),
			Key: r.Key, KeyRepeats: r.KeyRepeats, ReplicaIdentity: r.ReplicaIdentity,
		})
	}
	return found
}
