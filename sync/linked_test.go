package sync

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// sourceHospital has no foreign keys, so that rows come in any order and some stay without
// a person. Visits have a key of two columns, whose types differ.
const sourceHospital = `
CREATE TABLE patients (patient_id integer PRIMARY KEY, name text, born date, sex text, blood text);
CREATE TABLE visits (visit_id bigint, patient_id integer, admitted date, ward text, house text DEFAULT 'north', PRIMARY KEY (house, visit_id));
CREATE TABLE drugs (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), visit_id bigint, dose integer, drug text, house varchar(20) DEFAULT 'north');`

func hospitalPeople(knows string) (catalog.People, catalog.Policy) {
	k, err := catalog.ParseKnowledge(knows)
	if err != nil {
		panic(err)
	}
	name := func(table string) catalog.Name { return catalog.Name{Schema: "public", Relation: table} }
	qi := func(column string, kind hierarchy.Kind) catalog.ColumnPolicy {
		return catalog.ColumnPolicy{Name: column, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: kind}}
	}
	sensitive := func(column string) catalog.ColumnPolicy {
		return catalog.ColumnPolicy{Name: column, Role: catalog.Sensitive}
	}
	people := catalog.People{
		Kind: "patient", Root: name("patients"), Key: []string{"patient_id"}, Knows: k,
		Tables: []catalog.PeopleTable{
			{Table: name("visits"), Person: []string{"patient_id"}, Key: []string{"house", "visit_id"}, Order: "admitted"},
			{Table: name("drugs"), Through: name("visits"), By: []string{"house", "visit_id"}},
		},
		Constraints: []privacy.Spec{{Model: privacy.K, K: testK}},
	}
	return people, catalog.Policy{Tables: []catalog.TablePolicy{
		{Table: name("patients"), Method: "rounded-partition", Columns: []catalog.ColumnPolicy{qi("born", hierarchy.Date), qi("sex", hierarchy.Categorical), sensitive("blood")}},
		{Table: name("visits"), Method: "rounded-partition", Columns: []catalog.ColumnPolicy{qi("admitted", hierarchy.Date), sensitive("ward")}},
		{Table: name("drugs"), Method: "rounded-partition", Columns: []catalog.ColumnPolicy{qi("dose", hierarchy.Numeric), sensitive("drug")}},
	}}
}

// hospital is a bench of linked tables.
type hospital struct {
	*bench
	knows   string
	updates catalog.Updates
	bounds  []privacy.Spec // beside k
	random  *rand.Rand
	// audiences are those that see a table, by its name.
	audiences map[string][]catalog.AudiencePolicy
	// hidden are the columns that a table, by its name, hides from its own readers.
	hidden map[string][]string
}

func newHospital(t *testing.T, server *pgserver.Server, knows string, patients int) *hospital {
	t.Helper()
	return newHospitalWith(t, server, knows, catalog.Updates{Mode: catalog.Immediate}, patients)
}

func newHospitalWith(t *testing.T, server *pgserver.Server, knows string, updates catalog.Updates, patients int, bounds ...privacy.Spec) *hospital {
	t.Helper()
	_, policy := hospitalPeople(knows)
	for i := range policy.Tables { // which provide wants to be whole
		policy.Tables[i].Updates = catalog.Updates{Mode: catalog.Immediate}
		policy.Tables[i].Constraints = []privacy.Spec{{Model: privacy.K, K: testK}}
	}
	h := &hospital{bench: newBenchOf(t, server, sourceHospital, policy), knows: knows, updates: updates, bounds: bounds, random: rand.New(rand.NewPCG(7, uint64(len(knows))))}
	h.config.Tables = h.linkedPublications(h.config.Reader)
	for id := range patients {
		h.patient(id)
	}
	return h
}

