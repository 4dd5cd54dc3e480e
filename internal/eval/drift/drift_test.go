package drift

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small is a setup that takes a second.
func small() Setup {
	return Setup{
		Data: AdultLike, Records: 600, Operations: 3000, Mix: Mix{1, 1, 1}, Group: 20, Points: 4, Threshold: 0.05,
		Methods: []string{"rounded-partition", "datafly"}, K: []int{3, 5}, Seeds: []uint64{1, 2},
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	s := small()
	curves, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(curves) != 8 {
		t.Fatalf("%d curves of 2 methods, 2 k and 2 seeds", len(curves))
	}
	drifted := false
	for _, c := range curves {
		if len(c.Points) != 5 || c.Adopted > c.Measured {
			t.Errorf("%s, k = %d: %d points, %d of %d renewals adopted", c.Method, c.K, len(c.Points), c.Adopted, c.Measured)
		}
		for i, p := range c.Points {
			if p.Operations != 750*i || p.Records < 400 || p.Maintained.Classes < 1 || p.Maintained.Largest < c.K || !(p.Afresh > 0 && p.Afresh < 1) {
				t.Errorf("%s, k = %d: %+v", c.Method, c.K, p)
			}
			if i == 0 && (math.Abs(p.Maintained.Drift-1) > 1e-9 || p.Renewed != p.Maintained) {
				t.Errorf("%s, k = %d begins with %+v", c.Method, c.K, p)
			}
		}
		last := c.Points[4]
		drifted = drifted || last.Maintained.Drift > 1.02 && last.Renewed.Drift < last.Maintained.Drift && c.Adopted > 0
	}
	if !drifted {
		t.Error("no curve drifts, or renewals do not help")
	}
}

// TestRunIsReproducible: the same setup gives the same curves, another seed others.
func TestRunIsReproducible(t *testing.T) {
	t.Parallel()
	s := small()
	s.Data, s.Methods, s.K, s.Seeds, s.Operations = Census, s.Methods[:1], []int{3}, []uint64{1, 1, 2}, 600
	curves, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var texts [3]bytes.Buffer
	for i, c := range curves {
		if err := json.NewEncoder(&texts[i]).Encode(c.Points); err != nil {
			t.Fatal(err)
		}
	}
	if texts[0].String() != texts[1].String() || texts[0].String() == texts[2].String() {
		t.Errorf("seeds 1, 1 and 2 give\n%s%s%s", &texts[0], &texts[1], &texts[2])
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := small().Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestMixes: growth from next to nothing, decline to nothing, and changes alone.
func TestMixes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		mix                    Mix
		records, least, atMost int
	}{
		{Mix{Insert: 1}, 1, 301, 301},
		{Mix{Delete: 1}, 200, 0, 1},
		{Mix{Modify: 1}, 50, 50, 50},
	} {
		s := small()
		s.Mix, s.Records, s.Operations, s.Methods, s.K, s.Seeds = test.mix, test.records, 300, s.Methods[:1], []int{5}, []uint64{1}
		curves, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if last := curves[0].Points[4]; last.Records < test.least || last.Records > test.atMost || math.IsNaN(last.Maintained.Drift) {
			t.Errorf("%+v ends with %+v", test.mix, last)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	if err := small().Validate(); err != nil {
		t.Fatal(err)
	}
	for name, break_ := range map[string]func(*Setup){
		"data":       func(s *Setup) { s.Data = "people" },
		"records":    func(s *Setup) { s.Records = 0 },
		"operations": func(s *Setup) { s.Operations = 0 },
		"group":      func(s *Setup) { s.Group = 0 },
		"points":     func(s *Setup) { s.Points = 0 },
		"no mix":     func(s *Setup) { s.Mix = Mix{} },
		"mix":        func(s *Setup) { s.Mix.Delete = -1 },
		"not a mix":  func(s *Setup) { s.Mix.Delete = math.NaN() },
		"threshold":  func(s *Setup) { s.Threshold = 0 },
		"k":          func(s *Setup) { s.K = []int{0} },
		"no k":       func(s *Setup) { s.K = nil },
		"method":     func(s *Setup) { s.Methods = []string{"guess"} },
	} {
		s := small()
		if break_(&s); s.Validate() == nil {
			t.Errorf("%s: %+v passes", name, s)
		}
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	curve := func(method string, seed uint64, drift float64) Curve {
		return Curve{Method: method, K: 5, Seed: seed, Adopted: int(seed), Points: []Point{{Operations: 7, Maintained: Release{Drift: drift, Classes: int(10 * seed)}}}}
	}
	got := Summarize([]Curve{curve("a", 1, 1.5), curve("a", 2, 1.25), curve("b", 1, 1)})
	if len(got) != 2 || got[0].Seeds != 2 || got[0].Adopted != 1.5 || got[1].Method != "b" {
		t.Fatalf("%+v", got)
	}
	if m := got[0].Points[0].Maintained; m.Drift != 1.375 || m.LeastDrift != 1.25 || m.MostDrift != 1.5 || m.Classes != 15 {
		t.Errorf("%+v", m)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	s := small()
	s.Operations, s.Methods, s.Seeds = 200, s.Methods[:1], []uint64{1}
	curves, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := NewReport(s, curves)
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"600 records of adult-like", "means of 1 seed", "rounded-partition, k = 5", "operations"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &text)
		}
	}
	folder := filepath.Join(t.TempDir(), "new")
	names, err := r.WriteFiles(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 1+2+2*len(compared) {
		t.Errorf("the files are %q", names)
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".svg") && !bytes.HasPrefix(content, []byte("<svg")) {
			t.Errorf("%s is no drawing", name)
		}
	}
	var back Report
	content, err := os.ReadFile(filepath.Join(folder, JSONName))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &back); err != nil || len(back.Curves) != len(curves) || back.Summary[0].Method != "rounded-partition" {
		t.Errorf("the figures read back as %+v: %v", back, err)
	}
}
