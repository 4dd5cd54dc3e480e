package catalog

// TextForms are settings under which the server writes and reads values and definitions in one text form, whatever the
// database or the role has set (PostgreSQL, chapter "Client Connection Defaults"). kproxy and sessions in other
// databases read what one session writes. Callers must not change the map.
var TextForms = map[string]string{
	"search_path":                 "pg_catalog",
	"datestyle":                   "ISO, YMD",
	"intervalstyle":               "postgres",
	"extra_float_digits":          "1",
	"bytea_output":                "hex",
	"standard_conforming_strings": "on",
	"quote_all_identifiers":       "off",
}
