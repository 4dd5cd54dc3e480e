package clients

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestAdminer has somebody work with Adminer in a browser: what its pages show, and what it
// exports.
func TestAdminer(t *testing.T) {
	heavy(t)
	t.Parallel()
	const pages = "/usr/share/adminer/adminer"
	_, err := os.Stat(pages)
	rig.Need(t, "adminer with php-cli and php-pgsql", err == nil && exec.Command("php", "-r", "exit(extension_loaded('pgsql') ? 0 : 1);").Run() == nil)
	compare(t, "adminer", func(t *testing.T, w way) []step {
		t.Helper()
		a := openAdminer(t, w, pages)
		a.login()
		a.catalogs()
		a.selects()
		a.commands()
		a.exports()
		a.note("logout", func() (any, error) {
			_, text, err := a.post(nil, url.Values{"logout": {"Logout"}})
			return text, err
		})
		a.show("after it", "table", "wards")
		return a.steps
	})
}

// adminer is a browser with Adminer. A schema is the one with the tables on its way.
type adminer struct {
	diary
	browser *http.Client
	address string
	server  string
	port    string
	schema  string
	token   string // which each form has, of the last page
}

// openAdminer starts Adminer, which finds in its environment how to connect with TLS.
func openAdminer(t *testing.T, w way, pages string) *adminer {
	t.Helper()
	folder := t.TempDir()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(must[int](t)(rig.FreePort())))
	variables := append(w.environment(), "PHP_CLI_SERVER_WORKERS=1")
	daemon(t, variables, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, folder, rig.Program("php"), "-S", address, "-t", pages, "-d", "session.save_path="+folder, "-d", "sys_temp_dir="+folder)
	return &adminer{
		browser: &http.Client{Jar: must[*cookiejar.Jar](t)(cookiejar.New(nil))},
		address: "http://" + address + "/", server: host + ":" + strconv.Itoa(w.port), port: strconv.Itoa(w.port),
	}
}

var (
	tokenOf = regexp.MustCompile(`name="token" value="([0-9:]+)"`)
	// content is what a page has besides menus: until the choice of a language.
	content = regexp.MustCompile(`(?s)<div id="content">(.*?)<div id='lang'>`)
	scripts = regexp.MustCompile(`(?s)<script.*?</script>`)
	tags    = regexp.MustCompile(`<[^>]*>`)
	spaces  = regexp.MustCompile(`\s+`)
	// passing is what is another time by time: times, and schemas for other sessions' temporary tables.
	passing = regexp.MustCompile(`[0-9.]+ s\b|[0-9]{2}:[0-9]{2}:[0-9]{2} |(?m)^-- [0-9]{4}-.*$|\bpg_(?:toast_)?temp_[0-9]+ | \(Debian [^)]*\)`)
	// planned is a plan that Adminer shows with a query's result: its costs change with what the server counts.
	planned = regexp.MustCompile(`QUERY PLAN .*? SELECT `)
)

// do sends a request and returns what came back, and what it shows of it.
func (a *adminer) do(request *http.Request) (page, text string, err error) {
	response, err := a.browser.Do(request)
	if err != nil {
		return "", "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", "", err
	}
	page = string(body)
	if found := tokenOf.FindStringSubmatch(page); found != nil {
		a.token = found[1]
	}
	if schema := response.Request.URL.Query().Get("ns"); schema != "" && a.schema == "" {
		a.schema = schema
	}
	text = page
	if found := content.FindStringSubmatch(page); found != nil {
		text = spaces.ReplaceAllString(html.UnescapeString(tags.ReplaceAllString(scripts.ReplaceAllString(found[1], " "), " ")), " ")
	}
	replaced := strings.NewReplacer(a.server, "SERVER", a.port, "PORT", cmp.Or(a.schema, "public"), "SCHEMA")
	text = replaced.Replace(passing.ReplaceAllString(text, ""))
	return page, fmt.Sprintf("%d %s", response.StatusCode, strings.TrimSpace(text)), nil
}

// url is the address of a page.
func (a *adminer) url(parameters url.Values) string {
	query := url.Values{"pgsql": {a.server}, "username": {user}, "db": {database}, "ns": {a.schema}}
	for name, values := range parameters {
		query[name] = values
	}
	return a.address + "?" + query.Encode()
}

// post sends a form of a page.
func (a *adminer) post(parameters, form url.Values) (page, text string, err error) {
	form.Set("token", a.token)
	request, err := http.NewRequest(http.MethodPost, a.url(parameters), strings.NewReader(form.Encode()))
	if err != nil {
		return "", "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return a.do(request)
}

func (a *adminer) get(address string) (page, text string, err error) {
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return "", "", err
	}
	return a.do(request)
}

// show opens a page.
func (a *adminer) show(name string, parameters ...string) {
	query := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		query.Add(parameters[i], parameters[i+1])
	}
	a.note(name, func() (any, error) {
		_, text, err := a.get(a.url(query))
		return text, err
	})
}

func (a *adminer) login() {
	for _, as := range []struct{ name, password string }{{"wrong password", "wrong"}, {"login", password}} {
		a.note(as.name, func() (any, error) {
			if _, _, err := a.get(a.address); err != nil {
				return nil, err
			}
			_, text, err := a.post(url.Values{"ns": {}}, url.Values{
				"auth[driver]": {"pgsql"}, "auth[server]": {a.server}, "auth[username]": {user}, "auth[password]": {as.password}, "auth[db]": {database},
			})
			return text, err
		})
	}
}

// found is what a pattern finds on a page.
func found(pattern, page string) (texts []string) {
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(page, -1) {
		texts = append(texts, html.UnescapeString(match[1]))
	}
	return texts
}

