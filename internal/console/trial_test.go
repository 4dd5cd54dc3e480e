package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParametersAreRead(t *testing.T) {
	t.Parallel()
	c := Choices{Methods: []string{"hilbert", "datafly"}, Method: "hilbert", K: 5, L: 2}
	p, err := readParameters(url.Values{"method": {"datafly"}, "k": {"10, 2 2;50"}, "l": {" 3 "}, "sample": {"1000"}}, "t", c)
	if err != nil || !slices.Equal(p.K, []int{2, 5, 10, 50}) || p.L != 3 || p.Sample != 1000 || !slices.Equal(p.Methods, []string{"datafly"}) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, wrong := range []url.Values{
		{},
		{"method": {"mondrian"}},
		{"method": {"hilbert"}, "k": {"1"}},
		{"method": {"hilbert"}, "k": {"101"}},
		{"method": {"hilbert"}, "k": {"x"}},
		{"method": {"hilbert"}, "l": {"NaN"}},
		{"method": {"hilbert"}, "l": {"0"}},
		{"method": {"hilbert"}, "sample": {"99"}},
		{"method": {"hilbert"}, "sample": {"1000000"}},
		{"method": {"hilbert", "datafly"}, "k": {"2 3 4 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33"}},
	} {
		if _, err := readParameters(wrong, "t", c); err == nil {
			t.Errorf("%v was taken", wrong)
		}
	}
}

// TestWrongValuesStayInTheForm wants what was typed to be there still, and told what is
// wrong with it.
func TestWrongValuesStayInTheForm(t *testing.T) {
	t.Parallel()
	d := loggedIn(t, nil)
	for _, c := range []struct {
		form url.Values
		want []string
	}{
		{
			url.Values{"method": {"datafly"}, "k": {"3, abc, 500"}, "l": {"2.5"}, "sample": {"700"}},
			[]string{"“abc”, “500” are no values of k", `value="3, abc, 500"`, `value="2.5"`, `value="700"`, `value="datafly" checked`},
		},
		{url.Values{"method": {"hilbert"}, "k": {"1"}}, []string{"“1” is no value of k", `name="k" value="1"`}},
		{url.Values{"method": {"hilbert"}, "k": {"a b c d e"}}, []string{"“a”, “b”, “c” and 2 more are no values"}},
		{url.Values{"method": {"hilbert"}, "k": {"<b>" + strings.Repeat("é", 99)}}, []string{"“&lt;b&gt;" + strings.Repeat("é", 17) + "…”"}},
		{url.Values{"method": {"hilbert"}, "k": {"7"}, "l": {"many"}}, []string{"“many” is no value of l", `value="7"`, `value="many"`}},
		{url.Values{"method": {"hilbert"}, "k": {"7"}, "sample": {"7"}}, []string{"“7” is no size of a sample"}},
		{url.Values{"k": {"7, 8"}}, []string{"choose a method", `value="7, 8"`}},
	} {
		c.form.Set("csrf", d.csrf())
		a := d.ask(http.MethodPost, "/whatif/"+testTable, c.form)
		if a.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%v: %s", c.form, a.Status)
		}
		for _, want := range c.want {
			if !strings.Contains(a.text, want) {
				t.Errorf("%v: the page has no %s", c.form, want)
			}
		}
	}
}

// await waits until no trial runs.
func (d *desk) await() job {
	d.t.Helper()
	for range 500 {
		if j, known, active := d.console.trials.of(testTable); known && active == "" {
			return j
		}
		time.Sleep(10 * time.Millisecond)
	}
	d.t.Fatal("the trial did not end")
	return job{}
}

