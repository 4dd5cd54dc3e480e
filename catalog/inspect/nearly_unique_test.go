package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// bills are tables without a declared key on what is published of them.
const bills = `CREATE SCHEMA held; GRANT USAGE ON SCHEMA held TO {owner};
	CREATE TABLE held.orders (id int PRIMARY KEY, buyer int, age int, total numeric, state text, stamp timestamptz, note text, few text, gift jsonb, loose point, person text);
	INSERT INTO held.orders SELECT i, i % 900, hashtextextended(i::text, 0) & 63, (i * 7919 % 100003) / 100.0, 'state ' || i % 7, timestamptz '2020-01-01 12:00+00' + i * interval '61 s',
		CASE WHEN i % 3 > 0 THEN 'none' ELSE 'note ' || i END, CASE WHEN i % 100 = 0 THEN 'few ' || i END, jsonb_build_object('i', i), point(i, i), 'person ' || i % 1000
		FROM generate_series(1, 3000) i;
	CREATE TABLE held.payments (no int PRIMARY KEY, order_id int REFERENCES held.orders, age int, amount numeric(12,4), state text, at timestamp, method text, rounded int, person varchar(20));
	INSERT INTO held.payments SELECT 5000 - id, id, age, total, CASE WHEN id % 10 < 8 THEN state ELSE 'other' END, timezone('UTC', stamp), 'method ' || id % 4, total::int / 100, 'person ' || id * 7 % 1000
		FROM held.orders WHERE id % 5 > 0;
	CREATE TABLE held.refunds (no int, age int, amount text, state text, wanted text);
	INSERT INTO held.refunds SELECT no, age, trim_scale(amount)::text, state, 'reason ' || no % 9 FROM held.payments WHERE no % 2 = 0;
	ALTER TABLE held.orders ADD rush boolean;
	UPDATE held.orders SET rush = id % 10 = 0;
	ALTER TABLE held.payments ADD late boolean;
	UPDATE held.payments SET late = order_id % 11 = 0;
	GRANT SELECT ON ALL TABLES IN SCHEMA held TO {owner}`

// held is a policy for one of the tables.
func held(relation, subject string, k int, raw ...string) catalog.TablePolicy {
	policy := catalog.TablePolicy{
		Table: catalog.Name{Schema: "held", Relation: relation}, Method: "rounded-partition", Subject: subject,
		Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{{K: k}},
		Columns: []catalog.ColumnPolicy{{Name: "age", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}}},
	}
	for i, column := range raw {
		policy.Columns = append(policy.Columns, catalog.ColumnPolicy{Name: column, Role: []catalog.Role{catalog.Sensitive, catalog.Insensitive}[i%2]})
	}
	return policy
}

