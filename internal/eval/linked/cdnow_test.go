package linked

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

var cdnow = flag.String("linked.cdnow", "", "the `file` CDNOW_master.txt, which the Python package lifetimes has")

const cdnowPolicy = `
tables:
  public.customers: {columns: {first: {role: quasi-identifying, hierarchy: date}}}
  public.purchases:
    columns:
      day: {role: quasi-identifying, hierarchy: date}
      cds: {role: quasi-identifying, hierarchy: numeric}
      dollars: insensitive
people:
  customer:
    root: public.customers
    key: customer
    knows: {rows: 1, per: 1y}
    tables:
      public.purchases: {person: customer, key: purchase, order: day}
    constraints: [{k: 5}]
`

// TestCustomersOfCDNOW: what is granted leaves everybody among k customers of a shop that sold CDs in 1997
// and 1998, by their first day and by days and numbers of their purchases.
func TestCustomersOfCDNOW(t *testing.T) {
	t.Parallel()
	if *cdnow == "" {
		t.Skip("needs -linked.cdnow; make cdnow fetches it")
	}
	text, err := os.ReadFile(*cdnow)
	if err != nil {
		t.Fatal(err)
	}
	e := evaluationOf(t, cdnowPolicy, cdnowTables(t, string(text)), "all", "1/1y", "1/6mo", "1")
	e.Targets = 1000
	r := run(t, e)
	for _, m := range r.Measurements {
		knows, err := catalog.ParseKnowledge(m.Knows)
		if err != nil {
			t.Fatal(err)
		}
		for _, risk := range m.Risks {
			if (knows.All || risk.Known == "0" || risk.Known == "1") && (risk.Fewest < 5 || risk.Mean > 0.2) {
				t.Errorf("knows %s: %+v", m.Knows, risk)
			}
		}
	}
	var report strings.Builder
	if err := r.WriteText(&report); err != nil {
		t.Fatal(err)
	}
	t.Log(report.String())
}

// cdnowTables makes two tables of lines with a customer, a day, a number of CDs and what they cost.
func cdnowTables(t *testing.T, text string) map[string]string {
	t.Helper()
	first := make(map[string]string)
	purchases := strings.Builder{}
	purchases.WriteString("purchase,customer,day,cds,dollars\n")
	n := 0
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 4 || len(f[1]) != 8 || f[0] < "0" || f[0] > "9z" {
			continue // the heading
		}
		n++
		day := f[1][:4] + "-" + f[1][4:6] + "-" + f[1][6:]
		fmt.Fprintf(&purchases, "%d,%s,%s,%s,%s\n", n, f[0], day, f[2], f[3])
		if first[f[0]] == "" || day < first[f[0]] {
			first[f[0]] = day
		}
	}
	customers := []string{"customer,first"}
	for customer, day := range first {
		customers = append(customers, customer+","+day)
	}
	slices.Sort(customers[1:])
	if len(customers) < 1000 || n < len(customers) {
		t.Fatalf("%d customers have %d purchases", len(customers)-1, n)
	}
	return map[string]string{"customers": strings.Join(customers, "\n") + "\n", "purchases": purchases.String()}
}
