package metric

import (
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Merged is the release as its readers see it: classes that publish the same
// (Hierarchy.Generalize in every attribute) are one, since nothing tells their rows
// apart. Class sizes, Discernibility and risks are of a published release only after it.
//
// Shown is what readers see of a generalization of the attribute of that index; nil
// stands for all of it. The levels of a release are left out: what is merged publishes
// what its members cover. Merging changes no loss where all is shown, because classes
// that publish the same publish it together, too. Classes are in the order of the first
// ones of each, and share no memory with the release where they are merged. Time:
// records times attributes.
func Merged(t *anonymizer.Table, r *anonymizer.Release, shown func(attribute int, g hierarchy.Generalization) string) *anonymizer.Release {
	if shown == nil {
		shown = func(_ int, g hierarchy.Generalization) string { return Shown(g) }
	}
	merged := &anonymizer.Release{Withheld: r.Withheld}
	places := make(map[string]int, len(r.Classes))
	var key strings.Builder
	for _, class := range r.Classes {
		key.Reset()
		for a, g := range t.Generalize(class) {
			text := shown(a, g)
			key.WriteString(strconv.Itoa(len(text)))
			key.WriteByte(':')
			key.WriteString(text)
		}
		place, known := places[key.String()]
		if !known {
			places[key.String()] = len(merged.Classes)
			merged.Classes = append(merged.Classes, class[:len(class):len(class)])
			continue
		}
		merged.Classes[place] = append(merged.Classes[place], class...)
	}
	return merged
}

// Shown is a generalization as a text that no other one has.
func Shown(g hierarchy.Generalization) string {
	if g.Hidden {
		return "hidden"
	}
	return "=" + g.Value + "\x00" + g.Lower + "\x00" + g.Upper
}