func (h *hospital) linkedPublications(reader string) []catalog.Publication {
	h.t.Helper()
	relations, err := inspect.Relations(h.t.Context(), h.connect(), reader)
	if err != nil {
		h.t.Fatal(err)
	}
	people, policy := hospitalPeople(h.knows)
	people.Constraints = append(people.Constraints, h.bounds...)
	policies, byName := make(map[catalog.Name]catalog.TablePolicy), make(map[catalog.Name]catalog.Relation)
	for _, t := range policy.Tables {
		t.Updates, t.Audiences, t.Hidden = h.updates, h.audiences[t.Table.Relation], h.hidden[t.Table.Relation]
		policies[t.Table] = t
	}
	for _, r := range relations {
		byName[r.Name] = r
	}
	p, problems := catalog.PublishPeople(people, policies, byName)
	if len(problems) > 0 {
		h.t.Fatal(problems)
	}
	return append([]catalog.Publication{p.Root}, p.Tables...)
}

// patient adds a patient with up to four visits.
func (h *hospital) patient(id int) {
	h.exec("INSERT INTO patients VALUES ($1::int, 'P', date '1930-01-01' + $2::int, $3, $4)",
		id, h.random.IntN(25000), []string{"f", "m"}[h.random.IntN(2)], []string{"0", "A", "B", "AB"}[h.random.IntN(4)])
	for range h.random.IntN(5) {
		h.visit(id)
	}
}

func (h *hospital) visit(patient int) {
	id := h.random.Int64N(1 << 40)
	h.exec("INSERT INTO visits VALUES ($1, $2, date '2023-01-01' + $3::int, $4)", id, patient, h.random.IntN(1000), []string{"eye", "heart", "skin"}[h.random.IntN(3)])
	for range h.random.IntN(3) {
		h.exec("INSERT INTO drugs (visit_id, dose, drug) VALUES ($1, $2, $3)", id, 10*h.random.IntN(20), fmt.Sprint("drug ", h.random.IntN(6)))
	}
}

// changeHospital makes a random change in any of the tables.
func (h *hospital) changeHospital(patients int) {
	any := h.random.IntN(patients)
	someVisit := "(SELECT visit_id FROM visits ORDER BY md5(visit_id::text || $1::int::text) LIMIT 1)"
	switch h.random.IntN(15) {
	case 0:
		h.exec("DELETE FROM patients WHERE patient_id = $1", any) // its visits wait
	case 1:
		h.exec("INSERT INTO patients VALUES ($1, 'back', date '1960-01-01' + $2::int, 'f', 'A') ON CONFLICT DO NOTHING", any, h.random.IntN(9000))
	case 2:
		h.exec("UPDATE patients SET born = born + 1000 WHERE patient_id = $1", any)
	case 3:
		h.exec("UPDATE patients SET patient_id = patient_id + 100000 WHERE patient_id = $1", any)
	case 4, 5, 6:
		h.visit(any)
	case 7:
		h.exec("DELETE FROM visits WHERE visit_id = "+someVisit, any)
	case 8:
		h.exec("UPDATE visits SET patient_id = $2::int WHERE visit_id = "+someVisit, any, h.random.IntN(patients))
	case 9:
		h.exec("UPDATE visits SET admitted = admitted + 200 WHERE visit_id = "+someVisit, any)
	case 10:
		h.exec("UPDATE visits SET ward = 'moved' WHERE visit_id = "+someVisit, any)
	case 11:
		h.exec("UPDATE drugs SET visit_id = "+someVisit+" WHERE id = (SELECT id FROM drugs ORDER BY id LIMIT 1)", any)
	case 12:
		h.exec("BEGIN")
		h.exec("INSERT INTO drugs (visit_id, dose, drug) VALUES ($1, 5, 'first')", -int64(any)-1)
		h.exec("INSERT INTO visits VALUES ($1, $2, '2024-05-05', 'late') ON CONFLICT DO NOTHING", -int64(any)-1, any)
		h.exec("COMMIT")
	case 14: // another patient gets the key of one who goes, and a visit comes back under its key
		h.exec("BEGIN")
		h.exec("DELETE FROM patients WHERE patient_id = $1", any)
		h.exec("UPDATE patients SET patient_id = $1 WHERE patient_id = (SELECT max(patient_id) FROM patients)", any)
		h.exec("WITH gone AS (DELETE FROM visits WHERE visit_id = "+someVisit+" RETURNING *) SELECT set_config('kept.visit', (SELECT row_to_json(g)::text FROM gone g), true)", any)
		h.exec("INSERT INTO visits SELECT * FROM json_populate_record(NULL::visits, nullif(current_setting('kept.visit', true), '')::json) v WHERE visit_id IS NOT NULL")
		h.exec("COMMIT")
	case 13:
		h.exec("DELETE FROM drugs WHERE id = (SELECT id FROM drugs ORDER BY md5(id::text || $1::int::text) LIMIT 1)", any)
	}
}

