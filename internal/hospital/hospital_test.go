package hospital

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	sampleSize = 50_000
	sampleSeed = 1
)

// sample is generated once for all tests.
var sample = slices.Collect(Generate(sampleSize, sampleSeed))

// years is a patient's age at admission in whole years.
func years(p Patient) int {
	n := p.AdmissionDate.Year() - p.BirthDate.Year()
	if p.BirthDate.AddDate(n, 0, 0).After(p.AdmissionDate) {
		n--
	}
	return n
}

// share is the part of the sample's patients for whom condition holds, among
// those for whom given holds.
func share(given, condition func(Patient) bool) float64 {
	all, hits := 0, 0
	for _, p := range sample {
		if given(p) {
			all++
			if condition(p) {
				hits++
			}
		}
	}
	return float64(hits) / float64(all)
}

func anybody(Patient) bool { return true }

func TestSameSeedSameRows(t *testing.T) {
	t.Parallel()
	prefix := slices.Collect(Generate(100, sampleSeed))
	if !slices.Equal(prefix, sample[:100]) {
		t.Error("the first rows depend on how many there are, or on the run")
	}
	other := slices.Collect(Generate(100, sampleSeed+1))
	for i := range other {
		if other[i].NationalID == prefix[i].NationalID {
			t.Errorf("two seeds give patient %d the same national id", i+1)
		}
	}
	if n := len(slices.Collect(Generate(0, 1))); n != 0 {
		t.Errorf("%d rows instead of none", n)
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, p := range sample[:25] {
		fmt.Fprintln(&text, p.ID, p.Name, p.NationalID, p.BirthDate.Format(time.DateOnly), p.Sex, p.Postcode, p.MaritalStatus,
			p.Occupation, p.Ward, p.AdmissionDate.Format(time.DateOnly), p.Diagnosis, p.Cost())
	}
	i := 0
	for change := range Changes(25, sampleSeed) {
		fmt.Fprintln(&text, change.Kind, change.Args)
		if i++; i == 25 {
			break
		}
	}
	path := filepath.Join("testdata", "first.txt")
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Errorf("the rows changed; if that is meant, run with -update:\n%s", text.String())
	}
}

func TestRowsAreWellFormed(t *testing.T) {
	t.Parallel()
	ids := make(map[string]bool)
	postcode := regexp.MustCompile(`^[0-9]{5}$`)
	wards := make(map[string]bool)
	for _, w := range Wards() {
		wards[w.Ward] = true
	}
	codes := make(map[string]bool)
	for _, c := range Codes() {
		codes[c.Code] = true
	}
	labels := map[string]map[string]bool{}
	for _, taxonomy := range Taxonomies() {
		labels[taxonomy.Column] = map[string]bool{}
		for _, group := range taxonomy.Groups {
			for _, value := range group.Values {
				if labels[taxonomy.Column][value] {
					t.Errorf("%s stands twice in %s", value, taxonomy.Column)
				}
				labels[taxonomy.Column][value] = true
			}
		}
	}
	unused := map[string]map[string]bool{"marital_status": maps.Clone(labels["marital_status"]), "occupation": maps.Clone(labels["occupation"])}
	for i, p := range sample {
		switch {
		case p.ID != int64(i+1), p.Name == "", p.Sex != "F" && p.Sex != "M", p.Cents <= 0, p.Cents > maxCents:
			t.Fatalf("row %d: %+v", i, p)
		case ids[p.NationalID] || !ValidNationalID(p.NationalID):
			t.Fatalf("row %d: national id %s", i, p.NationalID)
		case !postcode.MatchString(p.Postcode), !wards[p.Ward], !codes[p.Diagnosis]:
			t.Fatalf("row %d: %+v", i, p)
		case !labels["marital_status"][p.MaritalStatus], !labels["occupation"][p.Occupation]:
			t.Fatalf("row %d: a label is in no taxonomy: %+v", i, p)
		case p.AdmissionDate.Year() < firstYear || p.AdmissionDate.Year() > lastYear, years(p) < 0, years(p) > oldest:
			t.Fatalf("row %d: born %v, admitted %v", i, p.BirthDate, p.AdmissionDate)
		}
		ids[p.NationalID] = true
		delete(unused["marital_status"], p.MaritalStatus)
		delete(unused["occupation"], p.Occupation)
	}
	for column, left := range unused {
		if len(left) > 0 {
			t.Errorf("%s never takes %v", column, slices.Sorted(maps.Keys(left)))
		}
	}
}

