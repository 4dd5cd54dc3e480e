package rewrite

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

func planRewriter() *Rewriter {
	r := clinicRewriter()
	r.SetSnapshot(clinic().WithReleased(map[int64]catalog.Name{
		1: {Schema: "public", Relation: "patients"},
		2: {Schema: "public", Relation: `Lab "A" & Co`},
		3: {Schema: "public", Relation: `v1."x"`},
	}))
	return r
}

func TestInJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a": "a", `"<&>"`: `\"<&>\"`, "\a\n\\": `\u0007\n\\`, "": ""} {
		if got := inJSON(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestIsValue puts each pair of bytes around a word.
func TestIsValue(t *testing.T) {
	t.Parallel()
	around := []string{"", `"`, `\"`, "<", ">", "x", " "}
	for _, before := range around {
		for _, after := range around {
			for form, want := range map[planForm]bool{
				planText: false,
				planJSON: before == `"` && after == `"`,
				planXML:  before == ">" && after == "<",
			} {
				for _, further := range []string{"", " "} { // nothing stands before what is before, or something
					in := further + before
					p := planScrubber{in: in + "word" + after, form: form}
					if got := p.isValue(len(in), len(in)+len("word")); got != want {
						t.Errorf("%q in form %d: %v", p.in, form, got)
					}
				}
			}
		}
	}
}

func TestScrubPlan(t *testing.T) {
	t.Parallel()
	r := planRewriter()
	for plan, want := range map[string]string{
		`Seq Scan on packed_1 p`:                               `Seq Scan on patients p`,
		`Index Scan using cellweight_1_pkey on cellweight_1 w`: `Index Scan using patients_pkey on patients w`,
		`Sort Key: weight_1`:                                   `Sort Key: weight_1`, // a client's column

		`  ->  Seq Scan on release_1 release_1_1  (cost=0.00..6.60)`: `  ->  Seq Scan on patients patients_1  (cost=0.00..6.60)`,
		`Index Scan using release_1_kproxy_class_2_idx on release_1`: `Index Scan using patients_class_2_idx on patients`,
		`  Filter: (ward = 'release_1'::text)`:                       `  Filter: (ward = 'release_1'::text)`,
		`  Filter: (release_1.ward = 'it''s packed_1'::text)`:        `  Filter: (patients.ward = 'it''s packed_1'::text)`,
		`  Filter: (release_2."Größe" > 1)`:                          `  Filter: ("Lab ""A"" & Co"."Größe" > 1)`,
		`  Sort Key: "it's".a, release_1.b, 'release_1'`:             `  Sort Key: "it's".a, patients.b, 'release_1'`,
		`  Index Cond: ("release_2_Größe_idx" = 1)`:                  `  Index Cond: ("Lab ""A"" & Co_Größe_idx" = 1)`,
		`  Index Cond: ("release_3_pkey" = release_3.a)`:             `  Index Cond: ("v1.""x""_pkey" = v1."x".a)`,
		`  Cache Key: p.kproxy_members`:                              `  Cache Key: p.members`,
		`  Group Key: release_1.kproxy_class`:                        `  Group Key: patients.kproxy_class`,
		`  Filter: kproxy_catalog.visible(oid)`:                      `  Filter: pg_catalog.visible(oid)`,
		`Seq Scan on release_77 release_77_2`:                        `Seq Scan on release release_2`,
		`CTE Scan on my_release_1`:                                   `CTE Scan on my_release_1`,
		`CTE Scan on Àrelease_1`:                                     `CTE Scan on Àrelease_1`, // the last byte of À is 0x80
		`Seq Scan on release_1x`:                                     `Seq Scan on release_1x`,
		`Subquery Scan on information_schema_tables`:                 `Subquery Scan on information_schema.tables`,
		`Seq Scan on wards w`:                                        `Seq Scan on wards w`,
		// What looks like a literal may be what stands between two.
		`x' AND (release_1.ward = 'y'::text)`: `x' AND (patients.ward = 'y'::text)`,
		"[\n" + `{"Relation Name": "release_2", "Alias": "it's", "Filter": "(release_2.a = 'release_1.x \"q\"'::text)"}]`:                                    "[\n" + `{"Relation Name": "Lab \"A\" & Co", "Alias": "it's", "Filter": "(\"Lab \"\"A\"\" & Co\".a = 'release_1.x \"q\"'::text)"}]`,
		"- Plan: \n    Relation Name: \"release_1\"\n    Sort Key: \n      - \"release_1.\\\"Age\\\"\"":                                                      "- Plan: \n    Relation Name: \"patients\"\n    Sort Key: \n      - \"patients.\\\"Age\\\"\"",
		`<explain xmlns="x">` + "\n" + `<Relation-Name>release_2</Relation-Name><Alias>a'b</Alias><Filter>(release_2.a &lt; 'release_1')</Filter></explain>`: `<explain xmlns="x">` + "\n" + `<Relation-Name>Lab "A" &amp; Co</Relation-Name><Alias>a'b</Alias><Filter>("Lab ""A"" &amp; Co".a &lt; 'release_1')</Filter></explain>`,
		// Lines within literals of the client's.
		`[' || release_1.place) <> copied_1.place)`: `[' || patients.place) <> patients.place)`,
		`- ' || (release_1.*)::text) <> ''::text)`:  `- ' || (patients.*)::text) <> ''::text)`,
		`<explain' = release_1.place)`:              `<explain' = patients.place)`,
	} {
		if got := r.ScrubPlan(plan); got != want {
			t.Errorf("%s\ngot:  %s\nwant: %s", plan, got, want)
		}
	}
}

// FuzzScrubPlan holds that no plan makes it panic, and that outside of literals nothing
// of the private store is left.
func FuzzScrubPlan(f *testing.F) {
	r := planRewriter()
	for _, seed := range []string{`Filter: (packed_1.a = 'b')`, `["release_1"]`, `<explain>release_1`, `- "kproxy_store"`, `"`, `'`, `\`, `release_1'`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, plan string) {
		got := r.ScrubPlan(plan)
		if !strings.ContainsAny(plan, `'"`) && strings.Contains(got, "kproxy_store") {
			t.Errorf("%q became %q", plan, got)
		}
	})
}