// inStep waits until readers see what was committed so far.
func (h *hospital) inStep(s *Syncer) {
	h.t.Helper()
	var target pglogrepl.LSN
	if err := h.source.QueryRow(h.t.Context(), "SELECT pg_current_wal_insert_lsn()::text").Scan(&target); err != nil {
		h.t.Fatal(err)
	}
	h.exec("INSERT INTO visits VALUES (-9999, -9999, NULL, NULL)") // of nobody
	h.exec("DELETE FROM visits WHERE visit_id = -9999")
	await(h.t, "the releases are in step", func() bool {
		if s.Status().State == Stopped {
			h.t.Fatalf("the syncer stopped: %s", s.Status().Reason)
		}
		return s.Status().Position >= target
	})
}

// published are the release's rows with the records that they are of, as SQL. The numbers of
// cells and records are kproxy's own.
func (h *hospital) published(tx pgx.Tx, table, audience string) string {
	h.t.Helper()
	release := "release"
	if audience != "" {
		release += "_" + audience
	}
	var generation int64
	if err := tx.QueryRow(h.t.Context(), "SELECT generation FROM kproxy_store.generation WHERE table_name = $1", table).Scan(&generation); err != nil {
		h.t.Fatal(err)
	}
	records, release := storeTable("records", generation).SQL(), storeTable(release, generation).SQL()
	return fmt.Sprintf("(SELECT to_jsonb(r) AS raw, to_jsonb(p) AS p FROM %s p JOIN %s r ON r.%s = p.%s)", release, records, recordColumn, catalog.RowColumn)
}

// judge compares what readers see at one moment with the source and the guarantee, by SQL
// that shares nothing with what made it. The verifier has to agree.
func (h *hospital) judge() (withKeys, rows int) {
	h.t.Helper()
	h.checkRelease()
	return h.judgeFor("", testK)
}

