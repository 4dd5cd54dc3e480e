package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/catalog"
)

// functions reads the names of functions that clients may call besides PostgreSQL's
// own. Whether they may be is for a look into the database to say.
func (r *reader) functions(to *[]catalog.Name) func(*yaml.Node) {
	return func(n *yaml.Node) {
		for _, item := range r.items(n, "functions", "a list: [public.similarity, postgis.st_area]") {
			if r.exhausted() {
				return
			}
			text, ok := r.literal(item, "a function's name")
			if !ok {
				continue
			}
			item = r.follow(item)
			name := catalog.ParseName(text)
			switch what, fix := functionProblem(text, name); {
			case what != "":
				r.wrong(item, what, fix)
			case slices.Contains(*to, name):
				r.wrong(item, fmt.Sprintf("function %s stands twice", name), "remove one of them")
			default:
				*to = append(*to, name)
				r.places.functions[name] = item.Line
			}
		}
	}
}

// functionProblem says why a function's name cannot be one, and what to write.
func functionProblem(text string, name catalog.Name) (what, fix string) {
	const form = "write schema.function, without quotes and arguments, in the case PostgreSQL stores"
	if name.Schema == "pg_catalog" || name.Schema == "information_schema" {
		return "function " + quote(text) + " is PostgreSQL's own, and cannot be opened this way", "remove it; analysts may call those of PostgreSQL's functions that kproxy knows to be safe, without a list"
	}
	if what, _ := nameProblem(text, name); what != "" || slices.ContainsFunc([]rune(text), func(c rune) bool { return c == '(' || c == ')' }) {
		return quote(text) + " is not the name of a function of an extension or a user", form
	}
	return "", ""
}
