package visible

import (
	"fmt"
	"strings"
	"testing"
)

func TestTurningCharactersAreEscaped(t *testing.T) {
	t.Parallel()
	const name = "pat\u202estneit\u2069 \u05e9\u05dc\u05d5\u05dd"
	const want = `pat\u202estneit\u2069 ` + "\u05e9\u05dc\u05d5\u05dd" // letters stay
	if got := Text(name); got != want {
		t.Errorf("got %q", got)
	}
	var b strings.Builder
	if n, err := fmt.Fprintf(Writer(&b), "a %s", name); n != len("a "+name) || err != nil || b.String() != "a "+want {
		t.Errorf("%d, %v, %q", n, err, b.String())
	}
	page := `<p title="` + name + `">` + name + `</p>` + name
	if got := HTML(page); got != `<p title="`+name+`">`+want+`</p>`+want {
		t.Errorf("got %q", got)
	}
	if got := HTML("<p>a &lt; b</p>"); got != "<p>a &lt; b</p>" {
		t.Errorf("got %q", got)
	}
}
