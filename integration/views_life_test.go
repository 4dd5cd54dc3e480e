package integration

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestViewsFollowTheirDefinitions changes views while kproxy serves them.
func TestViewsFollowTheirDefinitions(t *testing.T) {
	t.Parallel()
	s := newSite(t, viewedSite())
	s.kproxy(t, "setup").must(t)
	s.serve(t)
	admin := connect(t, s.admin)
	answers := func(sql string, want ...string) {
		t.Helper()
		eventually(t, sql+" is "+strings.Join(want, ", "), func() bool {
			rows, err := s.once(t, sql)
			return err == nil && slices.Equal(rows, want)
		})
	}
	refuses := func(sql, code string) {
		t.Helper()
		eventually(t, sql+" fails with "+code, func() bool {
			_, err := s.once(t, sql)
			refused, is := err.(*pgconn.PgError) //nolint:errorlint // nothing wraps it
			if err != nil && (!is || !slices.Contains([]string{"55000", "42501", "57P01", code}, refused.Code)) {
				t.Fatalf("%s: %v", sql, err)
			}
			return err != nil && refused.Code == code
		})
	}
	// In place, with more columns, with others: what reads the view goes on.
	execute(t, admin, "CREATE OR REPLACE VIEW guarded WITH (security_barrier) AS SELECT age, ward FROM patients WHERE age > 1000")
	answers("SELECT count(*) FROM guarded", `"0"`)
	execute(t, admin, "CREATE OR REPLACE VIEW by_ward AS SELECT ward, count(*) AS n, avg(age) AS mean, 7 AS seven FROM overview GROUP BY ward")
	answers("SELECT min(seven) FROM by_ward", `"7"`)
	answers("SELECT most FROM reports.third", `"30"`)
	execute(t, admin, "DROP VIEW by_ward CASCADE; CREATE VIEW by_ward AS SELECT 1 AS one, ward FROM overview; CREATE VIEW reports.third AS SELECT sum(one) AS most FROM by_ward")
	answers("SELECT most FROM reports.third", `"90"`)
	execute(t, admin, "ALTER VIEW by_ward RENAME COLUMN one TO uno")
	answers("SELECT count(uno) FROM by_ward", `"90"`)
	answers("SELECT most FROM reports.third", `"90"`)
	// A definition that cannot be published, and one that can again.
	execute(t, admin, "CREATE OR REPLACE VIEW older AS SELECT p.ward, count(*) AS n FROM patients p WHERE name <> '' GROUP BY p.ward")
	refuses("SELECT * FROM older", "55000")
	execute(t, admin, "CREATE OR REPLACE VIEW older AS SELECT p.ward, count(*) AS n FROM patients p GROUP BY p.ward")
	answers("SELECT sum(n) FROM older", `"90"`)
	// What a view reads is taken away.
	execute(t, admin, `REVOKE SELECT ON wards FROM "`+s.owner+`"`)
	refuses("SELECT * FROM reports.overview", "55000")
	execute(t, admin, `GRANT SELECT ON wards TO "`+s.owner+`"`)
	answers("SELECT count(*) FROM reports.overview", `"90"`)
	// A view goes, and something else comes in its place.
	execute(t, admin, "DROP VIEW ranked")
	refuses("SELECT * FROM ranked", "42P01")
	eventually(t, "the published view is gone", func() bool {
		return scalar[bool](t, admin, "SELECT to_regclass('kproxy_release_public.ranked') IS NULL")
	})
	execute(t, admin, "CREATE VIEW ranked AS SELECT ward, 1 AS place FROM patients")
	answers("SELECT sum(place) FROM ranked", `"90"`)
}

// TestViewsAndOpenCursors has an analyst read a view while it is changed and dropped:
// nobody waits for the analyst, whose session is ended.
func TestViewsAndOpenCursors(t *testing.T) {
	t.Parallel()
	s := ready(t, viewedSite())
	admin := connect(t, s.admin)
	for _, c := range []struct{ view, change, done string }{
		{"ranked", "CREATE OR REPLACE VIEW ranked AS SELECT ward, 0 AS age, 0::bigint AS place FROM patients", `"0"`},
		{"guarded", "DROP VIEW guarded", "42P01"},
	} {
		view, change, done := c.view, c.change, c.done
		analyst := connect(t, s.url())
		execute(t, analyst, "BEGIN; DECLARE c CURSOR FOR SELECT * FROM "+view+"; FETCH c", pgx.QueryExecModeSimpleProtocol)
		execute(t, admin, change)
		eventually(t, change, func() bool {
			rows, err := s.once(t, "SELECT max(age) FROM "+view)
			return slices.Equal(rows, []string{done}) || (err != nil && strings.Contains(err.Error(), done))
		})
		if _, err := analyst.Exec(t.Context(), "FETCH c"); err == nil {
			t.Error("the analyst goes on reading the earlier form")
		}
	}
}

