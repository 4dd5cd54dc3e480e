package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/tablefile"
	"github.com/kproxy/kproxy/internal/verify"
)

// peoplePolicy has every kind of hierarchy, and a column of every role.
const peoplePolicy = `
tables:
  public.people:
    method: %s
    constraints: [%s]
    %s
    columns:
      name: identifying
      age: {role: quasi-identifying, hierarchy: numeric}
      weight: {role: quasi-identifying, hierarchy: {kind: numeric, steps: [10, 50, 1000]}, publish: range}
      born: {role: quasi-identifying, hierarchy: {kind: date, units: [month, year, decade, century]}}
      seen: {role: quasi-identifying, hierarchy: date}
      zip: {role: quasi-identifying, hierarchy: {kind: prefix, keep: [3, 2, 1]}}
      school: {role: quasi-identifying, hierarchy: {kind: ordered, values: [none, low, middle, high]}}
      town: {role: quasi-identifying, hierarchy: {kind: categorical, taxonomy: {north: [Kiel, Bremen], south: [Ulm, Passau]}}}
      word: {role: quasi-identifying, hierarchy: suppression}
      cost: insensitive
      illness: sensitive
`

func peopleText(seed uint64, n int) string {
	random := rand.New(rand.NewPCG(seed, 1))
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	var b strings.Builder
	b.WriteString("name,age,weight,born,seen,zip,school,town,word,cost,illness\n")
	for i := range n {
		age := fmt.Sprint(random.IntN(80) - 5)
		if random.IntN(40) == 0 {
			age = ""
		}
		fmt.Fprintf(&b, "Person %d,%s,%d.%d,19%02d-%02d-%02d,2024-0%d-01 1%d:00:00,0%04d,%s,%s,%s,%s,%s\n", i/2, age, random.IntN(100), random.IntN(10),
			random.IntN(99), 1+random.IntN(12), 1+random.IntN(28), 1+random.IntN(9), random.IntN(10), random.IntN(10_000),
			pick("none", "low", "middle", "high", "other"), pick("Kiel", "Bremen", "Ulm", "Passau", "Rome"), pick("a", "b"), pick("1.5", "2.50", "3", ""), pick("flu", "gout", "asthma", ""))
	}
	return b.String()
}

