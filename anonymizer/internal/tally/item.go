package tally

// Item is what has one weight, such as the rows of a class.
type Item[T any] struct {
	Of T // what it is the weight of

	level
	number     int64
	group      *group[T] // nil where there is none
	known      bool      // whose its rows are among those of others
	rows       int
	weight     float64
	counted    sum // in the table's sums
	countedOut int
}

// Weight is what is published of an item.
func (i *Item[T]) Weight() Weight { return Weight{Share: i.weight, Told: i.told} }
