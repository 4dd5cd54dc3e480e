package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// operator is a client of the console's JSON.
type operator struct {
	t      *testing.T
	client *http.Client
	site   *demonstration
}

func logIn(t *testing.T, d *demonstration) operator {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := operator{t, &http.Client{Jar: jar, Timeout: time.Minute}, d}
	answer, err := o.client.PostForm(d.Console+"login", url.Values{"user": {"admin"}, "password": {d.Password}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK || strings.HasSuffix(answer.Request.URL.Path, "/login") {
		t.Fatalf("logging in: %s at %s", answer.Status, answer.Request.URL)
	}
	return o
}

// read fills v from a path.
func (o operator) read(path string, v any) {
	o.t.Helper()
	answer, err := o.client.Get(o.site.Console + path)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(answer.Body).Decode(v); err != nil || answer.StatusCode != http.StatusOK {
		o.t.Fatalf("%s: %s, %v", path, answer.Status, err)
	}
}

// release is what of a table's figures is checked.
type release struct {
	Table    string   `json:"table"`
	State    string   `json:"state"`
	Rows     int64    `json:"rows"`
	Classes  int64    `json:"classes"`
	Loss     *float64 `json:"information_loss"`
	Measured int      `json:"measured_records"`
	Proof    *struct {
		Passed bool  `json:"passed"`
		Checks []any `json:"checks"`
	} `json:"proof"`
	Sizes []struct {
		Size    int   `json:"size"`
		Classes int64 `json:"classes"`
	} `json:"class_sizes"`
	Risk    struct{ Highest, Average float64 } `json:"risk"`
	History []any                              `json:"loss_history"`
	Preview struct {
		Columns []any `json:"columns"`
		Rows    []any `json:"rows"`
	} `json:"preview"`
}

// lossless are the tables of which no loss is measured: their rows belong to persons.
var lossless = []string{"public.stays", "public.diagnoses", "public.prescriptions", "public.labs"}

// checkFigures holds what the console tells against the database.
func checkFigures(t *testing.T, d *demonstration) {
	conn, err := pgx.Connect(t.Context(), d.Source)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	o := logIn(t, d)
	var overview struct {
		Needs  []any     `json:"needs"`
		Tables []release `json:"tables"`
	}
	// The loss is recorded soon after a table is published; the demonstration proves it.
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Second) {
		o.read("api/overview", &overview)
		wanting := func(r release) bool { return r.Loss == nil && !slices.Contains(lossless, r.Table) || r.Proof == nil }
		if len(overview.Tables) > 0 && !slices.ContainsFunc(overview.Tables, wanting) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing was proved or measured: %+v", overview)
		}
	}
	if len(overview.Needs) > 0 || !overview.Tables[0].Proof.Passed {
		t.Errorf("got %+v", overview)
	}
	var table release
	o.read("api/tables/public.patients", &table)
	var rows, classes int64
	var smallest int
	var generation int64
	if err := conn.QueryRow(t.Context(), "SELECT generation FROM kproxy_store.generation WHERE table_name = 'patients'").Scan(&generation); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), fmt.Sprintf(`SELECT count(*), sum(n)::bigint, min(n) FROM (
		SELECT count(*) AS n FROM kproxy_store.records_%d WHERE kproxy_class IS NOT NULL GROUP BY kproxy_class) c`, generation)).Scan(&classes, &rows, &smallest); err != nil {
		t.Fatal(err)
	}
	if table.State != "published" || table.Rows != rows || table.Classes != classes || len(table.Sizes) == 0 || table.Sizes[0].Size != smallest {
		t.Errorf("%d rows in %d classes from %d on, told is %+v", rows, classes, smallest, table)
	}
	if math.Abs(table.Risk.Highest-1/float64(smallest)) > 1e-9 || math.Abs(table.Risk.Average-float64(classes)/float64(rows)) > 1e-9 {
		t.Errorf("risk %+v", table.Risk)
	}
	if int64(table.Measured) != rows || *table.Loss <= 0 || *table.Loss >= 1 || len(table.History) == 0 {
		t.Errorf("loss %v on %d records, %d recorded", *table.Loss, table.Measured, len(table.History))
	}
	if len(table.Preview.Columns) < 10 || len(table.Preview.Rows) == 0 {
		t.Errorf("preview %+v", table.Preview)
	}
	readersCannotReadProofs(t, conn)
	o.triesPersons()
}

// triesPersons: what outsiders know of persons is tried on a sample of them. Whoever knows what is
// granted is left with k persons.
func (o operator) triesPersons() {
	o.t.Helper()
	const path = "whatif/public.stays"
	answer, err := o.client.Get(o.site.Console + path)
	if err != nil {
		o.t.Fatal(err)
	}
	page, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	token := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindSubmatch(page)
	if err != nil || token == nil {
		o.t.Fatalf("the form has no token: %v\n%s", err, page)
	}
	form := url.Values{"csrf": {string(token[1])}, "method": {"all", "1/1y"}, "k": {"5, 10"}, "sample": {"400"}}
	if answer, err = o.client.PostForm(o.site.Console+path, form); err != nil {
		o.t.Fatal(err)
	}
	_ = answer.Body.Close()
	var trial struct {
		Job struct {
			State, Problem string
			Trial          struct {
				Records int
				Of      int64
				Runs    []struct {
					Method  string
					K       int
					InForce bool `json:"in_force"`
					Refused string
					People  struct {
						Root  float64 `json:"root_loss"`
						Rows  float64 `json:"rows_loss"`
						Keyed float64 `json:"keyed_rows"`
						Risks []struct {
							Known string  `json:"known_rows"`
							Mean  float64 `json:"mean_risk"`
						}
					}
				}
			}
		}
	}
	for deadline := time.Now().Add(patience); trial.Job.State != "done"; time.Sleep(200 * time.Millisecond) {
		if o.read("api/"+path, &trial); trial.Job.Problem != "" || time.Now().After(deadline) {
			o.t.Fatalf("the trial has not ended: %+v", trial)
		}
	}
	runs := trial.Job.Trial.Runs
	if len(runs) != 4 || trial.Job.Trial.Records < 200 || trial.Job.Trial.Of < int64(trial.Job.Trial.Records) {
		o.t.Fatalf("the trial is %+v", trial)
	}
	for _, r := range runs {
		if r.InForce != (r.Method == "1/1y" && r.K == 5) {
			o.t.Errorf("in force is %+v", r)
		}
		if p := r.People; r.Refused != "" || p.Root <= 0 || p.Root >= 1 || p.Keyed <= 0.3 || len(p.Risks) != 5 || p.Risks[4].Known != "all" {
			o.t.Errorf("the run is %+v", r)
		}
	}
	for _, r := range runs {
		granted := map[string]int{"all": 4, "1/1y": 1}[r.Method]
		if r.People.Risks[granted].Mean > 1/float64(r.K)+1e-9 {
			o.t.Errorf("what is granted leaves fewer than k persons: %+v", r)
		}
	}
}

// readersCannotReadProofs: a failed proof tells of the private store.
func readersCannotReadProofs(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, relation := range []string{"proof", "loss"} {
		_, err := conn.Exec(t.Context(), "BEGIN; SET LOCAL ROLE kproxy_reader; SELECT FROM kproxy_store."+relation)
		if refused := (*pgconn.PgError)(nil); !errors.As(err, &refused) || refused.Code != "42501" {
			t.Errorf("the reader role reads kproxy_store.%s: %v", relation, err)
		}
		if _, err := conn.Exec(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
}