func parsed(t *testing.T, policyText, text string) (*config.PolicyFile, *dataset.File) {
	t.Helper()
	policy, err := config.ParsePolicy("policy.yaml", []byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	file, err := dataset.Parse([]byte(text), policy.CSV)
	if err != nil {
		t.Fatal(err)
	}
	return policy, file
}

func quiet(int) {}

func writeRows(t *testing.T, r *Rows, format tablefile.Format) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "released")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Write(t.Context(), format, file, quiet), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func readRows(t *testing.T, format tablefile.Format, path string) (rows []string) {
	t.Helper()
	r, err := tablefile.Open(format, path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for row, err := range r.Rows {
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, v := range row {
			texts = append(texts, unscaled(v.Text))
		}
		rows = append(rows, strings.Join(texts, "\t"))
	}
	return rows
}

// unscaled leaves out the last zeros of numbers, which Parquet fills up.
func unscaled(text string) string {
	if whole, fraction, ok := strings.Cut(text, "."); ok && strings.Trim(whole+fraction, "-0123456789") == "" {
		return strings.TrimSuffix(whole+"."+strings.TrimRight(fraction, "0"), ".")
	}
	if strings.HasPrefix(text, "[") && strings.Contains(text, ".") && strings.Trim(text, "[]-,.0123456789") == "" {
		lower, upper, _ := strings.Cut(text[1:len(text)-1], ",")
		return "[" + unscaled(lower) + "," + unscaled(upper) + "]"
	}
	return text
}

// failed are the names of the checks that did not pass.
func failed(checks []verify.Check) (names []string) {
	for _, c := range checks {
		if !c.Passed {
			names = append(names, c.Name)
		}
	}
	return names
}

// TestReleasesOfFiles makes releases by several methods and constraints. Both formats hold the same rows, and both are
// proved; the order of the rows is that of what they show.
func TestReleasesOfFiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ method, constraints, further string }{
		{"rounded-partition", "{k: 5}", ""},
		{"rounded-partition", "{k: 3}, {l: 2, of: illness}, {alpha: 0.7, of: illness}", ""},
		{"lookahead-partition", "{k: 4}, {t: 0.4, of: illness}", ""},
		{"mondrian-relaxed", "{k: 3}, {entropy_l: 1.5, of: illness}", ""},
		{"datafly", "{k: 4}", ""},
		{"bottom-up", "{k: 4}", ""},
		{"rounded-partition", "{k: 4}", "subject: name"},
		{"rounded-partition", "{k: 5, over: [age, weight, born, seen]}, {k: 3, over: [zip, school, town, word]}", ""},
	} {
		t.Run(test.method+" "+test.constraints+test.further, func(t *testing.T) {
			t.Parallel()
			policy, file := parsed(t, fmt.Sprintf(peoplePolicy, test.method, test.constraints, test.further), peopleText(3, 400))
			s, _, err := Of(t.Context(), file, policy, Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if s.Figures.Rows != s.Len() || s.Figures.Rows+s.Figures.Withheld != 400 || s.Figures.Smallest < 3 || !(s.Figures.Loss > 0 && s.Figures.Loss < 1) {
				t.Errorf("the figures are %+v", s.Figures)
			}
			var both [][]string
			for _, format := range []tablefile.Format{tablefile.CSV, tablefile.Parquet} {
				path := writeRows(t, s.Rows, format)
				checks, err := s.Prove(t.Context(), format, path, quiet)
				if err != nil || len(failed(checks)) > 0 || len(checks) < 5 {
					t.Errorf("%s: %d checks, of which %v fail: %v", format, len(checks), failed(checks), err)
				}
				both = append(both, readRows(t, format, path))
			}
			if !slices.Equal(both[0], both[1]) {
				t.Errorf("CSV has %d rows and Parquet %d, and they differ", len(both[0]), len(both[1]))
			}
			again, _, err := Of(t.Context(), file, policy, Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if rows := readRows(t, tablefile.CSV, writeRows(t, again.Rows, tablefile.CSV)); !slices.Equal(rows, both[0]) {
				t.Error("the same seed gives another release")
			}
		})
	}
}

// TestOrderTellsNothing compares the release of records with that of the same records in another order, where both have the
// same classes.
func TestOrderTellsNothing(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(strings.TrimSuffix(peopleText(5, 60), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	text := func() string { return strings.Join(lines, "") }
	// One class of all: nothing but the order of the rows could differ.
	policyText := fmt.Sprintf(peoplePolicy, "rounded-partition", "{k: 60}", "")
	var first []byte
	for range 3 {
		policy, file := parsed(t, policyText, text())
		s, _, err := Of(t.Context(), file, policy, Options{})
		if err != nil {
			t.Fatal(err)
		}
		written, err := os.ReadFile(writeRows(t, s.Rows, tablefile.CSV))
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(written, first) {
			t.Error("the release depends on the order of the records")
		}
		first = written
		rest := lines[1:]
		rand.New(rand.NewPCG(2, 2)).Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	}
}

// TestTamperedFilesAreRefused changes the written file: each change breaks the check that it should.
func TestTamperedFilesAreRefused(t *testing.T) {
	t.Parallel()
	policy, file := parsed(t, fmt.Sprintf(peoplePolicy, "rounded-partition", "{k: 5}, {l: 2, of: illness}", ""), peopleText(7, 300))
	s, _, err := Of(t.Context(), file, policy, Options{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	path := writeRows(t, s.Rows, tablefile.CSV)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(text)))
	field := func(line, column int, to string) func([]string) {
		return func(lines []string) {
			fields := strings.Split(lines[line], ",")
			for i, f := range fields { // ranges are quoted, and have a comma
				if strings.HasPrefix(f, `"[`) {
					fields[i], fields[i+1] = f+","+fields[i+1], "\x00"
				}
			}
			fields = slices.DeleteFunc(fields, func(f string) bool { return f == "\x00" })
			fields[column] = to
			lines[line] = strings.Join(fields, ",")
		}
	}
	names := strings.Split(strings.TrimSpace(lines[0]), ",")
	column := func(name string) int { return slices.Index(names, name) }
	for name, change := range map[string]func([]string){
		"exactly the published columns":              func(l []string) { l[0] = strings.Replace(l[0], "zip", "postcode", 1) },
		"one row for each released record":           func(l []string) { l[len(l)-1] = "" },
		"one row for each released record, one more": func(l []string) { l[len(l)-1] += l[len(l)-1] },
		"ranges and labels are true of their records, merged": func(l []string) { // a class shows what another one shows
			first, last := strings.Split(l[1], ",")[0], len(l)-1
			for i := 1; strings.HasPrefix(l[i], first+","); i++ {
				l[i] = l[last][:strings.LastIndexByte(l[last][:strings.LastIndexByte(l[last], ',')], ',')] + l[i][strings.LastIndexByte(l[i][:strings.LastIndexByte(l[i], ',')], ','):]
			}
		},
		"ranges and labels are true of their records, beside the range": field(7, column("age"), "99"),
		"values published as they are are those of the record, swapped": func(l []string) {
			for i := range l[2:] {
				a, b := strings.LastIndexByte(l[i+1], ','), strings.LastIndexByte(l[i+2], ',')
				if before, after := l[i+1][a:], l[i+2][b:]; before != after {
					l[i+1], l[i+2] = l[i+1][:a]+after, l[i+2][:b]+before
					return
				}
			}
		},
		"5-anonymity, hidden":                                  field(11, column("town"), ""),
		"ranges and labels are true of their records":          field(7, column("born_range"), `"[2030-01-01,2040-01-01)"`),
		"values published as they are are those of the record": field(9, column("cost"), "99"),
		"5-anonymity": field(11, column("word"), "c"),
		"distinct 2-diversity of illness": func(l []string) {
			for i := range l[1:] { // of all groups
				l[i+1] = l[i+1][:strings.LastIndexByte(l[i+1], ',')] + ",flu\n"
			}
		},
	} {
		want, _, _ := strings.Cut(name, ", ")
		changed := slices.Clone(lines)
		change(changed)
		tampered := filepath.Join(t.TempDir(), "tampered")
		if err := os.WriteFile(tampered, []byte(strings.Join(changed, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		checks, err := s.Prove(t.Context(), tablefile.CSV, tampered, quiet)
		if err != nil || !slices.Contains(failed(checks), want) {
			t.Errorf("%s: the checks that fail are %v, %v", name, failed(checks), err)
		}
	}
	order := s.order
	s.order = slices.Clone(order)
	s.order[1] = s.order[0]
	if checks, err := s.Prove(t.Context(), tablefile.CSV, writeRows(t, s.Rows, tablefile.CSV), quiet); err != nil || !slices.Contains(failed(checks), "one row for each released record") {
		t.Errorf("a record twice: the checks that fail are %v, %v", failed(checks), err)
	}
	s.order = order
	if checks, err := s.Prove(t.Context(), tablefile.CSV, path, quiet); err != nil || len(failed(checks)) > 0 {
		t.Errorf("untouched: %v, %v", failed(checks), err)
	}
	if _, err := s.Prove(t.Context(), tablefile.Parquet, path, quiet); err == nil {
		t.Error("CSV is proved as Parquet")
	}
}

// TestRefusals says what keeps a file from being released.
func TestRefusals(t *testing.T) {
	t.Parallel()
	text := peopleText(1, 40)
	for want, change := range map[string]func(policy, text string) (string, string){
		"gives no role to name":   func(p, t string) (string, string) { return strings.Replace(p, "      name: identifying\n", "", 1), t },
		"has no column \"cost\"":  func(p, t string) (string, string) { return p, strings.Replace(t, "cost", "kost", 1) },
		"nothing can be released": func(p, t string) (string, string) { return strings.Replace(p, "{k: 4}", "{k: 41}", 1), t },
		"people.name: is published and is nearly unique": func(p, t string) (string, string) {
			return strings.Replace(p, "name: identifying", "name: insensitive", 1), strings.Replace(t, "Person 0", "Person x", 1) + peopleText(2, 1)[strings.Index(peopleText(2, 1), "\n")+1:]
		},
	} {
		policyText, changed := change(fmt.Sprintf(peoplePolicy, "rounded-partition", "{k: 4}", ""), text)
		if strings.Contains(want, "unique") { // two records have each name else
			changed = strings.ReplaceAll(changed, "Person ", "P")
			lines := strings.SplitAfter(changed, "\n")
			for i := 1; i < len(lines); i += 2 {
				lines[i] = "Q" + lines[i]
			}
			changed = strings.Join(lines, "")
		}
		policy, file := parsed(t, policyText, changed)
		if _, _, err := Of(t.Context(), file, policy, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	policy, file := parsed(t, fmt.Sprintf(peoplePolicy, "rounded-partition", "{k: 4}", ""), text)
	if _, _, err := Of(ended, file, policy, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	s, _, err := Of(t.Context(), file, policy, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(ended, tablefile.CSV, &bytes.Buffer{}, quiet); !errors.Is(err, context.Canceled) {
		t.Errorf("writing after the end: %v", err)
	}
}

// TestGuardedPolicies are those of a table that is served: a file has no versions.
func TestGuardedPolicies(t *testing.T) {
	t.Parallel()
	policy, file := parsed(t, fmt.Sprintf(peoplePolicy, "rounded-partition", "{k: 4}", "updates: guarded"), peopleText(1, 100))
	s, _, err := Of(t.Context(), file, policy, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Columns {
		if strings.HasPrefix(c.Name, "kproxy_") {
			t.Errorf("column %s is published", c.Name)
		}
	}
}

const hospital = `
tables:
  public.patients: {columns: {born: {role: quasi-identifying, hierarchy: date}, sex: {role: quasi-identifying, hierarchy: categorical}}}
  public.visits: {columns: {day: {role: quasi-identifying, hierarchy: date}, ward: sensitive}}
  public.drugs: {columns: {drug: sensitive}}
  public.labs: {columns: {value: sensitive}}
people:
  patient:
    root: public.patients
    key: patient
    knows: %s
    tables:
      public.visits: {person: patient, key: visit, order: day}
      public.drugs: {through: public.visits, by: visit}
      public.labs: {through: public.visits, by: visit, known: false}
    constraints: [{k: 4}%s]
`

func hospitalFiles(t *testing.T, knows, constraints string) (*config.PolicyFile, map[catalog.Name]*dataset.File) {
	t.Helper()
	policy, err := config.ParsePolicy("policy.yaml", fmt.Appendf(nil, hospital, knows, constraints))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(4, 4))
	texts := map[string]*strings.Builder{}
	for name, header := range map[string]string{"patients": "patient,born,sex", "visits": "visit,patient,day,ward", "drugs": "visit,drug", "labs": "visit,value"} {
		texts[name] = &strings.Builder{}
		texts[name].WriteString(header + "\n")
	}
	visit := 0
	for p := range 300 {
		fmt.Fprintf(texts["patients"], "%d,19%02d-%02d-01,%c\n", p, 20+random.IntN(80), 1+random.IntN(12), "mf"[random.IntN(2)])
		for range random.IntN(5) {
			visit++
			of := p
			if random.IntN(50) == 0 {
				of = 10_000 // nobody
			}
			fmt.Fprintf(texts["visits"], "v%04d,%d,202%d-%02d-%02d,%s\n", visit, of, random.IntN(3), 1+random.IntN(12), 1+random.IntN(28), []string{"eye", "skin", "heart"}[random.IntN(3)])
			for range random.IntN(3) {
				fmt.Fprintf(texts["drugs"], "v%04d,d%d\n", visit, random.IntN(4))
			}
			if random.IntN(8) == 0 {
				fmt.Fprintf(texts["labs"], "v%04d,%d\n", visit, random.IntN(9))
			}
		}
	}
	files := make(map[catalog.Name]*dataset.File)
	for name, text := range texts {
		form := policy.CSV
		if files[catalog.ParseName(name)], err = dataset.Parse([]byte(text.String()), form); err != nil {
			t.Fatal(err)
		}
	}
	return policy, files
}

// TestReleasesOfPeople makes releases of several tables, in both formats, and proves them.
func TestReleasesOfPeople(t *testing.T) {
	t.Parallel()
	for _, knows := range []string{"all", "{rows: 1}", "{rows: 1, per: 1y, crowd: 2}"} {
		for _, constraints := range []string{"", ", {alpha: 0.9, of: public.visits.ward}", ", {l: 2, of: public.drugs.drug}"} {
			t.Run(knows+constraints, func(t *testing.T) {
				t.Parallel()
				policy, files := hospitalFiles(t, knows, constraints)
				p, _, err := OfPeople(t.Context(), files, policy, Options{Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				for _, format := range []tablefile.Format{tablefile.CSV, tablefile.Parquet} {
					paths := writeAll(t, p, format)
					checks, err := p.Prove(t.Context(), format, paths, quiet)
					if err != nil {
						t.Fatal(err)
					}
					for i, of := range checks {
						if bad := failed(of); len(bad) > 0 || len(of) < 8 {
							t.Errorf("%s: of %d checks of %s, these fail: %v", format, len(of), p.Figures[i].Table, bad)
						}
					}
				}
				if p.Figures[0].Rows != 300 || p.Figures[1].Rows < 400 {
					t.Errorf("the figures are %+v", p.Figures)
				}
			})
		}
	}
}

func writeAll(t *testing.T, p *People, format tablefile.Format) (paths []string) {
	t.Helper()
	for _, r := range p.Tables {
		paths = append(paths, writeRows(t, r, format))
	}
	return paths
}

// fieldsOf are the lines of a CSV file, of which at most one field is quoted, as fields.
func fieldsOf(t *testing.T, path string) [][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		head, tail, quoted := strings.Cut(line, `,"`)
		fields := strings.Split(head, ",")
		if quoted {
			ranged, after, _ := strings.Cut(tail, `"`)
			fields = append(append(fields, `"`+ranged+`"`), strings.Split(strings.TrimPrefix(after, ","), ",")...)
		}
		rows = append(rows, fields)
	}
	return rows
}

// changesOfPeople are changes of a file, by the check that they break.
var changesOfPeople = map[string]struct {
	table string
	do    func(rows [][]string)
}{
	"a row shows all of its keys or none": {"visits", func(rows [][]string) { keyed(rows)[0][0] = "" }},
	"no two rows have the same pseudonym": {"patients", func(rows [][]string) { rows[3][0] = rows[4][0] }},
	"keys lead to the row that a row belongs to": {"drugs", func(rows [][]string) {
		for i := range rows[1:] {
			if rows[i+1][0] != "" {
				rows[i+1][0] = "0123456789abcdef"
				return
			}
		}
	}},
	"4 persons have a row with keys that shows the same": {"visits", func(rows [][]string) { keyed(rows)[0][3] = `"[2020-01-01,2029-01-01)"` }},
	"a pseudonym is that of one person in a window": {"visits", func(rows [][]string) {
		for _, row := range keyed(rows) {
			row[1] = keyed(rows)[0][1]
		}
	}},
	"values published as they are are those of the record": {"drugs", func(rows [][]string) { rows[5][1] = "d9" }},
	"one row for each released record":                     {"labs", func(rows [][]string) { rows[1][0] += "," + rows[1][1] + "\n" + rows[1][0] }},
	"keys lead to the row that a row belongs to, of another table": {"visits", func(rows [][]string) {
		for _, row := range keyed(rows) {
			row[0], row[1] = row[1], row[0]
		}
	}},
	"keys lead to the row that a row belongs to, of another visit": {"drugs", func(rows [][]string) {
		first := ""
		for _, row := range rows[1:] {
			if first == "" {
				first = row[0]
			} else if row[0] != "" && row[0] != first {
				row[0] = first
				return
			}
		}
	}},
	"every class shows the same":                  {"patients", func(rows [][]string) { rows[1][len(rows[1])-1] = "" }},
	"ranges and labels are true of their records": {"visits", func(rows [][]string) { keyed(rows)[0][3] = `"[2031-01-01,2032-01-01)"` }},
	"a person has one pseudonym in a window": {"visits", func(rows [][]string) {
		// Two persons of a class, whose keys are swapped in one row each: each has two pseudonyms then.
		links := map[string][]int{}
		for i, row := range keyed(rows) {
			links[row[3]] = append(links[row[3]], i)
		}
		all := keyed(rows)
		for _, of := range links {
			if all[of[0]][1] != all[of[1]][1] {
				all[of[0]][1], all[of[1]][1] = all[of[1]][1], all[of[0]][1]
			}
		}
	}},
}

// TestTamperedFilesOfPeopleAreRefused changes one of the files: each change breaks the check that it should.
func TestTamperedFilesOfPeopleAreRefused(t *testing.T) {
	t.Parallel()
	policy, files := hospitalFiles(t, "{rows: 1, per: 1y, crowd: 2}", "")
	p, _, err := OfPeople(t.Context(), files, policy, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	paths := writeAll(t, p, tablefile.CSV)
	names := make(map[string]int)
	for i, f := range p.Figures {
		names[strings.TrimPrefix(f.Table, "public.")] = i
	}
	for name, change := range changesOfPeople {
		want, _, _ := strings.Cut(name, ", ")
		at := names[change.table]
		rows := fieldsOf(t, paths[at])
		change.do(rows)
		var text strings.Builder
		for _, fields := range rows {
			text.WriteString(strings.Join(fields, ",") + "\n")
		}
		tampered := slices.Clone(paths)
		tampered[at] = filepath.Join(t.TempDir(), "tampered")
		if err := os.WriteFile(tampered[at], []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		checks, err := p.Prove(t.Context(), tablefile.CSV, tampered, quiet)
		if err != nil || !slices.ContainsFunc(checks, func(of []verify.Check) bool { return slices.Contains(failed(of), want) }) {
			t.Errorf("%s: the checks that fail are not it, %v: %v", name, err, failed(slices.Concat(checks...)))
		}
	}
}

// TestRowsOfOthersAreFound takes rows for those of another person than the keys in the files say: what is counted of persons would
// be wrong.
func TestRowsOfOthersAreFound(t *testing.T) {
	t.Parallel()
	policy, files := hospitalFiles(t, "all", "")
	p, _, err := OfPeople(t.Context(), files, policy, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	paths := writeAll(t, p, tablefile.CSV)
	of := p.persons.Data.Tables[0].Of
	of[p.Tables[1].order[0]] = (of[p.Tables[1].order[0]] + 1) % 300
	checks, err := p.Prove(t.Context(), tablefile.CSV, paths, quiet)
	if want := "rows count for those whom the keys in the files name"; err != nil || !slices.Contains(failed(checks[1]), want) {
		t.Errorf("the checks that fail are %v, %v", failed(checks[1]), err)
	}
}

// TestCompositeKeys joins tables by keys of several columns, which the files have in another order.
func TestCompositeKeys(t *testing.T) {
	t.Parallel()
	policy, err := config.ParsePolicy("policy.yaml", []byte(`
tables:
  public.patients: {columns: {born: {role: quasi-identifying, hierarchy: numeric}}}
  public.drugs: {columns: {drug: sensitive}}
people:
  patient:
    root: public.patients
    key: [clinic, number]
    knows: {rows: 1}
    tables:
      public.drugs: {person: [clinic, number]}
    constraints: [{k: 3}]
`))
	if err != nil {
		t.Fatal(err)
	}
	patients, drugs := strings.Builder{}, strings.Builder{}
	patients.WriteString("clinic,number,born\n")
	drugs.WriteString("number,drug,clinic\n")
	for i := range 60 {
		fmt.Fprintf(&patients, "c%d,%d,%d\n", i%2, i/2, 1950+i)
		fmt.Fprintf(&drugs, "%d,d%d,c%d\n", i/2, i%3, i%2)
	}
	files := make(map[catalog.Name]*dataset.File)
	for name, text := range map[string]string{"patients": patients.String(), "drugs": drugs.String()} {
		if files[catalog.ParseName(name)], err = dataset.Parse([]byte(text), policy.CSV); err != nil {
			t.Fatal(err)
		}
	}
	p, _, err := OfPeople(t.Context(), files, policy, Options{})
	if err != nil {
		t.Fatal(err)
	}
	paths := writeAll(t, p, tablefile.CSV)
	checks, err := p.Prove(t.Context(), tablefile.CSV, paths, quiet)
	if err != nil || len(failed(slices.Concat(checks...))) > 0 || p.Figures[1].Rows != 60 {
		t.Errorf("%d rows, the checks that fail are %v, %v", p.Figures[1].Rows, failed(slices.Concat(checks...)), err)
	}
}

// TestGeneratedKey is never published: it numbers the records of the file.
func TestGeneratedKey(t *testing.T) {
	t.Parallel()
	text := fmt.Sprintf(peoplePolicy, "rounded-partition", "{k: 4}", "")
	for role, published := range map[string]bool{
		"insensitive": true, "sensitive": true, "{role: quasi-identifying, hierarchy: numeric}": true, "identifying": false,
	} {
		policy, file := parsed(t, "csv: {key: nr}\n"+strings.Replace(text, "      name: identifying\n", "      name: identifying\n      nr: "+role+"\n", 1), peopleText(1, 40))
		s, _, err := Of(t.Context(), file, policy, Options{})
		if published && (err == nil || !strings.Contains(err.Error(), "nr is the generated key")) {
			t.Errorf("%s: error %v", role, err)
		}
		if !published && (err != nil || slices.ContainsFunc(s.Columns, func(c tablefile.Column) bool { return c.Name == "nr" })) {
			t.Errorf("%s: it is published, %v", role, err)
		}
	}
	policy, files := hospitalFiles(t, "all", "")
	policy.People[0].Tables[0].Key = []string{policy.CSV.Key}
	if _, _, err := OfPeople(t.Context(), files, policy, Options{}); err == nil || !strings.Contains(err.Error(), "is the generated key") {
		t.Errorf("as a key of people: error %v", err)
	}
}

// TestWithheldNumbersDoNotShow compares a release with one whose withheld record has a number with more digits: the files are
// the same.
func TestWithheldNumbersDoNotShow(t *testing.T) {
	t.Parallel()
	const policyText = "tables: {public.t: {constraints: [{k: 5}], columns: {zip: {role: quasi-identifying, hierarchy: categorical}, cost: insensitive}}}"
	release := func(cost string) []byte {
		var b strings.Builder
		b.WriteString("zip,cost\n0," + cost + "\n")
		for i := range 100 {
			fmt.Fprintf(&b, "%d,%d.5\n", i%7, i%5)
		}
		policy, file := parsed(t, policyText, b.String())
		s, _, err := Of(t.Context(), file, policy, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.order = slices.DeleteFunc(s.order, func(record int32) bool { return record == 0 })
		text, err := os.ReadFile(writeRows(t, s.Rows, tablefile.Parquet))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if !bytes.Equal(release("1.5"), release("123456789012.123456789")) {
		t.Error("the file tells of a record that is withheld")
	}
}

// keyed are the visits that have their keys.
func keyed(rows [][]string) (with [][]string) {
	for _, row := range rows[1:] {
		if row[0] != "" && row[1] != "" {
			with = append(with, row)
		}
	}
	return with
}
