package integration

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// guardedAudienceSite is served at k = 5, 25 and 50, from a guarded table whose rows can be told apart in all versions.
func guardedAudienceSite(t *testing.T) *site {
	t.Helper()
	return audienceSiteOf(t, strings.Replace(audienceSchema, "illness text NOT NULL);", "illness text NOT NULL, nr int);", 1)+"; UPDATE folk SET nr = id", strings.NewReplacer(
		"folk:\n    updates: immediate\n", "folk:\n    updates: {mode: guarded, crowd: 1}\n    acknowledge: {joinable: [nr]}\n", "illness: sensitive\n", "illness: sensitive\n      nr: insensitive\n", "k: 100", "k: 50",
	).Replace(audiencePolicy), "")
}

// guardedReaders are those of its three releases.
func guardedReaders() []*seenVersions {
	return []*seenVersions{{user: clientUser, least: 5}, {user: "researchers", least: 25}, {user: "press", least: 50}}
}

// hasApplied waits until the private store has all rows of folk.
func (s *site) hasApplied(t *testing.T) {
	t.Helper()
	source, store := connect(t, s.admin), connect(t, s.release)
	eventually(t, "the change is applied", func() bool {
		// A generation that is dropped meanwhile is looked for again.
		records := scalar[string](t, store, "SELECT 'kproxy_store.records_' || generation FROM kproxy_store.generation WHERE table_name = 'folk'")
		var n int
		return store.QueryRow(t.Context(), "SELECT count(*) FROM "+records).Scan(&n) == nil && n == scalar[int](t, source, "SELECT count(*) FROM folk")
	})
}

// TestAudiencesApart has audiences see releases in a database of its own, of a guarded table and of one with immediate updates.
// In neither database does a reader of an audience reach more.
func TestAudiencesApart(t *testing.T) {
	t.Parallel()
	const visits = "  visits:\n    updates: immediate\n"
	policy := strings.NewReplacer(
		"readable: [towns, ages]\n", "", visits, "  visits:\n    updates: {mode: guarded, crowd: 1}\n",
		"folk: {constraints: [{k: 25}], hide: [town]}\n", "folk: {constraints: [{k: 25}], hide: [town]}\n      visits: {constraints: [{k: 20}]}\n",
	).Replace(audiencePolicy)
	o := sqlSite(audienceSchema, policy)
	o.apart = sharedServer(t)
	s := siteWithReaders(t, o, "researchers", "more", "press", "bi")
	s.kproxy(t, "check").must(t)
	p := s.serve(t)
	source := connect(t, s.admin)
	for i, change := range []string{
		"", "DELETE FROM folk WHERE age < 9; INSERT INTO visits SELECT i, i % 28 FROM generate_series(201, 260) i", "UPDATE folk SET age = age + 1 WHERE id % 3 = 0",
	} {
		execute(t, source, change)
		want := scalar[int](t, source, "SELECT count(*) FROM folk")
		classes := 1 << 30
		for _, user := range []string{clientUser, "researchers", "press"} {
			conn := connect(t, s.of(user))
			eventually(t, user+" sees the change", func() bool { return scalar[int](t, conn, "SELECT count(*) FROM folk") == want })
			least := map[string]int{clientUser: 5, "researchers": 25, "press": 100}[user]
			if n := scalar[int](t, conn, "SELECT min(n) FROM (SELECT count(*) AS n FROM folk GROUP BY age) a"); n < least {
				t.Errorf("after change %d, %s sees a class of %d", i, user, n)
			}
			if n := scalar[int](t, conn, "SELECT count(DISTINCT age) FROM folk"); n > classes || n == 0 {
				t.Errorf("after change %d, %s sees %d classes, where finer readers see %d", i, user, n, classes)
			} else {
				classes = n
			}
		}
		s.kproxy(t, "verify").must(t)
	}
	researcher, press := connect(t, s.of("researchers")), connect(t, s.of("press"))
	if n := scalar[int](t, researcher, "SELECT min(n) FROM (SELECT count(*) AS n FROM visits GROUP BY kproxy_class) a"); n < 20 {
		t.Errorf("researchers see a class of %d visits", n)
	}
	for sql, state := range map[string]string{"TABLE visits": "42501", "SELECT town FROM folk": "42703", "TABLE kproxy_audience_research_public.folk": "42P01", "TABLE kproxy_store.release_1": "42P01"} {
		if _, err := press.Exec(t.Context(), sql); sqlState(t, err) != state {
			t.Errorf("the press, %s: %v", sql, err)
		}
	}
	// Roles of one server can connect to both databases without kproxy.
	for _, database := range []string{s.admin, s.release} {
		direct := connConfig(t, database)
		direct.User, direct.Password = s.database+"_press", readerPassword
		conn, err := pgx.ConnectConfig(t.Context(), direct)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{"TABLE public.folk", "TABLE kproxy_store.records_1", "TABLE kproxy_release_public.folk", "TABLE kproxy_audience_research_public.folk"} {
			if _, err := conn.Exec(t.Context(), sql); sqlState(t, err) == "" {
				t.Errorf("the press reads %s in database %s", sql, direct.Database)
			}
		}
		_ = conn.Close(context.Background())
	}
	p.end(t, syscall.SIGKILL)
	s.serve(t)
	execute(t, source, "DELETE FROM folk WHERE age > 80")
	conn := connect(t, s.of("press"))
	eventually(t, "the press sees the change after a crash", func() bool {
		return scalar[int](t, conn, "SELECT count(*) FROM folk") == scalar[int](t, source, "SELECT count(*) FROM folk")
	})
	for _, command := range []string{"verify", "check", "status"} {
		s.kproxy(t, command).must(t)
	}
}

