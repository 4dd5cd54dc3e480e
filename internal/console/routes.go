package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// allRoutes are all entry points of the console.
func (c *Console) allRoutes() []route {
	const get, post = http.MethodGet, http.MethodPost
	routes := []route{
		{get, "/static/{file}", anybody, c.showAsset},
		{get, "/login", anybody, c.showLogin},
		{post, "/login", anybody, c.login},
		{post, "/logout", reader, c.logout},

		{get, "/{$}", reader, c.showOverview},
		{get, "/tables/{table}", reader, c.showTable},
		{get, "/whatif", reader, c.showTrialOfFirst},
		{get, "/whatif/{table}", reader, c.showTrial},
		{post, "/whatif/{table}", reader, c.beginTrial},
		{post, "/whatif/{table}/cancel", reader, c.cancelTrial},
		{get, "/activity", reader, c.showActivity},
		{get, "/configuration", reader, c.showConfiguration},
		{get, "/actions", operator, c.showActions},
		{get, "/actions/{action}", operator, c.confirmAction},
		{post, "/actions/{action}", operator, c.act},

		{get, "/api/overview", reader, c.showOverview},
		{get, "/api/tables/{table}", reader, c.showTable},
		{get, "/api/whatif/{table}", reader, c.showTrial},
		{get, "/api/activity", reader, c.showActivity},
		{get, "/api/configuration", reader, c.showConfiguration},

		{"", "/", reader, c.showNothing},
	}
	if c.options.Profiles != nil {
		routes = append(routes, route{get, "/debug/pprof/", reader, c.showProfile}, route{get, "/debug/pprof/{profile}", reader, c.showProfile})
	}
	return routes
}

// tableOf returns the protected table that a path names, empty for none.
func (c *Console) tableOf(r *http.Request) string {
	name := r.PathValue("table")
	if !c.options.Source.Site().Has(name) {
		return ""
	}
	return name
}

func wantsJSON(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// problem is an error for programs.
type problem struct {
	Message string `json:"error"`
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the client may be gone
	return nil
}

// failWith reports an error. Errors of the database can quote stored values. They go only to the log
// of this process, reduced to their kind by the Source.
func (c *Console) failWith(w http.ResponseWriter, r *http.Request, s *session, err error) {
	wrong := InputError("")
	switch {
	case r.Context().Err() != nil:
		return
	case errors.Is(err, ErrUnknown):
		c.fail(w, r, s, http.StatusNotFound, "There is nothing here.")
	case errors.As(err, &wrong):
		c.fail(w, r, s, http.StatusUnprocessableEntity, wrong.Error())
	default:
		c.options.Logger.Warn("the console could not answer", "path", r.URL.Path, "error", err)
		c.fail(w, r, s, http.StatusServiceUnavailable, err.Error())
	}
}

func (c *Console) fail(w http.ResponseWriter, r *http.Request, s *session, status int, message string) {
	if wantsJSON(r) {
		_ = writeJSON(w, status, problem{message})
		return
	}
	if err := c.render(w, r, s, status, "problem", page{Title: http.StatusText(status), Body: message}); err != nil {
		http.Error(w, message, status)
	}
}

func (c *Console) showNothing(http.ResponseWriter, *http.Request, *session) error { return ErrUnknown }

func (c *Console) showProfile(w http.ResponseWriter, r *http.Request, _ *session) error {
	c.options.Profiles.ServeHTTP(w, r)
	return nil
}

// showTrialOfFirst leads to the table that a form names, else to the first one that readers can read.
func (c *Console) showTrialOfFirst(w http.ResponseWriter, r *http.Request, _ *session) error {
	site := c.options.Source.Site()
	if len(site.Tables) == 0 {
		return ErrUnknown
	}
	name := site.Tables[0].Name
	if i := slices.IndexFunc(site.Tables, func(t Listed) bool { return urgency(t.State) > 1 }); i >= 0 {
		name = site.Tables[i].Name
	}
	if wanted := r.FormValue("table"); site.Has(wanted) {
		name = wanted
	}
	http.Redirect(w, r, "/whatif/"+url.PathEscape(name), http.StatusSeeOther)
	return nil
}

func (c *Console) showOverview(w http.ResponseWriter, r *http.Request, s *session) error {
	o, err := c.options.Source.Overview(r.Context())
	if err != nil {
		return err
	}
	o.Tables = slices.Clone(o.Tables)
	arrange(o.Tables)
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, o)
	}
	told := o.Alert()
	return c.render(w, r, s, http.StatusOK, "overview", page{Title: "Overview", Section: "overview", At: o.At, Live: true, Told: &told, Body: o})
}

// tablePage is the content of a table's page.
type tablePage struct {
	Table
	Histogram, LossChart *chart
}

func (c *Console) showTable(w http.ResponseWriter, r *http.Request, s *session) error {
	name := c.tableOf(r)
	if name == "" {
		return ErrUnknown
	}
	t, err := c.options.Source.Table(r.Context(), name)
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, t)
	}
	return c.render(w, r, s, http.StatusOK, "table", page{
		Title: name, Section: "tables", Table: name, At: t.At, Live: true,
		Body: tablePage{Table: t, Histogram: histogram(t.Sizes, t.K), LossChart: lossChart(t.History)},
	})
}

func (c *Console) showActivity(w http.ResponseWriter, r *http.Request, s *session) error {
	a, err := c.options.Source.Activity(r.Context())
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, a)
	}
	return c.render(w, r, s, http.StatusOK, "activity", page{Title: "Activity", Section: "activity", At: a.At, Live: true, Body: a})
}

func (c *Console) showConfiguration(w http.ResponseWriter, r *http.Request, s *session) error {
	settings := c.options.Source.Settings()
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, settings)
	}
	return c.render(w, r, s, http.StatusOK, "configuration", page{Title: "Configuration", Section: "configuration", Body: settings})
}
