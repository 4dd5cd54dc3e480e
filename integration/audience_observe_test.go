package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestAudiencesAreObserved: when one of two audiences ceases to see a table, metrics, status and the log say so of it alone,
// its sessions that have read the table end, and the audit log names the audience of every session.
func TestAudiencesAreObserved(t *testing.T) {
	t.Parallel()
	metrics, file := freeAddress(t), filepath.Join(t.TempDir(), "audit.jsonl")
	s := audienceSite(t, fmt.Sprintf("metrics: {listen: %s, tables: true}\naudit: {file: %s}\n", metrics, file))
	s.replace(t, "{k: 100}", "{k: 590}")
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	state := func(audience, is string) float64 {
		return sample(t, metrics, fmt.Sprintf(`kproxy_table_audience_state{audience=%q,state=%q,table="public.folk"}`, audience, is))
	}
	figure := func(of, audience string) float64 {
		return sample(t, metrics, fmt.Sprintf(`kproxy_table_audience_%s{audience=%q,table="public.folk"}`, of, audience))
	}
	if state("press", "published") != 1 || state("research", "published") != 1 || figure("classes", "press") != 1 || figure("withheld", "press") != 0 || figure("classes", "research") <= 1 {
		_, text := get(t, metrics, "/metrics")
		t.Errorf("metrics do not tell what audiences see:\n%s", text)
	}
	conns := make(map[string]*pgx.Conn)
	for _, user := range []string{"press", "researchers", clientUser} {
		conns[user] = connect(t, s.of(user))
		execute(t, conns[user], "BEGIN; DECLARE c CURSOR FOR TABLE folk")
	}
	beside := connect(t, s.of("press"))
	execute(t, beside, "TABLE towns")
	admin := connect(t, s.admin)
	execute(t, admin, "DELETE FROM folk WHERE id <= 30")
	eventually(t, "the press sees nothing", func() bool { return state("press", "withheld") == 1 })
	if state("press", "published") != 0 || state("research", "published") != 1 || state("research", "withheld") != 0 || figure("withheld", "press") != 570 || figure("withheld", "research") != 0 {
		t.Error("metrics do not tell from whom the table is withheld")
	}
	for user, conn := range conns {
		if user == "press" {
			eventually(t, "its session ends", func() bool {
				_, err := conn.Exec(t.Context(), "FETCH 0 FROM c")
				return conn.IsClosed() || err != nil && sqlState(t, err) == "57P01"
			})
			continue
		}
		if _, err := conn.Exec(t.Context(), "FETCH ALL FROM c"); sqlState(t, err) != "" {
			t.Errorf("a session of %s ends: %v", user, err)
		}
	}
	execute(t, beside, "TABLE towns")
	if _, err := beside.Exec(t.Context(), "TABLE folk"); sqlState(t, err) != "55000" {
		t.Errorf("the press reads what is withheld: %v", err)
	}
	if log := p.log.String(); !strings.Contains(log, "the table is withheld from an audience") || !strings.Contains(log, "audience=press") || strings.Contains(log, "audience=research") {
		t.Errorf("the log is\n%s", log)
	}
	s.statusOfAudiences(t)
	execute(t, admin, "INSERT INTO folk SELECT i, i % 90, 'Kiel', 'illness' FROM generate_series(1, 30) i")
	eventually(t, "the press sees the table again", func() bool { return state("press", "published") == 1 && figure("withheld", "press") == 0 })
	for _, conn := range conns {
		_ = conn.Close(t.Context())
	}
	_ = beside.Close(t.Context())
	checkAuditedAudiences(t, file)
}

// statusOfAudiences is as long as the press sees nothing.
func (s *site) statusOfAudiences(t *testing.T) {
	t.Helper()
	var told struct {
		Needs  []struct{ What, Fix string }
		Tables []struct {
			Table     string
			Audiences []struct {
				Audience, State, Problem string
				Rows, Withheld, Classes  int
			}
		}
	}
	if err := json.Unmarshal([]byte(s.kproxy(t, "status", "--json").stdout), &told); err != nil {
		t.Fatal(err)
	}
	all := told.Tables[0].Audiences
	if len(all) != 2 || all[0].Audience != "research" || all[0].State != "published" || all[0].Rows != 570 || all[0].Withheld != 0 || all[0].Classes < 2 ||
		all[1].Audience != "press" || all[1].State != "withheld" || all[1].Problem == "" || all[1].Rows != 0 || all[1].Withheld != 570 {
		t.Errorf("the status of audiences is %+v", all)
	}
	if len(told.Needs) != 1 || !strings.Contains(told.Needs[0].What, "public.folk shows audience press nothing: ") {
		t.Errorf("what needs the operator is %+v", told.Needs)
	}
}

func checkAuditedAudiences(t *testing.T, file string) {
	t.Helper()
	audiences := map[string]string{"press": "press", "researchers": "research", "more": "research"}
	counts := make(map[string]int)
	eventually(t, "the ends of all sessions are in the audit log", func() bool {
		clear(counts)
		for _, line := range readAudit(t, file) {
			counts[line.Event+" "+line.User]++
			if line.Audience != audiences[line.User] {
				t.Errorf("the audit log says of %+v that it is of audience %q", line, line.Audience)
			}
		}
		return counts["end press"] == 2 && counts["end researchers"] == 1
	})
	for _, what := range []string{"begin press", "statement press", "begin researchers", "statement researchers", "statement " + clientUser} {
		if counts[what] == 0 {
			t.Errorf("there is no line of %s: %v", what, counts)
		}
	}
}
