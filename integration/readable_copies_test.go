package integration

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// copiedSite has materialized views over views, whole rows and partitions, one over another and a
// view over that.
func copiedSite() siteOptions {
	return sqlSite(`CREATE TABLE regions (code text, name text); INSERT INTO regions SELECT 'c' || i, 'n' || i FROM generate_series(1, 9) i;
		CREATE VIEW named AS SELECT code, name FROM regions; CREATE VIEW renamed AS SELECT code, name FROM named;
		CREATE MATERIALIZED VIEW copied AS SELECT * FROM renamed; CREATE UNIQUE INDEX ON copied (code); CREATE MATERIALIZED VIEW again AS SELECT code, name FROM copied; CREATE VIEW shown AS SELECT name FROM again;
		CREATE TABLE events (y int, t text, hidden text) PARTITION BY RANGE (y); CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (0) TO (10);
		INSERT INTO events VALUES (1, 'one', 'qvz'); CREATE MATERIALIZED VIEW told AS SELECT y::text AS code, t AS name FROM events;
		CREATE TABLE whole (a text); INSERT INTO whole VALUES ('a'); CREATE MATERIALIZED VIEW documents AS SELECT 'x'::text AS code, to_jsonb(w)::text AS name FROM whole w;
		CREATE TABLE salaries (person text, salary text); INSERT INTO salaries SELECT 'qvz' || i, i FROM generate_series(1, 9) i;
		CREATE TABLE people (id int PRIMARY KEY, name text, age int);
		INSERT INTO people SELECT i, 'qvz ' || i, i % 50 FROM generate_series(1, 100) i;
		REVOKE CREATE ON SCHEMA public FROM PUBLIC`, `tables:
  public.people:
    updates: immediate
    columns: {id: identifying, name: identifying, age: {role: quasi-identifying, hierarchy: numeric}}
    constraints: [{k: 3}]
readable: [public.regions, public.copied, public.again, public.shown, public.told, public.documents]
`)
}

// with is the site with more relations, some of them listed.
func (o siteOptions) with(sql string, listed ...string) siteOptions {
	load := o.load
	o.load = func(ctx context.Context, conn *pgx.Conn) error {
		if err := load(ctx, conn); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, sql)
		return err
	}
	o.tables = strings.Replace(o.tables, "public.documents]", "public.documents, public."+strings.Join(listed, ", public.")+"]", 1)
	return o
}

