package inspect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// A tree with leaves at three depths, in two schemas, with other orders of columns
// and other dropped columns, and a partitioned partition without any.
const tree = `
CREATE SCHEMA attic;
CREATE TABLE stays (gone int, id int, begun date, note json, PRIMARY KEY (begun, id)) PARTITION BY RANGE (begun);
ALTER TABLE stays DROP COLUMN gone;
CREATE TABLE stays_19 PARTITION OF stays FOR VALUES FROM ('2019-01-01') TO ('2020-01-01');
CREATE TABLE stays_20 PARTITION OF stays FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') PARTITION BY HASH (id);
CREATE TABLE stays_20_0 PARTITION OF stays_20 FOR VALUES WITH (MODULUS 2, REMAINDER 0) PARTITION BY LIST (id);
CREATE TABLE stays_20_0_rest PARTITION OF stays_20_0 DEFAULT;
CREATE TABLE stays_21 PARTITION OF stays FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') PARTITION BY HASH (id);
CREATE TABLE attic.stays_20_1 (note json, lost text, begun date NOT NULL, id int NOT NULL, found text);
ALTER TABLE attic.stays_20_1 DROP COLUMN lost, DROP COLUMN found;
ALTER TABLE stays_20 ATTACH PARTITION attic.stays_20_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
ALTER TABLE stays REPLICA IDENTITY NOTHING;`

