package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// rolesOf are the roles of the database that the users of classesReaders run as.
func (s *site) rolesOf() map[string]string {
	return map[string]string{clientUser: s.reader, "researchers": s.database + "_researchers", "press": s.database + "_press"}
}

// mayRead says which users may read the summary that one of them has.
func (s *site) mayRead(t *testing.T, admin *pgx.Conn, of string) string {
	t.Helper()
	var may []string
	for user, role := range s.rolesOf() {
		if scalar[bool](t, admin, "SELECT coalesce(has_table_privilege($1, to_regclass($2), 'SELECT'), false)", role, classesOf(of).SQL()) {
			may = append(may, user)
		}
	}
	slices.Sort(may)
	return strings.Join(may, " ")
}

// TestAudiencesHaveClassesOfTheirOwn: the summary of each is granted to it alone, shows what its release does, and is
// found by none; check tells of one that is of a finer release.
func TestAudiencesHaveClassesOfTheirOwn(t *testing.T) {
	t.Parallel()
	s, users := classesReaders(t, classesPolicy, "")
	admin := connect(t, s.admin)
	schemas := map[string]string{clientUser: "kproxy_release_public", "researchers": "kproxy_audience_research_public", "press": "kproxy_audience_press_public"}
	for _, user := range users {
		s.knowsClasses(t, user)
		if may := s.mayRead(t, admin, user); may != user {
			t.Errorf("the summary for %s can be read by %q", user, may)
		}
		more := scalar[int](t, admin, `SELECT count(*) FROM pg_attribute c WHERE c.attrelid = $1::text::regclass AND c.attnum > 0 AND c.attname <> 'kproxy_count'
			AND NOT EXISTS (SELECT FROM pg_attribute p WHERE p.attrelid = $2::text::regclass AND p.attname = c.attname AND p.atttypid = c.atttypid)`, classesOf(user).SQL(), schemas[user]+".folk")
		if more > 0 {
			t.Errorf("the summary for %s has %d columns that its release has not", user, more)
		}
		client := connect(t, s.of(user))
		for _, place := range []string{
			"pg_class WHERE relname LIKE 'classes%'", "pg_views WHERE viewname LIKE 'classes%'", "pg_attribute WHERE attname = 'kproxy_count'", "pg_type WHERE typname LIKE '%classes\\_%'",
			"information_schema.tables WHERE table_name LIKE 'classes%'", "information_schema.table_privileges WHERE table_name LIKE 'classes%'",
		} {
			if n := scalar[int](t, client, "SELECT count(*) FROM "+place, pgx.QueryExecModeSimpleProtocol); n != 0 {
				t.Errorf("%s finds %d in %s", user, n, place)
			}
		}
		for _, of := range users {
			if _, err := client.Exec(t.Context(), "TABLE "+classesOf(of).SQL()); sqlState(t, err) != "42P01" {
				t.Errorf("%s names the summary for %s: %v", user, of, err)
			}
		}
		said := s.kproxy(t, "explain", "--user", user, "SELECT sex, count(*) FROM folk GROUP BY sex").must(t).stdout
		if !strings.Contains(said, "from the summary of classes") || !strings.Contains(said, classesOf(user).Relation) {
			t.Errorf("for %s explain says %s", user, said)
		}
		if plan := plan(t, client, "SELECT town, count(*) FROM folk GROUP BY town"); strings.Contains(plan, "kproxy") || strings.Contains(plan, "classes") || strings.Contains(plan, "research") {
			t.Errorf("%s is shown the plan\n%s", user, plan)
		}
	}
	if n := scalar[int](t, admin, "SELECT sum(kproxy_count) FROM "+classesOf("press").SQL()); n != scalar[int](t, admin, "SELECT count(*) FROM kproxy_audience_press_public.folk") {
		t.Errorf("the summary for the press counts %d", n)
	}
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check").must(t)
	name := classesOf("press")
	definition := scalar[string](t, admin, "SELECT pg_get_viewdef($1::text::regclass)", name.SQL())
	for _, finer := range []string{"packed_research_", "packed_"} {
		execute(t, admin, "DROP VIEW "+name.SQL())
		execute(t, admin, "CREATE VIEW "+name.SQL()+" AS "+strings.Replace(definition, "packed_press_", finer, 1))
		execute(t, admin, "GRANT SELECT, REFERENCES ON "+name.SQL()+" TO "+s.rolesOf()["press"])
		if said := s.kproxy(t, "check"); said.code == 0 || !strings.Contains(said.stdout+said.stderr, name.Relation) {
			t.Errorf("check does not tell of a summary of %s: %s%s", finer, said.stdout, said.stderr)
		}
	}
	execute(t, admin, "DROP VIEW "+name.SQL())
	eventually(t, "without the summary, the release answers", func() bool {
		_, err := connect(t, s.of("press")).Exec(t.Context(), "SELECT town, count(*) FROM folk GROUP BY town", pgx.QueryExecModeSimpleProtocol)
		return err == nil
	})
}

