package bi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// shots is where pictures of what people see are left to be looked at.
const shots = "../../bin/screens"

// TestSuperset has Apache Superset connect, list schemas and tables, synchronize datasets, draw a
// chart of each usual kind, run SQL in its laboratory, and show a dashboard with a filter to a
// browser, which drills into it.
func TestSuperset(t *testing.T) {
	heavy(t)
	browser := rig.Program("chromium", "chromium-browser")
	rig.Need(t, "chromium", browser != "")
	folder := project(t, "superset")
	start(t)
	s := startSuperset(t, folder)
	s.connect(t)
	t.Run("tables", s.lists)
	patients := s.dataset(t, map[string]any{"schema": "public", "table_name": "patients"})
	t.Run("columns", func(t *testing.T) { s.describes(t, patients) })
	charts := make([]int, 0, 16)
	for _, c := range supersetCharts(t) {
		t.Run(c.Name, func(t *testing.T) { s.answers(t, patients, c) })
		charts = append(charts, s.save(t, patients, c))
	}
	t.Run("joined dataset", s.joins)
	t.Run("values of a filter", func(t *testing.T) {
		var found struct{ Result []string }
		s.call(t, http.MethodGet, fmt.Sprintf("/api/v1/datasource/table/%d/column/ward/values/", patients), nil, &found)
		slices.Sort(found.Result)
		agree(t, rowsOf(found.Result), published(t, "SELECT DISTINCT ward FROM patients ORDER BY 1"))
	})
	t.Run("laboratory", s.laboratory)
	t.Run("browser", func(t *testing.T) {
		pictures, err := filepath.Abs(shots)
		if err != nil {
			t.Fatal(err)
		}
		environment := append(os.Environ(), "SUPERSET="+s.url, "PASSWORD="+s.password, "CHROMIUM="+browser, "SHOTS="+pictures,
			fmt.Sprintf("DASHBOARD=%d", s.dashboard(t, patients, charts)), fmt.Sprintf("CHARTS=%d", len(charts)), fmt.Sprintf("DATABASE=%d", s.database))
		t.Logf("%s", run(t, folder, environment, "node", "browser.mjs"))
	})
}

// superset is a running Superset, and the user who is logged in.
type superset struct {
	url, password, token string
	database             int // its number of the connection
}

// startSuperset installs Superset, unless that was done before, and starts it with an empty store.
func startSuperset(t *testing.T, folder string) *superset {
	t.Helper()
	python := rig.Python()
	rig.Need(t, "python3 with python3-pip", python != "")
	packages, err := rig.Packages("superset", python, filepath.Join("testdata", "superset", "requirements.txt"))
	if err != nil {
		t.Fatal(err)
	}
	port, err := rig.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	s := &superset{url: fmt.Sprintf("http://127.0.0.1:%d", port), password: "of a test"}
	cmd := exec.Command(python, "-B", filepath.Join(folder, "serve.py"))
	cmd.Env = append(os.Environ(), "PYTHONPATH="+packages, "SUPERSET_HOME="+folder, "ADMIN_PASSWORD="+s.password, fmt.Sprintf("PORT=%d", port))
	told := &rig.Log{}
	cmd.Stdout, cmd.Stderr = told, told
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			said := told.String()
			t.Logf("Superset says at last:\n%s", said[max(0, len(said)-5000):])
		}
	})
	if _, err := told.Await(regexp.MustCompile(`Running on http`)); err != nil {
		t.Fatal(err)
	}
	return s
}

// call calls Superset's interface. The answer is nil where nobody wants it.
func (s *superset) call(t *testing.T, method, path string, body, answer any) {
	t.Helper()
	if err := s.try(t, method, path, body, answer); err != nil {
		t.Fatal(err)
	}
}

// try is call where Superset may refuse.
func (s *superset) try(t *testing.T, method, path string, body, answer any) error {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	told, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s\n%s", method, path, response.Status, told)
	}
	if err == nil && answer != nil {
		err = json.Unmarshal(told, answer)
	}
	return err
}

// connect logs in, tests the connection as its form does, and keeps it.
func (s *superset) connect(t *testing.T) {
	t.Helper()
	var login struct {
		Token string `json:"access_token"`
	}
	s.call(t, http.MethodPost, "/api/v1/security/login", map[string]any{"username": "admin", "password": s.password, "provider": "db"}, &login)
	s.token = login.Token
	form := map[string]any{"database_name": "Hospital", "sqlalchemy_uri": strings.Replace(site.Analyst.String(), "postgresql://", "postgresql+psycopg2://", 1)}
	s.call(t, http.MethodPost, "/api/v1/database/test_connection/", form, nil)
	form["expose_in_sqllab"] = true
	var made struct{ ID int }
	s.call(t, http.MethodPost, "/api/v1/database/", form, &made)
	s.database = made.ID
}

