package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/tablefile"
)

const filePolicy = `tables:
  public.people:
    constraints: [{k: 4}, {l: 2, of: illness}]
    columns:
      name: identifying
      age: {role: quasi-identifying, hierarchy: numeric}
      zip: {role: quasi-identifying, hierarchy: numeric}
      illness: sensitive
`

// peopleFiles writes a policy and a CSV file.
func peopleFiles(t *testing.T) (folder, policy, data string) {
	t.Helper()
	folder = t.TempDir()
	var text strings.Builder
	text.WriteString("name,age,zip,illness\n")
	for i := range 200 {
		fmt.Fprintf(&text, "Person %d,%d,%d,%s\n", i, i*7%80, 10000+i*31%900, []string{"flu", "gout", "ulcer"}[i%3])
	}
	policy, data = filepath.Join(folder, "policy.yaml"), filepath.Join(folder, "people.csv")
	for path, content := range map[string]string{policy: filePolicy, data: text.String()} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, policy, data
}

// runWith executes a command with an input.
func runWith(ctx context.Context, input string, arguments ...string) (string, string, error) {
	var out, told bytes.Buffer
	root := newRoot()
	root.SetArgs(arguments)
	root.SetIn(strings.NewReader(input))
	root.SetOut(&out)
	root.SetErr(&told)
	err := root.ExecuteContext(ctx)
	return out.String(), told.String(), err
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// entries are the names in a folder, hidden ones included.
func entries(t *testing.T, folder string) string {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestAnonymizeAFile(t *testing.T) {
	t.Parallel()
	folder, policy, data := peopleFiles(t)
	out := filepath.Join(folder, "released.csv")
	said, _, err := runWith(t.Context(), "", "anonymize", data, "--policy", policy, "--out", out)
	if err != nil || !strings.Contains(said, "200 rows in ") || !strings.Contains(said, "checks of the written file passed") {
		t.Fatalf("it says %q, %v", said, err)
	}
	text := content(t, out)
	if !strings.HasPrefix(text, "age,age_range,zip,zip_range,illness\n") || strings.Count(text, "\n") != 201 || strings.Contains(text, "Person") {
		t.Errorf("the release is\n%.300s", text)
	}
	var m tablefile.Manifest
	if err := json.Unmarshal([]byte(content(t, out+".json")), &m); err != nil {
		t.Fatal(err)
	}
	if m.Rows != 200 || m.File != "released.csv" || m.Table != "public.people" || len(m.SHA256) != 64 || len(m.Policy) != 64 || len(m.Constraints) != 2 || m.Proof == nil || !m.Proof.Passed || m.Bytes != int64(len(text)) {
		t.Errorf("the manifest is %+v", m)
	}
	again, _, err := runWith(t.Context(), content(t, data), "anonymize", "-", "--policy", policy, "--out", "-")
	if err != nil || again != text {
		t.Errorf("from standard input to standard output: %d bytes, %v", len(again), err)
	}
	parquet := filepath.Join(folder, "released.parquet")
	said, _, err = runWith(t.Context(), "", "anonymize", data, "--policy", policy, "--out", parquet, "--json")
	var summary struct {
		Tables []struct {
			Rows, Classes, Smallest int
			Loss                    float64
			SHA256                  string
			Proof                   tablefile.Proof
		}
	}
	if err := errors.Join(err, json.Unmarshal([]byte(said), &summary)); err != nil {
		t.Fatal(err)
	}
	if s := summary.Tables[0]; s.Rows != 200 || s.Smallest < 4 || s.Classes < 10 || !(s.Loss > 0 && s.Loss < 1) || !s.Proof.Passed || len(s.SHA256) != 64 {
		t.Errorf("the summary is %s", said)
	}
	// The release in Parquet, released once more with its ranges dropped.
	second := strings.NewReplacer("      name: identifying\n", "      age_range: identifying\n      zip_range: identifying\n").Replace(filePolicy)
	if err := os.WriteFile(policy, []byte(second), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := runWith(t.Context(), "", "anonymize", parquet, "--policy", policy, "--out", filepath.Join(folder, "twice.csv")); err != nil {
		t.Errorf("Parquet as input: %v", err)
	}
}

func TestAnonymizeRefuses(t *testing.T) {
	t.Parallel()
	folder, policy, data := peopleFiles(t)
	out := filepath.Join(folder, "released.csv")
	before := entries(t, folder)
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for want, arguments := range map[string][]string{
		"--policy and --out are needed":                         {data, "--out", out},
		"takes the file to anonymize":                           {"--policy", policy, "--out", out},
		"ends in neither .csv nor .parquet":                     {data, "--policy", policy, "--out", filepath.Join(folder, "released")},
		"unknown format \"xls\"":                                {data, "--policy", policy, "--out", out, "--format", "xls"},
		"several files are for a policy with people":            {data, data, "--policy", policy, "--out", out},
		"there is no folder":                                    {data, "--policy", policy, "--out", filepath.Join(folder, "no", "released.csv")},
		"people.csv exists: choose another name":                {data, "--policy", policy, "--out", data},
		"the policy gives no role to name":                      {data, "--policy", write("p.yaml", strings.Replace(filePolicy, "      name: identifying\n", "", 1)), "--out", out},
		"nothing can be released":                               {data, "--policy", write("p.yaml", strings.Replace(filePolicy, "k: 4", "k: 201", 1)), "--out", out},
		"the policy cannot be used":                             {data, "--policy", write("p.yaml", "tables: 1"), "--out", out},
		"no such file":                                          {filepath.Join(folder, "none.csv"), "--policy", policy, "--out", out},
		"line 3 has 1 field, but 4 are expected":                {write("d.csv", "name,age,zip,illness\na,1,2,flu\nb\n"), "--policy", policy, "--out", out},
		`d.csv:3: age is "old", which is no number: correct it`: {write("d.csv", "name,age,zip,illness\na,1,2,flu\nb,old,2,flu\nc,2,2,gout\n"), "--policy", policy, "--out", out},
		"people.name: is published and is nearly unique":        {data, "--policy", write("p.yaml", strings.Replace(filePolicy, "name: identifying", "name: insensitive", 1)), "--out", out},
	} {
		if _, _, err := runWith(t.Context(), "", append([]string{"anonymize"}, arguments...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", arguments, err, want)
		}
	}
	if after := entries(t, folder); after != before {
		t.Errorf("the folder has %s, and had %s", after, before)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := runWith(ended, "", "anonymize", data, "--policy", policy, "--out", out); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if after := entries(t, folder); after != before {
		t.Errorf("interrupted, it leaves %s", after)
	}
	first, _, err := runWith(t.Context(), "", "anonymize", data, "--policy", policy, "--out", out)
	if err != nil {
		t.Fatal(first, err)
	}
	if _, _, err := runWith(t.Context(), "", "anonymize", data, "--policy", policy, "--out", out); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("over a release: %v", err)
	}
	if _, _, err := runWith(t.Context(), "", "anonymize", data, "--policy", policy, "--out", out, "--force"); err != nil {
		t.Errorf("with --force: %v", err)
	}
	if strings.Contains(entries(t, folder), ".part") {
		t.Errorf("the folder has %s", entries(t, folder))
	}
}

// TestAnonymizePeople releases tables together, into a folder.
func TestAnonymizePeople(t *testing.T) {
	t.Parallel()
	folder, arguments := hospitalFiles(t)
	policy, out := arguments[2], filepath.Join(folder, "released")
	patients, visits := "patients="+filepath.Join(folder, "patients.csv"), "visits="+filepath.Join(folder, "visits.csv")
	for want, line := range map[string][]string{
		"there is no file of public.visits":    {patients, "--out", out, "--format", "csv"},
		"does not say of which table it is":    {patients, filepath.Join(folder, "visits.csv"), "--out", out, "--format", "csv"},
		"add --format csv or --format parquet": {patients, visits, "--out", out},
		"is one file, and there are several":   {patients, visits, "--out", out + ".csv"},
	} {
		if _, _, err := runWith(t.Context(), "", append([]string{"anonymize", "--policy", policy}, line...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", line, err, want)
		}
	}
	for _, format := range []string{"csv", "parquet"} {
		said, _, err := runWith(t.Context(), "", "anonymize", patients, visits, "--policy", policy, "--out", out, "--format", format)
		if err != nil || strings.Count(said, "\n") != 2 {
			t.Fatalf("it says %q, %v", said, err)
		}
	}
	if got, want := entries(t, out), "patients.csv patients.csv.json patients.parquet patients.parquet.json visits.csv visits.csv.json visits.parquet visits.parquet.json"; got != want {
		t.Errorf("the folder has %s, want %s", got, want)
	}
	if text := content(t, filepath.Join(out, "visits.csv")); !strings.HasPrefix(text, "visit,patient,day,day_range,ward\n") {
		t.Errorf("the visits are\n%.200s", text)
	}
	var m tablefile.Manifest
	if err := json.Unmarshal([]byte(content(t, filepath.Join(out, "visits.csv.json"))), &m); err != nil || len(m.Together) != 2 || !strings.Contains(m.Promise, "at least 4 persons") {
		t.Errorf("the manifest is %+v, %v", m, err)
	}
}

// TestAnonymizeForAudiences: each audience gets a file, with its columns, whose rows that look alike are as many as
// its constraints say, and are those of several classes of the file before.
func TestAnonymizeForAudiences(t *testing.T) {
	t.Parallel()
	folder, policy, data := peopleFiles(t)
	text := filePolicy + `audiences:
  partners:
    tables:
      people: {constraints: [{k: 12}]}
  press:
    tables:
      people: {constraints: [{k: 40}, {l: 3, of: illness}], hide: [zip]}
`
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(folder, "released.csv")
	said, _, err := runWith(t.Context(), "", "anonymize", data, "--policy", policy, "--out", out)
	if err != nil || strings.Count(said, "200 rows in ") != 3 {
		t.Fatalf("it says %q, %v", said, err)
	}
	groups := map[string]int{}
	for _, release := range []struct {
		name, header string
		alike, least int // columns of quasi-identifiers, and rows that look alike in them
	}{
		{"released.csv", "age,age_range,zip,zip_range,illness", 4, 4},
		{"released.partners.csv", "age,age_range,zip,zip_range,illness", 4, 12},
		{"released.press.csv", "age,age_range,illness", 2, 40},
	} {
		records, err := csv.NewReader(strings.NewReader(content(t, filepath.Join(folder, release.name)))).ReadAll()
		if err != nil || strings.Join(records[0], ",") != release.header || len(records) != 201 {
			t.Fatalf("%s has %v in %d lines, %v", release.name, records[0], len(records), err)
		}
		alike := map[string]int{}
		for _, record := range records[1:] {
			alike[strings.Join(record[:release.alike], ",")]++
		}
		for shown, rows := range alike {
			if rows < release.least {
				t.Errorf("%s has %d rows of %s", release.name, rows, shown)
			}
		}
		groups[release.name] = len(alike)
	}
	if groups["released.csv"] <= groups["released.partners.csv"] || groups["released.partners.csv"] <= groups["released.press.csv"] || groups["released.press.csv"] < 2 {
		t.Errorf("there are %v groups of rows that look alike", groups)
	}
	if manifest := content(t, filepath.Join(folder, "released.press.csv.json")); !strings.Contains(manifest, `"k = 40`) && !strings.Contains(manifest, "40") {
		t.Errorf("the manifest is %s", manifest)
	}
	hiding := strings.Replace(text, "l: 3, of: illness}], hide: [zip]", "l: 3, of: illness}]", 1) + `  public:
    tables:
      people: {constraints: [{k: 60}], hide: [illness]}
`
	if err := os.WriteFile(policy, []byte(hiding), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := runWith(t.Context(), "", "anonymize", data, "--policy", policy, "--out", out, "--force"); err != nil {
		t.Fatal(err)
	}
	for name, told := range map[string]bool{"press": true, "public": false} {
		var m tablefile.Manifest
		if err := json.Unmarshal([]byte(content(t, filepath.Join(folder, "released."+name+".csv.json"))), &m); err != nil || strings.Contains(strings.Join(m.Constraints, "; "), "illness") != told || len(m.Constraints) == 0 {
			t.Errorf("the manifest of %s names %v, %v", name, m.Constraints, err)
		}
	}
	if _, _, err := runWith(t.Context(), "", "anonymize", data, "--policy", policy, "--out", "-"); err == nil || !strings.Contains(err.Error(), "audiences") {
		t.Errorf("three releases go to standard output: %v", err)
	}
}
