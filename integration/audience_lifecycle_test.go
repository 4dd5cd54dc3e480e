package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// pressAudience is that of audiencePolicy.
const pressAudience = `  press:
    readers: [press]
    tables:
      folk: {constraints: [{k: 100}], hide: [town, illness]}
`

// values counts the values of age that a user is shown by a new session.
func (s *site) values(t *testing.T, user string) int {
	t.Helper()
	return scalar[int](t, connect(t, s.of(user)), "SELECT count(DISTINCT age) FROM folk")
}

// audienceSchemas are those of audiences in the database.
func (s *site) audienceSchemas(t *testing.T) string {
	t.Helper()
	return scalar[string](t, connect(t, s.admin), "SELECT coalesce(string_agg(nspname, ' ' ORDER BY nspname), '') FROM pg_namespace WHERE nspname ~ '^kproxy_audience_'")
}

// TestNobodyComesToTheFinestReleaseByItself takes audiences away: whose audience is gone reads what it did until
// somebody says what it is to read.
func TestNobodyComesToTheFinestReleaseByItself(t *testing.T) {
	t.Parallel()
	s := audienceSite(t, "")
	s.serve(t)
	coarse, fine := s.values(t, "press"), s.values(t, "bi")
	if coarse >= fine {
		t.Fatalf("the press is shown %d values, and others %d", coarse, fine)
	}
	refused := func(what, why string, commands ...string) {
		t.Helper()
		for _, command := range commands {
			if o := s.kproxy(t, command); o.code == 0 || !strings.Contains(o.stdout+o.stderr, why) {
				t.Errorf("%s: %s ends with %d and says:\n%s%s", what, command, o.code, o.stdout, o.stderr)
			}
		}
		if now := s.values(t, "press"); now != coarse {
			t.Errorf("%s: the press is shown %d values instead of %d", what, now, coarse)
		}
	}
	text := contents(t, s.config)
	s.replace(t, pressAudience, "")
	refused("an audience is gone", `"press" is in no audience`, "setup", "check", "reload")
	without, _, _ := strings.Cut(text, "audiences:\n")
	s.write(t, "kproxy.yaml", strings.Replace(without, s.address, freeAddress(t), 1))
	role := s.database + "_press"
	refused("all audiences are gone", role+" of audience press", "setup")
	refused("all audiences are gone", "role "+role+" belonged to audience press, is in none now", "check", "reload", "serve")

	// Who is meant to is, and who is taken out does not log in any more.
	s.write(t, "kproxy.yaml", strings.NewReplacer(fmt.Sprintf("{user: %q", role), fmt.Sprintf("{reads: tables, user: %q", role), pressAudience, "").Replace(text))
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	eventually(t, "the press is shown the finest release", func() bool { return s.values(t, "press") == fine })
	s.kproxy(t, "setup").must(t)
	if left := s.audienceSchemas(t); left != "kproxy_audience_research_public" {
		t.Errorf("the schemas of audiences are %s", left)
	}
	for _, held := range []string{"pg_namespace, aclexplode(nspacl)", "pg_class, aclexplode(relacl)"} {
		if n := scalar[int](t, connect(t, s.admin), "SELECT count(*) FROM "+held+" a WHERE grantee = $1::regrole", `"`+role+`"`); n != 0 {
			t.Errorf("%d rights of %s are left in %s", n, role, held)
		}
	}
}