func (a *adminer) catalogs() {
	// note opens a page and keeps a part of it: the rest is of other sessions, or of the server's version.
	note := func(name string, parameters url.Values, part func(page, text string) any) {
		a.note(name, func() (any, error) {
			page, text, err := a.get(a.url(parameters))
			return part(page, text), err
		})
	}
	note("databases", nil, func(page, _ string) any {
		return found(`<option[^>]*>([^<]+)`, strings.Join(found(`(?s)<select name='db'>(.*?)</select>`, page), ""))
	})
	note("tables", nil, func(page, _ string) any { return found(`title='Show structure'>([^<]*)</a>`, page) })
	note("variables", url.Values{"variables": {""}}, func(_, text string) any {
		return found(`\b((?:DateStyle|TimeZone|application_name|server_encoding) \S+)`, text)
	})
	note("processes", url.Values{"processlist": {""}}, func(_, text string) any { return strings.Contains(text, " analyst Adminer ") })
	a.show("structure", "table", "patients")
	a.show("structure of wards", "table", "wards")
	a.show("no such table", "table", "nobody")
	a.show("diagram", "schema", "")
}

func (a *adminer) selects() {
	a.show("rows", "select", "wards")
	a.show("filter", "select", "patients", "columns[0][col]", "visit", "columns[1][col]", "cost", "columns[2][col]", "remarks",
		"where[0][col]", "diagnosis", "where[0][op]", "=", "where[0][val]", "I10", "where[1][col]", "cost", "where[1][op]", ">", "where[1][val]", "4000",
		"order[0]", "visit", "desc[0]", "1", "limit", "4", "text_length", "20")
	a.show("search anywhere", "select", "wards", "where[0][col]", "", "where[0][op]", "LIKE %%", "where[0][val]", "rg")
	a.show("pattern", "select", "patients", "columns[0][col]", "title", "where[0][col]", "title", "where[0][op]", "~*", "where[0][val]", "^title 1[23]$", "order[0]", "title")
	a.show("groups", "select", "patients", "columns[0][col]", "diagnosis", "columns[1][fun]", "count", "columns[1][col]", "visit", "columns[2][fun]", "max", "columns[2][col]", "cost",
		"order[0]", "diagnosis", "limit", "")
	a.show("second page", "select", "patients", "columns[0][col]", "visit", "columns[1][col]", "tags", "order[0]", "visit", "limit", "3", "page", "1")
	a.show("all types", "select", "patients", "where[0][col]", "visit", "where[0][op]", "IN", "where[0][val]", "3,20", "order[0]", "visit", "text_length", "")
	a.show("wrong value", "select", "patients", "where[0][col]", "visit", "where[0][op]", ">", "where[0][val]", "many")
}

func (a *adminer) commands() {
	for _, c := range []struct{ name, text string }{
		{"command", "SELECT diagnosis, avg(cost)::numeric(9,2) FROM patients GROUP BY 1 ORDER BY 1 LIMIT 3"},
		{"several", "SELECT count(*) FROM wards; SELECT ward FROM wards ORDER BY beds LIMIT 1;\nSELECT 'two' AS \"Größe\""},
		{"error", "SELECT 1;\nSELECT nothing FROM wards; SELECT 2"},
		{"explained", "EXPLAIN (COSTS off) SELECT 1"},
		{"writing", "INSERT INTO wards VALUES ('new', 1)"},
		{"settings", "SHOW TimeZone; SET TimeZone = 'Asia/Tokyo'; SHOW TimeZone"},
	} {
		a.note(c.name, func() (any, error) {
			if _, _, err := a.get(a.url(url.Values{"sql": {""}})); err != nil {
				return nil, err
			}
			_, text, err := a.post(url.Values{"sql": {""}}, url.Values{"query": {c.text}, "limit": {""}})
			if c.name != "explained" {
				text = planned.ReplaceAllString(text, "QUERY PLAN, SELECT ")
			}
			return text, err
		})
	}
	a.note("new row", func() (any, error) {
		_, text, err := a.post(url.Values{"edit": {"wards"}}, url.Values{"fields[ward]": {"new"}, "fields[beds]": {"1"}, "fields[Größe]": {"2"}})
		return text, err
	})
}

func (a *adminer) exports() {
	wards := url.Values{"select": {"wards"}, "order[0]": {"beds"}}
	patients := url.Values{"select": {"patients"}, "order[0]": {"visit"}}
	filtered := url.Values{
		"select": {"patients"}, "columns[0][col]": {"visit"}, "columns[1][col]": {"details"},
		"where[0][col]": {"visit"}, "where[0][op]": {"<"}, "where[0][val]": {"5"}, "order[0]": {"visit"},
	}
	for _, e := range []struct {
		name, format string
		of           url.Values
	}{
		{"csv", "csv", wards}, {"csv with semicolons", "csv;", wards}, {"csv of a filter", "csv", filtered}, {"tsv", "tsv", patients}, {"inserts", "sql", filtered},
	} {
		a.note(e.name, func() (any, error) {
			_, text, err := a.post(e.of, url.Values{"all": {"1"}, "export": {"Export"}, "output": {"text"}, "format": {e.format}})
			return text, err
		})
	}
	a.note("dump", func() (any, error) {
		_, text, err := a.post(url.Values{"dump": {"wards"}}, url.Values{
			"output": {"text"}, "format": {"sql"}, "table_style": {"CREATE"}, "data_style": {"INSERT"}, "tables[]": {"wards"}, "data[]": {"wards"},
		})
		// Straight, there is the whole text of kproxy's view.
		return found(`(?m)^((?:CREATE|INSERT|DROP) [^\n(]*|\(.*)`, text), err
	})
}
