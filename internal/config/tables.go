package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/catalog"
)

// tables reads the protected tables, each of which says when its changes become visible
// where they live.
func (r *reader) tables(to *[]catalog.TablePolicy, live bool) func(*yaml.Node) {
	return func(n *yaml.Node) {
		entries, ok := r.entries(n, "tables")
		r.nonEmpty(n)
		if ok && len(r.follow(n).Content) == 0 {
			r.wrong(r.follow(n), "tables is empty", "name a table to protect")
		}
		for _, e := range entries {
			name, ok := r.relation(e.key, asProtected)
			if !ok {
				// What else is wrong with it is worth knowing now.
				name = catalog.ParseName(e.key.Value)
			}
			policy := r.table(name, e.value, live)
			if ok {
				*to = append(*to, policy)
			}
		}
	}
}

func (r *reader) readable(to *[]catalog.Name) func(*yaml.Node) {
	return func(n *yaml.Node) {
		for _, item := range r.items(n, "readable", "a list: [public.wards, public.icd10]") {
			if r.exhausted() {
				return
			}
			if name, ok := r.relation(item, asReadable); ok {
				*to = append(*to, name)
			}
		}
	}
}

func (r *reader) table(name catalog.Name, n *yaml.Node, live bool) catalog.TablePolicy {
	what := "table " + name.String()
	policy := catalog.TablePolicy{Table: name, Method: methods.Names()[0]}
	var stated []statement
	complete := false
	var subject *yaml.Node
	var updates updateNodes
	var joinable []*yaml.Node
	columns := columnNodes{}
	r.mapping(
		n, what,
		field{key: "method", doc: "How records are gathered into equivalence classes. `kproxy eval` compares the methods.", read: r.oneOf(&policy.Method, "method", words(methods.Names())...)},
		field{
			key: "constraints", doc: "What every published class satisfies at every moment; one of them says k.", need: "constraints: [{k: 5}] or what else every class must satisfy",
			read: func(n *yaml.Node) { stated, complete = r.constraints(n, what) },
		},
		field{key: "subject", doc: "Where a person can have several records: the column that tells persons apart. Constraints then count persons. It is never published.", read: func(n *yaml.Node) {
			if text, ok := r.columnName(n); ok {
				policy.Subject, subject = text, r.follow(n)
			}
		}},
		field{key: "suppression", doc: "The share of the records that a method which generalizes all records alike may set aside; each is published with the class most similar to it. Without it: none.", read: func(n *yaml.Node) {
			updates.suppression = r.follow(n)
			if share, ok := r.share(n, "suppression"); ok && r.within(n, "suppression", share, 0, 1) {
				policy.Suppression = share
			}
		}},
		r.updatesField(&policy.Updates, live),
		field{key: "acknowledge", doc: "What is known and meant of the table, and refused otherwise.", read: r.acknowledged(&policy.Joinable, &joinable)},
		field{key: "reanonymize", doc: "From so much more information loss on all classes are made anew. For immediate updates only. Without it: never.", read: r.reanonymize(&policy.Reanonymize, &updates)},
		field{key: "unpublishable", doc: "What readers get while nothing of the table can be published, as its records cannot meet its constraints. Withhold and refuse are the same: an error that says so. The key can be left out.", read: storeChoice(r, &policy.Unpublishable, "unpublishable", catalog.Withhold, catalog.Refuse)},
		field{
			key: "columns", doc: "The columns to publish, each with its role, or with a mapping that says more. What is not named here is not published.", need: "columns: with each column to publish and its role",
			read: func(n *yaml.Node) { policy.Columns = r.columns(n, name, columns) },
		},
	)
	for _, s := range stated {
		policy.Constraints = append(policy.Constraints, s.spec)
	}
	r.checkNamed(policy, stated)
	if complete {
		r.checkCovered(policy, stated, columns)
		r.checkArranged(policy, stated, columns)
	}
	r.checkSubject(policy, subject)
	r.checkJoinable(policy, joinable)
	r.checkUpdates(policy, updates, stated)
	return policy
}

// checkSubject sees to it that the column that names the person is not published.
func (r *reader) checkSubject(policy catalog.TablePolicy, subject *yaml.Node) {
	if subject == nil {
		return
	}
	column, named := policy.Column(policy.Subject)
	if named && column.Role != catalog.Identifying && column.Role != 0 { // 0: already reported
		r.wrong(subject, fmt.Sprintf("the subject %s says which person a record is about, but it is published as %s", quote(policy.Subject), column.Role),
			"give the column the role identifying, or leave it out of the columns")
	}
}

func namesOf(columns []catalog.ColumnPolicy) []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}
