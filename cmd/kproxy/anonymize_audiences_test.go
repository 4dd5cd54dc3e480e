package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/tablefile"
)

// Rows have numbers that are published, by which a test knows them in each file.
const clinicPolicy = `tables:
  patients: {columns: {nr: insensitive, born: {role: quasi-identifying, hierarchy: date}, sex: {role: quasi-identifying, hierarchy: categorical}}, acknowledge: {joinable: [nr]}}
  visits: {columns: {nr: insensitive, day: {role: quasi-identifying, hierarchy: date}, ward: sensitive}, acknowledge: {joinable: [nr]}}
  labs: {columns: {nr: insensitive, test: sensitive}, acknowledge: {joinable: [nr]}}
people:
  patient:
    root: patients
    key: patient
    knows: {rows: 1, per: 1y, crowd: 2}
    tables: {visits: {person: patient, key: visit, order: day}, labs: {through: visits, by: visit}}
    constraints: [{k: 3}, {alpha: 0.9, of: public.visits.ward}]
audiences:
  partners:
    people:
      patient: {constraints: [{k: 6}], hide: [public.visits.ward], columns: {public.patients.born: {units: [year, decade]}}}
  press:
    people:
      patient: {constraints: [{k: 12}], hide: [public.patients, public.visits.ward]}
`

// clinic has the files of a clinic, and what is in them by the rows' numbers.
type clinic struct {
	folder string
	person map[string]string // of each number
	above  map[string]string // of each number: that of the row that it belongs to
}

func newClinic(t *testing.T) *clinic {
	t.Helper()
	c := &clinic{t.TempDir(), map[string]string{}, map[string]string{}}
	random := rand.New(rand.NewPCG(5, 6))
	patients, visits, labs := "patient,nr,born,sex\n", "visit,patient,nr,day,ward\n", "visit,nr,test\n"
	for p := range 900 {
		nr := fmt.Sprint("p", p)
		c.person[nr] = nr
		patients += fmt.Sprintf("%d,%s,%d-%02d-10,%s\n", 100+p, nr, 1930+random.IntN(70), 1+random.IntN(12), []string{"f", "m"}[random.IntN(2)])
		for v := range random.IntN(7) {
			visit := fmt.Sprint("v", p, "_", v)
			c.person[visit], c.above[visit] = nr, nr
			visits += fmt.Sprintf("%d,%d,%s,%d-%02d-%02d,%s\n", 10000+10*p+v, 100+p, visit, 2021+random.IntN(3), 1+random.IntN(12), 1+random.IntN(28), []string{"eye", "skin", "heart"}[random.IntN(3)])
			if random.IntN(4) > 0 {
				lab := fmt.Sprint("l", p, "_", v)
				c.person[lab], c.above[lab] = nr, visit
				labs += fmt.Sprintf("%d,%s,%s\n", 10000+10*p+v, lab, []string{"HbA1c", "TSH"}[random.IntN(2)])
			}
		}
	}
	c.write(t, map[string]string{"patients.csv": patients, "visits.csv": visits, "labs.csv": labs, "policy.yaml": clinicPolicy})
	return c
}