// judgeFor is the same of the release for an audience, without the verifier.
func (h *hospital) judgeFor(audience string, k int) (withKeys, rows int) {
	h.t.Helper()
	ctx := h.t.Context()
	tx, err := h.connect().BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		h.t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it has only read
	window := "'always'"
	if strings.Contains(h.knows, "/1y") {
		window = "coalesce(left(raw->>'admitted', 4), 'none')"
	}
	// Persons by their raw keys, with what is published of their roots and of each row.
	with := fmt.Sprintf(`WITH root AS (SELECT raw->>'patient_id' AS person, p->>'patient_id' AS pseudonym, jsonb_build_array(p->'born', p->'born_range', p->'sex') AS shown, raw->>'sex' AS sex, CASE WHEN p ? 'sex' THEN p->>'sex' ELSE raw->>'sex' END AS shown_sex, p ? 'blood' AND raw->>'blood' IS DISTINCT FROM p->>'blood' AS wrong FROM %s s),
		visit AS (SELECT raw->>'patient_id' AS person, raw->>'visit_id' AS visit, p->>'patient_id' AS pseudonym, p->>'visit_id' AS own, p->>'house' AS house, %s AS win,
			jsonb_build_array(p->'admitted', p->'admitted_range') AS shown, p ? 'ward' AND raw->>'ward' IS DISTINCT FROM p->>'ward' AS wrong, NOT (raw->>'admitted')::date <@ (p->>'admitted_range')::daterange AS outside FROM %s s),
		drug AS (SELECT raw->>'visit_id' AS visit, p->>'visit_id' AS pseudonym, p->>'house' AS house, jsonb_build_array(p->'dose', p->'dose_range') AS shown, raw->>'drug' IS DISTINCT FROM p->>'drug' AS wrong, NOT (raw->>'dose')::int <@ (p->>'dose_range')::int4range AS outside FROM %s s),
		-- Visits at the source: one without a key may be withheld where its drugs are published.
		came AS (SELECT visit_id::text AS visit, patient_id::text AS person FROM visits JOIN patients USING (patient_id))`,
		h.published(tx, "patients", audience), window, h.published(tx, "visits", audience), h.published(tx, "drugs", audience))
	for what, query := range map[string]string{
		"values of their own":                 `SELECT count(*) FROM (SELECT wrong FROM root UNION ALL SELECT wrong OR outside FROM visit UNION ALL SELECT wrong OR outside FROM drug) a WHERE wrong`,
		"roots of fewer than k persons":       `SELECT count(*) FROM (SELECT FROM root GROUP BY shown HAVING count(DISTINCT person) < $1) a`,
		"classes of one sex, not shown":       `SELECT count(*) FROM (SELECT FROM root GROUP BY shown HAVING count(DISTINCT sex) = 1 AND min(shown_sex) IS DISTINCT FROM min(sex)) a`,
		"root rows without a pseudonym":       `SELECT count(*) FROM root WHERE pseudonym IS NULL OR pseudonym = person`,
		"visits of nobody":                    `SELECT count(*) FROM visit v WHERE NOT EXISTS (SELECT FROM root r WHERE r.person = v.person)`,
		"drugs of nobody":                     `SELECT count(*) FROM drug d WHERE NOT EXISTS (SELECT FROM came v WHERE v.visit = d.visit)`,
		"known visits of fewer than k":        `SELECT count(*) FROM (SELECT FROM visit v JOIN root r USING (person) WHERE v.pseudonym IS NOT NULL GROUP BY r.shown, v.win, v.shown HAVING count(DISTINCT person) < $1) a`,
		"pooled visits of fewer than k":       `SELECT count(*) FROM (SELECT FROM visit v WHERE v.pseudonym IS NULL GROUP BY v.shown HAVING count(DISTINCT person) < $1) a`,
		"known drugs of fewer than k":         `SELECT count(*) FROM (SELECT FROM drug d JOIN visit v USING (visit) JOIN root r USING (person) WHERE d.pseudonym IS NOT NULL GROUP BY r.shown, v.win, v.shown, d.shown HAVING count(DISTINCT person) < $1) a`,
		"pooled drugs of fewer than k":        `SELECT count(*) FROM (SELECT FROM drug d JOIN came v USING (visit) WHERE d.pseudonym IS NULL GROUP BY d.shown HAVING count(DISTINCT person) < $1) a`,
		"visits that join no patient":         `SELECT count(*) FROM visit v WHERE v.pseudonym IS NOT NULL AND (SELECT count(*) FROM root r WHERE r.pseudonym = v.pseudonym) <> 1`,
		"visits that join another class":      `SELECT count(*) FROM visit v JOIN root r USING (person) JOIN root o ON o.pseudonym = v.pseudonym WHERE o.shown <> r.shown`,
		"persons of two pseudonyms":           `SELECT count(*) FROM (SELECT FROM visit WHERE pseudonym IS NOT NULL GROUP BY person, win HAVING count(DISTINCT pseudonym) > 1) a`,
		"pseudonyms of two persons":           `SELECT count(*) FROM (SELECT FROM visit WHERE pseudonym IS NOT NULL GROUP BY pseudonym, win HAVING count(DISTINCT person) > 1) a`,
		"drugs that join no visit":            `SELECT count(*) FROM drug d WHERE d.pseudonym IS NOT NULL AND (SELECT count(*) FROM visit v WHERE v.own = d.pseudonym) <> 1`,
		"drugs that join another visit":       `SELECT count(*) FROM drug d JOIN visit v ON v.own = d.pseudonym WHERE v.visit <> d.visit`,
		"pseudonyms that two visits have":     `SELECT count(*) FROM (SELECT FROM visit WHERE own IS NOT NULL GROUP BY own HAVING count(*) > 1) a`,
		"visits with one key of two":          `SELECT count(*) FROM visit WHERE (own IS NULL) <> (pseudonym IS NULL)`,
		"columns of a key that differ":        `SELECT count(*) FROM (SELECT own, house FROM visit UNION ALL SELECT pseudonym, house FROM drug) a WHERE house IS DISTINCT FROM lpad(to_hex(own::bigint), 16, '0')`,
		"patients in the source and not here": `SELECT count(*) FROM patients s WHERE NOT EXISTS (SELECT FROM root r WHERE r.person = s.patient_id::text)`,
	} {
		if h.knows == "all" {
			query = strings.ReplaceAll(query, "v.win, ", "") // a slot has rows of any year
		}
		arguments := []any{}
		if strings.Contains(query, "$1") {
			arguments = append(arguments, k)
		}
		var found int
		if err := tx.QueryRow(ctx, with+query, arguments...).Scan(&found); err != nil {
			h.t.Fatalf("%s: %v", what, err)
		}
		if found > 0 {
			h.t.Errorf("%d %s", found, what)
		}
	}
	if err := tx.QueryRow(ctx, with+`SELECT (SELECT count(pseudonym) FROM visit) + (SELECT count(pseudonym) FROM drug), (SELECT count(*) FROM visit) + (SELECT count(*) FROM drug)`).Scan(&withKeys, &rows); err != nil {
		h.t.Fatal(err)
	}
	if h.t.Failed() {
		h.t.FailNow()
	}
	return withKeys, rows
}