// joinable finds what values tell, as table.column, with what the finding says where it
// is a warning.
func (p prepared) joinable(policy catalog.Policy) []string {
	p.t.Helper()
	relations, err := inspect.Relations(p.t.Context(), p.owner, p.in.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	report, err := inspect.Joinable(p.t.Context(), p.owner, policy, relations)
	if err != nil {
		p.t.Fatal(err)
	}
	found := []string{}
	for _, f := range report {
		where := f.Table.Relation + "." + f.Column
		switch {
		case f.Code == inspect.CodeNearlyUnique && f.Severity == inspect.Error:
		case f.Code == inspect.CodeEqualColumns && f.Severity == inspect.Warning:
			_, after, _ := strings.Cut(f.What, "held.")
			other, _, _ := strings.Cut(after, ",")
			where += " = " + other
		default:
			p.t.Errorf("%s", f)
		}
		found = append(found, where)
	}
	slices.Sort(found)
	return found
}

// TestNearlyUniqueColumns tells columns apart by whom their values tell apart.
func TestNearlyUniqueColumns(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	execute(t, p.admin, p.fill(bills))
	all := []string{"total", "state", "stamp", "note", "few", "gift", "loose", "person"}
	acknowledged := held("orders", "", 3, all...)
	acknowledged.Joinable = []string{"total", "note", "few", "loose"}
	for _, c := range []struct {
		what  string
		table catalog.TablePolicy
		want  []string
	}{
		{"values of their own, where there are any", held("orders", "", 2, all...), []string{"orders.few", "orders.gift", "orders.loose", "orders.note", "orders.stamp", "orders.total"}},
		{"values that fewer than k have", held("orders", "", 4, "person", "state"), []string{"orders.person"}},
		{"values that k have", held("orders", "", 3, "person", "state"), nil},
		{"acknowledged", acknowledged, []string{"orders.gift", "orders.stamp"}},
		{"a value of one person, who has several records", held("orders", "person", 2, "buyer"), nil},
		{"the same, where it is hers alone", held("orders", "buyer", 2, "person"), nil},
		{"what is declared is told as that", held("payments", "", 2, "no", "order_id"), []string{"payments.order_id"}},
		{"quasi-identifying columns are no matter", held("refunds", "", 2, "wanted"), nil},
	} {
		if got := p.joinable(catalog.Policy{Tables: []catalog.TablePolicy{c.table}}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// TestSampledValues has the same said of large tables, of which some values are drawn.
func TestSampledValues(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	execute(t, p.admin, p.fill(`CREATE SCHEMA held; GRANT USAGE ON SCHEMA held TO {owner};
		CREATE TABLE held.orders (age int, alone int, pair int, crowd int, sparse int, person int);
		INSERT INTO held.orders SELECT hashtextextended(i::text, 0) & 63, i, i / 2, i % 3000, CASE WHEN i % 2000 = 0 THEN i END, i / 40 FROM generate_series(0, 59999) i;
		CREATE TABLE held.payments (age int, alone bigint, crowd int);
		INSERT INTO held.payments SELECT hashtextextended(i::text, 0) & 63, i, i % 3000 FROM generate_series(40000, 69999) i;
		GRANT SELECT ON ALL TABLES IN SCHEMA held TO {owner}`))
	policy := catalog.Policy{Tables: []catalog.TablePolicy{held("orders", "", 5, "alone", "pair", "crowd", "sparse"), held("payments", "", 5, "crowd", "alone")}}
	want := []string{"orders.alone", "orders.alone = payments.alone", "orders.pair", "orders.sparse", "payments.alone"}
	if got := p.joinable(policy); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	policy.Tables[0].Subject = "person"
	if got := p.joinable(policy); !slices.Equal(got, want) {
		t.Errorf("of persons: %v, want %v", got, want)
	}
}

// TestNamesLikeFormats looks at a table whose names have the signs of formats, by persons and without.
func TestNamesLikeFormats(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	execute(t, p.admin, p.fill(`CREATE SCHEMA held; GRANT USAGE ON SCHEMA held TO {owner};
		CREATE TABLE held."50%d off%s" (age int, "%v%%" int, "%!s(x)" int);
		INSERT INTO held."50%d off%s" SELECT i % 7, i, i % 500 FROM generate_series(1, 3000) i;
		GRANT SELECT ON ALL TABLES IN SCHEMA held TO {owner}`))
	policy := catalog.Policy{Tables: []catalog.TablePolicy{held("50%d off%s", "", 5, "%v%%")}}
	for _, subject := range []string{"", "%!s(x)"} {
		policy.Tables[0].Subject = subject
		if got := p.joinable(policy); !slices.Equal(got, []string{"50%d off%s.%v%%"}) {
			t.Errorf("by %q: %q", subject, got)
		}
	}
}

// TestEqualColumns finds columns of two tables that agree row by row, or in their values.
func TestEqualColumns(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	execute(t, p.admin, p.fill(bills))
	known := func(table catalog.TablePolicy) catalog.TablePolicy {
		for _, c := range table.Columns[1:] {
			table.Joinable = append(table.Joinable, c.Name)
		}
		return table
	}
	orders := known(held("orders", "", 2, "total", "state", "stamp", "note"))
	for _, c := range []struct {
		what   string
		tables []catalog.TablePolicy
		want   []string
	}{
		{"joined by a foreign key", []catalog.TablePolicy{orders, known(held("payments", "", 2, "amount", "state", "at", "method", "rounded"))}, []string{
			"payments.amount = orders.total", "payments.at = orders.stamp", "payments.state = orders.state",
		}},
		{"joined by no key", []catalog.TablePolicy{orders, known(held("refunds", "", 2, "amount", "state", "wanted"))}, []string{"orders.total = refunds.amount"}},
		{"a key of persons that nothing declares", []catalog.TablePolicy{known(held("orders", "", 5, "person", "state")), known(held("payments", "", 5, "person"))}, []string{
			"orders.person = payments.person",
		}},
		{"nothing in common", []catalog.TablePolicy{orders, known(held("payments", "", 2, "method", "rounded"))}, nil},
		{"equal in most records, as chance has it", []catalog.TablePolicy{known(held("orders", "", 2, "rush")), known(held("payments", "", 2, "late"))}, nil},
		{"one table alone", []catalog.TablePolicy{orders}, nil},
	} {
		if got := p.joinable(catalog.Policy{Tables: c.tables}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
