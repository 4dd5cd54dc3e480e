package propose_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/propose"
)

// TestWhatIdentifiesIsNotPublished whatever its column is called.
func TestWhatIdentifiesIsNotPublished(t *testing.T) {
	t.Parallel()
	for what, make := range map[string]generator{
		"e-mail": email, "phone": phone, "IBAN": iban, "card": luhn("4", 16), "IMEI": luhn("35", 15), "UUID": uuid, "full name": full, "prose": prose,
		"IP": address, "serial": serial(1000), "place": func(r *rand.Rand, i int) string {
			return digits("52.%s, ", 5)(r, i) + digits("13.%s", 5)(r, i)
		},
	} {
		rng := rand.New(rand.NewPCG(5, 6))
		values := make200(make, rng)
		for _, name := range []string{"x", "status", "city", "occupation", "diagnosis", "salary", "category", "age_group", "Kostenstelle", "sex"} {
			known := what == "serial" && (name == "city" || name == "occupation" || name == "age_group" || name == "sex") // nothing tells codes from keys
			if c := propose.Choose(propose.Column{Name: name, Type: "text", Values: values}); c.Role != catalog.Identifying && !known {
				t.Errorf("%s in a column %s: %v by %v, %s", what, name, c.Role, c.Spec.Kind, c.Why)
			}
		}
	}
}

func make200(g generator, r *rand.Rand) []string {
	values := make([]string, 200)
	for i := range values {
		values[i] = g(r, i)
	}
	return values
}

// TestNamesOfTheDatabaseEndNothing: a table or a column can be called anything.
func TestNamesOfTheDatabaseEndNothing(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{"\u2028      victim: insensitive # \"': {", "\n      victim: insensitive\u0085"} {
		endsNothing(t, evil)
	}
}

func endsNothing(t *testing.T, evil string) {
	t.Helper()
	clean := strings.NewReplacer("\n", "", "\u0085", "", `"`, "").Replace(evil) // no configuration has other tables
	tables := []propose.Table{
		{Name: catalog.Name{Schema: "public", Relation: clean + "patients"}, Total: 200, Kind: catalog.KindTable, Columns: []propose.Column{
			{Name: "id" + evil, Type: "bigint", Key: true, Values: make200(serial(1), nil)},
			{Name: "age", Type: "integer", Values: make200(number(1, 99), rand.New(rand.NewPCG(1, 1)))},
			{Name: "name", Type: "text", Values: make200(full, rand.New(rand.NewPCG(1, 1)))},
			{Name: "sex" + evil, Type: "text", Values: make200(one("f"+evil, "m", "x"), rand.New(rand.NewPCG(1, 1)))},
			{Name: "salary" + evil, Type: "text", Values: make200(one("1", "2"), rand.New(rand.NewPCG(1, 1)))},
		}},
		{Name: catalog.Name{Schema: "public", Relation: "visits"}, Total: 200, Kind: catalog.KindTable, Columns: []propose.Column{
			{Name: "patient" + evil, Type: "bigint", References: catalog.Name{Schema: "public", Relation: clean + "patients"}, Values: make200(of(50), rand.New(rand.NewPCG(1, 1)))},
			{Name: "ward", Type: "text", Values: make200(one("a", "b"), rand.New(rand.NewPCG(1, 1)))},
			{Name: "age", Type: "integer", Values: make200(number(1, 99), rand.New(rand.NewPCG(1, 1)))},
		}},
	}
	for i, p := range propose.Database(tables) {
		want := propose.Protect
		if i != 0 && strings.ContainsAny(evil, "\n") {
			want = propose.LeaveOut
		}
		if p.Verdict != want {
			t.Fatalf("%v is %v: %s", p.Table, p.Verdict, p.Why)
		}
		if want != propose.Protect {
			continue
		}
		text := propose.Section([]propose.Draft{p.Draft})
		policy, err := config.ParsePolicy("draft.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, c := range []string{"victim", "name"} {
			if found, named := policy.Table.Column(c); named && found.Role != catalog.Identifying {
				t.Errorf("%s is %v:\n%s", c, found.Role, text)
			}
		}
	}
}

// TestRareLabelsAreCountedInPersons: what ten records of one person have is rare.
func TestRareLabelsAreCountedInPersons(t *testing.T) {
	t.Parallel()
	var patients, jobs []string
	for i := range 400 {
		patient, job := i/4, one("nurse", "cook", "smith")(rand.New(rand.NewPCG(uint64(i/4), 1)), i)
		if patient < 5 {
			job = "astronaut" // twenty records of five persons
		}
		patients, jobs = append(patients, fmt.Sprint(patient)), append(jobs, job)
	}
	tables := []propose.Table{
		{Name: catalog.ParseName("patients"), Total: 0, Kind: catalog.KindTable, Columns: []propose.Column{{Name: "id", Type: "bigint", Key: true}, {Name: "name", Type: "text"}, {Name: "sex", Type: "text"}}},
		{Name: catalog.ParseName("visits"), Total: 400, Kind: catalog.KindTable, Columns: []propose.Column{{Name: "patient_id", Type: "bigint", Values: patients}, {Name: "job", Type: "text", Values: jobs}}},
	}
	visits := propose.Database(tables)[1]
	if visits.Draft.Subject == nil || visits.Draft.Subject.Column != "patient_id" {
		t.Fatalf("%+v", visits)
	}
	if text := propose.Section([]propose.Draft{visits.Draft}); strings.Contains(text, "astronaut") || !strings.Contains(text, "nurse") {
		t.Errorf("the draft is\n%s", text)
	}
}