// TestImpossibleCombinations checks what must not occur in a single row.
func TestImpossibleCombinations(t *testing.T) {
	t.Parallel()
	chapter := make(map[string]string)
	for _, c := range Codes() {
		chapter[c.Code] = c.Chapter
	}
	male := func(p Patient) bool { return p.Sex == "M" }
	for name, wrong := range map[string]func(Patient) bool{
		"child who is or was married": func(p Patient) bool { return years(p) < 18 && p.MaritalStatus != "single" },
		"widowed before 25":           func(p Patient) bool { return years(p) < 25 && p.MaritalStatus == "widowed" },
		"working child": func(p Patient) bool {
			return years(p) < 18 && !slices.Contains([]string{"preschool child", "pupil"}, p.Occupation)
		},
		"grown-up pupil": func(p Patient) bool {
			return years(p) >= 18 && slices.Contains([]string{"preschool child", "pupil"}, p.Occupation)
		},
		"physician before 26":         func(p Patient) bool { return years(p) < 26 && p.Occupation == "physician" },
		"retired before 61":           func(p Patient) bool { return years(p) < 61 && p.Occupation == "retired" },
		"pregnant man":                func(p Patient) bool { return male(p) && chapter[p.Diagnosis] == pregnancy },
		"pregnant child or old woman": func(p Patient) bool { return chapter[p.Diagnosis] == pregnancy && (years(p) < 17 || years(p) > 48) },
		"man in obstetrics":           func(p Patient) bool { return male(p) && (p.Ward == wardObstetrics || p.Ward == wardGynecology) },
		"woman's prostate":            func(p Patient) bool { return !male(p) && (p.Diagnosis == "C61" || p.Diagnosis == "N40") },
		"grown-up newborn":            func(p Patient) bool { return chapter[p.Diagnosis] == perinatal && years(p) > 0 },
		"child with cataract of age":  func(p Patient) bool { return years(p) < 45 && p.Diagnosis == "H25" },
		"child among grown-ups": func(p Patient) bool {
			return (years(p) < 15) != (p.Ward == wardPediatrics || p.Ward == wardNeonatal)
		},
	} {
		for _, p := range sample {
			if wrong(p) {
				t.Errorf("%s: %+v", name, p)
				break
			}
		}
	}
}

// TestDependencies checks shares that a table of independent columns would not
// have.
func TestDependencies(t *testing.T) {
	t.Parallel()
	aged := func(from, to int) func(Patient) bool {
		return func(p Patient) bool { return years(p) >= from && years(p) <= to }
	}
	both := func(a, b func(Patient) bool) func(Patient) bool {
		return func(p Patient) bool { return a(p) && b(p) }
	}
	sex := func(s string) func(Patient) bool { return func(p Patient) bool { return p.Sex == s } }
	status := func(s string) func(Patient) bool { return func(p Patient) bool { return p.MaritalStatus == s } }
	job := func(s string) func(Patient) bool { return func(p Patient) bool { return p.Occupation == s } }
	diagnosed := func(codes ...string) func(Patient) bool {
		return func(p Patient) bool { return slices.Contains(codes, p.Diagnosis) }
	}
	month := func(months ...time.Month) func(Patient) bool {
		return func(p Patient) bool { return slices.Contains(months, p.AdmissionDate.Month()) }
	}
	for _, c := range []struct {
		name             string
		given, condition func(Patient) bool
		low, high        float64
	}{
		{"women", anybody, sex("F"), 0.5, 0.56},
		{"65 and older", anybody, aged(65, oldest), 0.3, 0.36},
		{"single at 25-34", aged(25, 34), status("single"), 0.52, 0.62},
		{"married at 50-64", aged(50, 64), status("married"), 0.55, 0.65},
		{"widows of 80", both(aged(80, oldest), sex("F")), status("widowed"), 0.55, 0.68},
		{"widowers of 80", both(aged(80, oldest), sex("M")), status("widowed"), 0.28, 0.4},
		{"students at 18-24", aged(18, 24), job("student"), 0.46, 0.54},
		{"retired at 70", aged(70, oldest), job("retired"), 1, 1},
		{"retired at 61-65", aged(61, 65), job("retired"), 0.36, 0.44},
		{"women who nurse", both(aged(30, 60), sex("F")), job("nurse"), 0.13, 0.19},
		{"men who nurse", both(aged(30, 60), sex("M")), job("nurse"), 0.02, 0.06},
		{"heart failure at 65", aged(65, oldest), diagnosed("I50"), 0.07, 0.12},
		{"heart failure below 40", aged(0, 39), diagnosed("I50"), 0, 0.02},
		{"births among women of 15-39", both(aged(15, 39), sex("F")), diagnosed("O80", "O82"), 0.2, 0.4},
		{"pneumonia in winter", diagnosed("J18", "J20", "J06"), month(12, 1, 2), 0.36, 0.46},
		{"hip surgery in winter", diagnosed("M16", "M17"), month(12, 1, 2), 0.22, 0.3},
		{"stones in summer", diagnosed("N20"), month(6, 7, 8), 0.27, 0.38},
	} {
		if got := share(c.given, c.condition); got < c.low || got > c.high {
			t.Errorf("%s: %.3f is not between %g and %g", c.name, got, c.low, c.high)
		}
	}
}