func leaves(r catalog.Relation) string {
	names := make([]string, len(r.Leaves))
	for i, l := range r.Leaves {
		names[i] = fmt.Sprintf("%s<%s %c%c %v %t", l.Name, l.Parent, l.Kind, l.ReplicaIdentity, l.Key, l.KeyRepeats)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func TestLeavesOfAPartitionedTable(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	execute(t, p.admin, tree)
	stays := p.relation("stays")
	want := "attic.stays_20_1<public.stays_20 rd [begun id] false, " +
		"public.stays_19<public.stays rd [begun id] false, public.stays_20_0_rest<public.stays_20_0 rd [begun id] false"
	if got := leaves(stays); got != want {
		t.Errorf("leaves\n got %s\nwant %s", got, want)
	}
	if !slices.IsSortedFunc(stays.Leaves, func(a, b catalog.Leaf) int { return int(a.OID) - int(b.OID) }) {
		t.Error("the leaves are not ordered by their identifiers")
	}
	if !slices.Equal(stays.Key, []string{"begun", "id"}) || stays.KeyRepeats || !slices.Equal(stays.PrimaryKey, stays.Key) {
		t.Errorf("the key is %v, %t; the primary key %v", stays.Key, stays.KeyRepeats, stays.PrimaryKey)
	}
	if below := p.relation("stays_20"); len(below.Leaves) != 2 || !below.HasParents {
		t.Errorf("a partition has the leaves %s", leaves(below))
	}
	if empty := p.relation("stays_21"); len(empty.Leaves) != 0 || !slices.Equal(empty.Key, stays.Key) {
		t.Errorf("a partition without any has the leaves %s and the key %v", leaves(empty), empty.Key)
	}
	execute(t, p.admin, "ALTER TABLE stays DETACH PARTITION stays_20; DROP TABLE stays_21")
	if got := leaves(p.relation("stays")); !strings.HasPrefix(got, "public.stays_19") || strings.Contains(got, ",") {
		t.Errorf("after detaching, the leaves are %s", got)
	}
}

func TestKeyOfAPartitionedTableIsThatOfItsLeaves(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	for _, c := range []struct{ name, sql, want string }{
		{"none has a key", "CREATE TABLE k (a int, b text) PARTITION BY LIST (a); CREATE TABLE k1 PARTITION OF k FOR VALUES IN (1)", "[] false"},
		{"whole rows", "ALTER TABLE k1 REPLICA IDENTITY FULL", "[a b] true"},
		{"another one without", "CREATE TABLE k2 (b text, a int); ALTER TABLE k ATTACH PARTITION k2 FOR VALUES IN (2)", "[] false"},
		{"whole rows in both", "ALTER TABLE k2 REPLICA IDENTITY FULL", "[a b] true"},
		{"a foreign table", "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE k3 PARTITION OF k FOR VALUES IN (3) SERVER s", "[a b] true"},
		{"an index in one", "ALTER TABLE k1 ALTER a SET NOT NULL; CREATE UNIQUE INDEX k1_a ON k1 (a); ALTER TABLE k1 REPLICA IDENTITY USING INDEX k1_a", "[] false"},
		{"an index in each", "ALTER TABLE k2 ALTER a SET NOT NULL; CREATE UNIQUE INDEX k2_a ON k2 (a); ALTER TABLE k2 REPLICA IDENTITY USING INDEX k2_a", "[] false"},
		{"unique in all", "ALTER TABLE k DETACH PARTITION k3; ALTER TABLE k ADD UNIQUE (a)", "[a] false"},
		{"a primary key", "ALTER TABLE k ADD PRIMARY KEY (b, a)", "[a] false"},
		{"a primary key in one", "ALTER TABLE k1 REPLICA IDENTITY DEFAULT", "[] false"},
		{"a primary key in each", "ALTER TABLE k2 REPLICA IDENTITY FULL", "[b a] false"},
	} {
		execute(t, p.admin, c.sql)
		r := p.relation("k")
		if got := fmt.Sprintf("%v %t", r.Key, r.KeyRepeats); got != c.want {
			t.Errorf("%s: the key is %s, want %s; leaves %s", c.name, got, c.want, leaves(r))
		}
	}
}

// A partition whose DETACH CONCURRENTLY was interrupted is read through its table
// no more, and published with it no more.
func TestPartitionThatIsBeingDetached(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	if p.version() < since("FINALIZE") {
		t.Skip("the server cannot detach concurrently")
	}
	// Who still reads the table holds the detaching up, after its first transaction.
	reader := connect(t, p.admin.Config().ConnString())
	execute(t, reader, "BEGIN; SELECT * FROM journeys")
	ctx, cancel := context.WithCancel(t.Context())
	detached := make(chan struct{})
	go func() {
		defer close(detached)
		other, err := pgx.Connect(ctx, p.admin.Config().ConnString())
		if err == nil {
			_, _ = other.PgConn().Exec(ctx, "ALTER TABLE journeys DETACH PARTITION journeys_1 CONCURRENTLY").ReadAll()
			_ = other.Close(context.Background())
		}
	}()
	const pending = "SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = 'public.journeys_1'::regclass"
	for waiting := true; waiting; {
		var is bool
		if err := p.admin.QueryRow(t.Context(), pending).Scan(&is); err != nil {
			t.Fatal(err)
		}
		waiting = !is
	}
	r := p.relation("journeys")
	cancel()
	<-detached
	if len(r.Leaves) != 1 || r.Leaves[0].Name.Relation != "journeys_2" {
		t.Errorf("the leaves are %s", leaves(r))
	}
	if report := p.audit(); contains(report, "raw-grant", "journeys_1") {
		t.Errorf("findings:\n%s", report)
	}
	execute(t, p.admin, "GRANT SELECT ON journeys_1 TO PUBLIC")
	if report := p.audit(); !contains(report, "raw-grant", "public.journeys_1") {
		t.Errorf("what is being detached may be read, with findings:\n%s", report)
	}
}

func TestRawPartitionsAreNotReadable(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.admin, tree)
	p.in.Policy.Tables = append(p.in.Policy.Tables, catalog.TablePolicy{Table: catalog.Name{Schema: "public", Relation: "stays"}})
	newcomer := catalog.Name{Schema: "attic", Relation: "stays_22"}
	execute(t, p.admin, p.fill("CREATE TABLE attic.stays_22 (LIKE stays); GRANT USAGE ON SCHEMA attic TO {reader}; GRANT SELECT ON attic.stays_22 TO {reader}"))
	p.in.Policy.Readable = append(p.in.Policy.Readable, newcomer)
	if report := p.audit().Errors(); len(report) > 0 {
		t.Fatalf("findings before the table is a partition:\n%s", report)
	}
	execute(t, p.admin, "ALTER TABLE stays ATTACH PARTITION attic.stays_22 FOR VALUES FROM ('2022-01-01') TO ('2023-01-01')")
	report := p.audit().Errors()
	if !contains(report, "readable-raw", newcomer.String()) || !contains(report, "raw-grant", newcomer.String()) {
		t.Errorf("a new partition that may be read: findings\n%s", report)
	}
	for _, name := range []catalog.Name{
		{Schema: "public", Relation: "stays"},
		{Schema: "public", Relation: "stays_20"},
		{Schema: "public", Relation: "stays_20_0_rest"},
		{Schema: "attic", Relation: "stays_20_1"},
	} {
		p.in.Policy.Readable = []catalog.Name{name}
		if report := p.audit(); !contains(report, "readable-raw", name.String()) {
			t.Errorf("%s is accepted as readable:\n%s", name, report)
		}
	}
	// The other way round: the table is listed as readable, a partition is protected.
	p.in.Policy.Tables[len(p.in.Policy.Tables)-1].Table = catalog.Name{Schema: "attic", Relation: "stays_20_1"}
	p.in.Policy.Readable = []catalog.Name{{Schema: "public", Relation: "stays"}}
	report = p.check()
	if !contains(report, "readable-raw", "public.stays") || !contains(report, "policy", "attic.stays_20_1 it inherits from another table or is a partition") {
		t.Errorf("a partition is protected and its table readable: findings\n%s", report)
	}
}

// The stream names leaves, and tells of TRUNCATE of one, as the publication is made.
func TestLeavesArePublishedByTheirNames(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	slot := p.fill("{database}_leaves")
	execute(t, p.admin, "SELECT pg_create_logical_replication_slot('"+slot+"', 'pgoutput')")
	execute(t, p.admin, `INSERT INTO journeys VALUES (1, '2020-05-01'), (2, '2021-05-01'); UPDATE journeys SET begun = '2021-06-01' WHERE id = 1;
		CREATE TABLE journeys_3 PARTITION OF journeys FOR VALUES FROM ('2022-01-01') TO ('2023-01-01');
		INSERT INTO journeys VALUES (3, '2022-05-01'); TRUNCATE journeys_2; TRUNCATE journeys`)
	// The first byte of a message says what it is (chapter "Logical Replication Message
	// Formats"); R: a relation's identifier, its schema and its name.
	rows, err := p.admin.Query(t.Context(), `SELECT chr(get_byte(data, 0)) || CASE get_byte(data, 0) WHEN ascii('R')
		THEN ' ' || split_part(encode(substr(data, 6, length(data) - 5), 'escape'), '\000', 2) ELSE '' END
		FROM pg_logical_slot_get_binary_changes('`+slot+`', NULL, NULL, 'proto_version', '1', 'publication_names', 'kproxy')`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if err := p.drop(slot); err != nil {
		t.Error(err)
	}
	// Relations are told of again after each change of their definition.
	var messages, relations []string
	for _, m := range got {
		if name, told := strings.CutPrefix(m, "R "); told {
			relations = append(relations, name)
			continue
		}
		messages = append(messages, m)
	}
	slices.Sort(relations)
	if told := strings.Join(slices.Compact(relations), " "); told != "journeys_1 journeys_2 journeys_3" {
		t.Errorf("told of relations %s", told)
	}
	if told := strings.Join(messages, " "); told != "B I I D I I T T C" {
		t.Errorf("messages are %s", told)
	}
}

// drop removes a replication slot.
func (p prepared) drop(slot string) error {
	_, err := p.admin.Exec(p.t.Context(), "SELECT pg_drop_replication_slot($1)", slot)
	return err
}

func TestServerCountsWhatOthersTake(t *testing.T) {
	t.Parallel()
	p := prepareBare(t)
	facts, err := inspect.Server(t.Context(), p.owner)
	if err != nil {
		t.Fatal(err)
	}
	if facts.MaxSlotWALKeepMB != -1 || facts.Standbys {
		t.Errorf("%+v", facts)
	}
	config := p.owner.Config().Copy()
	config.RuntimeParams["replication"] = "database"
	sender, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close(context.Background())
	slot := p.fill("{database}_own")
	if _, err := sender.PgConn().Exec(t.Context(), "CREATE_REPLICATION_SLOT "+slot+" TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT").ReadAll(); err != nil {
		t.Fatal(err)
	}
	// Other tests make and drop slots meanwhile.
	const others = "SELECT count(*) FROM pg_replication_slots WHERE slot_name <> $1"
	for attempt := 0; ; attempt++ {
		facts, err := inspect.Server(t.Context(), p.owner)
		if err != nil {
			t.Fatal(err)
		}
		var want int
		if err := p.admin.QueryRow(t.Context(), others, slot).Scan(&want); err != nil {
			t.Fatal(err)
		}
		if facts.SlotsInUse == want && facts.SendersInUse == 0 {
			return
		}
		if attempt == 50 {
			t.Fatalf("%d slots in use, %d of others; %d senders", facts.SlotsInUse, want, facts.SendersInUse)
		}
	}
}
