package integration

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// told is what the tests read of a dossier's JSON.
type told struct {
	Policies []struct{ Number int }
	People   []struct{ Promise string }
	Tables   []toldTable
}

type toldTable struct {
	Name, Updates string
	Ghosts        int64
	Loss          *float64
	Risks         []toldRisk
	Attack        *struct {
		Parts []struct {
			Targets          int
			Highest, Average float64
		}
	}
	Proof *struct {
		Passed bool
		Checks []struct{ Name string }
	}
}

type toldRisk struct {
	Groups, Size, Smallest, Single int64
	Above                          int64 `json:"above_threshold"`
	Alone                          int64 `json:"alone_in_source"`
	Records                        int64 `json:"records_in_source"`
	Sensitive                      []struct {
		Right   float64
		Certain int64
	}
}

func (r toldRisk) average() float64 { return float64(r.Groups) / float64(r.Size) }

// TestReport has dossiers made of releases in both modes, and compares their figures with counts by hand.
func TestReport(t *testing.T) {
	t.Parallel()
	for _, updates := range []string{"immediate", "guarded"} {
		t.Run(updates, func(t *testing.T) {
			t.Parallel()
			o := folkSite(siteOptions{}, 11)
			if updates == "guarded" {
				o.tables = strings.Replace(o.tables, "    updates: immediate\n", "    "+guardedUpdates+"\n", 1)
			}
			s := newSite(t, o)
			s.kproxy(t, "setup").must(t)
			if o := s.kproxy(t, "report", "--json", "--last-proof"); o.code != 0 || !strings.Contains(o.stdout, "has never been verified") {
				t.Errorf("before anything is verified: %+v", o)
			}
			if o := s.kproxy(t, "report", "--json"); o.code != 0 || !strings.Contains(o.stdout, `"state": "unpublished"`) {
				t.Errorf("before anything is published: %+v", o)
			}
			p := s.serve(t)
			admin := connect(t, s.admin)
			execute(t, admin, "DELETE FROM folk WHERE id % 7 = 0")
			eventually(t, "the store follows", func() bool {
				return scalar[int](t, admin, "SELECT count(*) FROM folk") == scalar[int](t, admin, "SELECT count(*) FROM kproxy_store.records_1")
			})
			p.end(t, syscall.SIGTERM)
			other := s.edit(t, "other.yaml", "{k: 4}", "{k: 6}")
			if o := s.kproxy(t, "report", "--json", "--last-proof", "--config", other); o.code != 1 || !strings.Contains(o.stderr, "which is in force") {
				t.Errorf("a dossier by another policy: %+v", o)
			}
			s.checkDossier(t)
			s.checkSignatures(t)
		})
	}
}