// TestReaderBetweenSetupAndReload has a role go to another audience: the process that does not know yet tells its
// users so, and serves all others; check tells that set-up is to run, and nothing that would harm others.
func TestReaderBetweenSetupAndReload(t *testing.T) {
	t.Parallel()
	s := audienceSite(t, "")
	s.serve(t)
	counts := make(map[string]int)
	for _, user := range []string{clientUser, "researchers", "press"} {
		counts[user] = s.values(t, user)
	}
	before := connect(t, s.of("press"))
	s.replace(t, pressAudience, "", "readers: [researchers, more]", "readers: [researchers, more, press]")
	o := s.kproxy(t, "check", "--quiet")
	if o.code == 0 || !strings.Contains(o.stdout, "kproxy setup") || strings.Contains(o.stdout, "REVOKE") || strings.Contains(o.stdout, "GRANT") {
		t.Errorf("check says of a role that joins an audience:\n%s", o.stdout)
	}
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check", "--quiet").must(t)
	for _, conn := range []*pgx.Conn{before, connect(t, s.of("press"))} {
		if _, err := conn.Exec(t.Context(), "TABLE folk"); sqlState(t, err) != "55000" || strings.Contains(err.Error(), "kproxy") {
			t.Errorf("between set-up and reload the press is told: %v", err)
		}
	}
	for _, user := range []string{clientUser, "researchers"} {
		if now := s.values(t, user); now != counts[user] {
			t.Errorf("%s is shown %d values instead of %d", user, now, counts[user])
		}
	}
	if left := s.audienceSchemas(t); !strings.Contains(left, "press") {
		t.Errorf("the schemas of audiences are %s, and a process reads that of the press", left)
	}
	s.kproxy(t, "reload").must(t)
	eventually(t, "the press is shown what researchers are", func() bool {
		conn := connect(t, s.of("press"))
		var n int
		return conn.QueryRow(t.Context(), "SELECT count(DISTINCT age) FROM folk").Scan(&n) == nil && n == counts["researchers"]
	})
	// A schema tells nobody whether it is there.
	probing := connect(t, s.of("press"))
	var told []string
	for _, audience := range []string{"press", "research", "nobody"} {
		_, err := probing.Exec(t.Context(), "SELECT to_tsvector('kproxy_audience_"+audience+"_public.x', 'a')")
		told = append(told, strings.ReplaceAll(fmt.Sprint(err), audience, "?"))
	}
	if told[0] != told[2] {
		t.Errorf("of an audience's schema, and of none, clients are told %q", told)
	}
}

// TestAChangedAudienceTakesNothingFromOthers has one audience be promised more, and then see fewer columns: sessions of the
// table's own readers and of the other audience read on throughout.
func TestAChangedAudienceTakesNothingFromOthers(t *testing.T) {
	t.Parallel()
	s := audienceSite(t, "")
	s.serve(t)
	own, press := connect(t, s.url()), connect(t, s.of("press"))
	researcher := connect(t, s.of("researchers"))
	const least = "SELECT min(n) FROM (SELECT count(*) AS n FROM folk GROUP BY age) AS x"
	if smallest := scalar[int](t, researcher, least); smallest < 25 || smallest >= 60 {
		t.Fatalf("the smallest class of the researchers has %d rows", smallest)
	}
	for _, change := range []struct {
		edits []string
		ready func(*pgx.Conn) bool
	}{
		{[]string{"{k: 25}", "{k: 60}"}, func(conn *pgx.Conn) bool {
			var smallest int
			return conn.QueryRow(t.Context(), least).Scan(&smallest) == nil && smallest >= 60
		}},
		{[]string{"{constraints: [{k: 60}], hide: [town]}", "{constraints: [{k: 60}], hide: [town, illness]}"}, func(conn *pgx.Conn) bool {
			rows, err := conn.Query(t.Context(), "TABLE folk LIMIT 1")
			if err != nil {
				return false
			}
			rows.Close()
			return rows.Err() == nil && len(rows.FieldDescriptions()) == 1
		}},
	} {
		s.replace(t, change.edits...)
		s.kproxy(t, "reload").must(t)
		eventually(t, fmt.Sprint("researchers have the release of the changed policy after ", change.edits), func() bool {
			for name, conn := range map[string]*pgx.Conn{"the table's own reader": own, "the press": press} {
				if rows, code, hint := countRows(t, conn, "folk"); code != "" || rows != 600 {
					t.Fatalf("meanwhile %s counts %d rows, or is refused with %s: %s", name, rows, code, hint)
				}
			}
			conn, err := pgx.Connect(t.Context(), s.of("researchers"))
			if err != nil {
				return false
			}
			defer conn.Close(t.Context())
			return change.ready(conn)
		})
	}
	if researcher.Ping(t.Context()) == nil {
		t.Error("a session of the audience that read the release of before goes on")
	}
}
