package catalog

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestKeptTablesOfPeopleAreRejoined: what is kept of tables that are released together says of audiences what they were made for: which
// tables they do not see, and what holds for them over all tables.
func TestKeptTablesOfPeopleAreRejoined(t *testing.T) {
	t.Parallel()
	for _, unseen := range [][]string{nil, {"labs"}, {"patients"}, {"visits", "labs"}} {
		_, policy, relations, _ := someTables(unseen...)
		policies, byName := map[Name]TablePolicy{}, map[Name]Relation{}
		for i, of := range policy.Tables {
			of.Audiences[0].Constraints = append(of.Audiences[0].Constraints, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "public.visits.visits_value"})
			policies[of.Table], byName[of.Table] = of, relations[i]
		}
		p, problems := PublishPeople(policy.People[0], policies, byName)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var kept []Publication
		for _, of := range append([]Publication{p.Root}, p.Tables...) {
			text, err := json.Marshal(of)
			var again Publication
			if err == nil {
				err = json.Unmarshal(text, &again)
			}
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, again)
		}
		alone := Publication{Policy: TablePolicy{Table: Name{"public", "wards"}}}
		all := Rejoin(append([]Publication{alone}, kept...))
		if len(all) != 4 || all[0].Policy.Table != alone.Policy.Table {
			t.Fatalf("%d tables are left of 4", len(all))
		}
		for i, of := range append([]Publication{p.Root}, p.Tables...) {
			was, _ := of.MadeFor("press")
			is, made := all[i+1].MadeFor("press")
			if !made || !reflect.DeepEqual(is.Membership, was.Membership) || is.IsSeen() != was.IsSeen() {
				t.Errorf("without %v: of %s is kept %+v, and it was %+v", unseen, of.Policy.Table, is.Membership, was.Membership)
			}
			if !reflect.DeepEqual(is.Describe(), was.Describe()) {
				t.Errorf("without %v: of %s is told %+v, and it was %+v", unseen, of.Policy.Table, is.Describe(), was.Describe())
			}
		}
		if left := Rejoin(append([]Publication{alone}, kept[1:]...)); len(left) != 1 {
			t.Errorf("without the root, %d tables are left", len(left))
		}
	}
}
