package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestEveryMethodPublishes has every method make the first release of a table.
func TestEveryMethodPublishes(t *testing.T) {
	t.Parallel()
	const seed = 5
	_, known, _ := strings.Cut(run(t, "", nil, program, "eval", "--data", people(t, 50), "--policy", peoplePolicy(t, ""), "--methods", "?").stderr, "known are ")
	known, _, _ = strings.Cut(known, "\n")
	names := strings.Split(known, ", ")
	if len(names) < 14 {
		t.Fatalf("the methods are %q", names)
	}
	var tables []protected
	for _, name := range names {
		p := visits()
		p.name = strings.ReplaceAll(name, "-", "_")
		p.parts = [][]string{{"age", "town", "postcode", "born"}}
		more := ""
		p.promises = []promise{{"k", nil, "", atLeast(4)}}
		switch name {
		case "alpha-k-single":
			more, p.promises = ", {alpha: 0.5, of: illness, values: [flu]}", append(p.promises, promise{"alpha", nil, "illness", alphaBound(0.5, "flu")})
		case "alpha-k-multi", "alpha-k-lattice", "hilbert":
			more, p.promises = ", {alpha: 0.5, of: illness}", append(p.promises, promise{"alpha", nil, "illness", alphaBound(0.5)})
		case "cbad", "mondrian-strict":
			more, p.promises = ", {l: 3, of: illness}", append(p.promises, promise{"l", nil, "illness", distinctL(3)})
		}
		p.policy = fmt.Sprintf("\n    method: %s\n    updates: immediate\n    constraints: [{k: 4}%s]", name, more)
		tables = append(tables, p)
	}
	s := ready(t, protectedSite(siteOptions{}, seed, 150, tables, "SELECT"))
	s.holds(t, tables)
	conn, client := connect(t, s.admin), connect(t, s.url())
	releases := map[string]bool{}
	for _, p := range tables {
		releases[scalar[string](t, client, "SELECT md5(string_agg(concat_ws('|', age_range, town, born, postcode), ',' ORDER BY ref)) FROM "+p.name)] = true
	}
	if len(releases) < len(tables)/2 {
		t.Errorf("%d methods made %d different releases", len(tables), len(releases))
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, p := range tables {
		execute(t, conn, p.insert(rng, 10_000, 3))
		execute(t, conn, "DELETE FROM "+p.name+" WHERE id < 60")
	}
	s.holds(t, tables)
}
