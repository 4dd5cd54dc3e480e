package observe

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the reference in docs/metrics.md")

const (
	reference      = "../../docs/metrics.md"
	runbooks       = "../../docs/observe.md"
	referenceBegin = "<!-- metrics begin -->\n"
	referenceEnd   = "<!-- metrics end -->\n"
)

// table is the reference as the documentation has it.
func table(metrics []Metric) string {
	var b strings.Builder
	b.WriteString("| Metric | Type | Labels | |\n|---|---|---|---|\n")
	for _, m := range metrics {
		help := m.Help
		if m.Tables {
			help += " With `metrics.tables`."
		}
		labels := "`" + strings.Join(m.Labels, "`, `") + "`"
		if len(m.Labels) == 0 {
			labels = ""
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, labels, help)
	}
	return b.String()
}

// TestReferenceIsCurrent compares the documentation with the registry; -update rewrites it.
func TestReferenceIsCurrent(t *testing.T) {
	text, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), referenceBegin)
	written, after, ends := strings.Cut(rest, referenceEnd)
	want := table(everything(t, true).Metrics())
	switch {
	case !begins || !ends:
		t.Fatal("the reference has no place")
	case *update:
		if err := os.WriteFile(reference, []byte(before+referenceBegin+want+referenceEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case written != want:
		t.Error("docs/metrics.md is not current: go test ./internal/observe -run Reference -update")
	}
}

// known are the names of series that rules and dashboards may use.
func known(t *testing.T, rules string) []string {
	t.Helper()
	names := []string{"process_resident_memory_bytes", "go_goroutines"}
	for _, m := range everything(t, true).Metrics() {
		names = append(names, m.Name)
		if m.Type == "histogram" {
			names = append(names, m.Name+"_bucket", m.Name+"_count", m.Name+"_sum")
		}
	}
	for _, record := range regexp.MustCompile(`record: (\S+)`).FindAllStringSubmatch(rules, -1) {
		names = append(names, record[1])
	}
	return names
}

var series = regexp.MustCompile(`\b(?:kproxy|go|process)[_:][a-zA-Z0-9_:]+`)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "packaging", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRulesUseWhatThereIs(t *testing.T) {
	t.Parallel()
	rules := read(t, "prometheus/kproxy.rules.yml")
	names := known(t, rules)
	documentation, err := os.ReadFile(runbooks)
	if err != nil {
		t.Fatal(err)
	}
	for _, expression := range regexp.MustCompile(`(?m)^\s+expr: (.*)$`).FindAllStringSubmatch(rules, -1) {
		for _, name := range series.FindAllString(expression[1], -1) {
			if !slices.Contains(names, name) {
				t.Errorf("there is no %s: %s", name, expression[1])
			}
		}
	}
	alerts := regexp.MustCompile(`alert: (\S+)`).FindAllStringSubmatch(rules, -1)
	links := regexp.MustCompile(`runbook_url: \S+#(\S+)`).FindAllStringSubmatch(rules, -1)
	if len(alerts) < 10 || len(alerts) != len(links) || strings.Count(rules, "description:") != len(alerts) {
		t.Fatalf("%d alerts, %d runbooks", len(alerts), len(links))
	}
	for i, alert := range alerts {
		if links[i][1] != strings.ToLower(alert[1]) || !strings.Contains(string(documentation), "\n### "+alert[1]+"\n") {
			t.Errorf("%s has no runbook", alert[1])
		}
	}
	if extra := strings.Count(string(documentation), "\n### Kproxy"); extra != len(alerts) {
		t.Errorf("%d runbooks are for %d alerts", extra, len(alerts))
	}
}

func TestDashboardUsesWhatThereIs(t *testing.T) {
	t.Parallel()
	text := read(t, "grafana/kproxy.json")
	var dashboard struct {
		UID    string
		Panels []struct {
			ID                       int
			Type, Title, Description string
			Targets                  []struct{ Expr string }
			GridPos                  struct{ X, Y, W, H int }
		}
	}
	if err := json.Unmarshal([]byte(text), &dashboard); err != nil {
		t.Fatal(err)
	}
	names := known(t, read(t, "prometheus/kproxy.rules.yml"))
	taken := make(map[[2]int]string)
	for i, p := range dashboard.Panels {
		if p.ID != i+1 || p.Title == "" || p.Type != "row" && (len(p.Targets) == 0 || p.Description == "") {
			t.Errorf("panel %d: %+v", i, p)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%s lies over %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		for _, target := range p.Targets {
			for _, name := range series.FindAllString(target.Expr, -1) {
				if !slices.Contains(names, name) {
					t.Errorf("%s asks for %s, which there is not", p.Title, name)
				}
			}
		}
	}
}

// TestRulesPass has Prometheus' own tool check and test the rules.
func TestRulesPass(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal("there is no promtool")
	default:
		t.Skip("there is no promtool: install prometheus (Debian)")
	}
	for _, arguments := range [][]string{{"check", "rules", "kproxy.rules.yml"}, {"test", "rules", "kproxy.rules.test.yml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, arguments...)
		cmd.Dir = filepath.Join("..", "..", "packaging", "prometheus")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", arguments, err, out)
		}
	}
	cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(scrape(t, everything(t, true)))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("metrics: %v\n%s", err, out)
	}
}
