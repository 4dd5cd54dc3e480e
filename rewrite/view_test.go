package rewrite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// clinicRelations are what views of the golden files may read: patients and "Ward ""B""".visits
// are protected, overview is a published view, wards is not protected, and a query stands for
// staff.
func clinicRelations() map[catalog.Name]ViewRelation {
	name := func(schema, relation string) catalog.Name { return catalog.Name{Schema: schema, Relation: relation} }
	protected := func(n catalog.Name, columns, published string) ViewRelation {
		return ViewRelation{Target: catalog.Published(n), Columns: strings.Fields(columns), Published: strings.Fields(published)}
	}
	patients, visits, overview := name("public", "patients"), name(`Ward "B"`, "visits"), name("public", "overview")
	wards := ViewRelation{Target: name("public", "wards"), Columns: []string{"ward", "name"}, Published: []string{"ward", "name"}}
	staff := ViewRelation{
		Target: name("public", "staff"), Columns: []string{"ward", "grade"}, Published: []string{"ward", "grade"},
		Query: "SELECT ward, grade FROM ONLY public.staff",
	}
	return map[catalog.Name]ViewRelation{
		staff.Target: staff,
		patients:     protected(patients, "id name age sex ward born", "age age_range sex ward"),
		visits:       protected(visits, "patient_id Day cost", "Day cost"),
		overview:     protected(overview, "patient age", "age"),
		wards.Target: wards,
	}
}

func renderView(view PublishedView, err error) string {
	if err != nil {
		return render("", err)
	}
	text := render(view.SQL, nil) + "\n--> columns: " + strings.Join(view.Columns, ", ")
	if len(view.Omitted) > 0 {
		text += "\n--> omitted: " + strings.Join(view.Omitted, ", ")
	}
	return text
}

// TestViewsAreGolden rewrites definitions as pg_get_viewdef writes them. The first line of
// each block has the view's columns.
func TestViewsAreGolden(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "views", "definitions.sql")
	r := New(Options{})
	r.SetSnapshot(catalog.NewSnapshot(catalog.Policy{}, nil, nil).WithNames(clinicNames))
	var content []string
	for _, b := range readBlocks(t, path) {
		head, definition, _ := strings.Cut(b.sql, "\n")
		columns := strings.Split(strings.TrimPrefix(head, "-- "), ", ")
		got := renderView(r.RewriteView(definition, columns, clinicRelations()))
		if got != b.want && !*update {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", b.sql, got, b.want)
		}
		content = append(content, b.sql+"\n"+got)
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(content, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestViewsReadOnlyWhatIsGiven looks for what must be in no rewritten definition.
func TestViewsReadOnlyWhatIsGiven(t *testing.T) {
	t.Parallel()
	r := New(Options{})
	for _, b := range readBlocks(t, filepath.Join("testdata", "views", "definitions.sql")) {
		head, definition, _ := strings.Cut(b.sql, "\n")
		view, err := r.RewriteView(definition, strings.Split(strings.TrimPrefix(head, "-- "), ", "), clinicRelations())
		if err != nil {
			continue
		}
		for _, hidden := range []string{" public.patients", "pg_class", catalog.CatalogSchema, catalog.StoreSchema, "born", "patient_id", ".id"} {
			if strings.Contains(view.SQL, hidden) {
				t.Errorf("%s\nreads %s:\n%s", definition, hidden, view.SQL)
			}
		}
	}
}
