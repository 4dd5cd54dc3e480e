package request

import (
	"errors"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// Whoever names a table that is not protected is told which are.
func TestWishesForNoTable(t *testing.T) {
	t.Parallel()
	policy := catalog.Policy{Tables: []catalog.TablePolicy{
		{Table: catalog.ParseName("public.people")}, {Table: catalog.ParseName("hr.staff")},
	}}
	named := []catalog.Name{catalog.ParseName("nowhere")}
	_, wished := Tables(policy, named)
	_, renewed := renewable(policy, named)
	for _, err := range []error{wished, renewed} {
		var unknown *noTableError
		if !errors.As(err, &unknown) || unknown.Code() != "missing" || !strings.Contains(err.Error(), "public.nowhere") ||
			!strings.Contains(err.Error(), "public.people, hr.staff") || unknown.Hint() == "" {
			t.Errorf("got %v", err)
		}
	}
	if all, err := Tables(policy, nil); err != nil || len(all) != 2 {
		t.Errorf("all are %v, %v", all, err)
	}
}
