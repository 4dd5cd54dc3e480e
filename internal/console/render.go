package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"path"
	"sync"
	"time"

	"github.com/kproxy/kproxy/internal/visible"
)

//go:embed templates static
var files embed.FS

// page is the common content of all pages.
type page struct {
	Title string
	// Section is the entry in the navigation, and Table the protected table of the page.
	Section, Table string
	Site           Site
	User, CSRF     string // empty without a login
	Actions        bool
	// At is the reference time of "ago".
	At time.Time
	// Live says that the script updates the figures.
	Live bool
	// Told replaces what the site says of what needs the operator; nil where that stands.
	Told *string
	Body any
}

// Alert is what needs the operator, in a few words; empty for nothing.
func (p page) Alert() string {
	if p.Told != nil {
		return *p.Told
	}
	return p.Site.Alert()
}

// Ago returns the time between t and the page's time.
func (p page) Ago(t time.Time) string { return ago(p.At.Sub(t)) }

// templates are parsed when the first page is rendered: most commands of the program render none.
var templates = sync.OnceValue(parseTemplates)

func parseTemplates() map[string]*template.Template {
	all := make(map[string]*template.Template)
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html", "templates/parts.html"))
	names, err := files.ReadDir("templates")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, entry := range names {
		name := entry.Name()
		if name == "layout.html" || name == "parts.html" {
			continue
		}
		own := template.Must(layout.Clone())
		all[name[:len(name)-len(".html")]] = template.Must(own.ParseFS(files, "templates/"+name))
	}
	return all
}

// render writes a page, or nothing if that fails.
func (c *Console) render(w http.ResponseWriter, r *http.Request, s *session, status int, name string, p page) error {
	if s != nil {
		p.User, p.CSRF = s.user, s.csrf
		p.Site = c.options.Source.Site()
		p.Actions = c.access.Load().Actions
	}
	if p.At.IsZero() {
		p.At = c.options.Now()
	}
	var text bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&text, "layout.html", p); err != nil {
		return fmt.Errorf("rendering page %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, visible.HTML(text.String())) // the client may be gone
	}
	return nil
}

var contentTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

func (c *Console) showAsset(w http.ResponseWriter, r *http.Request, _ *session) error {
	name := path.Base(r.PathValue("file"))
	text, err := files.ReadFile("static/" + name)
	if err != nil {
		return ErrUnknown
	}
	w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
	w.Header().Set("Cache-Control", "no-cache") // another version of kproxy has other files
	_, _ = w.Write(text)
	return nil
}
