package hospital

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// cities are the towns that patients come from. Towns of one region share the
// first digit of the postcode, districts of a town the first three.
var cities = []struct {
	prefix    int     // the first three digits
	districts int     // how many of the 100 codes are in use
	share     float64 // of the patients
}{
	{101, 70, 20},
	{102, 60, 13},
	{107, 25, 5},
	{112, 12, 2},
	{118, 8, 1.5},
	{205, 60, 14},
	{206, 30, 5},
	{214, 20, 3},
	{227, 8, 1.5},
	{301, 45, 8},
	{309, 15, 2.5},
	{333, 6, 1},
	{410, 35, 6},
	{412, 15, 2},
	{450, 8, 1},
	{507, 30, 5},
	{521, 12, 1.5},
	{588, 5, 0.5},
	{640, 20, 3},
	{701, 15, 2},
	{736, 6, 0.7},
	{802, 10, 1.1},
	{915, 5, 0.7},
}

var cityShares = func() weighted {
	shares := make([]float64, len(cities))
	for i, c := range cities {
		shares[i] = c.share
	}
	return newWeighted(shares)
}()

// postcode draws a town and one of its districts; low districts are the
// center, where more people live.
func postcode(rng *rand.Rand) string {
	c := cities[cityShares.draw(rng)]
	district := int(float64(c.districts) * math.Pow(rng.Float64(), 1.7))
	return fmt.Sprintf("%03d%02d", c.prefix, district)
}
