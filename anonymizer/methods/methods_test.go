package methods_test

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer/methods"
)

func TestNamed(t *testing.T) {
	t.Parallel()
	for _, name := range methods.Names() {
		if m, err := methods.Named(name); err != nil || m.Name() != name {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	if _, err := methods.Named("nothing"); err == nil {
		t.Error("a method named nothing")
	}
}
