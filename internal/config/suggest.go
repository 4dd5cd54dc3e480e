package config

import "strings"

// suggestion is the word that was probably meant, or all that there are.
func suggestion(word string, known []string, introduction string) string {
	if near := nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return introduction + " " + strings.Join(known, ", ")
}

// nearest is the known word that is at most a third of its length in single
// edits away; empty when there is none.
func nearest(word string, known []string) string {
	const longest = 64
	if len(word) > longest {
		return ""
	}
	word = strings.ToLower(word)
	best, distance := "", longest
	for _, k := range known {
		if d := edits(word, k); d < distance && d < len(k) && d <= (len(k)+2)/3 {
			best, distance = k, d
		}
	}
	return best
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
