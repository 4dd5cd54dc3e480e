package processes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/internal/state"
)

// maxAnswerBytes bounds the texts in one answer, in bytes as they are sent. A notification has
// fewer than 8000 (PostgreSQL, chapter NOTIFY), and the other parts of an answer take less than
// the rest. Servers whose encoding is not UTF-8 count a third more.
const maxAnswerBytes = 4500

// room is the number of bytes left.
type room int

// take reports whether there is room for a text, and reserves it. In JSON, some characters take
// six bytes, such as < and >.
func (r *room) take(text string) bool {
	written, err := json.Marshal(text)
	if n := room(len(written) + len(",")); err == nil && n <= *r {
		*r -= n
		return true
	}
	return false
}

// fitting returns the first names for which there is room.
func (r *room) fitting(names []string) []string {
	for i, name := range names {
		if !r.take(name) {
			return names[:i]
		}
	}
	return names
}

// fitting returns the answer, shortened to what a notification can hold. What keeps everything from
// being served comes first.
func (c Clients) fitting() Clients {
	left := room(maxAnswerBytes)
	if c.Refusal != nil {
		told := *c.Refusal
		told.Why, told.Fix = left.beginning(told.Why), left.beginning(told.Fix)
		c.Refusal = &told
	}
	c.Problem, c.Fix, c.Refused = left.beginning(c.Problem), left.beginning(c.Fix), left.beginning(c.Refused)
	all := c.Work
	c.Work = make(map[string]*state.Work)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text, err := json.Marshal(all[name])
		if n := room(len(text)); err != nil || n > left/2 || !left.take(name) {
			continue
		} else {
			left -= n
		}
		c.Work[name] = all[name]
	}
	c.Unserved = left.fitting(c.Unserved)
	return c
}

// counted returns the first names for which there is room, and the number of the others.
func (r *room) counted(names []string) []string {
	told := r.fitting(names)
	if more := len(names) - len(told); more > 0 {
		told = append(slices.Clip(told), fmt.Sprintf("and %d more", more))
	}
	return told
}

// beginning returns a text, or as much of its beginning as there is room for.
func (r *room) beginning(text string) string {
	text = strings.ToValidUTF8(text, "?")
	if text == "" || r.take(text) {
		return text
	}
	for i, character := range text {
		written, _ := json.Marshal(string(character)) // texts can be written
		if *r -= room(len(written) - len(`""`)); *r < 0 {
			return text[:i] + " ... (the log has all of it)"
		}
	}
	return text
}

// fitting returns the answer, shortened to what a notification can hold.
func (a Answer) fitting() Answer {
	left := room(maxAnswerBytes)
	a.Refused = left.beginning(a.Refused)
	a.Added, a.Changed, a.Removed = left.counted(a.Added), left.counted(a.Changed), left.counted(a.Removed)
	return a
}
