package integration

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// toldAudience is what the test reads of an audience in a dossier's JSON.
type toldAudience struct {
	Audience, State, Problem string
	Constraints, Hidden      []string
	Classes, Rows, Withheld  int64
	Smallest                 int64 `json:"smallest_class"`
	Largest                  int64 `json:"largest_class"`
	Loss                     *float64
	Risks                    []toldRisk
	Columns                  []struct{ Name string }
	Attack                   *struct {
		Sensitive []string
		Parts     []struct {
			Targets          int
			Highest, Average float64
		}
	}
}

// TestReportOfAudiences compares what a dossier says of audiences with counts by hand on their views.
func TestReportOfAudiences(t *testing.T) {
	t.Parallel()
	s := audienceSite(t, "")
	s.replace(t, "constraints: [{k: 100}], hide: [town, illness]}", "constraints: [{k: 100}], hide: [town, illness]}\n  nobody:\n    readers: bi\n    tables:\n      folk: {constraints: [{k: 1000}]}", ", reads: tables", "")
	s.replace(t, "constraints: [{k: 5}]\n    columns:\n      age", "constraints: [{k: 5}, {l: 2, of: illness}]\n    columns:\n      age")
	s.kproxy(t, "setup").must(t)
	s.serve(t)
	folder := filepath.Join(s.dir, "dossier")
	o := s.kproxy(t, "report", "--out", folder, "--threshold", "0.02").must(t)
	if !strings.Contains(o.stdout, "public.folk for press: risk at most ") || !strings.Contains(o.stdout, "public.folk for nobody: withheld") {
		t.Fatalf("it says %s", o.stdout)
	}
	text, err := os.ReadFile(filepath.Join(folder, "dossier.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Limits []string
		Tables []struct {
			Name      string
			Loss      *float64
			Audiences []toldAudience
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	folk, visits := d.Tables[0], d.Tables[1]
	if len(visits.Audiences) != 0 || len(folk.Audiences) != 3 {
		t.Fatalf("%+v", d.Tables)
	}
	if loss := []*float64{folk.Loss, folk.Audiences[0].Loss, folk.Audiences[1].Loss}; !(*loss[0] < *loss[1] && *loss[1] < *loss[2]) {
		t.Errorf("the losses are %g, %g, %g", *loss[0], *loss[1], *loss[2])
	}
	admin := connect(t, s.admin)
	for i, want := range []struct {
		name, constraints, hidden, columns, sensitive string
		aboveThreshold                                bool
	}{
		{"research", "distinct 2-diversity of illness 25-anonymity", "town", "age illness", "illness", true},
		{"press", "distinct 2-diversity of illness 100-anonymity", "town illness", "age", "", false},
	} {
		a := folk.Audiences[i]
		var columns []string
		for _, c := range a.Columns {
			columns = append(columns, c.Name)
		}
		if a.Audience != want.name || a.State != "published" || strings.Join(a.Constraints, " ") != want.constraints || strings.Join(a.Hidden, " ") != want.hidden || strings.Join(columns, " ") != want.columns {
			t.Errorf("%+v", a)
		}
		sizes := "(SELECT count(*) AS n FROM kproxy_audience_" + want.name + "_public.folk GROUP BY age) g"
		r := a.Risks[0]
		for what, want := range map[string]struct {
			got int64
			sql string
		}{
			"rows":        {a.Rows, "SELECT sum(n)::bigint FROM " + sizes},
			"groups":      {r.Groups, "SELECT count(*) FROM " + sizes},
			"size":        {r.Size, "SELECT sum(n)::bigint FROM " + sizes},
			"smallest":    {r.Smallest, "SELECT min(n) FROM " + sizes},
			"single":      {a.Withheld, "SELECT 0::bigint"},
			"classes":     {a.Classes, "SELECT count(DISTINCT kproxy_class) FROM kproxy_store.release_" + want.name + "_1"},
			"the largest": {a.Largest, "SELECT max(n) FROM (SELECT count(*) AS n FROM kproxy_store.release_" + want.name + "_1 GROUP BY kproxy_class) c"},
		} {
			if n := scalar[int64](t, admin, want.sql); n != want.got {
				t.Errorf("%s, %s: %d, but %d by hand", a.Audience, what, want.got, n)
			}
		}
		attack := a.Attack.Parts[0]
		if attack.Targets == 0 || attack.Average > r.average()+1e-9 || attack.Highest > 1/float64(r.Smallest)+1e-9 || strings.Join(a.Attack.Sensitive, " ") != want.sensitive {
			t.Errorf("the attacker achieves %+v, the bound is %v", attack, r.average())
		}
		above := slices.ContainsFunc(d.Limits, func(l string) bool { return strings.Contains(l, "to audience "+want.name+" a person is identified") })
		if above != want.aboveThreshold || math.IsNaN(*a.Loss) {
			t.Errorf("%s: the limits are %q", want.name, d.Limits)
		}
	}
	if a := folk.Audiences[2]; a.State != "withheld" || a.Problem == "" || a.Rows != 0 || a.Withheld != 600 || a.Loss != nil || len(a.Risks) != 0 {
		t.Errorf("%+v", a)
	}
	checkPageOfAudiences(t, filepath.Join(folder, "dossier.html"))
}

func checkPageOfAudiences(t *testing.T, path string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{"public.folk for audience press", "Not shown to it: town, illness.", "It sees nothing: ", "pool what they have"} {
		if !strings.Contains(string(page), wanted) {
			t.Errorf("the page lacks %q", wanted)
		}
	}
}

// TestReportOfAudiencesOfPeople: a dossier, and the kept figures, tell of audiences who see tables about the same persons
// without some of their columns. Risks are those of the audience's k.
func TestReportOfAudiencesOfPeople(t *testing.T) {
	t.Parallel()
	tables := strings.Replace(hospitalTables, "constraints: [{k: 5}]", "constraints: [{k: 5}, {l: 2, of: public.visits.ward}]", 1)
	s := siteWithReaders(t, sqlSite(hospitalSQL, tables+strings.Replace(peopleAudiences, "hide: [", "hide: [public.patients.sex, public.visits.ward, ", 1)), "partner")
	p := s.serve(t)
	folder := filepath.Join(s.dir, "dossier")
	s.kproxy(t, "report", "--out", folder).must(t)
	text, err := os.ReadFile(filepath.Join(folder, "dossier.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Tables []struct {
			Name      string
			Audiences []toldAudience
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	admin := connect(t, s.admin)
	for _, table := range d.Tables {
		if len(table.Audiences) != 1 || len(table.Audiences[0].Risks) != 1 {
			t.Fatalf("of %s it tells %+v", table.Name, table.Audiences)
		}
		a := table.Audiences[0]
		risk := a.Risks[0]
		if rows := scalar[int64](t, admin, "SELECT count(*) FROM kproxy_audience_partners_"+table.Name); a.Rows != rows || a.Loss == nil {
			t.Errorf("of %s it tells of %d rows, not %d, and of the loss %v", table.Name, a.Rows, rows, a.Loss)
		}
		switch table.Name {
		case "public.patients":
			by := "SELECT count(*) AS n FROM kproxy_audience_partners_public.patients GROUP BY born_range, postcode_range"
			if n := scalar[int64](t, admin, "SELECT min(n) FROM ("+by+") c"); risk.Smallest != n || n < 15 || risk.Size != 600 {
				t.Errorf("the risk is %+v; by hand, %d persons are left", risk, n)
			}
			if sex := slices.ContainsFunc(a.Columns, func(c struct{ Name string }) bool { return c.Name == "sex" }); sex || a.Attack == nil {
				t.Errorf("of patients it tells %+v", a)
			}
		case "public.visits":
			if risk.Smallest < 15 {
				t.Errorf("the risk of visits is %+v", risk)
			}
		}
	}
	if log := p.log.String(); strings.Contains(log, "could not be measured") {
		t.Errorf("the log is\n%s", log)
	}
	s.kproxy(t, "verify").must(t)
}
