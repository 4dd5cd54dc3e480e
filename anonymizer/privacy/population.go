package privacy

import "sync"

// Population is the distribution of the sensitive values over the whole table,
// with which some constraints compare a class. It is safe for concurrent use.
type Population struct {
	Summary
	mutex   sync.Mutex
	grounds map[groundKey]func() *ground
}

// groundKey says which constraints share a ground.
type groundKey struct {
	attribute int
	distance  Distance
	scale     *Scale
}

// NewPopulation takes the summary of all records of a table, which must not
// change any more.
func NewPopulation(all Summary) *Population { return &Population{Summary: all} }

// ground lays the distribution out for the constraint's distance, at the first
// time in O(m log m) for m distinct values. The attribute exists.
func (p *Population) ground(c TCloseness) *ground {
	key := groundKey{c.Attribute, c.Distance, c.Scale}
	p.mutex.Lock()
	lay, known := p.grounds[key]
	if !known {
		lay = sync.OnceValue(func() *ground { return newGround(c, p.Sensitive[c.Attribute]) })
		if p.grounds == nil {
			p.grounds = map[groundKey]func() *ground{}
		}
		p.grounds[key] = lay
	}
	p.mutex.Unlock()
	return lay()
}
