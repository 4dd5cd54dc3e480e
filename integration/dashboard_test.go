package integration

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/integration/rig"
)

// dashboard is what analysts of every audience run, in R: its panels name the same tables and columns.
// A panel whose question is refused says so.
const dashboard = `library(RPostgreSQL); library(dplyr, warn.conflicts = FALSE)
db <- dbConnect(PostgreSQL())
panel <- function(name, ask) {
  found <- tryCatch(as.data.frame(ask()), error = function(e) data.frame(refused = "refused"))
  write.table(found, name, sep = "\t", quote = FALSE, row.names = FALSE, col.names = FALSE)
}
panel("columns", function() dbGetQuery(db, "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'folk' ORDER BY 1"))
panel("ages", function() tbl(db, "folk") %>% mutate(age = as.character(age)) %>% count(age) %>% collect())
panel("illnesses", function() tbl(db, "folk") %>% count(illness) %>% collect())
panel("sizes", function() tbl(db, "towns") %>% arrange(size) %>% collect())
invisible(dbDisconnect(db))
`

// TestDashboardOfTwoAudiences has one dashboard looked at by users of two audiences and by one of none: each sees
// its own release, and of columns that its audience does not have that there are none.
func TestDashboardOfTwoAudiences(t *testing.T) {
	t.Parallel()
	found := exec.Command("Rscript", "--vanilla", "-e", `find.package(c("RPostgreSQL", "dbplyr"))`).Run() == nil
	rig.Need(t, "r-cran-rpostgresql and r-cran-dbplyr", found)
	s := audienceSite(t, "")
	s.serve(t)
	const columns = "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'folk' ORDER BY 1"
	panels := map[string]string{
		"columns": columns, "ages": "SELECT age::text, count(*)::text FROM folk GROUP BY 1",
		"illnesses": "SELECT illness, count(*)::text FROM folk GROUP BY 1", "sizes": "SELECT town, size::text FROM towns",
	}
	ages := make(map[string][]string)
	for user, refused := range map[string]bool{clientUser: false, "researchers": false, "press": true} {
		shown := s.dashboard(t, user)
		ages[user] = shown["ages"]
		conn := connect(t, s.of(user))
		for name, sql := range panels {
			want := []string{"refused"}
			if !refused || name != "illnesses" {
				want = lines(t, conn, sql)
			}
			if !slices.Equal(shown[name], want) {
				t.Errorf("%s sees in %s %q, not %q", user, name, shown[name], want)
			}
		}
	}
	for _, pair := range [][2]string{{clientUser, "researchers"}, {"researchers", "press"}} {
		if finer, coarser := ages[pair[0]], ages[pair[1]]; len(finer) <= len(coarser) || len(coarser) == 0 {
			t.Errorf("%s sees %d ranges of ages, and %s %d", pair[0], len(finer), pair[1], len(coarser))
		}
	}
}

// dashboard is what the dashboard shows to a user: of each panel the lines, in order.
func (s *site) dashboard(t *testing.T, user string) map[string][]string {
	t.Helper()
	at, err := url.Parse(s.of(user))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "dashboard.R"), []byte(dashboard), 0o600); err != nil {
		t.Fatal(err)
	}
	password, _ := at.User.Password()
	cmd := exec.CommandContext(t.Context(), "Rscript", "--vanilla", "dashboard.R")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "PGHOST="+at.Hostname(), "PGPORT="+at.Port(), "PGDATABASE="+strings.TrimPrefix(at.Path, "/"),
		"PGUSER="+user, "PGPASSWORD="+password, "LC_ALL=C.UTF-8")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", user, err, output)
	}
	shown := make(map[string][]string)
	for _, name := range []string{"columns", "ages", "illnesses", "sizes"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		shown[name] = slices.Sorted(slices.Values(strings.Split(strings.TrimSpace(string(text)), "\n")))
	}
	return shown
}

// lines are the rows of texts that a question has, in order.
func lines(t *testing.T, conn *pgx.Conn, sql string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		values, err := row.Values()
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = fmt.Sprint(v)
		}
		return strings.Join(texts, "\t"), err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}