// TestClassesFollowAudiences: summaries are there for those who may read them, when kproxy starts with a store that has none, when
// readers go to another audience, when an audience is removed, and when the table is withdrawn.
func TestClassesFollowAudiences(t *testing.T) {
	t.Parallel()
	s := siteWithReaders(t, sqlSite(classesSchema, classesPolicy+classesAudiences), "researchers", "press", "bi")
	admin := connect(t, s.admin)
	s.serve(t).end(t, syscall.SIGTERM)
	execute(t, admin, "DROP VIEW "+classesOf("researchers").SQL()+", "+classesOf("press").SQL()) // as earlier versions have left it
	s.serve(t)
	for _, user := range []string{clientUser, "researchers", "press"} {
		eventually(t, "there is a summary for "+user, func() bool { return s.mayRead(t, admin, user) == user })
		s.knowsClasses(t, user)
	}
	// Who was of the press is of research now, as its first role, and another role is of the press.
	s.replace(t, "readers: [press]", "readers: [bi]", "readers: [researchers]", "readers: [press, researchers]", ", reads: tables", "")
	s.kproxy(t, "setup").must(t)
	if may := s.mayRead(t, admin, "press") + ", " + s.mayRead(t, admin, "researchers"); may != ", press researchers" {
		t.Errorf("after set-up, summaries can be read by %s", may)
	}
	if !scalar[bool](t, admin, "SELECT has_table_privilege($1, $2, 'SELECT')", s.database+"_bi", classesOf("press").SQL()) {
		t.Error("after set-up, who is of the press cannot read its summary")
	}
	s.kproxy(t, "reload").must(t)
	s.knowsClasses(t, "press")
	_, press, _ := strings.Cut(classesAudiences, "  press:")
	press = "  press:" + strings.Replace(press, "[press]", "[bi]", 1)
	s.replace(t, press, "", "readers: [press, researchers]", "readers: [press, researchers, bi]")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	eventually(t, "the summary of an audience that is gone is gone", func() bool {
		return scalar[bool](t, admin, "SELECT to_regclass($1) IS NULL AND to_regclass($2) IS NOT NULL", classesOf("press").SQL(), classesOf("researchers").SQL())
	})
	s.knowsClasses(t, "researchers")
	execute(t, admin, "ALTER TABLE folk DROP COLUMN visits")
	execute(t, admin, "UPDATE folk SET age = 5 WHERE id = 1")
	eventually(t, "nobody may read of a table that is withdrawn", func() bool {
		return s.mayRead(t, admin, "researchers")+s.mayRead(t, admin, clientUser) == ""
	})
}

// TestHiddenColumnsChangeNothingOfClasses: whatever a column has that an audience does not see, it is told the same of groups, to
// the byte, answers that are kept among them.
func TestHiddenColumnsChangeNothingOfClasses(t *testing.T) {
	t.Parallel()
	s, users := classesReaders(t, classesPolicy, "answers: {size: 64MB}\n")
	admin := connect(t, s.admin)
	hidden := map[string]string{"researchers": "note = 'other ' || id, seen = '2020-02-02'", "press": "cost = id"}
	for _, user := range users {
		s.knowsClasses(t, user)
	}
	ask := func(user string) (told []string) {
		conn := connect(t, s.of(user)).PgConn()
		rng := rand.New(rand.NewPCG(11, 0))
		for n := range 80 {
			sql := groupQuestions{rng: rng, joined: n%2 == 1}.question()
			told = append(told, sql+": "+sortedLines(answerOf(t.Context(), conn, strings.ReplaceAll(strings.ReplaceAll(sql, "$1", "'F'"), "$2", "40"), n%4 < 2)))
		}
		return told
	}
	for user, change := range hidden {
		before := ask(user)
		mark := "SELECT mark FROM kproxy_catalog.mark"
		was := scalar[string](t, admin, mark)
		execute(t, admin, "UPDATE folk SET "+change)
		eventually(t, "the change is published", func() bool { return scalar[string](t, admin, mark) != was })
		for n, told := range ask(user) {
			if told != before[n] {
				t.Errorf("%s was told\n%s\nand now\n%s", user, before[n], told)
			}
		}
	}
}

// TestKeptAnswersOfClasses: the answer to a question about groups that is kept for one is nobody's of another audience, and
// nobody's after a change.
func TestKeptAnswersOfClasses(t *testing.T) {
	t.Parallel()
	metrics := freeAddress(t)
	s, users := classesReaders(t, classesPolicy, fmt.Sprintf("answers: {size: 64MB}\nmetrics: {listen: %s}\n", metrics))
	admin := connect(t, s.admin)
	const dear = "SELECT count(*) FROM folk a JOIN $folk b ON a.age >= b.age JOIN $folk c ON c.born = b.born AND c.age >= b.age"
	schemas := map[string]string{clientUser: "kproxy_release_public.", "researchers": "kproxy_audience_research_public.", "press": "kproxy_audience_press_public."}
	conns := make(map[string]*pgx.Conn)
	for _, user := range users {
		s.knowsClasses(t, user)
		conns[user] = connect(t, s.of(user))
		if said := s.kproxy(t, "explain", "--user", user, strings.ReplaceAll(dear, "$", "")).must(t).stdout; !strings.Contains(said, "from the summary of classes") {
			t.Fatalf("for %s explain says %s", user, said)
		}
	}
	for range 3 {
		answers := make(map[int64]bool)
		want := make(map[string]int64)
		for _, user := range users {
			want[user] = scalar[int64](t, admin, strings.ReplaceAll(strings.Replace(dear, "FROM folk", "FROM $folk", 1), "$", schemas[user]))
			answers[want[user]] = true
		}
		if len(answers) < len(users) {
			t.Errorf("releases answer alike: %v", want)
		}
		for range 4 {
			for _, user := range users {
				if got := scalar[int64](t, conns[user], strings.ReplaceAll(dear, "$", ""), pgx.QueryExecModeExec); got != want[user] {
					t.Fatalf("%s is told %d, not %d", user, got, want[user])
				}
			}
		}
		before := scalar[string](t, admin, "SELECT mark FROM kproxy_catalog.mark")
		execute(t, admin, "DELETE FROM folk WHERE id % 10 = (SELECT min(id) % 10 FROM folk)")
		eventually(t, "the change is published", func() bool { return scalar[string](t, admin, "SELECT mark FROM kproxy_catalog.mark") != before })
	}
	if kept := hits(t, metrics); kept < float64(len(users)) {
		t.Errorf("%v answers were kept, which says nothing", kept)
	}
}
