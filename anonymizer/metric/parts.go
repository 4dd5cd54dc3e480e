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

// HighestOfParts is the greatest measure of a part, for risks: somebody who knows the
// attributes of one part looks into that one. Without parts it is 0.
func HighestOfParts(parts []anonymizer.Part, measure func(*anonymizer.Table, *anonymizer.Release) float64) float64 {
	highest := 0.0
	for _, p := range parts {
		highest = max(highest, measure(p.Table, p.Release))
	}
	return highest
}

// Joint is the release that a reader of all parts together sees: two records are in one class if
// they are in the same class of every part, so its classes can be far smaller than any part's and
// need not satisfy a constraint. What one part withholds is withheld. Classes are in the order of
// their first records. Time: records times parts.
func Joint(parts []anonymizer.Part) *anonymizer.Release {
	joint := &anonymizer.Release{}
	if len(parts) == 0 {
		return joint
	}
	const withheld = -1
	alike := make([]int, recordsOf(parts[0].Release)) // the number of each record's class
	for _, part := range parts {
		own := make([]int, len(alike))
		for _, i := range part.Release.Withheld {
			own[i] = withheld
		}
		for e, class := range part.Release.Classes {
			for _, i := range class {
				own[i] = e
			}
		}
		numbers := map[[2]int]int{}
		for i, before := range alike {
			if before == withheld || own[i] == withheld {
				alike[i] = withheld
				continue
			}
			key := [2]int{before, own[i]}
			number, known := numbers[key]
			if !known {
				number = len(numbers)
				numbers[key] = number
			}
			alike[i] = number
		}
		joint.Classes = make([]anonymizer.EquivalenceClass, len(numbers))
	}
	for i, number := range alike {
		if number == withheld {
			joint.Withheld = append(joint.Withheld, int32(i))
		} else {
			joint.Classes[number] = append(joint.Classes[number], int32(i))
		}
	}
	return joint
}

func recordsOf(r *anonymizer.Release) int {
	records := len(r.Withheld)
	for _, class := range r.Classes {
		records += len(class)
	}
	return records
}
