package console

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/state"
)

// seen is a Source of a table that two audiences see.
type seen struct{ *canned }

func audiences() []Seen {
	coarse := 0.5
	return []Seen{
		{
			Audience: state.Audience{Name: "partners", State: "published", Classes: 45, Rows: 1200, Withheld: 34}, Constraints: []string{"25-anonymity"}, Hidden: []string{},
			Smallest: 25, Largest: 48, Loss: &coarse, Members: Members{Readers: []string{"partner"}, Users: []string{"anna", "<bob>"}},
		},
		{
			Audience: state.Audience{Name: "press", State: "withheld", Problem: "all together violate 5000-anonymity", Withheld: 1234}, Constraints: []string{"5000-anonymity"}, Hidden: []string{"ward", "born"},
			Members: Members{Readers: []string{"press"}, Users: []string{}, LookedUp: true},
		},
	}
}

func (s seen) Overview(ctx context.Context) (Overview, error) {
	o, err := s.canned.Overview(ctx)
	o.Tables[0].Audiences = audiences()
	for _, a := range audiences() {
		o.Audiences = append(o.Audiences, Audience{Name: a.Name, Members: a.Members})
	}
	return o, err
}

func (s seen) Table(ctx context.Context, name string) (Table, error) {
	t, err := s.canned.Table(ctx, name)
	t.Audiences = audiences()
	return t, err
}

func (s seen) Activity(ctx context.Context) (Activity, error) {
	a, err := s.canned.Activity(ctx)
	a.Sessions[0].Reader, a.Sessions[0].Audience = "second", "press"
	return a, err
}

// TestAudiencesAreShown: what each sees of a table, and who belongs to it, on all pages that tell of it, and as JSON.
func TestAudiencesAreShown(t *testing.T) {
	t.Parallel()
	d := loggedIn(t, func(o *Options) { o.Source = seen{&canned{}} })
	for path, wants := range map[string][]string{
		"/": {
			"partners anna, &lt;bob&gt; partner", "press whom auth_query finds press", "partners published 25-anonymity 1,200 45 34 50.0 %",
			"press withheld all together violate 5000-anonymity 5000-anonymity without ward, born – – 1,234 –",
		},
		"/tables/" + testTable: {
			"partners published 25-anonymity anna, &lt;bob&gt; as partner 1,200 34 45 of 25 to 48 50.0 %",
			"press withheld all together violate 5000-anonymity 5000-anonymity without ward, born whom auth_query finds as press – 1,234 – –",
			"Readers of several who pool what they have",
		},
		"/activity": {"analyst as second of press"},
	} {
		text := plainText(d.ask(http.MethodGet, path, nil).text)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", path, want, text)
			}
		}
	}
	var told struct {
		Audiences []struct {
			Audience, State            string
			Constraints, Hidden, Users []string
			Rows, Withheld, Classes    int
			Smallest                   int `json:"smallest_class"`
		}
	}
	if err := json.Unmarshal([]byte(d.ask(http.MethodGet, "/api/tables/"+testTable, nil).text), &told); err != nil {
		t.Fatal(err)
	}
	if a := told.Audiences; len(a) != 2 || a[0].Audience != "partners" || a[0].Rows != 1200 || a[0].Smallest != 25 || len(a[0].Users) != 2 || a[1].State != "withheld" || len(a[1].Hidden) != 2 {
		t.Errorf("it is told %+v", told)
	}
}
