package incremental

import (
	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// scale measures what classes lose, one measure for each attribute over what the
// attribute's values cover.
type scale []func(least, greatest float64) float64

func newScale(attributes []anonymizer.Attribute, domain []extent) scale {
	s := make(scale, len(attributes))
	for a, attribute := range attributes {
		s[a] = hierarchy.Coverage(attribute.Hierarchy, domain[a].low, domain[a].high)
	}
	return s
}

// of is the loss of one value of an attribute in a class that covers so much.
func (s scale) of(attribute int, e extent) float64 {
	if e.low == hiddenAt {
		return 1
	}
	return s[attribute](e.low, e.high)
}

// lossSum adds up the loss of records, class by class.
type lossSum struct {
	sum     float64
	records int
}

// add counts the records of a class that loses so much over all attributes.
func (l *lossSum) add(records int, loss float64) {
	l.sum += float64(records) * loss
	l.records += records
}

// mean is the loss of one value, 0 without any.
func (l *lossSum) mean(attributes int) float64 {
	if l.records == 0 || attributes == 0 {
		return 0
	}
	return l.sum / float64(l.records*attributes)
}

// Loss is the share of the information that the classes lose to readers: the mean
// over all records and attributes of hierarchy.Coverage of what the record's class
// covers. A class that hides an attribute, since a member is off the scale, loses
// 1 there, and a withheld record loses 1. This is the global certainty penalty of
// Ghinita et al. 2009 in its form for taxonomies (metric.TaxonomyGCP), but that
// hidden values and fixed intervals count as they are published, over all values seen
// since the last Truncate.
//
// Range 0 to 1; lower is better; 0 without records or attributes. After a Settle it
// is exact. Time: classes times attributes; records are not looked at.
func (p *Partition) Loss() float64 {
	s, total := newScale(p.members.attributes, p.domain), lossSum{}
	for index := range p.members.classes.list {
		loss := 0.0
		for a := range p.members.attributes {
			loss += s.of(a, p.members.classes.cover(int32(index), a))
		}
		total.add(len(p.members.classes.list[index].members), loss)
	}
	total.add(len(p.members.waiting), float64(len(p.members.attributes)))
	return total.mean(len(p.members.attributes))
}