// TestAudienceOfUsersOfTheDatabase has users of the database, whom auth_query finds, see what the audience of its reader
// sees; another audience's is seen after a reload, by nobody in a session of before.
func TestAudienceOfUsersOfTheDatabase(t *testing.T) {
	t.Parallel()
	s := audienceSite(t, "")
	admin := connect(t, s.admin)
	ann := s.database + "_ann"
	for _, sql := range []string{documented(t, s.database), "SET password_encryption = 'scram-sha-256'; CREATE ROLE " + ann + " LOGIN PASSWORD 'of ann' IN ROLE " + s.database + "_users"} {
		if _, err := admin.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), s.admin)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(context.Background())
		for _, role := range []string{"_ann", "_auth", "_users"} {
			name := pgx.Identifier{s.database + role}.Sanitize()
			if _, err := conn.Exec(context.Background(), "DROP OWNED BY "+name+"; DROP ROLE "+name); err != nil {
				t.Error(err)
			}
		}
	})
	s.write(t, "auth.password", "looks up")
	lookup := fmt.Sprintf("auth_query: {query: 'SELECT %[1]s_auth.verifier_of($1)', user: %[1]s_auth, password_file: auth.password, reader: researchers, lifetime: 1ms}\ntables:", s.database)
	s.replace(t, "tables:", lookup)
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check").must(t)
	s.serve(t)
	u, err := url.Parse(s.url())
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(ann, "of ann")
	sees := func(user, url string, columns string, k int) *pgx.Conn {
		t.Helper()
		conn := connect(t, url)
		if got := scalar[string](t, conn, "SELECT string_agg(column_name, ' ' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 'folk'"); got != columns {
			t.Errorf("%s sees %s", user, got)
		}
		if n := scalar[int](t, conn, "SELECT min(n) FROM (SELECT count(*) AS n FROM folk GROUP BY age) a"); n < k {
			t.Errorf("%s sees a class of %d", user, n)
		}
		if _, err := conn.Exec(t.Context(), "TABLE visits"); k > 5 && sqlState(t, err) != "42501" {
			t.Errorf("%s reads what the audience does not see: %v", user, err)
		}
		return conn
	}
	of := sees("ann", u.String(), "age illness", 25)
	sees("the configured user", s.url(), "age town illness", 5)
	s.replace(t, "reader: researchers, lifetime", "reader: press, lifetime")
	s.kproxy(t, "reload").must(t)
	sees("ann, of the press", u.String(), "age", 100)
	eventually(t, "the session of before ends", func() bool {
		_, err := of.Exec(t.Context(), "SELECT illness FROM folk LIMIT 1")
		return err != nil
	})
	if o := s.kproxy(t, "verify"); o.code != 0 {
		t.Errorf("verify: %s%s", o.stdout, o.stderr)
	}
}

