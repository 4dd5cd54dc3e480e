package rewrite

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// corpusFiles are what analysts and BI tools send, of the corpus that package integration
// compares the answers of.
var corpusFiles = []string{"tools", "queries", "aggregates", "windows", "tpch"}

// corpusRelation is a word after FROM or JOIN, or in a list of FROM, at its beginning.
var corpusRelation = regexp.MustCompile(`(?i)(?:\b(?:from|join)\s+|,\s*)(?:public\.|"public"\.)?"?([a-z_][a-z_0-9]*)`)

// corpusDirective is a line that tells the other package how to compare.
var corpusDirective = regexp.MustCompile(`(?m)^-- (?:ordered|volatile|columns|one text|parameters|types|shown as|straight|fails|plan)\b.*\n?`)

// corpusOfBI are the statements that pass, and a Rewriter that knows their tables: patients
// is protected, whatever else stands where a table can is readable.
func corpusOfBI(b *testing.B) (*Rewriter, []string) {
	b.Helper()
	var texts []string
	policy := catalog.Policy{Tables: []catalog.TablePolicy{{Table: catalog.Name{Schema: "public", Relation: "patients"}}}}
	relations := []catalog.Relation{{Name: policy.Tables[0].Table}}
	known := map[string]bool{"patients": true}
	for _, file := range corpusFiles {
		content, err := os.ReadFile("testdata/legitimate/" + file + ".sql")
		if err != nil {
			b.Fatal(err)
		}
		for text := range strings.SplitSeq(string(content), "\n\n") {
			text = strings.TrimSpace(corpusDirective.ReplaceAllString(text, ""))
			texts = append(texts, text)
			for _, found := range corpusRelation.FindAllStringSubmatch(text, -1) {
				if name := (catalog.Name{Schema: "public", Relation: found[1]}); !known[found[1]] {
					known[found[1]] = true
					relations, policy.Readable = append(relations, catalog.Relation{Name: name}), append(policy.Readable, name)
				}
			}
		}
	}
	r := New(Options{Database: "clinic"})
	r.SetSnapshot(catalog.NewSnapshot(policy, relations, nil).WithNames(catalog.ServerNames{Callable: map[string]bool{}}))
	passing := texts[:0]
	for _, text := range texts {
		if _, err := r.Rewrite(text, nil); err == nil {
			passing = append(passing, text)
		}
	}
	if len(passing) < 100 {
		b.Fatalf("of %d texts %d pass", len(texts), len(passing))
	}
	return r, passing
}

// BenchmarkCorpus rewrites the corpus: texts that the cache knows (hit), that it does not
// know (miss), and what pg_query's parse and deparse alone cost (floor). Each figure is by
// statement, in processor time of the thread, and in what Go's heap gives.
func BenchmarkCorpus(b *testing.B) {
	r, texts := corpusOfBI(b)
	snapshot := r.current.Load().snapshot
	for _, way := range []struct {
		name string
		do   func(sql string) error
	}{
		{"hit", func(sql string) error { _, err := r.Rewrite(sql, nil); return err }},
		{"miss", func(sql string) error { _, err := r.rewrite(sql, nil, snapshot); return err }},
		{"floor", func(sql string) error {
			tree, err := pg.Parse(sql)
			if err == nil {
				_, err = pg.Deparse(tree)
			}
			return err
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var before, after runtime.MemStats
			var spent time.Duration
			runtime.ReadMemStats(&before)
			for b.Loop() {
				began := threadTime(b)
				for _, sql := range texts {
					if err := way.do(sql); err != nil {
						b.Fatal(err)
					}
				}
				spent += threadTime(b) - began
			}
			runtime.ReadMemStats(&after)
			statements := float64(b.N * len(texts))
			b.ReportMetric(float64(spent.Nanoseconds())/1000/statements, "cpu-us/statement")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/statements, "objects/statement")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/statements, "B/statement")
			b.ReportMetric(float64(len(texts)), "statements")
		})
	}
}