// TestViewsOutliveReleases republishes the table under its views, with the same columns and
// with others, while they are read: clients see the views or a clear refusal.
func TestViewsOutliveReleases(t *testing.T) {
	t.Parallel()
	s := newSite(t, viewedSite())
	s.kproxy(t, "setup").must(t)
	s.serve(t)
	second := s.beside(t, "second.yaml")
	second.serve(t)
	stops := []func() string{s.polls(t, "SELECT most FROM reports.third"), second.polls(t, "SELECT most FROM reports.third")}
	s.kproxy(t, "rebuild", "public.patients").must(t)
	third := func() bool {
		rows, err := s.once(t, "SELECT most FROM reports.third")
		return err == nil && slices.Equal(rows, []string{`"30"`})
	}
	eventually(t, "the view is there after a rebuild", third)
	for _, stop := range stops {
		if problem := stop(); problem != "" {
			t.Errorf("a client met %s", problem)
		}
	}
	// The published columns change with the policy.
	stop := s.polls(t, "SELECT most FROM reports.third")
	for _, config := range []*site{s, second} {
		text := contents(t, config.config)
		config.write(t, filepath.Base(config.config), strings.NewReplacer("sex: sensitive", "sex: insensitive\n      name: insensitive",
			"updates: immediate\n", "updates: immediate\n    acknowledge: {joinable: [name]}\n").Replace(text))
	}
	if o := s.kproxy(t, "reload").must(t); strings.Count(o.stdout, ": reloaded") != 2 {
		t.Fatalf("not both processes reloaded:\n%s", o.stdout)
	}
	eventually(t, "the view is there under the new policy", third)
	eventually(t, "columns that are published now are in the view", func() bool {
		rows, err := second.once(t, "SELECT count(name) FROM overview")
		return err == nil && slices.Equal(rows, []string{`"90"`})
	})
	if problem := stop(); problem != "" {
		t.Errorf("a client of the process that applies met %s", problem)
	}
}

// TestViewsFailAlone has one view that cannot be dropped, and another process in the
// midst of publishing: all others are kept up to date, and nothing is wrong with them.
func TestViewsFailAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t, viewedSite())
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	admin := connect(t, s.admin)
	const turn = "(pg_catalog.hashtextextended('kproxy: published views', 0))"
	execute(t, admin, "SELECT pg_advisory_lock"+turn)
	execute(t, admin, "CREATE OR REPLACE VIEW guarded WITH (security_barrier) AS SELECT age, ward FROM patients WHERE age > 1000")
	eventually(t, "kproxy waits for its turn", func() bool {
		return scalar[bool](t, admin, "SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database() AND locktype = 'advisory' AND NOT granted)")
	})
	execute(t, admin, "SELECT pg_sleep(0.5)") // longer than readers are waited for
	execute(t, admin, "SELECT pg_advisory_unlock"+turn)
	none := func(view string) func() bool {
		return func() bool {
			rows, err := s.once(t, "SELECT count(*) FROM "+view)
			return err == nil && slices.Equal(rows, []string{`"0"`})
		}
	}
	eventually(t, "the view is changed", none("guarded"))
	if text := p.log.String(); strings.Contains(text, "could not be looked at") {
		t.Errorf("waiting for another process is told as a failure:\n%s", text)
	}
	execute(t, admin, `CREATE FUNCTION keep() RETURNS event_trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() WHERE object_identity = 'kproxy_release_public.ranked') THEN
				RAISE 'it is kept';
			END IF;
		END $$;
		CREATE EVENT TRIGGER keep ON sql_drop EXECUTE FUNCTION keep();
		DROP VIEW ranked`)
	execute(t, admin, "CREATE OR REPLACE VIEW overview AS SELECT * FROM patients WHERE age > 1000")
	eventually(t, "the other view is changed", none("overview"))
	eventually(t, "the log tells what could not be dropped", func() bool {
		return strings.Contains(p.log.String(), "dropping the published view public.ranked: ERROR: it is kept")
	})
	execute(t, admin, "DROP EVENT TRIGGER keep")
}