func TestTrialsRunOneAtATime(t *testing.T) {
	t.Parallel()
	d := loggedIn(t, nil)
	d.source.gate = make(chan struct{})
	form := url.Values{"csrf": {d.csrf()}, "method": {"hilbert"}, "k": {"2, 10"}}
	path := "/whatif/" + testTable
	if a := d.ask(http.MethodPost, path, form); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("beginning: %s", a.Status)
	}
	if a := d.ask(http.MethodPost, "/whatif/public.staff", form); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a second trial: %s", a.Status)
	}
	if text := d.ask(http.MethodGet, path, nil).text; !strings.Contains(text, "<progress") {
		t.Error("no progress is shown")
	}
	d.ask(http.MethodPost, path+"/cancel", form)
	if j := d.await(); j.State != stateFailed || j.Problem != trialCanceled {
		t.Errorf("canceled: %+v", j)
	}
	close(d.source.gate)
	if a := d.ask(http.MethodPost, path, form); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("beginning again: %s", a.Status)
	}
	if j := d.await(); j.State != stateDone || len(j.Trial.Runs) != 3 {
		t.Errorf("done: %+v", j)
	}
	text := d.ask(http.MethodGet, path, nil).text
	for _, want := range []string{"Information loss by k", "Highest risk by k", "k = 5 in force", `<tr class="in-force">`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestTrialsOfPersons: of tables about the same persons, what outsiders know is tried.
func TestTrialsOfPersons(t *testing.T) {
	t.Parallel()
	d := loggedIn(t, nil)
	path := "/whatif/" + testPersons
	wants := func(text string, wanted ...string) {
		t.Helper()
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("the page has no %q", want)
			}
		}
	}
	wants(d.ask(http.MethodGet, path, nil).text, "Known of a person", "Persons in the sample", `value="1000"`, `max="5000"`, `value="1/1y" checked`, `value="all" checked`)
	form := url.Values{"csrf": {d.csrf()}, "method": {"all"}, "k": {"5"}, "sample": {"5001"}}
	wants(d.ask(http.MethodPost, path, form).text, "“5001” is no size of a sample: it must have 100 to 5000 persons")
	form.Set("sample", "500")
	if a := d.ask(http.MethodPost, path, form); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("beginning: %s", a.Status)
	}
	var j job
	for range 500 {
		last, known, active := d.console.trials.of(testPersons)
		if j = last; known && active == "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if j.State != stateDone || j.Parameters.Sample != 500 || len(j.Trial.Runs) != 1 {
		t.Fatalf("done: %+v", j)
	}
	wants(d.ask(http.MethodGet, path, nil).text, "Risk by what an outsider knows", "Risk, 0 known", "Risk, all known", "25.0 %", "12.5 %", "75.0 %", "40.0 %", "all, k = 5, 1 known: 15.0 %")
}

func TestFiguresAreWritten(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		number(1234567): "1,234,567", number(-1000): "−1,000", number(7): "7", percent(0.2): "20.0 %", percent(1): "100 %", percent(0): "0 %",
		percent(0.00001): "< 0.1 %", byteSize(1 << 20): "1.0 MiB", byteSize(5): "5 B", byteSize(200 << 30): "200 GiB",
		shortDuration(90 * time.Second): "1 min 30 s", shortDuration(26 * time.Hour): "1 d 2 h", ago(0): "just now", ago(3 * time.Hour): "3 h ago",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestHistogramsAreBounded(t *testing.T) {
	t.Parallel()
	var sizes []SizeCount
	var total int64
	for size := 5; size < 5000; size += 7 {
		sizes = append(sizes, SizeCount{size, int64(size % 13)})
		total += int64(size % 13)
	}
	c := histogram(sizes, 5)
	if len(c.Bars) > maxBars+1 || len(c.XTicks) > 14 {
		t.Errorf("%d bars, %d labels", len(c.Bars), len(c.XTicks))
	}
	for _, b := range c.Bars {
		if b.X < left || b.X+b.Width > right+1 || b.Y < top-1 || b.Y+b.Height > bottom+1 {
			t.Errorf("a bar leaves the picture: %+v", b)
		}
	}
	if histogram(nil, 5) != nil || lossChart(nil) != nil {
		t.Error("charts of nothing")
	}
}
