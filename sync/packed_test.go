package sync

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// packedTables have columns of every shape in a member, of names that the statements
// themselves use, and no copied column at all.
const packedTables = `
CREATE TYPE shade AS ENUM ('light', 'dark');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE TABLE wares (id int PRIMARY KEY, age int, m text, "row" shade, pack positive, record pair, member shade[], s pair[],
	k varchar(7), gone numeric(6,2), packed positive[], p jsonb, c0 text COLLATE "C",
	illness text);
CREATE TABLE bare (id int PRIMARY KEY, age int)`

const aWare = `SELECT i, i %% 40, repeat('m', i %% 5 * %[1]d), (ARRAY['light', 'dark', NULL])[1 + i %% 3]::shade, nullif(i %% 4, 0),
	CASE WHEN i %% 5 > 0 THEN (i, 'b' || i)::pair END, ARRAY['light', NULL]::shade[], ARRAY[(i, NULL)::pair, NULL], 'k' || i %% 9,
	i / 7.0, ARRAY[1, i + 1], jsonb_build_object('i', i), NULLIF('c' || i %% 2, 'c0') FROM generate_series(%[2]d, %[3]d) i`

func newPackedBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dsn: pgtest.Database(t, pgtest.Shared(t))}
	b.source = b.connect()
	b.script(packedTables)
	var policy catalog.Policy
	for _, of := range [][2]string{{"wares", "m row pack record member s k gone packed p c0 illness"}, {"bare", ""}} {
		table, copied := of[0], of[1]
		columns := []catalog.ColumnPolicy{{Name: "age", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}}}
		for _, name := range strings.Fields(copied) {
			columns = append(columns, catalog.ColumnPolicy{Name: name, Role: catalog.Insensitive})
		}
		policy.Tables = append(policy.Tables, catalog.TablePolicy{
			Table: catalog.Name{Schema: "public", Relation: table}, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Columns: columns,
			Constraints: []privacy.Spec{{Model: privacy.K, K: 5}},
		})
	}
	return b.provide(pgtest.Shared(t), policy)
}

func wares(width, from, to int) string {
	return strings.ReplaceAll(fmt.Sprintf("INSERT INTO wares "+aWare, width, from, to), "%%", "%")
}

// TestPackedMembers publishes and changes tables whose members are of every shape: narrow
// ones, those that have a row of their own, and those that lie out of line.
func TestPackedMembers(t *testing.T) {
	t.Parallel()
	b := newPackedBench(t)
	b.exec(wares(3, 1, 120))
	b.exec("INSERT INTO bare SELECT i, i % 30 FROM generate_series(1, 90) i")
	s, stop := b.run()
	b.checkStore(s)
	for _, sql := range []string{
		"UPDATE wares SET pack = 7, m = NULL WHERE id % 10 = 3",
		wares(200, 200, 230),
		wares(40000, 300, 320),
		"UPDATE wares SET age = age + 1 WHERE id < 15",
		"DELETE FROM wares WHERE id % 3 = 0",
		"UPDATE bare SET age = 99 WHERE id < 4; DELETE FROM bare WHERE id > 80",
		"TRUNCATE wares", // readers see none of them, then all
		wares(3, 1, 3),
		wares(3, 4, 60),
		"DELETE FROM wares WHERE id > 3",
		wares(3, 61, 90),
	} {
		b.script(sql)
		b.caughtUp(s)
		b.checkStore(s)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.exec("UPDATE wares SET k = 'new'")
	s, _ = b.run()
	b.caughtUp(s)
	b.checkStore(s)
}

// TestSpilledPacked has rows of a transaction written before its end: which members changed
// is then not known any more.
func TestSpilledPacked(t *testing.T) {
	before := spillRows
	spillRows = 20
	t.Cleanup(func() { spillRows = before })
	b := newPackedBench(t)
	b.exec(wares(3, 1, 200))
	s, _ := b.run()
	for _, sql := range []string{
		"BEGIN; UPDATE wares SET m = 'other' WHERE id > 10; UPDATE wares SET age = 5 WHERE id = 3; DELETE FROM wares WHERE id BETWEEN 20 AND 60; COMMIT",
		"BEGIN; " + wares(3, 300, 360) + "; UPDATE wares SET k = 'x' WHERE id > 350; COMMIT",
		"UPDATE wares SET k = 'y' WHERE id = 1",
	} {
		b.script(sql)
		b.caughtUp(s)
		b.checkStore(s)
	}
}

// TestMembersAreMixed looks whether the place among a class's members tells who changed
// last.
func TestMembersAreMixed(t *testing.T) {
	t.Parallel()
	b := newPackedBench(t)
	b.exec(wares(3, 1, 7))
	s, _ := b.run()
	places := map[int]bool{}
	for i := range 60 {
		b.exec("UPDATE wares SET k = $1 WHERE id = 4", fmt.Sprint("v", i))
		b.caughtUp(s)
		var place int
		b.scan([]any{&place}, "SELECT place FROM (SELECT k, row_number() OVER () AS place FROM kproxy_release_public.wares) w WHERE k = $1", fmt.Sprint("v", i))
		places[place] = true
	}
	if len(places) < 4 {
		t.Errorf("the changed member stood at the places %v alone", places)
	}
}

// TestPackedIsHidden reads whole rows, of which the members' numbers are no part.
func TestPackedIsHidden(t *testing.T) {
	t.Parallel()
	b := newPackedBench(t)
	b.exec(wares(3, 1, 50))
	b.run()
	var row string
	b.scan([]any{&row}, "SELECT row_to_json(w)::text FROM kproxy_release_public.wares w LIMIT 1")
	if strings.Contains(row, "kproxy") {
		t.Errorf("a whole row is %s", row)
	}
	reader := b.source.Config().Copy()
	reader.User, reader.Password = b.config.Reader, "reader"
	conn, err := pgx.ConnectConfig(t.Context(), reader)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var found int
	for _, sql := range []string{
		"SELECT count(*) FROM kproxy_store." + strings.Replace(b.releaseOf("wares"), "release", "packed", 1),
		"SELECT count(*) FROM kproxy_store." + b.releaseOf("wares"),
		"SELECT count((NULL::kproxy_store." + strings.Replace(b.releaseOf("wares"), "release", "copied", 1) + ").kproxy_record)",
	} {
		if err := conn.QueryRow(t.Context(), sql).Scan(&found); err == nil {
			t.Errorf("the reader may run %s", sql)
		}
	}
}

// TestPackedStoreIsIncomplete has a start halt the table where a packed row tells of a
// record that is not stored.
func TestPackedStoreIsIncomplete(t *testing.T) {
	t.Parallel()
	b := newHeldBench(t)
	b.writeStrange(1)
	_, stop := b.run()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.exec(fmt.Sprintf("DELETE FROM kproxy_store.stored_%d WHERE kproxy_record = 3", b.generationOf("letters")))
	l := b.start()
	l.eventually("the table is halted", func() bool { return l.Status().Tables[publicTable("letters")].State == Halted })
	l.eventually("the store tells so, and the stream goes on", func() bool {
		return scanned[bool](b, "SELECT bool_and(halted IS NOT NULL AND lsn = '0/0') FROM kproxy_store.generation") && l.Status().State == Streaming
	})
}