// joinedByIndexes checks that the planner has indexes of all keys and links, and statistics.
func (h *hospital) joinedByIndexes() {
	h.t.Helper()
	const (
		indexes = `SELECT string_agg(substring(i.indexname FROM '(key|link)$') || ' ' || substring(i.indexdef FROM '\(.*\)'), ', ' ORDER BY i.indexdef)
			FROM pg_indexes i JOIN pg_class c ON c.oid = format('%I.%I', i.schemaname, i.tablename)::regclass
			WHERE i.schemaname = 'kproxy_store' AND i.tablename ~ '^release_' AND i.indexname ~ '_(key|link)$' AND c.reltuples > 0`
		want = "key (patient_id), key (house, visit_id), link (patient_id, kproxy_row), link (house, visit_id, kproxy_row)"
	)
	if found := scanned[string](h.bench, indexes); found != want {
		h.t.Errorf("there are indexes %s, and not %s", found, want)
	}
}

// TestLinkedTables: joined tables follow random changes, in all kinds of what is known.
func TestLinkedTables(t *testing.T) {
	t.Parallel()
	for _, knows := range []string{"1/1y:3", "1:3", "all"} {
		t.Run(knows, func(t *testing.T) {
			t.Parallel()
			const patients = 150
			h := newHospital(t, pgtest.Shared(t), knows, patients)
			s, stop := h.run()
			h.inStep(s)
			withKeys, rows := h.judge()
			if rows == 0 || withKeys < rows/4 {
				t.Errorf("%d of %d rows have keys", withKeys, rows)
			}
			h.joinedByIndexes()
			for round := range 12 {
				for range 1 + h.random.IntN(25) {
					h.changeHospital(patients)
				}
				switch round {
				case 4, 8:
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					for range 10 {
						h.changeHospital(patients)
					}
					s, stop = h.run()
				case 10:
					h.exec("TRUNCATE drugs")
				}
				h.inStep(s)
				h.judge()
			}
		})
	}
}