// TestCopiesAreFilledAsAccepted has views and partitions under materialized views change before
// these are refreshed. Nobody reads what they are filled with then, at any moment and under a
// snapshot from before, and they are refused until that is accepted: what there was before
// may be back, and the rows be those of the change.
func TestCopiesAreFilledAsAccepted(t *testing.T) {
	t.Parallel()
	s := ready(t, copiedSite())
	admin := connect(t, s.admin)
	run := func(sql string) { t.Helper(); execute(t, admin, sql, pgx.QueryExecModeSimpleProtocol) }
	is := func(what, relation, state string) { t.Helper(); s.becomes(t, what, relation, state) }
	const refresh = "; REFRESH MATERIALIZED VIEW copied; REFRESH MATERIALIZED VIEW again"
	const swap = "ALTER TABLE events_1 RENAME t TO x; ALTER TABLE events_1 RENAME hidden TO t; ALTER TABLE events_1 RENAME x TO hidden"
	const original = "CREATE OR REPLACE VIEW named AS SELECT code, name FROM regions"
	for _, c := range []struct {
		change, back, refresh string
		relations             []string
	}{
		{"CREATE OR REPLACE VIEW named AS SELECT person AS code, salary AS name FROM salaries" + refresh, original, refresh, []string{"copied", "again", "shown"}},
		// As nobody looks in between, or no process applies changes.
		{"CREATE OR REPLACE VIEW named AS SELECT name AS code, age::text AS name FROM people" + refresh + "; " + original, original, refresh, []string{"copied", "again", "shown"}},
		{"CREATE OR REPLACE VIEW named AS SELECT name AS code, age::text AS name FROM people" + refresh, original, refresh, []string{"copied", "again", "shown"}},
		{"CREATE OR REPLACE VIEW named AS SELECT person AS code, salary AS name FROM salaries; REFRESH MATERIALIZED VIEW CONCURRENTLY copied", original, refresh, []string{"copied", "again", "shown"}},
		{
			"ALTER TABLE events DETACH PARTITION events_1; " + swap + "; ALTER TABLE events ATTACH PARTITION events_1 FOR VALUES FROM (0) TO (10); REFRESH MATERIALIZED VIEW told",
			"ALTER TABLE events DETACH PARTITION events_1; " + swap + "; ALTER TABLE events ATTACH PARTITION events_1 FOR VALUES FROM (0) TO (10)",
			"; REFRESH MATERIALIZED VIEW told",
			[]string{"told"},
		},
	} {
		var stops []func() string
		var older []*pgx.Conn
		for _, relation := range c.relations {
			is("served at first", relation, "")
			stops = append(stops, s.canaryPolls(t, "SELECT t::text FROM "+relation+" t"))
			conn := connect(t, s.url())
			execute(t, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ")
			execute(t, conn, "SELECT count(*) FROM people")
			older = append(older, conn)
		}
		run("BEGIN; " + c.change + "; COMMIT")
		for i, relation := range c.relations {
			texts, err := textsOf(t, older[i], relation)
			if strings.Contains(strings.Join(texts, " "), "qvz") {
				t.Errorf("%s: an older snapshot of %s shows %q, %v", c.change, relation, texts, err)
			}
			if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == "22P02" {
				t.Errorf("%s: an older snapshot of %s is refused with %v", c.change, relation, err)
			}
		}
		for _, relation := range c.relations {
			is("refused after "+c.change, relation, "55000")
		}
		eventually(t, "it is noted", func() bool {
			out := s.kproxy(t, "status").stdout
			return !slices.ContainsFunc(c.relations, func(relation string) bool {
				return !strings.Contains(out, "readable public."+relation+" is withdrawn")
			})
		})
		run(c.back)
		eventually(t, "all may hold rows from then", func() bool {
			out := s.kproxy(t, "check")
			return strings.Count(out.stdout, "it may hold rows from then") >= len(c.relations)
		})
		for _, relation := range c.relations {
			is("refused still", relation, "55000")
		}
		run("SELECT" + c.refresh)
		s.kproxy(t, append([]string{"accept", "--yes"}, c.relations...)...).must(t)
		for _, relation := range c.relations {
			is("served when it was accepted", relation, "")
		}
		for _, stop := range stops {
			if shown := stop(); shown != "" {
				t.Errorf("%s: a reader got %s", c.change, shown)
			}
		}
	}
	run("ALTER TABLE whole ADD hidden text; UPDATE whole SET hidden = 'qvz'")
	is("refused when a whole row has more", "documents", "55000")
	run("REFRESH MATERIALIZED VIEW told" + refresh)
	for _, relation := range []string{"told", "copied", "again", "shown"} {
		is("served after a refresh", relation, "")
	}
}

// becomes waits until a relation is refused with the SQLSTATE, or served where that is empty.
// Whenever it is refused until then, there is that one error, with a hint, or the session ends.
func (s *site) becomes(t *testing.T, what, relation, state string) {
	t.Helper()
	eventually(t, relation+" is "+what, func() bool {
		found, err := s.attempt(t, "SELECT count(*) > 0 FROM "+relation)
		if refused := (*pgconn.PgError)(nil); err != nil && (!errors.As(err, &refused) || refused.Code != "55000" && refused.Code != "57P01" || refused.Hint == "") {
			t.Errorf("%s, which is not yet %s, is refused with %v", relation, what, err)
		}
		return state == "" && err == nil && found || state != "" && err != nil
	})
}

// textsOf are the rows of a relation, each as a text.
func textsOf(t *testing.T, conn *pgx.Conn, relation string) ([]string, error) {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT t::text FROM "+relation+" t")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// TestCopiesFilledByFunctions lists a materialized view that a function fills. It is refused from
// the moment on at which the function may read tables, and no setup helps.
func TestCopiesFilledByFunctions(t *testing.T) {
	t.Parallel()
	s := ready(t, copiedSite().with(`CREATE FUNCTION upper_of(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT upper($1)';
			CREATE FUNCTION named_of(text) RETURNS text LANGUAGE sql STABLE AS 'SELECT max(name) FROM public.people WHERE name > $1';
			CREATE VIEW uppers AS SELECT upper_of(name) AS name FROM regions;
			CREATE MATERIALIZED VIEW filled AS SELECT name FROM uppers; CREATE MATERIALIZED VIEW found AS SELECT named_of(name) AS name FROM regions`, "filled", "found"))
	const filled = "is filled by public.named_of(text)"
	for _, command := range []string{"check", "status"} {
		out := s.kproxy(t, command)
		if !strings.Contains(out.stdout, filled) {
			t.Errorf("%s says\n%s%s", command, out.stdout, out.stderr)
		}
		for _, line := range strings.Split(out.stdout, "\n") {
			if strings.Contains(line, "kproxy setup") && !strings.Contains(line, "IMMUTABLE") {
				t.Errorf("%s says %s", command, line)
			}
		}
	}
	eventually(t, "filled is served", func() bool {
		found, err := s.attempt(t, "SELECT count(*) > 0 FROM filled WHERE name LIKE 'N%'")
		return err == nil && found
	})
	execute(t, connect(t, s.admin), "ALTER FUNCTION upper_of(text) STABLE")
	eventually(t, "filled is refused", func() bool {
		_, err := s.attempt(t, "SELECT count(*) > 0 FROM filled")
		return err != nil && strings.Contains(err.Error(), "55000")
	})
	execute(t, connect(t, s.admin), "ALTER FUNCTION upper_of(text) IMMUTABLE")
	eventually(t, "it may hold rows from then", func() bool {
		return strings.Contains(s.kproxy(t, "check").stdout, "it may hold rows from then")
	})
}

// TestCopiesFilledBySystem lists materialized views that hold what PostgreSQL's catalogs and functions
// tell the superuser who fills them. They are refused with all over them; what clients may call fills others.
func TestCopiesFilledBySystem(t *testing.T) {
	t.Parallel()
	s := ready(t, copiedSite().with(`ANALYZE people; CREATE VIEW statistic AS SELECT starelid, stavalues1::text AS common FROM pg_statistic;
			CREATE MATERIALIZED VIEW stats AS SELECT attname::text AS name, most_common_vals::text AS common FROM pg_stats;
			CREATE MATERIALIZED VIEW under AS SELECT common FROM statistic;
			CREATE VIEW above AS SELECT common FROM under;
			CREATE MATERIALIZED VIEW roles AS SELECT r.name, (SELECT max(rolpassword) FROM pg_authid) AS common FROM regions r;
			CREATE MATERIALIZED VIEW asked AS SELECT query_to_xml('TABLE public.people', true, false, '')::text AS common FROM regions;
			ALTER TABLE people ADD note text; CREATE SEQUENCE numbers OWNED BY people.id; CREATE MATERIALIZED VIEW counted AS SELECT last_value::text AS common FROM numbers;
			DO $$ BEGIN EXECUTE (SELECT format('CREATE MATERIALIZED VIEW toasted AS SELECT chunk_id::text AS common FROM %s', reltoastrelid::regclass) FROM pg_class WHERE oid = 'people'::regclass); END $$;
			CREATE FUNCTION asks(text) RETURNS text LANGUAGE sql VOLATILE AS 'SELECT max(name) FROM public.people WHERE name > $1'; ALTER EXTENSION plpgsql ADD FUNCTION asks(text);
			CREATE MATERIALIZED VIEW extended AS SELECT asks(name) AS common FROM regions;
			CREATE FOREIGN DATA WRAPPER away; CREATE SERVER away FOREIGN DATA WRAPPER away; CREATE FOREIGN TABLE remote (name text) SERVER away; CREATE VIEW distant AS SELECT name FROM remote;
			CREATE MATERIALIZED VIEW fetched AS SELECT name AS common FROM distant WITH NO DATA;
			CREATE MATERIALIZED VIEW sized AS SELECT pg_table_size(name::regclass)::text AS common FROM regions WITH NO DATA;
			CREATE TYPE level AS ENUM ('low', 'high'); CREATE TABLE levels (of level); INSERT INTO levels VALUES ('low'); CREATE VIEW named_levels AS SELECT of::text AS of FROM levels;
			CREATE MATERIALIZED VIEW converted AS SELECT to_jsonb(of)::text AS common FROM levels; CREATE MATERIALIZED VIEW rowed AS SELECT json_agg(l)::text AS common FROM levels l;
			DO $$ BEGIN EXECUTE 'CREATE MATERIALIZED VIEW constructed AS SELECT ' || CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'json_build_object(''l'', of)'
				ELSE 'JSON_OBJECT(''l'' VALUE of)' END || '::text AS common FROM levels'; END $$;
			CREATE MATERIALIZED VIEW texts AS SELECT to_jsonb(of)::text AS common FROM named_levels;
			CREATE MATERIALIZED VIEW plain AS SELECT upper(name) || to_char(date_trunc('day', now()), 'DD') AS common, sum(1) OVER () AS n FROM regions GROUP BY name`, "stats", "above", "under", "roles", "asked", "plain", "counted", "toasted", "extended", "fetched", "sized", "converted", "rowed", "constructed", "texts"))
	eventually(t, "plain is served", func() bool {
		found, err := s.attempt(t, "SELECT count(*) > 0 FROM plain WHERE common <> '' AND n > 0")
		return err == nil && found
	})
	eventually(t, "texts are served", func() bool {
		found, err := s.attempt(t, "SELECT count(*) = 1 FROM texts")
		return err == nil && found
	})
	for relation, by := range map[string]string{
		"stats": "from pg_catalog.pg_stats", "under": "from pg_catalog.pg_statistic", "above": "from pg_catalog.pg_statistic", "roles": "from pg_catalog.pg_authid", "asked": "by pg_catalog.query_to_xml",
		"constructed": "by pg_catalog.json_build_object beside values of type",
		"converted":   "by pg_catalog.to_jsonb beside values of type", "rowed": "by pg_catalog.json_agg beside values of type",
		"counted": "from public.numbers", "toasted": "from pg_toast.pg_toast_", "extended": "by public.asks(text)", "fetched": "from public.remote", "sized": "by pg_catalog.pg_table_size",
	} {
		if _, err := s.attempt(t, "SELECT count(common) > 0 FROM "+relation); err == nil {
			t.Errorf("%s is served", relation)
		}
		for _, command := range []string{"check", "status"} {
			if out := s.kproxy(t, command); !strings.Contains(out.stdout, "is filled "+by) {
				t.Errorf("%s of %s says\n%s%s", command, relation, out.stdout, out.stderr)
			}
		}
	}
}

// TestDoubtsOutlastTheList takes a materialized view whose source has changed off the list, and lists
// it again: its rows may be those of the change still.
func TestDoubtsOutlastTheList(t *testing.T) {
	t.Parallel()
	s := ready(t, copiedSite())
	s.becomes(t, "served at first", "again", "")
	execute(t, connect(t, s.admin), `BEGIN; CREATE OR REPLACE VIEW named AS SELECT name AS code, age::text AS name FROM people;
		REFRESH MATERIALIZED VIEW copied; REFRESH MATERIALIZED VIEW again; CREATE OR REPLACE VIEW named AS SELECT code, name FROM regions; COMMIT`, pgx.QueryExecModeSimpleProtocol)
	s.becomes(t, "refused", "again", "55000")
	doubted := func() bool {
		out := s.kproxy(t, "status").stdout
		return strings.Contains(out, "readable public.again is withdrawn")
	}
	eventually(t, "it is noted", doubted)
	before := contents(t, s.config)
	s.write(t, "kproxy.yaml", strings.Replace(before, "public.again, ", "", 1))
	s.kproxy(t, "reload").must(t)
	eventually(t, "it is off the list", func() bool {
		_, err := s.attempt(t, "SELECT count(*) > 0 FROM again")
		return err != nil && strings.Contains(err.Error(), "42501")
	})
	s.write(t, "kproxy.yaml", before)
	s.kproxy(t, "setup", "--admin-url", s.admin).must(t)
	s.kproxy(t, "reload").must(t)
	eventually(t, "it is withdrawn again", doubted)
	s.becomes(t, "refused still", "again", "55000")
	execute(t, connect(t, s.admin), "REFRESH MATERIALIZED VIEW copied; REFRESH MATERIALIZED VIEW again", pgx.QueryExecModeSimpleProtocol)
	s.kproxy(t, "accept", "--yes", "copied", "again").must(t)
	s.becomes(t, "served when it was accepted", "again", "")
}