// lists compares the schemas and tables that Superset offers.
func (s *superset) lists(t *testing.T) {
	var schemas struct{ Result []string }
	s.call(t, http.MethodGet, fmt.Sprintf("/api/v1/database/%d/schemas/", s.database), nil, &schemas)
	slices.Sort(schemas.Result)
	if !slices.Equal(schemas.Result, []string{"information_schema", "kproxy", "public"}) {
		t.Errorf("schemas are %v", schemas.Result)
	}
	var tables struct{ Result []struct{ Value string } }
	s.call(t, http.MethodGet, fmt.Sprintf("/api/v1/database/%d/tables/?q=(schema_name:public)", s.database), nil, &tables)
	var names []string
	for _, table := range tables.Result {
		names = append(names, table.Value)
	}
	slices.Sort(names)
	agree(t, rowsOf(names), published(t, "SELECT unnest('{diagnoses,icd10,labs,patients,persons,prescriptions,staff,stays,wards}'::text[])"))
}

// dataset makes a dataset, and synchronizes its columns.
func (s *superset) dataset(t *testing.T, of map[string]any) int {
	t.Helper()
	of["database"] = s.database
	var made struct{ ID int }
	s.call(t, http.MethodPost, "/api/v1/dataset/", of, &made)
	s.call(t, http.MethodPut, fmt.Sprintf("/api/v1/dataset/%d/refresh", made.ID), nil, nil)
	return made.ID
}

// describes compares the columns of a dataset and their comments.
func (s *superset) describes(t *testing.T, dataset int) {
	var found struct {
		Result struct {
			Columns []struct {
				Name        string `json:"column_name"`
				Type        string
				Description string
			}
		}
	}
	s.call(t, http.MethodGet, fmt.Sprintf("/api/v1/dataset/%d", dataset), nil, &found)
	var shown [][]string
	for _, column := range found.Result.Columns {
		name, _, _ := strings.Cut(strings.ToLower(column.Type), "(")
		shown = append(shown, []string{column.Name, name, column.Description})
	}
	slices.SortFunc(shown, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	agree(t, shown, published(t, `SELECT attname, format_type(atttypid, NULL), col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = 'patients'::regclass AND attnum > 0 ORDER BY 1`))
}

// supersetChart is a chart: how it looks, what it asks, and the same in SQL. Its columns
// are Superset's names of the SQL's columns.
type supersetChart struct {
	Name, Viz   string
	Form, Query map[string]any
	Columns     []string
	SQL         string
}

func supersetCharts(t *testing.T) []supersetChart {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "superset", "charts.json"))
	if err != nil {
		t.Fatal(err)
	}
	var charts []supersetChart
	if err := json.Unmarshal(text, &charts); err != nil {
		t.Fatal(err)
	}
	return charts
}

// context is what a chart asks of a dataset.
func (c supersetChart) context(dataset int) map[string]any {
	return map[string]any{
		"datasource": map[string]any{"id": dataset, "type": "table"}, "queries": []any{c.Query}, "result_format": "json", "result_type": "full", "force": true,
	}
}

// answers compares what a chart is drawn from.
func (s *superset) answers(t *testing.T, dataset int, c supersetChart) {
	var answer struct {
		Result []struct{ Data []map[string]any }
	}
	s.call(t, http.MethodPost, "/api/v1/chart/data", c.context(dataset), &answer)
	agree(t, picked(answer.Result[0].Data, c.Columns), published(t, c.SQL))
}

// picked are the columns of rows that are named.
func picked(data []map[string]any, columns []string) [][]string {
	rows := make([][]string, len(data))
	for i, row := range data {
		for _, column := range columns {
			rows[i] = append(rows[i], text(row[column]))
		}
	}
	return rows
}

// rowsOf are values as rows of one column.
func rowsOf(values []string) [][]string {
	rows := make([][]string, len(values))
	for i, value := range values {
		rows[i] = []string{value}
	}
	return rows
}

// save keeps a chart for the dashboard.
func (s *superset) save(t *testing.T, dataset int, c supersetChart) int {
	t.Helper()
	c.Form["viz_type"], c.Form["datasource"] = c.Viz, fmt.Sprintf("%d__table", dataset)
	form, err := json.Marshal(c.Form)
	if err != nil {
		t.Fatal(err)
	}
	query, err := json.Marshal(c.context(dataset))
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ ID int }
	s.call(t, http.MethodPost, "/api/v1/chart/", map[string]any{
		"slice_name": c.Name, "viz_type": c.Viz, "datasource_id": dataset, "datasource_type": "table", "params": string(form), "query_context": string(query),
	}, &made)
	return made.ID
}

