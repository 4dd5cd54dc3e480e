package metamorphic

import "fmt"

// ofHelpers calls the functions of schema kproxy as analysts do.
func (f facts) ofHelpers() []observable {
	all := []observable{one("helper", simple, "SELECT * FROM kproxy.tables()")}
	for _, table := range []string{"patients", "people", "episodes", "donors", "trials", "rare", "by_diagnosis", "icd10", "journal", "hidden_table", "public.patients"} {
		for _, call := range []string{
			"SELECT * FROM kproxy.describe(%s)", "SELECT kproxy.describe(%s)", "SELECT * FROM kproxy.tables() t WHERE t::text LIKE '%%' || %s || '%%'",
			"SELECT kproxy.loss(%s)", "SELECT * FROM kproxy.counts(%s)", "SELECT * FROM kproxy.columns(%s)",
		} {
			all = append(all, one("helper", simple, fmt.Sprintf(call, literal(table))))
		}
	}
	return all
}
