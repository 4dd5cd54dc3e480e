package bi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/integration/rig"
)

// panel is one of a dashboard: what Cube is asked, and the same in SQL. Its columns are
// Cube's names of the SQL's columns.
type panel struct {
	Name    string
	Query   json.RawMessage
	Columns []string
	SQL     string
}

// TestCube has Cube read the tables, fill a dashboard over a model of them, and store
// nothing.
func TestCube(t *testing.T) {
	heavy(t)
	start(t)
	audiences := startAudiences(t)
	cube := startCube(t, audiences.connections())
	t.Run("audiences", func(t *testing.T) { audiences.ask(t, cube) })
	t.Run("tables", func(t *testing.T) {
		var found map[string]map[string][]struct{ Name, Type string }
		cube.get(t, "", "/tables", nil, &found)
		var shown [][]string
		for schema, tables := range found {
			for name, columns := range tables {
				for _, column := range columns {
					shown = append(shown, []string{schema, name, column.Name, column.Type})
				}
			}
		}
		slices.SortFunc(shown, slices.Compare)
		agree(t, shown, published(t, `SELECT 'public', c.relname, a.attname, format_type(a.atttypid, NULL)
			FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
			WHERE attnum > 0 AND attrelid = ANY ('{patients,staff,wards,icd10,persons,stays,diagnoses,prescriptions,labs}'::regclass[]) ORDER BY c.relname, a.attname`))
	})
	for _, p := range dashboard(t) {
		t.Run(p.Name, func(t *testing.T) {
			rows, failure := cube.load(t, "", p.Query)
			if failure != "" {
				t.Fatal(failure)
			}
			agree(t, p.shown(rows), published(t, p.SQL))
		})
	}
	t.Run("pre-aggregation in the database", func(t *testing.T) {
		_, failure := cube.load(t, "", json.RawMessage(`{"measures": ["stored.count"], "dimensions": ["stored.ward"]}`))
		if !strings.Contains(failure, "CREATE is not allowed") {
			t.Errorf("Cube is told %q", failure)
		}
	})
}

// shown are the rows that Cube shows, in the order of the panel's columns.
func (p panel) shown(rows []map[string]any) (shown [][]string) {
	for _, row := range rows {
		values := make([]string, len(p.Columns))
		for i, column := range p.Columns {
			values[i] = text(row[column])
		}
		shown = append(shown, values)
	}
	return shown
}

func dashboard(t *testing.T) []panel {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "cube", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var panels []panel
	if err := json.Unmarshal(text, &panels); err != nil {
		t.Fatal(err)
	}
	return panels
}

// cube is the URL of a running Cube.
type cube string

// startCube starts it; connections are those of users who ask with tokens, as JSON.
func startCube(t *testing.T, connections string) cube {
	t.Helper()
	folder := project(t, "cube")
	port, err := rig.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "server.js")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "NODE_ENV=production", "CONNECTIONS="+connections, fmt.Sprintf("PORT=%d", port),
		"CUBEJS_DB_TYPE=postgres", "CUBEJS_DB_HOST="+site.Analyst.Hostname(), "CUBEJS_DB_PORT="+site.Analyst.Port(),
		"CUBEJS_DB_NAME=hospital", "CUBEJS_DB_USER=analyst", "CUBEJS_DB_PASS="+password(),
		"CUBEJS_API_SECRET=of a test", "CUBEJS_CACHE_AND_QUEUE_DRIVER=memory", "CUBEJS_EXTERNAL_DEFAULT=false",
		"CUBEJS_SCHEDULED_REFRESH_TIMER=false", "CUBEJS_PRE_AGGREGATIONS_BUILDER=true", "CUBEJS_TELEMETRY=false")
	told := &rig.Log{}
	cmd.Stdout, cmd.Stderr = told, told
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("Cube says:\n%s", told)
		}
	})
	if _, err := told.Await(regexp.MustCompile(`Cube \S+ listens`)); err != nil {
		t.Fatal(err)
	}
	return cube("http://127.0.0.1:" + strconv.Itoa(port))
}

// load asks a question until its answer is there, with the token of a user.
func (c cube) load(t *testing.T, token string, query json.RawMessage) (rows []map[string]any, failure string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var answer struct {
			Error string
			Data  []map[string]any
		}
		c.get(t, token, "/cubejs-api/v1/load", url.Values{"query": {string(query)}}, &answer)
		if answer.Error != "Continue wait" {
			return answer.Data, answer.Error
		}
	}
	t.Fatal("Cube does not answer")
	return nil, ""
}

func (c cube) get(t *testing.T, token, path string, query url.Values, answer any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, string(c)+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
