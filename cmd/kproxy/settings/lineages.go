package settings

import (
	"reflect"
	"slices"

	"github.com/kproxy/kproxy/catalog"
)

// lineages are the guarded tables whose lineage cannot go on under the next policy, and those whose lineage goes on with other
// audiences. What becomes of one of the tables that are released together becomes of all of them.
func lineages(running, next catalog.Policy) (ended, continued []string) {
	for _, t := range next.Tables {
		kind, together := next.KindOf(t.Table)
		before, _ := running.KindOf(t.Table)
		names := []catalog.Name{t.Table}
		if together {
			names = kind.Names()
		}
		earlier, after := guarded(running, next, names)
		switch {
		case !slices.ContainsFunc(earlier, named(t.Table)):
		case !reflect.DeepEqual(kind, before) || !slices.EqualFunc(earlier, after, sameClasses) || !catalog.Continue(after, earlier):
			ended = append(ended, t.Table.String())
		case !slices.EqualFunc(earlier, after, sameAudiences):
			continued = append(continued, t.Table.String())
		}
	}
	return ended, continued
}

// guarded are the policies by which tables are released, before and after: of those that are there both times and had guarded updates.
func guarded(running, next catalog.Policy, names []catalog.Name) (earlier, after []catalog.TablePolicy) {
	for _, name := range names {
		i, j := slices.IndexFunc(running.Tables, named(name)), slices.IndexFunc(next.Tables, named(name))
		if i >= 0 && j >= 0 && running.Tables[i].Updates.Mode == catalog.Guarded {
			earlier, after = append(earlier, running.Released(running.Tables[i])), append(after, next.Released(next.Tables[j]))
		}
	}
	return earlier, after
}

func named(name catalog.Name) func(catalog.TablePolicy) bool {
	return func(t catalog.TablePolicy) bool { return t.Table == name }
}

// sameClasses reports whether policies differ in audiences at the most, and in what changes nothing in classes: when batches are
// written, and which columns identify.
func sameClasses(one, other catalog.TablePolicy) bool {
	lasting := func(t catalog.TablePolicy) catalog.TablePolicy {
		t.Updates, t.Reanonymize, t.Summary, t.Joinable = catalog.Updates{Mode: t.Updates.Mode}, 0, catalog.SummaryView, nil
		t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c catalog.ColumnPolicy) bool { return c.Role == catalog.Identifying })
		t.Audiences = nil
		return t
	}
	return reflect.DeepEqual(lasting(one), lasting(other))
}

func sameAudiences(one, other catalog.TablePolicy) bool {
	return reflect.DeepEqual(one.Audiences, other.Audiences)
}