// TestGuardedAudiencesOfTwoProcesses kills the process that applies again and again, while another follows. What readers
// of either process have seen, all versions together, tells people apart no better than the constraints allow.
func TestGuardedAudiencesOfTwoProcesses(t *testing.T) {
	t.Parallel()
	s := guardedAudienceSite(t)
	sites := []*site{s, s.beside(t, "other.yaml")}
	processes := []*process{s.serve(t), sites[1].serve(t)}
	if !processes[1].awaitLog(t, "following it") {
		t.Fatal("the second process does not follow")
	}
	admin := connect(t, s.admin)
	readers := guardedReaders()
	look := func() {
		t.Helper()
		s.hasApplied(t)
		for _, at := range sites {
			for _, v := range readers {
				v.look(t, at)
			}
		}
	}
	look()
	for round, change := range []string{
		"DELETE FROM folk WHERE age < 20",
		"INSERT INTO folk SELECT i, i % 90, 'Bonn', 'illness ' || i % 7, i FROM generate_series(1000, 1119) i",
		"UPDATE folk SET age = age + 1, town = 'Rom' WHERE age BETWEEN 20 AND 55; DELETE FROM folk WHERE age > 60 AND id % 2 = 0",
		"DELETE FROM folk WHERE age > 60",
	} {
		applying := round % 2
		eventually(t, "the process applies", processes[applying].applies)
		execute(t, admin, change)
		processes[applying].end(t, syscall.SIGKILL)
		processes[applying] = sites[applying].serve(t)
		look()
	}
	fine, research, press := readers[0], readers[1], readers[2]
	sets := fine.check(t)
	if research.check(t) < 2 || press.check(t) < 2 || fine.check(t, research, press) != sets {
		t.Errorf("%d sets for the finest, %d for all together", sets, fine.check(t, research, press))
	}
	if len(press.rows[len(press.rows)-1]) == len(press.rows[0]) {
		t.Error("the press sees no row come or go")
	}
	s.kproxy(t, "verify").must(t)
}

// TestGuardedAudienceIsPublishedAfterCrashes crashes the first publication of a guarded table with audiences at each of its steps. Then
// each audience sees its release, and all versions after it are held to the constraints.
func TestGuardedAudienceIsPublishedAfterCrashes(t *testing.T) {
	t.Parallel()
	s := guardedAudienceSite(t)
	for _, name := range failpoints(t) {
		if !strings.HasPrefix(name, "snapshot-") && !strings.HasSuffix(name, "-publication") && name != "records-filled" && name != "position-stored" {
			continue
		}
		p := s.launch(t, "KPROXY_FAILPOINT="+name)
		if code := p.wait(t); code != -int(syscall.SIGKILL) {
			t.Fatalf("failpoint %s: the process ended with %d\n%s", name, code, p.log)
		}
	}
	s.serve(t)
	readers, admin := guardedReaders(), connect(t, s.admin)
	for _, change := range []string{"", "DELETE FROM folk WHERE age < 30", "INSERT INTO folk SELECT i, i % 90, 'Bonn', 'illness ' || i % 7, i FROM generate_series(1000, 1119) i"} {
		execute(t, admin, change)
		s.hasApplied(t)
		for _, v := range readers {
			v.look(t, s)
		}
	}
	for _, v := range readers {
		if len(v.rows[0]) != 600 {
			t.Errorf("%s sees %d rows", v.user, len(v.rows[0]))
		}
	}
	if sets := readers[0].check(t); readers[1].check(t) == 0 || readers[2].check(t) == 0 || readers[0].check(t, readers[1], readers[2]) != sets {
		t.Errorf("who pools all tells more sets apart than the finest, %d", sets)
	}
	for _, command := range []string{"verify", "check"} {
		s.kproxy(t, command).must(t)
	}
}