// TestViewsMendedAreNotReported changes a view that the database refused, while no kproxy
// runs: what was said of its earlier definition does not stand.
func TestViewsMendedAreNotReported(t *testing.T) {
	t.Parallel()
	s := newSite(t, viewedSite())
	s.kproxy(t, "setup").must(t)
	s.serve(t).end(t, syscall.SIGTERM)
	reported := func() string { return s.kproxy(t, "check").must(t).stdout }
	const refused = "the view could not be published when kproxy tried last"
	if text := reported(); !strings.Contains(text, refused) {
		t.Errorf("check does not say what the database refused:\n%s", text)
	}
	execute(t, connect(t, s.admin), "DROP VIEW mistyped; CREATE VIEW mistyped AS SELECT age + 1 AS more FROM patients")
	if text := reported(); strings.Contains(text, refused) {
		t.Errorf("check reports a view that was mended:\n%s", text)
	}
}

// once reads on a connection of its own: sessions are ended that have read what is
// withdrawn.
func (s *site) once(t *testing.T, sql string) ([]string, error) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.url())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.PgConn().Conn().SetDeadline(time.Now().Add(patience)); err != nil { // who waits for another session may do so for ever
		t.Fatal(err)
	}
	return queryTexts(t, conn, sql)
}

// polls runs a query again and again, on a new connection where one is ended, until it is
// stopped; that returns an error which says anything but that something is not published
// now.
func (s *site) polls(t *testing.T, sql string) (stop func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	met := make(chan string, 1)
	go func() {
		defer close(met)
		for ctx.Err() == nil {
			conn, err := pgx.Connect(ctx, s.url())
			for err == nil && ctx.Err() == nil {
				if _, err = conn.Exec(context.WithoutCancel(ctx), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
					if refused := (*pgconn.PgError)(nil); !errors.As(err, &refused) || refused.Code != "55000" && refused.Code != "57P01" {
						met <- err.Error()
						return
					}
				}
				time.Sleep(2 * time.Millisecond)
			}
			if conn != nil {
				_ = conn.Close(context.WithoutCancel(ctx))
			}
		}
	}()
	return func() string {
		cancel()
		return <-met
	}
}

// TestViewsComeAndGoWithThePolicy takes a view off the list and puts it back.
func TestViewsComeAndGoWithThePolicy(t *testing.T) {
	t.Parallel()
	s := ready(t, viewedSite())
	admin, client := connect(t, s.admin), connect(t, s.url())
	before := contents(t, s.config)
	s.replace(t, "public.oldest, ", "")
	s.kproxy(t, "reload").must(t)
	if refused := refusal(t, client, "SELECT * FROM oldest"); refused.Code != "42501" {
		t.Errorf("a view that is not listed any more: %v", refused)
	}
	eventually(t, "the published view is gone", func() bool {
		return scalar[bool](t, admin, "SELECT to_regclass('kproxy_release_public.oldest') IS NULL")
	})
	s.write(t, "kproxy.yaml", before)
	s.kproxy(t, "reload").must(t)
	if rows := texts(t, client, "SELECT count(*) FROM oldest"); !slices.Equal(rows, []string{`"3"`}) {
		t.Errorf("a view that is listed again: %v", rows)
	}
	// Neither copies of protected rows can be listed, nor views in a schema that setup
	// has not prepared.
	execute(t, admin, "CREATE SCHEMA late; CREATE VIEW late.v AS SELECT age FROM patients")
	s.replace(t, "public.oldest, ", "public.oldest, public.copies, late.v, ")
	out := s.kproxy(t, "check")
	for _, want := range []string{"readable public.copies", "the policy lists it as readable, but it shows rows of public.patients", "write it as a view", "there is no schema kproxy_release_late"} {
		if out.code == 0 || !strings.Contains(out.stdout, want) {
			t.Errorf("check does not say %q:\n%s", want, out.stdout)
		}
	}
	if refused := refusal(t, client, "SELECT * FROM copies"); refused.Code != "42501" {
		t.Errorf("a materialized view: %v", refused)
	}
	s.replace(t, "public.copies, ", "")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	if rows := texts(t, client, "SELECT count(age) FROM late.v"); !slices.Equal(rows, []string{`"90"`}) {
		t.Errorf("a view in a schema of its own: %v", rows)
	}
}