// joins has a dataset be a query over tables of persons, joined by their pseudonyms.
func (s *superset) joins(t *testing.T) {
	const from = "FROM persons JOIN stays USING (person_id) JOIN diagnoses USING (stay_id) JOIN icd10 USING (code)"
	dataset := s.dataset(t, map[string]any{"schema": "public", "table_name": "stays of persons", "sql": "SELECT description, person_id, days, admission_date " + from})
	s.answers(t, dataset, supersetChart{
		Query: map[string]any{
			"columns":    []any{"description"},
			"metrics":    []any{map[string]any{"expressionType": "SIMPLE", "column": map[string]any{"column_name": "person_id"}, "aggregate": "COUNT_DISTINCT", "label": "persons"}},
			"orderby":    []any{[]any{"description", true}},
			"row_limit":  100,
			"time_range": "2025-01-01 : ", "granularity": "admission_date",
		},
		Columns: []string{"description", "persons"},
		SQL:     "SELECT description, count(DISTINCT person_id) " + from + " WHERE admission_date >= '2025-01-01' GROUP BY 1 ORDER BY 1",
	})
}

// laboratory runs SQL as an analyst writes it, and sees what is refused.
func (s *superset) laboratory(t *testing.T) {
	execute := func(sql string) (rows []map[string]any, err error) {
		var answer struct{ Data []map[string]any }
		err = s.try(t, http.MethodPost, "/api/v1/sqllab/execute/", map[string]any{
			"database_id": s.database, "schema": "public", "sql": sql, "runAsync": false, "client_id": fmt.Sprintf("c%d", len(sql)), "queryLimit": 1000,
		}, &answer)
		return answer.Data, err
	}
	const sql = "WITH w AS (SELECT ward, count(*) AS n, avg(cost) AS cost FROM patients GROUP BY ward) SELECT ward, n, rank() OVER (ORDER BY n DESC) AS place FROM w ORDER BY ward"
	rows, err := execute(sql)
	if err != nil {
		t.Fatal(err)
	}
	agree(t, picked(rows, []string{"ward", "n", "place"}), published(t, sql))
	for _, refused := range []struct{ sql, says string }{
		{"SELECT name, national_id FROM patients", `resolve the column \"name\"`},
		{"SELECT * FROM nobody", "does not exist"},
		{"SELECT nextval('x')", "permission denied for function"},
	} {
		if _, err := execute(refused.sql); err == nil || !strings.Contains(err.Error(), refused.says) {
			t.Errorf("%s: Superset is told %v", refused.sql, err)
		}
	}
}

// dashboard puts charts, two a row, under a filter of the ward.
func (s *superset) dashboard(t *testing.T, dataset int, charts []int) int {
	t.Helper()
	position := map[string]any{
		"DASHBOARD_VERSION_KEY": "v2",
		"ROOT_ID":               map[string]any{"type": "ROOT", "id": "ROOT_ID", "children": []string{"GRID_ID"}},
	}
	var rows []string
	for i := 0; i < len(charts); i += 2 {
		row := fmt.Sprintf("ROW-%d", i)
		rows = append(rows, row)
		var children []string
		for _, chart := range charts[i:min(i+2, len(charts))] {
			id := fmt.Sprintf("CHART-%d", chart)
			children = append(children, id)
			position[id] = map[string]any{
				"type": "CHART", "id": id, "children": []string{}, "parents": []string{"ROOT_ID", "GRID_ID", row}, "meta": map[string]any{"chartId": chart, "width": 6, "height": 50},
			}
		}
		position[row] = map[string]any{"type": "ROW", "id": row, "children": children, "parents": []string{"ROOT_ID", "GRID_ID"}, "meta": map[string]any{"background": "BACKGROUND_TRANSPARENT"}}
	}
	position["GRID_ID"] = map[string]any{"type": "GRID", "id": "GRID_ID", "children": rows, "parents": []string{"ROOT_ID"}}
	filter := map[string]any{
		"id": "NATIVE_FILTER-ward", "name": "Ward", "filterType": "filter_select", "type": "NATIVE_FILTER",
		"targets": []any{map[string]any{"datasetId": dataset, "column": map[string]any{"name": "ward"}}}, "defaultDataMask": map[string]any{"extraFormData": map[string]any{}, "filterState": map[string]any{}},
		"controlValues": map[string]any{"multiSelect": true, "enableEmptyFilter": false}, "cascadeParentIds": []any{}, "scope": map[string]any{"rootPath": []string{"ROOT_ID"}, "excluded": []any{}},
	}
	layout, err := json.Marshal(position)
	metadata, failure := json.Marshal(map[string]any{"native_filter_configuration": []any{filter}})
	if err := errors.Join(err, failure); err != nil {
		t.Fatal(err)
	}
	var made struct{ ID int }
	s.call(t, http.MethodPost, "/api/v1/dashboard/", map[string]any{"dashboard_title": "Patients of the hospital", "published": true, "position_json": string(layout), "json_metadata": string(metadata)}, &made)
	for _, chart := range charts {
		s.call(t, http.MethodPut, fmt.Sprintf("/api/v1/chart/%d", chart), map[string]any{"dashboards": []int{made.ID}}, nil)
	}
	return made.ID
}
