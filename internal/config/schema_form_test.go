package config

import (
	"strings"
	"testing"
)

// TestSchemaAndReaderAgreeOnForms writes texts that have a form, right and wrong, into places of
// a configuration: both take it, or both refuse it.
func TestSchemaAndReaderAgreeOnForms(t *testing.T) {
	t.Parallel()
	schema := compile(t, Describe())
	const whole = `listen: 127.0.0.1:6432
slot: SLOT
upstream:
  owner: {host: db, database: d, user: o, password_env: VARIABLE}
  reader: {user: r}
users:
  - {name: ann, verifier: "VERIFIER"}
tables:
  TABLE:
    updates: immediate
    method: datafly
    suppression: SHARE
    columns: {id: identifying, town: {role: quasi-identifying, hierarchy: {kind: suppression}}}
    constraints: [{k: 5}]
readable: [OTHER]
`
	good := map[string]string{
		"SLOT": "kproxy", "VARIABLE": "SECRET", "TABLE": "public.t", "OTHER": "public.u", "SHARE": "2%",
		"VERIFIER": "SCRAM-SHA-256$4096:ZXhhbXBsZSBzYWx0IDE2Yg==$Tm8gcGFzc3dvcmQgZml0cyB0aGlzIHZlcmlmaWVyLiA=:TWFrZSBvbmUgd2l0aDoga3Byb3h5IHBhc3N3b3JkLiA=",
	}
	try := func(place, text string) (taken bool) {
		filled := whole
		for name, value := range good {
			if name == place {
				value = text
			}
			filled = strings.ReplaceAll(filled, name, value)
		}
		root, ok := document(t, []byte(filled))
		if !ok {
			t.Fatalf("%s %s is not read", place, text)
		}
		wrong := schema.Validate(jsonValue(root))
		_, err := Parse("c.yaml", []byte(filled))
		if (wrong == nil) != (err == nil) {
			t.Errorf("%s %s: the schema says %v, the reader says %v", place, text, wrong, err)
		}
		return err == nil
	}
	for place, text := range good {
		if !try(place, text) {
			t.Errorf("%s %s is refused", place, text)
		}
	}
	for place, texts := range map[string]struct{ good, bad []string }{
		"SHARE":    {[]string{"0%", "007.50%", "99.99%", "100%", "100.0%", "0.4", "1"}, []string{"400%", "101%", "100.01%", "-1%", "4", "a few"}},
		"VERIFIER": {nil, []string{"pässwörd", "secret", "7", "SCRAM-SHA-256$4096:x$y:z", "md5e3b0c44298fc1c149afbf4c8996fb924"}},
		"SLOT":     {[]string{"k_1", "7"}, []string{"K", "a-b", "a b", "2.5"}},
		"VARIABLE": {[]string{"A_1"}, []string{"a", "1A", "7", "hunter2!"}},
		"TABLE": {
			[]string{"t", "s.t", "'T'", `'public."we.ird ""t"'`, `'"a.b".c'`, "7", "s.a table"},
			[]string{"a.b.c", `'s."t'`, `'s."t"u'`, `'a"b'`, "s.", ".t", "pg_catalog.pg_class", "information_schema.tables", "kproxy_store.position", `'"pg_x".t'`},
		},
		"OTHER": {[]string{"u", `'"u"'`, `'s."a.b"'`}, []string{"a.b.c", "pg_catalog.pg_class", `'s."t'`}},
	} {
		for _, text := range texts.good {
			if !try(place, text) {
				t.Errorf("%s %s is refused", place, text)
			}
		}
		for _, text := range texts.bad {
			if try(place, text) {
				t.Errorf("%s %s is taken", place, text)
			}
		}
	}
}
