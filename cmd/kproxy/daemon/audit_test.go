package daemon

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

func TestChangedTablesAreReported(t *testing.T) {
	t.Parallel()
	publication := func(change func(*catalog.Publication)) catalog.Publication {
		p := catalog.Publication{
			Policy: catalog.TablePolicy{
				Table: catalog.Name{Schema: "public", Relation: "t"}, Updates: catalog.Updates{Mode: catalog.Immediate},
				Columns: []catalog.ColumnPolicy{{Name: "a", Role: catalog.Sensitive}},
			},
			Relation: catalog.Relation{
				OID: 1, Key: []string{"id"},
				Columns: []catalog.Column{{Name: "id", Number: 1, TypeOID: 20}, {Name: "a", Number: 2, TypeOID: 25, Modifier: -1}},
			},
		}
		p.Relation.Columns = slices.Clone(p.Relation.Columns)
		change(&p)
		return p
	}
	same := publication(func(*catalog.Publication) {})
	s := served{publications: []catalog.Publication{same}}
	for name, c := range map[string]struct {
		now  []catalog.Publication
		want int
	}{
		"as it was": {[]catalog.Publication{same}, 0},
		"another column added": {[]catalog.Publication{publication(func(p *catalog.Publication) {
			p.Relation.Columns = append(p.Relation.Columns, catalog.Column{Name: "b"})
		})}, 0},
		"gone":              {nil, 1},
		"replaced":          {[]catalog.Publication{publication(func(p *catalog.Publication) { p.Relation.OID = 2 })}, 1},
		"another key":       {[]catalog.Publication{publication(func(p *catalog.Publication) { p.Relation.Key = []string{"a"} })}, 1},
		"column added anew": {[]catalog.Publication{publication(func(p *catalog.Publication) { p.Relation.Columns[1].Number = 3 })}, 1},
		"column retyped":    {[]catalog.Publication{publication(func(p *catalog.Publication) { p.Relation.Columns[1].TypeOID = 23 })}, 1},
	} {
		if got := s.changed(c.now); len(got) != c.want {
			t.Errorf("%s: %d findings, want %d", name, len(got), c.want)
		}
	}
}

// TestOnlyTheNetworkExcusesAnAudit: a server that answers may have lost a
// privilege, and then nothing is proved.
func TestOnlyTheNetworkExcusesAnAudit(t *testing.T) {
	t.Parallel()
	network := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	refused := &pgconn.PgError{Code: "28000"}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{fmt.Errorf("connecting: %w", network), true},
		{fmt.Errorf("connecting: %w", refused), false},
		{errors.Join(network, refused), false},
		{errors.New("anything else"), false},
		{nil, false},
	} {
		if got := unreachable(c.err); got != c.want {
			t.Errorf("%v: unreachable is %t, want %t", c.err, got, c.want)
		}
	}
}
