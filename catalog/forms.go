package catalog

// TextForms are settings by which the server writes values and definitions as texts in one form, and reads them so,
// whatever the database or the role has set (PostgreSQL, chapter "Client Connection Defaults"). What one session writes is read by
// kproxy and by other sessions, of another database, too. Not to be changed.
var TextForms = map[string]string{
	"search_path":                 "pg_catalog",
	"datestyle":                   "ISO, YMD",
	"intervalstyle":               "postgres",
	"extra_float_digits":          "1",
	"bytea_output":                "hex",
	"standard_conforming_strings": "on",
	"quote_all_identifiers":       "off",
}
