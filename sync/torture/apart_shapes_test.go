package torture

import (
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// The tables that only a source apart from the release has, and those of linked persons.

// wards are mirrored, without one of the columns of their key.
func wards() *shape {
	return &shape{
		name: "wards",
		setup: `CREATE TABLE wards (code text, floor int, name text, chief text, note text, PRIMARY KEY (code, floor));
			ALTER TABLE wards ALTER note SET STORAGE EXTERNAL;`,
		columns: []column{
			{name: "code", of: formatted("w%d", 1, 60), key: true},
			{name: "floor", of: number(1, 4), key: true},
			{name: "name", of: odd},
			{name: "chief", of: odd},
			{name: "note", of: long("mn")},
		},
		policy: catalog.MirrorTable(catalog.Name{}, []string{"floor", "name", "note"}),
	}
}

// entries are mirrored, and have no key: rows repeat.
func entries() *shape {
	return &shape{
		name:    "entries",
		setup:   `CREATE TABLE entries (code text, meaning text); ALTER TABLE entries REPLICA IDENTITY FULL;`,
		columns: []column{{name: "code", of: formatted("c%d", 1, 9)}, {name: "meaning", of: odd}},
		policy:  catalog.MirrorTable(catalog.Name{}, []string{"code", "meaning"}),
	}
}

// The ledger is mirrored. Its amounts have one sum after each commit.
const (
	ledgerRows = 12
	ledgerSum  = 1200
)

func ledger() *shape {
	return &shape{
		name: "ledger",
		setup: `CREATE TABLE ledger (id int PRIMARY KEY, amount bigint NOT NULL);
			INSERT INTO ledger SELECT i, 100 FROM generate_series(1, 12) i;`,
		columns: []column{{name: "id", of: number(1, ledgerRows), key: true}, {name: "amount", of: number(100, 100)}},
		policy:  catalog.MirrorTable(catalog.Name{}, []string{"id", "amount"}),
	}
}

// transfer is the statements that move an amount of the ledger.
func transfer(rng *rand.Rand) []statement {
	amount, from, to := 1+rng.IntN(50), 1+rng.IntN(ledgerRows), 1+rng.IntN(ledgerRows)
	return append(
		one("UPDATE ledger SET amount = amount - %d WHERE id = %d", amount, from),
		one("UPDATE ledger SET amount = amount + %d WHERE id = %d", amount, to)...)
}

// guests and stays are linked: the stays of a guest are published with the guest.
func guests() *shape {
	return &shape{
		name:  "guests",
		setup: `CREATE TABLE guests (guest int PRIMARY KEY, born date, sex text, blood text);`,
		columns: []column{
			{name: "guest", of: number(1, 120), key: true},
			{name: "born", of: formatted("19%02d-01-01", 30, 90)},
			{name: "sex", of: oneOf("f", "m")},
			{name: "blood", of: oneOf("0", "A", "B", "AB")},
		},
		policy: catalog.TablePolicy{
			Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{ofSize(3)},
			Columns: append([]catalog.ColumnPolicy{quasi("born", hierarchy.Date), quasi("sex", hierarchy.Categorical)}, roles(catalog.Sensitive, "blood")...),
		},
	}
}

func stays() *shape {
	return &shape{
		name:  "stays",
		setup: `CREATE TABLE stays (stay int PRIMARY KEY, guest int, since date, room text);`,
		columns: []column{
			{name: "stay", of: number(1, 300), key: true},
			{name: "guest", of: number(1, 140)}, // some of nobody
			{name: "since", of: formatted("2024-%02d-01", 1, 12)},
			{name: "room", of: oneOf("eye", "heart", "skin")},
		},
		policy: catalog.TablePolicy{
			Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{ofSize(3)},
			Columns: append([]catalog.ColumnPolicy{quasi("since", hierarchy.Date)}, roles(catalog.Sensitive, "room")...),
		},
	}
}

// linked is who the rows of guests and stays are about.
func linked() catalog.People {
	knows, err := catalog.ParseKnowledge("1/1y:2")
	if err != nil {
		panic(err)
	}
	name := func(table string) catalog.Name { return catalog.Name{Schema: "public", Relation: table} }
	return catalog.People{
		Kind: "guest", Root: name("guests"), Key: []string{"guest"}, Knows: knows,
		Tables:      []catalog.PeopleTable{{Table: name("stays"), Person: []string{"guest"}, Key: []string{"stay"}, Order: "since"}},
		Constraints: []privacy.Spec{ofSize(3)},
	}
}

// everyShape are all shapes, those of runs with two servers among them.
func everyShape() []*shape {
	list := append(shapes(), wards(), entries(), ledger(), guests(), stays())
	for _, s := range list {
		s.policy.Table = s.table()
	}
	return list
}

// plain says that a table is not published in classes of its own: it is mirrored, or linked with others.
func plain(p catalog.Publication) bool { return p.Policy.IsMirrored() || p.Membership != nil }
