package partition

// sizing gives the sizes of the left part that are tried for a cut.
type sizing struct {
	least int // records of a class
	unit  int // records of a usual class: more than least where persons have several
	most  int // about how many sizes others gives: few where trying one takes long
}

// newSizing is for classes of at least k of the persons that the records are
// about, each record another one where there are as many.
func newSizing(k, records, persons int) sizing {
	s := sizing{least: k, unit: k, most: 128}
	if persons < records {
		s.unit = int(int64(k) * int64(records) / int64(persons))
		s.most = 8
	}
	return s
}

// rounded are those of the paper, for a class of n >= 2*least records.
func (s sizing) rounded(n int) []int {
	if n < 2*s.unit {
		return []int{n / 2}
	}
	return roundedParts(n, s.unit)
}

// fewUnits is how many units a class has at the most for which sizes all over it
// are tried.
const fewUnits = 20

// others are those within a unit of the lesser rounded size, and for a small
// class all there are. Some sizes suit frequencies better than others: of 8
// records two can have the same value where a quarter can, of 10 no more.
func (s sizing) others(n int) []int {
	from, to := s.least, n-s.least
	if n >= fewUnits*s.unit {
		lesser, _ := roundedSizes(n, s.unit)
		from, to = max(from, lesser-s.unit), min(to, lesser+s.unit)
	}
	var sizes []int
	for size := from; size <= to; size += 1 + (to-from)/s.most {
		sizes = append(sizes, size)
	}
	return sizes
}
