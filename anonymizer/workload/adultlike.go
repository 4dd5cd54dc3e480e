package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// adultLike are the attributes of AdultLike: how many values each has, how fast
// their frequency falls from one to the next, and how much a value follows the
// record's age and education, 0 to 1.
var adultLike = []struct {
	name        string
	kind        hierarchy.Kind
	values      int
	decay       float64 // frequency of a value over that of the one before
	correlation float64
}{
	{"age", hierarchy.Numeric, 74, 0.965, 1},
	{"workclass", hierarchy.Categorical, 7, 0.3, 0.2},
	{"education-num", hierarchy.Numeric, 16, 0.72, 0.3},
	{"marital-status", hierarchy.Categorical, 7, 0.5, 0.5},
	{"occupation", hierarchy.Categorical, 14, 0.86, 0.4},
	{"race", hierarchy.Categorical, 5, 0.12, 0},
	{"sex", hierarchy.Categorical, 2, 0.48, 0},
	{"native-country", hierarchy.Categorical, 41, 0.45, 0.1},
}

// adultLikeFloor is the least share of the records that a value has, so that
// the rare ones occur as in the census.
const adultLikeFloor = 2e-4

// AdultLike makes a table like the Adult census data in the eight attributes of
// Adult, for any number of records: few values each, 74, 7, 16, 7, 14, 5, 2 and
// 41, of very different frequency, some of which go together. The same seed and
// number give the same.
func AdultLike(seed uint64, records int) *anonymizer.Table {
	random := rand.New(rand.NewPCG(seed, 2))
	attributes := make([]anonymizer.Attribute, len(adultLike))
	cells := make([][]hierarchy.Cell, len(adultLike))
	tables := make([][]float64, len(adultLike))
	codes := make([][]hierarchy.Cell, len(adultLike))
	for a, spec := range adultLike {
		domain := hierarchy.DomainText
		if spec.kind == hierarchy.Numeric {
			domain = hierarchy.DomainInteger
		}
		attributes[a] = Attribute(spec.name, hierarchy.Spec{Kind: spec.kind, Domain: domain})
		cells[a] = make([]hierarchy.Cell, records)
		tables[a] = cumulated(spec.values, spec.decay)
		for v := range spec.values {
			codes[a] = append(codes[a], attributes[a].Hierarchy.Encode(strconv.Itoa(v+1)))
		}
	}
	for i := range records {
		common := random.Float64()
		for a, spec := range adultLike {
			u := random.Float64()
			if spec.correlation > 0 && random.Float64() < spec.correlation {
				// Near to what the record's other values follow.
				u = min(max(common+0.2*(u-0.5), 0), math.Nextafter(1, 0))
			}
			v, _ := slices.BinarySearch(tables[a], u)
			cells[a][i] = codes[a][min(v, spec.values-1)]
		}
	}
	t, err := anonymizer.NewTable(attributes, cells, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// cumulated gives the shares of the records with at most each value.
func cumulated(values int, decay float64) []float64 {
	shares := make([]float64, values)
	sum, share := 0.0, 1.0
	for v := range shares {
		shares[v] = share
		sum += share
		share *= decay
	}
	total := 0.0
	for v := range shares {
		shares[v] = max(shares[v]/sum, adultLikeFloor)
		total += shares[v]
		shares[v] = total
	}
	for v := range shares {
		shares[v] /= total
	}
	return shares
}