func (c *clinic) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(c.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (c *clinic) anonymize(t *testing.T, out string) (said string) {
	t.Helper()
	arguments := []string{"anonymize", "--policy", filepath.Join(c.folder, "policy.yaml"), "--out", filepath.Join(c.folder, out), "--format", "csv"}
	for _, table := range []string{"patients", "visits", "labs"} {
		arguments = append(arguments, table+"="+filepath.Join(c.folder, table+".csv"))
	}
	said, _, err := runWith(t.Context(), "", arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// releasedRow is a row of a file.
type releasedRow struct {
	nr     string
	values map[string]string
}

func (c *clinic) read(t *testing.T, name string) map[string]releasedRow {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(content(t, filepath.Join(c.folder, name)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]releasedRow{}
	for _, record := range records[1:] {
		r := releasedRow{values: map[string]string{}}
		for i, column := range records[0] {
			r.values[column] = record[i]
		}
		r.nr = r.values["nr"]
		rows[r.nr] = r
	}
	if len(rows) != len(records)-1 {
		t.Errorf("%s has rows twice", name)
	}
	return rows
}

// shown is what a row shows of quasi-identifiers.
func (r releasedRow) shown() string {
	return strings.Join([]string{r.values["born"], r.values["born_range"], r.values["sex"], r.values["day"], r.values["day_range"]}, "|")
}

// TestAnonymizePeopleForAudiences: each audience gets the tables that it sees, in which so many persons are left as its k says
// of whoever is known by the root row and one visit; ranges hold those of the finer file, and keys are others.
func TestAnonymizePeopleForAudiences(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	said := c.anonymize(t, "out")
	if got, want := strings.ReplaceAll(entries(t, filepath.Join(c.folder, "out")), ".csv.json", ""), "labs.csv labs labs.partners.csv labs.partners labs.press.csv labs.press patients.csv patients patients.partners.csv patients.partners visits.csv visits visits.partners.csv visits.partners visits.press.csv visits.press"; got != want || strings.Count(said, "\n") != 8 {
		t.Errorf("there are %s, not %s, and it says\n%s", got, want, said)
	}
	finer := map[string]map[string]releasedRow{}
	for _, of := range []struct {
		audience string
		k        int
		tables   []string
	}{{"", 3, []string{"patients", "visits", "labs"}}, {".partners", 6, []string{"patients", "visits", "labs"}}, {".press", 12, []string{"visits", "labs"}}} {
		files := map[string]map[string]releasedRow{}
		for _, table := range of.tables {
			files[table] = c.read(t, "out/"+table+of.audience+".csv")
			c.coversFiner(t, table+of.audience, files[table], finer[table])
		}
		c.leavesPersons(t, of.audience, of.k, files)
		for table, rows := range files {
			finer[table] = rows
		}
		for table, rows := range files {
			for _, r := range rows {
				_, ward := r.values["ward"]
				if ward != (of.audience == "" && table == "visits") || table == "patients" && of.audience == ".partners" && strings.Contains(strings.ReplaceAll(r.values["born_range"], "-01-01", ""), "-") {
					t.Fatalf("%s%s shows %v", table, of.audience, r.values)
				}
				break
			}
		}
		for _, table := range of.tables {
			var m tablefile.Manifest
			text := content(t, filepath.Join(c.folder, "out", table+of.audience+".csv.json"))
			if err := json.Unmarshal([]byte(text), &m); err != nil || m.Audience != strings.TrimPrefix(of.audience, ".") || len(m.Together) != len(of.tables) || !strings.Contains(m.Promise, fmt.Sprintf("at least %d persons", of.k)) || m.Proof == nil || !m.Proof.Passed {
				t.Errorf("the manifest of %s%s is %s, %v", table, of.audience, text, err)
			}
			if strings.Contains(text, "ward") != (of.audience == "") || strings.Contains(text, "unions") == (of.audience == "") || of.audience == ".press" && strings.Contains(text, "patients") {
				t.Errorf("the manifest of %s%s is %s", table, of.audience, text)
			}
		}
	}
}

// coversFiner holds what rows show to what they show in the finer file, and looks for keys of that.
func (c *clinic) coversFiner(t *testing.T, name string, rows, finer map[string]releasedRow) {
	t.Helper()
	if len(rows) == 0 || finer != nil && len(rows) > len(finer) {
		t.Errorf("%s has %d rows, and the finer file %d", name, len(rows), len(finer))
	}
	same, looks, finerLooks := 0, map[string]bool{}, map[string]bool{}
	for nr, r := range rows {
		fine, known := finer[nr]
		if finer == nil {
			continue
		}
		if !known {
			t.Errorf("%s: %s is not in the finer file", name, nr)
		}
		looks[r.shown()], finerLooks[fine.shown()] = true, true
		for _, column := range []string{"born_range", "day_range"} {
			if from, to, ranged := strings.Cut(strings.Trim(r.values[column], "[)]"), ","); ranged {
				fineFrom, fineTo, _ := strings.Cut(strings.Trim(fine.values[column], "[)]"), ",")
				if fineFrom < from || fineTo > to {
					t.Errorf("%s: %s shows %s, and %s in the finer file", name, nr, r.values[column], fine.values[column])
				}
			}
		}
		for _, key := range []string{"patient", "visit"} {
			if r.values[key] != "" && r.values[key] == fine.values[key] {
				same++
			}
			if r.values[key] != "" && fine.values[key] == "" {
				t.Errorf("%s: %s gets a key", name, nr)
			}
		}
	}
	if same > 3 {
		t.Errorf("%s: %d keys are those of the finer file", name, same)
	}
	if finer != nil && len(looks) > len(finerLooks) {
		t.Errorf("%s has %d looks, and the finer file %d", name, len(looks), len(finerLooks))
	}
}

// leavesPersons counts the persons who are alike: by what rows show, joined with those that they hang on where these are seen.
func (c *clinic) leavesPersons(t *testing.T, audience string, k int, files map[string]map[string]releasedRow) {
	t.Helper()
	for table, rows := range files {
		byKey := map[string]releasedRow{}
		key := map[string]string{"visits": "patient", "labs": "visit"}[table]
		for _, above := range files[map[string]string{"visits": "patients", "labs": "visits"}[table]] {
			byKey[above.values[key]] = above
		}
		alike, keyed := map[string]map[string]bool{}, 0
		for nr, r := range rows {
			look := "keyless"
			if key == "" || r.values[key] != "" {
				look = "keyed"
				keyed++
			}
			if table == "visits" { // what happened in one year
				year, _, _ := strings.Cut(r.values["day"], "-")
				look += year
			}
			look += r.shown()
			if above, joins := byKey[r.values[key]]; joins && r.values[key] != "" {
				look += "/" + above.shown()
			} else if r.values[key] != "" && len(byKey) > 0 {
				t.Errorf("%s%s: %s leads nowhere", table, audience, nr)
			}
			if alike[look] == nil {
				alike[look] = map[string]bool{}
			}
			alike[look][c.person[nr]] = true
		}
		for look, persons := range alike {
			if len(persons) < k {
				t.Errorf("%s%s: %d persons are left by %s", table, audience, len(persons), look)
			}
		}
		if keyed == 0 || table != "labs" && keyed < len(rows)/3 {
			t.Errorf("%s%s: %d of %d rows have keys", table, audience, keyed, len(rows))
		}
	}
}

// TestAnonymizePeopleForAudiencesIsDeterministic: the same seed gives the same files, but for pseudonyms, and what an audience
// does not see makes no difference to it.
func TestAnonymizePeopleForAudiencesIsDeterministic(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	shown := func(out string, names ...string) (all []string) {
		c.anonymize(t, out)
		for _, name := range names {
			for nr, r := range c.read(t, out+"/"+name) {
				all = append(all, fmt.Sprint(name, nr, r.shown(), r.values["ward"], r.values["test"], r.values["patient"] == "", r.values["visit"] == ""))
			}
		}
		slices.Sort(all)
		return all
	}
	everything := []string{"patients.csv", "patients.partners.csv", "visits.csv", "visits.partners.csv", "visits.press.csv", "labs.csv", "labs.partners.csv", "labs.press.csv"}
	first := shown("first", everything...)
	if !slices.Equal(first, shown("second", everything...)) {
		t.Error("the same seed gives other files")
	}
	c.write(t, map[string]string{"policy.yaml": strings.ReplaceAll(strings.Replace(clinicPolicy, ", {alpha: 0.9, of: public.visits.ward}", "", 1), "public.patients, public.visits.ward", "public.patients, public.visits.ward, public.labs")})
	seen := []string{"patients.partners.csv", "visits.partners.csv", "visits.press.csv"}
	before := shown("before", seen...)
	c.write(t, map[string]string{"visits.csv": strings.NewReplacer("eye", "skin", "skin", "eye", "heart", "ear").Replace(content(t, filepath.Join(c.folder, "visits.csv")))})
	if !slices.Equal(before, shown("after", seen...)) {
		t.Error("what audiences get depends on a column that they do not see")
	}
	if after := entries(t, filepath.Join(c.folder, "after")); strings.Contains(after, "labs.press") || strings.Contains(after+" ", ".part ") {
		t.Errorf("there are %s", after)
	}
}

// TestAnonymizePartsForAudiences: where constraints are over columns apart from others, each part is united by itself, and keeps
// what holds for the audience.
func TestAnonymizePartsForAudiences(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	random := rand.New(rand.NewPCG(7, 8))
	text := "nr,age,zip,job,illness\n"
	for i := range 500 {
		text += fmt.Sprintf("r%d,%d,%d,%s,%s\n", i, random.IntN(80), 10000+random.IntN(900), []string{"cook", "smith", "clerk", "nurse"}[random.IntN(4)], []string{"flu", "gout", "ulcer"}[random.IntN(3)])
	}
	policy := `tables:
  people:
    constraints: [{k: 4, over: [age, zip]}, {k: 5, over: [job]}, {l: 2, of: illness, over: [age, zip]}]
    columns: {nr: insensitive, age: {role: quasi-identifying, hierarchy: numeric}, zip: {role: quasi-identifying, hierarchy: numeric}, job: {role: quasi-identifying, hierarchy: categorical}, illness: sensitive}
    acknowledge: {joinable: [nr]}
audiences:
  partners:
    tables:
      people: {constraints: [{k: 12, over: [age, zip]}], columns: {age: {steps: [10, 20]}}}
  press:
    tables:
      people: {constraints: [{k: 40, over: [age, zip]}, {k: 150, over: [job]}], hide: [illness]}
`
	c := &clinic{folder: folder}
	c.write(t, map[string]string{"policy.yaml": policy, "people.csv": text})
	out := filepath.Join(folder, "out.csv")
	said, _, err := runWith(t.Context(), "", "anonymize", filepath.Join(folder, "people.csv"), "--policy", filepath.Join(folder, "policy.yaml"), "--out", out)
	if err != nil || strings.Count(said, "500 rows in ") != 3 {
		t.Fatalf("it says %q, %v", said, err)
	}
	if manifest := content(t, filepath.Join(folder, "out.press.csv.json")); !strings.Contains(manifest, `"name": "40-anonymity"`) || !strings.Contains(manifest, `"name": "150-anonymity"`) {
		t.Errorf("what is proved is %s", manifest)
	}
	finer := map[string]map[string]string{} // by part: what a look becomes
	for _, of := range []struct {
		name  string
		least map[string]int
	}{{"out.csv", map[string]int{"age zip": 4, "job": 5}}, {"out.partners.csv", map[string]int{"age zip": 12, "job": 5}}, {"out.press.csv", map[string]int{"age zip": 40, "job": 150}}} {
		rows := c.read(t, of.name)
		if _, shown := rows["r1"].values["illness"]; len(rows) != 500 || shown == strings.Contains(of.name, "press") {
			t.Errorf("%s has %d rows like %v", of.name, len(rows), rows["r1"])
		}
		for part, least := range of.least {
			alike, illnesses, looks := map[string]int{}, map[string]map[string]bool{}, map[string]string{}
			for nr, r := range rows {
				look := r.values["job"]
				if part != "job" {
					look = strings.Join([]string{r.values["age"], r.values["age_range"], r.values["zip_range"]}, "|")
				}
				looks[nr] = look
				if alike[look]++; illnesses[look] == nil {
					illnesses[look] = map[string]bool{}
				}
				illnesses[look][r.values["illness"]] = true
			}
			for look, n := range alike {
				if n < least || part != "job" && of.name != "out.press.csv" && len(illnesses[look]) < 2 {
					t.Errorf("%s: %d rows show %s of %s, with %d illnesses", of.name, n, look, part, len(illnesses[look]))
				}
			}
			before := map[string]string{}
			for nr, look := range finer[part] {
				if to, known := before[look]; known && to != looks[nr] && part == "job" {
					t.Errorf("%s: %s becomes %s and %s", of.name, look, to, looks[nr])
				}
				before[look] = looks[nr]
			}
			finer[part] = looks
		}
	}
}
