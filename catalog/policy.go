package catalog

import (
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Policy is what the operator asked for: which tables are protected and how,
// and which other relations analysts may read as they are.
type Policy struct {
	// Tables are the protected tables, and behind them those that are mirrored.
	Tables []TablePolicy
	// Readable are unprotected relations that analysts may read and join with.
	Readable []Name
	// Functions are those of extensions and users that analysts may call, all of one
	// name together; Relation is the function's name.
	Functions []Name
	// People are kinds of persons whose tables, all of Tables, are released together.
	People []People `json:",omitempty"`
	// Audiences see releases of their own, from the finest to the coarsest.
	Audiences []Audience `json:",omitempty"`
	// Audience is the one that the policy is for; see Policy.For.
	Audience string `json:",omitempty"`
}

// TablePolicy protects one table.
type TablePolicy struct {
	Table  Name
	Method string // a name of methods.Names
	// Effort is that of the method.
	Effort anonymizer.Effort `json:",omitempty"`
	// Constraints are what every equivalence class satisfies. Each is over some
	// quasi-identifying columns, or over all of them; what is over all has them
	// divided into classes together, whatever the others say.
	Constraints []privacy.Spec
	// Subject names the column whose value says which person a record is about;
	// constraints then count persons instead of records. Empty where every record
	// is about another person. It is stored and never published. Records without
	// a value count as one person, since nothing tells them apart.
	Subject string
	// Suppression is the share of the records, 0 to 1, that a method which
	// generalizes all records alike (datafly, alpha-k-lattice) may set aside instead
	// of generalizing further. On a live table these are published nevertheless, each
	// in the class most similar to it: the first release is generalized less, and
	// nobody is hidden.
	Suppression float64
	// Updates says when changes become visible.
	Updates Updates
	// Reanonymize is the share by which the maintained release may lose more than a
	// fresh one, above 0, before all classes are made anew; 0 for never. Only for
	// immediate updates.
	Reanonymize float64
	// Summary is how the table's classes are summed up for questions about groups. It changes nothing of
	// what is published.
	Summary SummaryForm `json:",omitempty"`
	// Unpublishable makes no difference.
	Unpublishable Unpublishable
	// Joinable are columns that are published as they are although rows can be told
	// apart, or joined with those of other tables, by them: the operator acknowledges it.
	// It changes nothing of what is published.
	Joinable []string `json:",omitempty"`
	// Columns named here are published by their role; all others are not published.
	Columns []ColumnPolicy
	// Hidden are columns that the table's own readers do not see, and some audiences do. Constraints
	// hold for them as if all saw them.
	Hidden []string `json:",omitempty"`
	// Sealed says that the private store keeps the rows encrypted.
	Sealed bool `json:",omitempty"`
	// Viewers are the audiences that see a mirrored table, as it is: all of them.
	Viewers []AudiencePolicy `json:",omitempty"`
	// Audiences are those that see the table, in the order of Policy.Audiences.
	Audiences []AudiencePolicy `json:",omitempty"`
	// Audience is the one that the policy is for; see TablePolicy.For.
	Audience string `json:",omitempty"`
}

// Published is the relation that readers see in place of the table.
func (t TablePolicy) Published() Name { return PublishedFor(t.Audience, t.Table) }

// Column returns the policy of the named column.
func (t TablePolicy) Column(name string) (ColumnPolicy, bool) {
	for _, c := range t.Columns {
		if c.Name == name {
			return c, true
		}
	}
	return ColumnPolicy{}, false
}

// ByRole returns the policies of all columns with the role, in the policy's order.
func (t TablePolicy) ByRole(role Role) []ColumnPolicy {
	var columns []ColumnPolicy
	for _, c := range t.Columns {
		if c.Role == role {
			columns = append(columns, c)
		}
	}
	return columns
}

// ColumnPolicy is one column's role, and how a quasi-identifier is generalized.
type ColumnPolicy struct {
	Name string
	Role Role
	// Hierarchy generalizes a quasi-identifier, which needs one, and gives the
	// values of a sensitive column the order or the taxonomy by which t-closeness
	// measures distances. Nil where there is none. Its Domain is left to Publish,
	// which takes it from the column's type.
	Hierarchy *hierarchy.Spec
	Publish   Form // numeric and date quasi-identifiers only
	// Depth is that of hierarchy.Coarseness, for an audience.
	Depth int `json:",omitempty"`
}

// Form is how a generalized number or date is published.
type Form int

// The forms. The zero Form is FormBoth.
const (
	// FormBoth publishes the representative under the column's own name and type,
	// and the range beside it as <column>_range.
	FormBoth Form = iota
	// FormValue publishes the representative alone.
	FormValue
	// FormRange publishes the range alone, under the column's own name.
	FormRange
)

var formNames = []string{FormBoth: "both", FormValue: "value", FormRange: "range"}

// String is the form's name in a policy.
func (f Form) String() string {
	if f < 0 || int(f) >= len(formNames) {
		return fmt.Sprintf("Form(%d)", int(f))
	}
	return formNames[f]
}

// SummaryForm says where the summary of a table's classes (see Classes) is.
type SummaryForm int

// The choices.
const (
	SummaryView   SummaryForm = iota // a view of the packed rows
	SummaryStored                    // a table of its own, which also has sums of published numbers
)

var summaryNames = []string{SummaryView: "view", SummaryStored: "stored"}

// String is the choice's name in a policy.
func (s SummaryForm) String() string {
	if s < 0 || int(s) >= len(summaryNames) {
		return fmt.Sprintf("SummaryForm(%d)", int(s))
	}
	return summaryNames[s]
}

// Unpublishable says what readers get while the whole table cannot satisfy its constraints:
// an error in either case. Policies of earlier versions distinguish two.
type Unpublishable int

// The choices.
const (
	Withhold Unpublishable = iota // wait for more records
	Refuse                        // as Withhold; earlier versions published nothing of the table
)

var unpublishableNames = []string{Withhold: "withhold", Refuse: "refuse"}

// String is the choice's name in a policy.
func (u Unpublishable) String() string {
	if u < 0 || int(u) >= len(unpublishableNames) {
		return fmt.Sprintf("Unpublishable(%d)", int(u))
	}
	return unpublishableNames[u]
}
