package console

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/state"
)

// arranged is a Source of tables in many states.
type arranged struct {
	*canned
	refused *state.Refusal
}

var manyStates = []Listed{{"public.a", "published"}, {"public.b", "halted"}, {"lab.c", "unpublished"}, {"public.d", "published"}, {"public.e", "withdrawn"}, {"public.f", "withheld"}}

func (s arranged) Site() Site {
	return Site{Database: "hospital", Tables: manyStates, Refused: s.refused != nil, Needs: 2}
}

func (s arranged) Overview(ctx context.Context) (Overview, error) {
	o, err := s.canned.Overview(ctx)
	o.Tables, o.Refused = nil, s.refused
	for _, t := range manyStates {
		r := s.release()
		r.Name, r.State = t.Name, t.State
		if t.Name == "public.d" {
			percent := 43
			r.Asked, r.Work = "rebuild", &state.Work{Stage: "reading", Percent: &percent, Left: 20}
		}
		if t.Name == "lab.c" {
			r.Work = &state.Work{Problem: "server process 9 writes", Fix: "end its session"}
		}
		o.Tables = append(o.Tables, r)
	}
	if s.refused != nil {
		o.Needs = append([]state.Need{{What: "readers are refused: " + s.refused.Why, Fix: s.refused.Fix}}, o.Needs...)
	}
	return o, err
}

// plainText is what is between the tags.
func plainText(page string) string {
	return strings.TrimSpace(regexp.MustCompile(`\s+`).ReplaceAllString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " "), " "))
}

// between is what is in a page between two texts.
func between(t *testing.T, page, from, to string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, from)
	part, _, ended := strings.Cut(rest, to)
	if !found || !ended {
		t.Fatalf("the page has nothing between %q and %q:\n%s", from, to, page)
	}
	return part
}

// TestWhatNeedsTheOperatorComesFirst: in the list at the side, among the tables, and before all else.
func TestWhatNeedsTheOperatorComesFirst(t *testing.T) {
	t.Parallel()
	source := arranged{canned: &canned{}}
	d := loggedIn(t, func(o *Options) { o.Source = source })
	page := d.ask(http.MethodGet, "/", nil).text
	if got := plainText(between(t, page, "nav-tables", "</ul>")[len(` data-fresh="tables">`)-1:]); !strings.HasSuffix(got, "public. b halted public. e withdrawn lab.c unpublished public. f withheld public. a public. d") {
		t.Errorf("the list at the side is %q", got)
	}
	rows := regexp.MustCompile(`<th scope="row"><a href="/tables/([^"]+)"`).FindAllStringSubmatch(page, -1)
	var names []string
	for _, r := range rows {
		names = append(names, r[1])
	}
	if got := strings.Join(names, " "); got != "public.b public.e lab.c public.d public.f public.a" && got != "public.b public.e lab.c public.f public.d public.a" {
		t.Errorf("the tables are %s", got)
	}
	if strings.Index(page, `id="replication"`) > strings.Index(page, `id="tables"`) {
		t.Error("the tables come before replication")
	}
	text := plainText(page)
	for _, want := range []string{"rebuild reading 43%, 20s left 43 %", "Blocked: server process 9 writes Fix end its session"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page is without %q:\n%s", want, text)
		}
	}
}

// TestAlertsAreTold: the title, and a region that is read aloud, say on each page what needs the operator. That
// readers are refused is the headline.
func TestAlertsAreTold(t *testing.T) {
	t.Parallel()
	refusal := &state.Refusal{Since: at.Add(-5 * time.Minute), Why: "the database does not answer", Fix: "start it"}
	for _, c := range []struct {
		refused               *state.Refusal
		overview, other, head string
	}{
		{nil, "One thing needs you", "2 things need you", "One thing needs you"},
		{refusal, "Readers are refused", "Readers are refused", "Readers are refused since 2 Jan 2026, 02:59:05 UTC , 5 min ago"},
	} {
		d := loggedIn(t, func(o *Options) { o.Source = arranged{&canned{}, c.refused} })
		for path, want := range map[string]string{"/": c.overview, "/tables/public.a": c.other, "/configuration": c.other} {
			page := d.ask(http.MethodGet, path, nil).text
			if title := between(t, page, "<title>", "</title>"); !strings.HasPrefix(title, want+" · ") {
				t.Errorf("%s: the title is %q", path, title)
			}
			if news := between(t, page, `role="status" id="news">`, "</p>"); news != want {
				t.Errorf("%s: read aloud is %q", path, news)
			}
			if shown := strings.Contains(page, `<p class="alert"><a href="/">`+want); shown != (path != "/") {
				t.Errorf("%s: shown is %v", path, shown)
			}
		}
		page := d.ask(http.MethodGet, "/", nil).text
		if head := plainText(between(t, page, `<h2 id="needs">`, "</h2>")); head != c.head {
			t.Errorf("the headline is %q", head)
		}
	}
	calm := loggedIn(t, func(o *Options) {
		o.Source = changed{canned: &canned{}, overview: func(o *Overview) { o.Needs = nil }}
	}).ask(http.MethodGet, "/", nil).text
	if between(t, calm, "<title>", "</title>") != "Overview · kproxy" || between(t, calm, `id="news">`, "</p>") != "Nothing needs you." {
		t.Error("there is an alarm though all is well")
	}
}

// TestTablesAreChosenFromAList: the tables to try fit on a phone, however many there are.
func TestTablesAreChosenFromAList(t *testing.T) {
	t.Parallel()
	var many Site
	for i := range 51 {
		many.Tables = append(many.Tables, Listed{fmt.Sprintf("public.t%d", i), "published"})
	}
	many.Tables[0].State = "halted"
	d := loggedIn(t, func(o *Options) { o.Source = sited{&canned{}, many} })
	if to := d.ask(http.MethodGet, "/whatif", nil).Header.Get("Location"); to != "/whatif/public.t1" {
		t.Errorf("the first to try is %s", to)
	}
	if to := d.ask(http.MethodGet, "/whatif?table=public.t7", nil).Header.Get("Location"); to != "/whatif/public.t7" {
		t.Errorf("chosen is %s", to)
	}
	page := d.ask(http.MethodGet, "/whatif/public.t7", nil).text
	if strings.Contains(page, "Tables to try") || !strings.Contains(page, `<option value="public.t7" selected>t7</option>`) || strings.Count(page, "<option") != 51 {
		t.Error("the tables are no list to choose from")
	}
}

// sited is a Source of certain tables.
type sited struct {
	*canned
	site Site
}

func (s sited) Site() Site { return s.site }

// TestOldFiguresAreSaidToBeOld: while the database does not answer, a table's page shows its policy, and what was
// read last.
func TestOldFiguresAreSaidToBeOld(t *testing.T) {
	t.Parallel()
	for _, figures := range []bool{true, false} {
		c := changed{table: func(t *Table) {
			t.Unread, t.State = "What is published cannot be read: connection refused", "unknown"
			if !figures {
				t.Figures, t.Proof, t.Loss, t.Sizes = nil, nil, nil, nil
			}
		}}
		text := c.page(t, "/tables/"+testTable)
		head, want := "Only the policy is known", []string{"connection refused", "quasi-identifying", "5-anonymity", "not counted yet"}
		if figures {
			head, want = "What follows was read earlier", []string{"connection refused", "1,200", "1,234 records"}
		}
		for _, w := range append(want, head) {
			if !strings.Contains(text, w) {
				t.Errorf("the page is without %q:\n%s", w, text)
			}
		}
	}
}
