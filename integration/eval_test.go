package integration

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// people writes a CSV file of so many persons and returns its path.
func people(t *testing.T, persons int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 0))
	var b strings.Builder
	b.WriteString("id,full_name,birth_date,sex,zip,height,marital_status,diagnosis,grade\n")
	for i := range persons {
		fmt.Fprintf(&b, "%d,\"Person, %d\",%d-%02d-%02d,%c,%05d,%d,%s,%s,%s\n", i+1, i, 1930+rng.IntN(80), 1+rng.IntN(12), 1+rng.IntN(28),
			"fmx"[rng.IntN(3)], 10000+rng.IntN(900), 140+rng.IntN(70), []string{"married", "single", "", "divorced"}[rng.IntN(4)],
			[]string{"flu", "flu", "flu", "gout", "asthma", "measles"}[rng.IntN(6)], []string{"A", "B", "C"}[rng.IntN(3)])
	}
	path := filepath.Join(scratch(t), "people.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// peoplePolicy writes a policy for the file of people, with further constraints.
func peoplePolicy(t *testing.T, constraints string) string {
	t.Helper()
	path := filepath.Join(scratch(t), "people.yaml")
	text := fmt.Sprintf(`csv: {delimiter: ",", header: true}
tables:
  public.people:
    constraints: [{k: 5}%s]
    columns:
      birth_date: {role: quasi-identifying, hierarchy: date}
      sex: {role: quasi-identifying, hierarchy: categorical}
      zip: {role: quasi-identifying, hierarchy: prefix}
      height: {role: quasi-identifying, hierarchy: numeric}
      diagnosis: sensitive
      grade: sensitive
`, constraints)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
