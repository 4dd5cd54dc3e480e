package catalog

import (
	"slices"
	"strings"
)

// passedThrough are the system relations that say nothing about the database.
var passedThrough = map[string]string{
	"pg_catalog": "pg_timezone_abbrevs pg_timezone_names",
	informationSchema: `administrable_role_authorizations applicable_roles enabled_roles
		sql_features sql_implementation_info sql_parts sql_sizing`,
}

var systemTargets = func() map[Name]Name {
	targets := make(map[Name]Name)
	for schema, relations := range passedThrough {
		for relation := range strings.FieldsSeq(relations) {
			name := Name{schema, relation}
			targets[name] = name
		}
	}
	for _, s := range StandIns() {
		targets[s.Of] = s.Name()
	}
	return targets
}()

func isSystem(schema string) bool {
	return slices.Contains([]string{"pg_catalog", "information_schema", "pg_toast"}, schema) ||
		strings.HasPrefix(schema, "pg_temp") || strings.HasPrefix(schema, "pg_toast_temp")
}

// resolveSystem resolves a name in a system schema. A relation that is neither
// passed through nor stood in for is Forbidden where its name is one of the
// system's, so that the refusal can say so.
func resolveSystem(name Name) Resolution {
	if target, ok := systemTargets[name]; ok {
		return Resolution{Disposition: SystemCatalog, Source: name, Target: target}
	}
	if name.Schema != "pg_catalog" || strings.HasPrefix(name.Relation, "pg_") {
		return Resolution{Disposition: Forbidden, Source: name}
	}
	return Resolution{Disposition: Missing, Source: name}
}
