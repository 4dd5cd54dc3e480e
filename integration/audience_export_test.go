package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/tablefile"
)

// TestExportForAudiences writes what audiences see to files: what their readers read, and no word of the rest.
func TestExportForAudiences(t *testing.T) {
	t.Parallel()
	s := audienceSite(t, "")
	s.replace(t, "folk: {constraints: [{k: 25}], hide: [town]}", "folk: {constraints: [{k: 25}], hide: [town]}\n      visits: {constraints: [{k: 10}]}")
	s.kproxy(t, "setup").must(t)
	s.serve(t)
	hidden := map[string][]string{"research": {"town"}, "press": {"town", "illness"}}
	constraints := map[string]string{"research": "25-anonymity", "press": "100-anonymity"}
	for audience, reader := range map[string]string{"research": "researchers", "press": "press"} {
		columns, want := s.readAll(t, reader, "folk")
		for _, format := range []tablefile.Format{tablefile.CSV, tablefile.Parquet} {
			path := filepath.Join(s.dir, audience+"."+string(format))
			if o := s.kproxy(t, "export", "folk", "--audience", audience, "--out", path).must(t); !strings.Contains(o.stdout, "600 rows of public.folk for "+audience+", as of ") {
				t.Errorf("it says %q", o.stdout)
			}
			names, got := rowsOfFile(t, format, path)
			for i := range got {
				got[i] = trimmed(got[i])
			}
			slices.Sort(got)
			if !slices.Equal(names, columns) || !slices.Equal(got, want) {
				t.Errorf("%s of %s: %d rows of %v, but its readers read %d of %v", format, audience, len(got), names, len(want), columns)
			}
			m := checkManifest(t, s, path)
			if m.Audience != audience || strings.Join(m.Constraints, " ") != constraints[audience] {
				t.Errorf("the manifest for %s is %+v", audience, m)
			}
			for _, file := range []string{path, path + ".json"} {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, word := range hidden[audience] {
					if strings.Contains(string(text), word) {
						t.Errorf("%s tells of %s", file, word)
					}
				}
			}
		}
	}
	if o := s.kproxy(t, "export", "folk", "--out", "-").must(t); strings.Contains(o.stdout, "audience") || !strings.Contains(o.stdout, "town") {
		t.Error("without an audience, the export is not that of the table's own readers")
	}
	folder := filepath.Join(s.dir, "released")
	s.kproxy(t, "export", "folk", "visits", "--audience", "research", "--out", folder, "--format", "csv", "--quiet").must(t)
	for _, name := range []string{"folk.research.csv", "folk.research.csv.json", "visits.research.csv", "visits.research.csv.json"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
	s.exportIsBlind(t)
	s.audienceExportIsRefused(t)
}

// readAll is what a user reads of a table, in the form of rowsOfFile, sorted.
func (s *site) readAll(t *testing.T, user, table string) (columns, rows []string) {
	t.Helper()
	found, err := connect(t, s.of(user)).Query(t.Context(), "TABLE "+table, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found.FieldDescriptions() {
		columns = append(columns, f.Name)
	}
	for found.Next() {
		var texts []string
		for _, value := range found.RawValues() {
			texts = append(texts, string(value))
		}
		rows = append(rows, trimmed(strings.Join(texts, "\x00")))
	}
	if found.Err() != nil {
		t.Fatal(found.Err())
	}
	slices.Sort(rows)
	return columns, rows
}

// exportIsBlind: tables that differ in what an audience does not see alone give it the same bytes.
func (s *site) exportIsBlind(t *testing.T) {
	t.Helper()
	export := func() string {
		return s.kproxy(t, "export", "folk", "--audience", "press", "--out", "-").must(t).stdout
	}
	before := export()
	execute(t, connect(t, s.admin), "UPDATE folk SET town = 'Bonn ' || id % 7, illness = 'cold ' || id % 9")
	own := connect(t, s.url())
	eventually(t, "the table's own readers see the change", func() bool {
		return scalar[int](t, own, "SELECT count(*) FROM folk WHERE town ~ 'Bonn' AND illness ~ 'cold'") == 600
	})
	if export() != before {
		t.Error("what an audience gets depends on columns that it does not see")
	}
}

// audienceExportIsRefused asks for what audiences do not see.
func (s *site) audienceExportIsRefused(t *testing.T) {
	t.Helper()
	out := filepath.Join(s.dir, "refused.csv")
	s.kproxy(t, "export", "folk", "--audience", "pres", "--out", out, "--json").speaks(t, 1, 7, "no audience pres", "name one of research, press")
	s.kproxy(t, "export", "visits", "--audience", "press", "--out", out, "--json").speaks(t, 1, 7, "audience press does not see table public.visits: it sees public.folk", "audiences.press.tables")
	s.kproxy(t, "export", "ages", "--audience", "press", "--out", out).speaks(t, 1, 2, "protects no table public.ages")
	s.replace(t, "{k: 100}", "{k: 10000}")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	eventually(t, "the audience sees nothing", func() bool {
		return strings.Contains(s.kproxy(t, "status").stdout, "public.folk shows audience press nothing: ")
	})
	s.kproxy(t, "export", "folk", "--audience", "press", "--out", out).speaks(t, 1, 2, "table public.folk is withheld from audience press", "loosen what the audience's constraints add")
	s.kproxy(t, "export", "folk", "--audience", "research", "--out", filepath.Join(s.dir, "still.csv")).must(t)
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused export has written a file")
	}
}
