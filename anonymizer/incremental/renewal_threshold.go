package incremental

import "math"

// RenewalThreshold decides when a Renewal is worth its cost: when the maintained
// classes lose more than those last made afresh did, by a share. It looks at Loss
// after every hundredth of the records has changed, and so seldom that looking
// costs little compared with the changes.
//
// The loss of a release made afresh is only known for the records of that time. So
// a renewal first measures: where the new classes lose as much more as the
// maintained ones do, the records have become what they are, and nothing is to be
// adopted. And one is due once as many records have changed as there are, even if
// the maintained loss is low: the new records may allow a lower one.
//
// The zero value never asks for a renewal.
type RenewalThreshold struct {
	// Share is by how much more the maintained release may lose, as a share of what
	// one made afresh loses: 0.1 for a tenth. 0 or less is for never.
	Share float64

	fresh    float64 // loss of the classes last made afresh
	known    bool
	since    int // changes since that
	unlooked int // changes since Loss was looked at
}

// lookEvery is the part of the records after whose change Loss is looked at.
const lookEvery = 100

// Fresh notes the loss of classes that have just been made afresh, as by the first
// Settle of a table. Without it the first renewal is due with the first look, to
// find it out: a store does not tell how its classes would be made afresh.
func (t *RenewalThreshold) Fresh(loss float64) {
	t.fresh, t.known, t.since, t.unlooked = loss, true, 0, 0
}

// Changed counts changed records.
func (t *RenewalThreshold) Changed(records int) {
	t.since += records
	t.unlooked += records
}

// Due reports whether a renewal is to be begun.
func (t *RenewalThreshold) Due(p *Partition) bool {
	if !(t.Share > 0) || t.unlooked == 0 || t.unlooked < p.Len()/lookEvery {
		return false
	}
	t.unlooked = 0
	return !t.known || t.since >= max(1, p.Len()) || p.Loss() > (1+t.Share)*t.fresh
}

// Measured takes note of a renewal that has run and reports whether it is to be
// adopted.
func (t *RenewalThreshold) Measured(r *Renewal) bool {
	t.Fresh(r.Loss())
	return r.Before > (1+t.Share)*r.Loss()
}

// Failed takes note of a renewal that has not run to its end. The next one is due
// when as many records have changed as there are.
func (t *RenewalThreshold) Failed() { t.Fresh(math.Inf(1)) }