func TestDiagnosesAreSkewed(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	for _, p := range sample {
		counts[p.Diagnosis]++
	}
	if len(counts) != len(Codes()) || len(counts) < 55 {
		t.Errorf("%d diagnoses occur, %d are defined", len(counts), len(Codes()))
	}
	sorted := slices.Sorted(maps.Values(counts))
	slices.Reverse(sorted)
	top := 0
	for _, n := range sorted[:10] {
		top += n
	}
	if part := float64(top) / sampleSize; part < 0.35 || part > 0.6 {
		t.Errorf("the ten most frequent diagnoses make %.3f of all", part)
	}
	if rarest := sorted[len(sorted)-1]; rarest < 5 || rarest > sorted[0]/10 {
		t.Errorf("the rarest diagnosis occurs %d times, the most frequent %d times", rarest, sorted[0])
	}
}

// TestCostsAreLogNormal compares a diagnosis's costs with its parameters.
func TestCostsAreLogNormal(t *testing.T) {
	t.Parallel()
	for _, d := range diagnoses {
		var logs []float64
		for _, p := range sample {
			if p.Diagnosis == d.code {
				logs = append(logs, math.Log(float64(p.Cents)/100))
			}
		}
		mean, square := 0.0, 0.0
		for _, x := range logs {
			mean += x / float64(len(logs))
		}
		for _, x := range logs {
			square += (x - mean) * (x - mean) / float64(len(logs))
		}
		// Five standard errors.
		tolerance := 5 * d.spread / math.Sqrt(float64(len(logs)))
		if math.Abs(mean-math.Log(d.median)) > tolerance || math.Abs(math.Sqrt(square)-d.spread) > tolerance {
			t.Errorf("%s: median %.0f and spread %.2f of %d", d.code, math.Exp(mean), math.Sqrt(square), len(logs))
		}
	}
}

func TestPostcodesCluster(t *testing.T) {
	t.Parallel()
	towns, districts := make(map[string]int), make(map[string]int)
	for _, p := range sample {
		towns[p.Postcode[:3]]++
		districts[p.Postcode]++
	}
	if len(towns) != len(cities) || len(districts) < 400 || len(districts) > 700 {
		t.Errorf("%d towns and %d districts", len(towns), len(districts))
	}
	if largest := slices.Max(slices.Collect(maps.Values(towns))); largest < sampleSize/6 || largest > sampleSize/4 {
		t.Errorf("the largest town has %d patients", largest)
	}
}

func TestCheckDigit(t *testing.T) {
	t.Parallel()
	// The example that is printed everywhere: 7992739871 has check digit 3.
	if got := checkDigit("7992739871"); got != '3' {
		t.Errorf("check digit %c", got)
	}
	for _, p := range sample[:200] {
		id := []byte(p.NationalID)
		for i := range id {
			for _, wrong := range []byte("0123456789") {
				if wrong != id[i] {
					typo := slices.Clone(id)
					typo[i] = wrong
					if ValidNationalID(string(typo)) {
						t.Fatalf("%s passes for %s", typo, id)
					}
				}
			}
		}
	}
	for _, wrong := range []string{"", "123", "79927398713", "799273987x", "٠٠٠٠٠"} {
		if ValidNationalID(wrong) {
			t.Errorf("%q is valid", wrong)
		}
	}
}