func (s *site) checkDossier(t *testing.T) {
	t.Helper()
	folder := filepath.Join(s.dir, "dossier")
	s.kproxy(t, "report", "--out", folder, "--threshold", "0.2").must(t)
	text, err := os.ReadFile(filepath.Join(folder, "dossier.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d told
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	admin, table := connect(t, s.admin), d.Tables[0]
	by := folkQI
	if table.Updates == "guarded" {
		by = "kproxy_class"
	}
	sizes := "(SELECT count(*) AS n FROM kproxy_release_public.folk GROUP BY " + by + ") g"
	r := table.Risks[0]
	for what, want := range map[string]struct {
		got int64
		sql string
	}{
		"groups":   {r.Groups, "SELECT count(*) FROM " + sizes},
		"rows":     {r.Size, "SELECT sum(n)::bigint FROM " + sizes},
		"smallest": {r.Smallest, "SELECT min(n) FROM " + sizes},
		"above":    {r.Above, "SELECT coalesce(sum(n) FILTER (WHERE n < 5), 0)::bigint FROM " + sizes},
		"records":  {r.Records, "SELECT count(*) FROM folk"},
		"alone":    {r.Alone, "SELECT count(*) FROM (SELECT FROM folk GROUP BY age, weight, born, town, postcode HAVING count(*) = 1) s"},
		"ghosts":   {table.Ghosts, "SELECT ghosts FROM kproxy_store.generation"},
		"certain": {r.Sensitive[0].Certain, "SELECT coalesce(sum(n), 0)::bigint FROM (SELECT count(*) AS n FROM kproxy_release_public.folk GROUP BY " + by +
			" HAVING count(DISTINCT coalesce(illness, '-')) = 1) s"},
	} {
		if n := scalar[int64](t, admin, want.sql); n != want.got {
			t.Errorf("%s: %d, but %d by hand", what, want.got, n)
		}
	}
	most := scalar[int64](t, admin, "SELECT sum(m)::bigint FROM (SELECT max(n) AS m FROM (SELECT "+by+", count(*) AS n FROM kproxy_release_public.folk GROUP BY "+by+", illness) v GROUP BY "+by+") s")
	if right := r.Sensitive[0].Right; math.Abs(right-float64(most)/float64(r.Size)) > 1e-9 {
		t.Errorf("%v are guessed right, but %d of %d by hand", right, most, r.Size)
	}
	attack := table.Attack.Parts[0]
	if attack.Targets == 0 || attack.Average > r.average()*1.5 || table.Updates == "immediate" && (attack.Average > r.average()+1e-9 || attack.Highest > 1/float64(r.Smallest)) {
		t.Errorf("the attacker achieves %+v, the bound is %v", attack, r.average())
	}
	if table.Proof == nil || !table.Proof.Passed || table.Loss == nil || *table.Loss <= 0 || r.Single != 0 || len(d.Policies) != 1 {
		t.Errorf("%+v", table)
	}
	page, err := os.ReadFile(filepath.Join(folder, "dossier.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{"Simulated attack", "164.514", "27559", "Known limits", "illness", table.Proof.Checks[0].Name} {
		if !strings.Contains(string(page), wanted) {
			t.Errorf("the page lacks %q", wanted)
		}
	}
}

func (s *site) checkSignatures(t *testing.T) {
	t.Helper()
	folder := filepath.Join(s.dir, "signed")
	const private = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n"
	const public = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n"
	key, owner := s.write(t, "operator.pem", private), s.write(t, "operator.pub", public)
	s.kproxy(t, "report", "--out", folder, "--key", key, "--last-proof").must(t)
	for _, name := range []string{"dossier.html", "dossier.json"} {
		path := filepath.Join(folder, name)
		s.kproxy(t, "report", "check", path, "--public", owner).must(t)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(text, ' '), 0o600); err != nil {
			t.Fatal(err)
		}
		if o := s.kproxy(t, "report", "check", path, "--public", owner); o.code != 1 || !strings.Contains(o.stderr, "not of this file") {
			t.Errorf("a changed file passes: %+v", o)
		}
	}
	if o := s.kproxy(t, "report", "--out", folder, "--key", owner); o.code != 1 || !strings.Contains(o.stderr, "no private key") {
		t.Errorf("a public key signs: %+v", o)
	}
	s.kproxy(t, "report", "--out", folder, "--last-proof").must(t)
	if _, err := os.Stat(filepath.Join(folder, "dossier.json.jws")); !os.IsNotExist(err) {
		t.Errorf("the signature of an earlier dossier stays: %v", err)
	}
}

// TestReportOfPeople: tables that are released together are counted by persons; both modes.
func TestReportOfPeople(t *testing.T) {
	t.Parallel()
	for _, updates := range []string{"immediate", "guarded"} {
		t.Run(updates, func(t *testing.T) {
			t.Parallel()
			tables := strings.Replace(hospitalTables, "    updates: immediate\n", "    updates: "+updates+"\n", 1)
			s := ready(t, sqlSite(hospitalSQL, tables))
			o := s.kproxy(t, "report", "--json")
			if o.code != 0 {
				t.Fatal(o)
			}
			var d told
			if err := json.Unmarshal([]byte(o.stdout), &d); err != nil {
				t.Fatal(err)
			}
			admin := connect(t, s.admin)
			for _, table := range d.Tables {
				if len(table.Risks) != 1 {
					t.Fatalf("%s: %d risks", table.Name, len(table.Risks))
				}
				r := table.Risks[0]
				switch table.Name {
				case "public.patients":
					n := scalar[int64](t, admin, "SELECT count(*) FROM kproxy_release_public.patients")
					smallest := scalar[int64](t, admin, "SELECT min(n) FROM (SELECT count(*) AS n FROM kproxy_release_public.patients GROUP BY born, born_range, sex, postcode, postcode_range) s")
					if r.Size != n || r.Smallest < 5 || r.Smallest != smallest || len(r.Sensitive) != 4 || table.Attack == nil {
						t.Errorf("%d patients in groups of %d and more: %+v", n, smallest, table)
					}
				case "public.visits", "public.prescriptions":
					if r.Smallest < 5 || r.Size == 0 || table.Attack != nil {
						t.Errorf("%+v", table)
					}
				case "public.labs":
					if r.Size != 0 {
						t.Errorf("outsiders know nothing of %+v", r)
					}
				}
				if table.Proof == nil || !table.Proof.Passed {
					t.Errorf("%s: proof %+v", table.Name, table.Proof)
				}
			}
			if len(d.People) != 1 || !strings.Contains(d.People[0].Promise, "at least 5 persons") {
				t.Errorf("%+v", d.People)
			}
		})
	}
}

// TestReportOfShapes: several parts, and persons with several rows, in both modes.
func TestReportOfShapes(t *testing.T) {
	t.Parallel()
	const schema = `CREATE TABLE parts (id int PRIMARY KEY, age int, height int, town text);
		INSERT INTO parts SELECT i, i % 90, 150 + i % 40, 'town ' || i % 5 FROM generate_series(1, 400) i;
		CREATE TABLE stays (id int PRIMARY KEY, person int NOT NULL, age int, illness text);
		INSERT INTO stays SELECT i, i % 150, 20 + i % 150 % 60, 'illness ' || i % 4 FROM generate_series(1, 600) i;
		CREATE TABLE batches (LIKE stays INCLUDING ALL);
		INSERT INTO batches SELECT * FROM stays;`
	const columns = "    subject: person\n    constraints: [{k: 5}]\n    columns: {id: identifying, person: identifying, age: {role: quasi-identifying, hierarchy: numeric}, illness: sensitive}\n"
	s := ready(t, sqlSite(schema, "tables:\n  public.parts:\n    updates: immediate\n    constraints: [{k: 5, over: [age]}, {k: 8, over: [height, town]}]\n"+
		"    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}, height: {role: quasi-identifying, hierarchy: numeric}, town: {role: quasi-identifying, hierarchy: categorical}}\n"+
		"  public.stays:\n    updates: immediate\n"+columns+"  public.batches:\n    updates: guarded\n"+columns))
	o := s.kproxy(t, "report", "--json")
	if o.code != 0 {
		t.Fatal(o)
	}
	var d told
	if err := json.Unmarshal([]byte(o.stdout), &d); err != nil {
		t.Fatal(err)
	}
	admin := connect(t, s.admin)
	for at, want := range []struct {
		parts    int
		size     int64
		smallest int64
		attacked int
	}{
		{2, 400, 5, 2},
		{1, scalar[int64](t, admin, "SELECT sum(n)::bigint FROM (SELECT count(DISTINCT person) AS n FROM stays JOIN kproxy_store.records_2 USING (id, person, age) GROUP BY kproxy_class) s"), 5, 1},
		{1, scalar[int64](t, admin, "SELECT sum(n)::bigint FROM (SELECT count(DISTINCT kproxy_person) AS n FROM kproxy_store.release_3 GROUP BY kproxy_class) s"), 5, 1},
	} {
		table := d.Tables[at]
		attacked := 0
		if table.Attack != nil {
			attacked = len(table.Attack.Parts)
		}
		if len(table.Risks) != want.parts || attacked != want.attacked {
			t.Fatalf("%s: %d risks, %d attacks", table.Name, len(table.Risks), attacked)
		}
		for _, r := range table.Risks {
			if r.Size != want.size || r.Smallest < want.smallest || r.Single != 0 || r.Groups == 0 {
				t.Errorf("%s: %+v, want a size of %d and %d at least", table.Name, r, want.size, want.smallest)
			}
		}
		if at == 0 && table.Risks[1].Smallest < 8 {
			t.Errorf("%+v", table.Risks)
		}
	}
}
