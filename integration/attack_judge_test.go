package integration

import (
	"fmt"
	"slices"
	"strings"
)

// judge says what is wrong with what came for an attack. Canaries count whatever
// the manner; the expectation counts where the manner leaves the attack as it is.
func (m manner) judge(a attack, answers []answer, received []byte, secret canaries) []string {
	var wrong []string
	if kinds := secret.kinds(received, a.sent()); kinds != nil {
		wrong = append(wrong, fmt.Sprintf("shows %s", strings.Join(kinds, ", ")))
	}
	for _, answer := range answers {
		internal := func(e string) bool { return strings.HasPrefix(e, "XX") && !slices.Contains(a.classes, "XX") }
		if slices.ContainsFunc(answer.errs, internal) {
			wrong = append(wrong, fmt.Sprintf("an internal error: %q", answer.errs))
		}
	}
	if len(answers) == 0 || a.either || a.several() && !m.whole {
		return wrong
	}
	last := answers[len(answers)-1]
	switch {
	case len(a.classes) == 0 && m.strict && !m.binary && len(last.errs) > 0:
		wrong = append(wrong, fmt.Sprintf("fails: %q", last.errs))
	case len(a.classes) > 0 && (m.strict || m.runs && len(a.steps) == 1) && len(last.errs) == 0:
		wrong = append(wrong, fmt.Sprintf("is answered with %d rows", last.rows))
	case len(a.classes) > 0 && m.strict && !slices.Contains(a.classes, last.errs[0][:2]):
		wrong = append(wrong, fmt.Sprintf("is refused otherwise: %q", last.errs))
	case len(a.classes) > 0 && m.strict && !a.several() && last.rows > 0:
		wrong = append(wrong, fmt.Sprintf("is answered with %d rows before it is refused", last.rows))
	}
	return wrong
}
