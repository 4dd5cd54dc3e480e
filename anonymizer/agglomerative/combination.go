package agglomerative

import "math"

// combination joins the dissimilarities of several attributes into one, after
// Li and Biswas 2002.
type combination struct {
	inverses []float64 // 1/m for each m below the number of attributes; [0] unused
	none     bool      // no attributes: all records are alike
}

func newCombination(attributes int) combination {
	c := combination{inverses: make([]float64, max(1, attributes)), none: attributes == 0}
	for m := 1; m < attributes; m++ {
		c.inverses[m] = 1 / float64(m)
	}
	return c
}

// dissimilarity is D = e^-h * sum of h^m/m! for m = 0 .. t-1, where h is half the
// chi-square of t attributes: the chance that a chi-square with 2t degrees of
// freedom exceeds it. Range 0 to 1.
func (c combination) dissimilarity(half float64) float64 {
	if c.none {
		return 0
	}
	if half > logarithmic {
		return c.byLogarithms(half)
	}
	sum := 1.0
	for m := len(c.inverses) - 1; m > 0; m-- {
		sum = 1 + half*c.inverses[m]*sum
	}
	return math.Exp(-half) * sum
}

// logarithmic is half a chi-square beyond which e^-h is near the end of what a
// float can hold, and the sum, of hundreds of attributes, beyond it.
const logarithmic = 600

func (c combination) byLogarithms(half float64) float64 {
	sum := 0.0
	for m := range c.inverses {
		factorial, _ := math.Lgamma(float64(m + 1))
		sum += math.Exp(float64(m)*math.Log(half) - half - factorial)
	}
	return min(1, sum)
}

// fisher is half the chi-square of one numeric attribute of dissimilarity d > 0.
func fisher(d float64) float64 { return -math.Log(min(1, d)) }

// lancaster is half the chi-square of one categorical attribute, after
// Lancaster's mean value: d > 0 is the dissimilarity, below the next smaller
// attainable one, 0 if there is none.
func lancaster(d, below float64) float64 {
	return 1 - (entropy(d)-entropy(below))/(d-below)
}

// entropy is x ln x, and 0 at 0.
func entropy(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(x)
}
