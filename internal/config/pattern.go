package config

import (
	"regexp"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// pattern says of the texts of a form what a schema can: editors then find the mistakes that
// the reader refuses. Regular expressions are written as Go and JavaScript both read them.
type pattern struct {
	match string
	not   string // "" = none
}

// patterns are those of forms that formOf knows, where a regular expression says enough.
var patterns = map[string]pattern{
	"verifier":  {match: `^SCRAM-SHA-256\$[1-9][0-9]{3,7}:[A-Za-z0-9+/]+={0,2}\$[A-Za-z0-9+/]{43}=:[A-Za-z0-9+/]{43}=$`},
	"audience":  {match: catalog.AudienceName},
	"slot":      {match: slotName.String()},
	"variable":  {match: variableName.String()},
	"file mode": {match: octalMode.String()},
	"table":     {match: namePattern(""), not: reservedPattern()},
	"function":  {match: namePattern("()"), not: reservedPattern()},
}

// The patterns of shares, as numbers are between 0 and 1.
const (
	sharePattern     = `^(0*([0-9]{1,2}(\.[0-9]+)?|100(\.0+)?)|-0+(\.0+)?)%$`
	zeroSharePattern = `^-?0+(\.0+)?%$`
)

// namePattern is that of names of one or two parts, as catalog.ParseName reads them, without some
// characters.
func namePattern(without string) string {
	without = regexp.QuoteMeta(without) + `\x00-\x1f\x7f-\x9f`
	part := `([^".` + without + `]+|"([^"` + without + `]|"")+")`
	return `^` + part + `(\.` + part + `)?$`
}

// reservedPattern is that of names in schemas of PostgreSQL and of kproxy.
func reservedPattern() string {
	own := strings.Join([]string{catalog.StoreSchema, catalog.CatalogSchema, catalog.HelperSchema, "information_schema"}, "|")
	within := `((pg_|` + catalog.ReleaseSchemaPattern + `)([^".]|REST)*|` + own + `)`
	bare := strings.ReplaceAll(within, "|REST", "")
	quoted := strings.ReplaceAll(strings.ReplaceAll(within, `[^".]`, `[^"]`), "REST", `""`)
	return `^(` + bare + `|"` + quoted + `")\.`
}
