package explain

import (
	"testing"

	"github.com/kproxy/kproxy/internal/config"
)

const hidingConfig = `upstream:
  owner: {host: h, database: d, user: o}
  reader: {user: r}
  readers:
    partner: {user: p}
    press: {user: q}
users:
  - {name: ann, verifier: 'SCRAM-SHA-256$4096:ZXhhbXBsZSBzYWx0IDE2Yg==$Tm8gcGFzc3dvcmQgZml0cyB0aGlzIHZlcmlmaWVyLiA=:TWFrZSBvbmUgd2l0aDoga3Byb3h5IHBhc3N3b3JkLiA='}
  - {name: eve, reader: partner, verifier: 'SCRAM-SHA-256$4096:ZXhhbXBsZSBzYWx0IDE2Yg==$Tm8gcGFzc3dvcmQgZml0cyB0aGlzIHZlcmlmaWVyLiA=:TWFrZSBvbmUgd2l0aDoga3Byb3h5IHBhc3N3b3JkLiA='}
  - {name: zoe, reader: press, verifier: 'SCRAM-SHA-256$4096:ZXhhbXBsZSBzYWx0IDE2Yg==$Tm8gcGFzc3dvcmQgZml0cyB0aGlzIHZlcmlmaWVyLiA=:TWFrZSBvbmUgd2l0aDoga3Byb3h5IHBhc3N3b3JkLiA='}
tables:
  public.t:
    updates: immediate
    constraints: [{k: 5}]
    hide: [cost]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric, publish: range}
      diagnosis: sensitive
      cost: sensitive
  public.persons:
    columns: {born: {role: quasi-identifying, hierarchy: date}}
  public.stays:
    columns: {day: {role: quasi-identifying, hierarchy: date}, unit: sensitive}
people:
  person:
    root: public.persons
    key: id
    knows: {rows: 1, per: 1y}
    updates: immediate
    tables: {public.stays: {person: person_id, order: day}}
    constraints: [{k: 5}]
audiences:
  partners:
    readers: partner
    tables:
      public.t:
        constraints: [{k: 25}]
        hide: [diagnosis]
    people:
      person:
        constraints: [{k: 25}]
        hide: [public.stays.unit]
  press:
    readers: press
    tables:
      public.t:
        constraints: [{k: 50}]
        show: [cost]
`

// TestWhyAColumnIsHidden names what hides a column from the user: the audience, or the table.
func TestWhyAColumnIsHidden(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("k.yaml", []byte(hidingConfig))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ user, table, column, want string }{
		{"eve", "public.t", "diagnosis", "column diagnosis of public.t is hidden from audience partners: see hide (k.yaml:38)"},
		{"eve", "public.t", "cost", "column cost of public.t is hidden from audience partners: see hide (k.yaml:15)"},
		{"eve", "public.t", "age", "column age of public.t is published in another form: see publish (k.yaml:17)"},
		{"eve", "public.stays", "unit", "column unit of public.stays is hidden from audience partners: see hide (k.yaml:42)"},
		{"ann", "public.t", "cost", "column cost of public.t is hidden from the table's own readers: see hide (k.yaml:15)"},
		{"ann", "public.t", "diagnosis", "column diagnosis of public.t is published in another form: see publish (k.yaml:18)"},
		{"zoe", "public.t", "cost", "column cost of public.t is published in another form: see publish (k.yaml:19)"},
	} {
		e := explainer{config: c, options: Options{User: test.user}}
		if got := e.whyColumn(test.column, []string{test.table}); got != test.want {
			t.Errorf("%s: got %q, want %q", test.user, got, test.want)
		}
	}
}