// TestScrubPlanInAnyForm has a plan in JSON, YAML and XML say what the same plan says in
// lines, whatever the client wrote between its quotation marks.
func TestScrubPlanInAnyForm(t *testing.T) {
	t.Parallel()
	r := planRewriter()
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	forms := map[string]func(string) string{
		"JSON": func(line string) string { return "[\n {\"Filter\": \"" + inJSON(line) + "\", \"Alias\": \"it's\"}]" },
		"YAML": func(line string) string { return "- Plan: \n    Filter: \"" + inJSON(line) + "\"\n    Alias: \"it's\"" },
		"XML": func(line string) string {
			return "<explain xmlns=\"x\">\n<Filter>" + escaped.Replace(line) + "</Filter><Alias>it's</Alias></explain>"
		},
	}
	names := []string{
		"release_1", "packed_2", "records_1_2", "release_77", "stored_2_kproxy_class_idx", "kproxy_store", "kproxy_catalog",
		"kproxy_release_public", "information_schema_tables", "kproxy_members", "kproxy_class", "release_1x", "my_release_1", "Größe", "1",
	}
	symbols := []string{" ", " = ", "(", ")", ", ", " <> ", " & ", `\`, "::", " || "}
	quotes := strings.NewReplacer("'", "''", `"`, `""`)
	for i := range 5_000 {
		random := rand.New(rand.NewPCG(uint64(i), 9))
		name := func() string { return names[random.IntN(len(names))] }
		inside := func() string {
			var b strings.Builder
			for range random.IntN(4) {
				b.WriteString([]string{name(), " ", "'", `"`, `\`, "<", "&", "x"}[random.IntN(8)])
			}
			return b.String()
		}
		var b strings.Builder
		for range 1 + random.IntN(6) {
			switch random.IntN(5) {
			case 0:
				b.WriteString(name())
			case 1:
				b.WriteString(name() + "." + name())
			case 2:
				b.WriteString(" '" + quotes.Replace(strings.ReplaceAll(inside(), `"`, "")) + "' ")
			case 3:
				b.WriteString(` "` + quotes.Replace(strings.ReplaceAll(inside(), "'", "")) + name() + `" `)
			default:
				b.WriteString(symbols[random.IntN(len(symbols))])
			}
		}
		line := "(" + b.String() + ")"
		for form, written := range forms {
			if got, want := r.ScrubPlan(written(line)), written(r.ScrubPlan(line)); got != want {
				t.Fatalf("%s of %s:\ngot:  %s\nwant: %s", form, line, got, want)
			}
		}
	}
}
