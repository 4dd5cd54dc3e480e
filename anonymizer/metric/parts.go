package metric

import "github.com/kproxy/kproxy/anonymizer"

// MeanOfParts is a measure of a table that has been anonymized in parts: the
// mean over its parts, weighted by their numbers of attributes. It is meant for
// measures that are means over records and attributes (GCP, TaxonomyGCP,
// Precision), of which it is the mean over all records and all attributes. Range
// and direction are the measure's. Without parts it is 0.
func MeanOfParts(parts []anonymizer.Part, measure func(*anonymizer.Table, *anonymizer.Release) float64) float64 {
	sum, weights := 0.0, 0.0
	for _, p := range parts {
		weight := float64(max(1, len(p.Attributes)))
		sum += weight * measure(p.Table, p.Release)
		weights += weight
	}
	return sum / max(1, weights)
}

// HighestOfParts is the greatest measure of a part, for risks: who knows the
// attributes of one part looks into that one. Without parts it is 0.
func HighestOfParts(parts []anonymizer.Part, measure func(*anonymizer.Table, *anonymizer.Release) float64) float64 {
	highest := 0.0
	for _, p := range parts {
		highest = max(highest, measure(p.Table, p.Release))
	}
	return highest
}
