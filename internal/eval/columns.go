package eval

import (
	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/internal/dataset"
)

// ColumnLoss is what becomes of one quasi-identifying column in a live table.
type ColumnLoss struct {
	Column string `json:"column"`
	// Loss is metric.PublishedLoss of the column alone, 0 to 1: its normalized certainty
	// penalty.
	Loss float64 `json:"information_loss"`
	// Suppressed is the share of the records, 0 to 1, whose value is not published in the
	// column: "*", no value, or a withheld record. NULL that is published as NULL counts.
	Suppressed float64 `json:"suppressed"`
}

// Reached is what the classes tell at most of one sensitive column that constraints
// speak of. Where the table has subjects it counts persons.
type Reached struct {
	Column string `json:"column"`
	// Values is the least number of different values in a class.
	Values int `json:"distinct_values"`
	// Share is the greatest share of a class, 0 to 1, that has the same value.
	Share float64 `json:"highest_share"`
	// Closeness is the greatest distance, 0 to 1, between the values of a class and those
	// of the whole table, all values being equally far from each other: t of t-closeness.
	Closeness float64 `json:"closeness"`
}

// columnLosses are those of all parts, in the order of the table's attributes.
func columnLosses(t *dataset.Table, parts []anonymizer.Part) []ColumnLoss {
	losses := make([]ColumnLoss, len(t.Records.Attributes()))
	for _, part := range parts {
		for i, attribute := range part.Attributes {
			alone := part.Table.Project([]int{i})
			losses[attribute] = ColumnLoss{
				Column: t.Records.Attributes()[attribute].Name, Loss: metric.PublishedLoss(alone, part.Release),
				Suppressed: suppressed(alone, part.Release),
			}
		}
	}
	return losses
}

// suppressed is the share of the records whose value in the only column is not published.
func suppressed(t *anonymizer.Table, r *anonymizer.Release) float64 {
	silent := len(r.Withheld)
	for _, class := range r.Classes {
		if g := t.Generalize(class)[0]; g.Hidden || g.Value == hierarchy.Root {
			silent += len(class)
		}
	}
	return float64(silent) / float64(max(1, t.Len()))
}

// reached looks at every class of every part, since each can be looked at alone.
func reached(t *dataset.Table, parts []anonymizer.Part) []Reached {
	all := make([]Reached, len(t.Schema.Sensitive))
	for s, sensitive := range t.Schema.Sensitive {
		all[s].Column = sensitive.Name
		distance := privacy.TCloseness{Attribute: s, Name: sensitive.Name, Distance: privacy.EqualDistance}
		for _, part := range parts {
			population := part.Table.Population()
			for _, class := range part.Release.Classes {
				all[s].include(part.Table.Summarize(class), s, distance, population)
			}
		}
	}
	return all
}

func (r *Reached) include(class privacy.Summary, attribute int, distance privacy.TCloseness, population *privacy.Population) {
	if r.Values == 0 || len(class.Sensitive[attribute]) < r.Values {
		r.Values = len(class.Sensitive[attribute])
	}
	for _, n := range class.Sensitive[attribute] {
		r.Share = max(r.Share, float64(n)/float64(max(1, class.Records)))
	}
	if d, ok := distance.DistanceOf(class, population); ok {
		r.Closeness = max(r.Closeness, d)
	}
}
