package hierarchy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// outline writes a taxonomy as label(child child).
func outline(nodes []hierarchy.Node) string {
	var parts []string
	for _, n := range nodes {
		label := n.Label
		if len(n.Children) > 0 {
			label += "(" + outline(n.Children) + ")"
		}
		parts = append(parts, label)
	}
	return strings.Join(parts, " ")
}

func TestReadTaxonomy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, want string }{
		{"a;x;*\nb;x;*\nc;y;*\n", "x(a b) y(c)"},
		{"a;x;*\nc;y;*\nb;x;*", "x(a b) y(c)"},
		{"\ufeffa;x;*;\r\nb;x;*;\r\n", "x(a b)"},
		{"a;x;*;\nb;x;*\n", "x(a b)"},
		{"a;*\nb;*\n", "a b"},
		{"a\nb\n", "a b"},
		{"a;x;any\nb;y;any\n", "any(x(a) y(b))"},
		{"a;a;x;*\nb;y;x;*\n", "x(a y(b))"},
		{"a;*;*\nb;x;*\n", "a x(b)"},
		{"\"a;1\";\"the \"\"x\"\"\";*\n\nb ;\"the \"\"x\"\"\";*\n", `the "x"(a;1 b )`},
		{"inc;Self-emp;*\nSelf-emp;Self-emp;*\n", "Self-emp(inc)"},
		{"*;*\na;*\n", "a"},
	} {
		nodes, err := hierarchy.ReadTaxonomy(strings.NewReader(row.text))
		if err != nil || outline(nodes) != row.want {
			t.Errorf("%q: %s, %v; %s expected", row.text, outline(nodes), err, row.want)
		}
	}
}

func TestReadTaxonomyErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text  string
		parts []string
	}{
		{"", []string{"no values"}},
		{"*;*\n", []string{"no values"}},
		{"a;x;*\nb;*\n", []string{"line 2: 2 fields, 3 as on the first line expected"}},
		{"a;x;*\n\nb;x;*\na;x;*\n", []string{`line 4: value "a" stands on line 1 already`}},
		{"a;x;*\nb;x;y\n", []string{`line 2: "x" lies below "y", but below "*" on line 1`}},
		{"a;b;a;*\n", []string{`line 1: "a" lies below "*", but below "b" on line 1`}},
		{"a;;*\n;x;*\n", []string{"line 1: the label of level 1 is empty", "line 2: the label of level 0 is empty"}},
		{"a;*;x\n", []string{`line 1: "*" stands for every value`}},
		{"a;x;*\n\"b;x;*\n", []string{"line 2"}},
		{deepLine(65) + "\n", []string{"line 1: more than 64 levels"}},
		{strings.Repeat("a;b;c;d\n", 100), []string{"line 11"}},
	} {
		nodes, err := hierarchy.ReadTaxonomy(strings.NewReader(row.text))
		if err == nil || nodes != nil {
			t.Errorf("%.60q accepted", row.text)
			continue
		}
		for _, part := range row.parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is missing in:\n%v", part, err)
			}
		}
		if strings.Count(err.Error(), "\n") > 9 {
			t.Errorf("%d errors at once", 1+strings.Count(err.Error(), "\n"))
		}
	}
	if nodes, err := hierarchy.ReadTaxonomy(strings.NewReader(deepLine(64))); err != nil || len(nodes) != 1 {
		t.Errorf("64 levels: %v", err)
	}
}

func deepLine(levels int) string {
	labels := make([]string, levels)
	for i := range labels {
		labels[i] = strings.Repeat("x", i+1)
	}
	return strings.Join(labels, ";")
}

// endless is a file without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

func TestReadTaxonomyIsBounded(t *testing.T) {
	t.Parallel()
	if _, err := hierarchy.ReadTaxonomy(endless{}); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a file without an end: %v", err)
	}
}

// TestReadAdult reads the files that the field shares for the Adult data set.
func TestReadAdult(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "..", "shared", "data", "adult", "hierarchies")
	files, err := filepath.Glob(filepath.Join(folder, "*.csv"))
	if err != nil || len(files) == 0 {
		t.Skip("no hierarchies of the Adult data set in " + folder)
	}
	heights := map[string]int{
		"age.csv": 4, "education.csv": 3, "marital-status.csv": 2, "native-country.csv": 2, "occupation.csv": 2,
		"race.csv": 1, "salary-class.csv": 1, "sex.csv": 1, "workclass.csv": 2,
	}
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		nodes, err := hierarchy.ReadTaxonomy(file)
		if closing := file.Close(); err != nil || closing != nil {
			t.Errorf("%s: %v, %v", path, err, closing)
			continue
		}
		h := build(t, hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: nodes})
		name := filepath.Base(path)
		if l := hierarchy.LevelsOf(h, nil); l.Height() != heights[name] {
			t.Errorf("%s: height %d, %d expected", name, l.Height(), heights[name])
		}
		if name != "age.csv" {
			continue
		}
		// A taxonomy over integers: labels are intervals.
		for _, row := range []generalized{
			{texts: []string{"1", "4"}, value: "0-4"},
			{texts: []string{"17", "10"}, value: "0-19"},
			{texts: []string{"39", "100"}, value: "*"},
		} {
			if g := h.Generalize(encode(h, row.texts...)); g.Value != row.value {
				t.Errorf("ages %q are published as %q", row.texts, g.Value)
			}
		}
	}
}
