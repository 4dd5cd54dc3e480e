package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/catalog"
)

// acknowledged reads what the operator knows and means of a table, and keeps the places of
// the columns that it names.
func (r *reader) acknowledged(joinable *[]string, at *[]*yaml.Node) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.mapping(n, "acknowledge", field{
			key:  "joinable",
			doc:  "Columns that are published as they are although they are a key, or nearly unique by their values: rows can be told apart by them, or joined with those of other tables.",
			need: "joinable: with the columns that are a key and are to be published all the same",
			read: func(n *yaml.Node) {
				for _, item := range r.items(n, "joinable", "a list: [visit_id]") {
					if r.exhausted() {
						return
					}
					if name, ok := r.columnName(item); ok {
						*joinable, *at = append(*joinable, name), append(*at, r.follow(item))
					}
				}
			},
		})
	}
}

// checkJoinable refuses to acknowledge what is not there: a column that is not published
// as it is, or that stands twice.
func (r *reader) checkJoinable(policy catalog.TablePolicy, at []*yaml.Node) {
	var published []string
	for _, c := range policy.Columns {
		if c.Role == catalog.Sensitive || c.Role == catalog.Insensitive {
			published = append(published, c.Name)
		}
	}
	lines := make(map[string]int)
	for i, name := range policy.Joinable {
		column, named := policy.Column(name)
		line, twice := lines[name]
		lines[name] = at[i].Line
		switch {
		case twice:
			r.wrong(at[i], fmt.Sprintf("joinable column %s stands twice, first on line %d", quote(name), line), "remove one of them")
		case !named:
			r.wrong(at[i], fmt.Sprintf("joinable column %s, which table %s does not publish", quote(name), policy.Table),
				suggestion(name, published, "the columns published as they are:"))
		case column.Role == catalog.Identifying || column.Role == catalog.QuasiIdentifying:
			r.wrong(at[i], fmt.Sprintf("joinable column %s is %s: there is nothing to acknowledge", quote(name), column.Role), "remove it from joinable")
		}
	}
}
