package metamorphic

import "slices"

// ofSettings shows every setting that the server has, and some that are none.
func (f facts) ofSettings() []observable {
	all := []observable{one("setting", simple, "SHOW ALL")}
	for _, name := range slices.Concat(f.settings, []string{"kproxy.hidden", "session_authorization", "transaction_isolation", "no_such_setting"}) {
		all = append(all, one("setting", simple, "SHOW "+quoted(name)),
			one("setting", simple, "SELECT current_setting("+literal(name)+")"),
			one("setting", simple, "SELECT current_setting("+literal(name)+", true)"),
			one("setting", simple, "SELECT * FROM pg_settings WHERE name = "+literal(name)),
			observable{
				family: "setting", name: "SET, RESET of " + name, leaves: true,
				texts: []string{"SET " + quoted(name) + " TO DEFAULT", "SHOW " + quoted(name), "RESET " + quoted(name), "SET LOCAL " + quoted(name) + " = 'x'"},
			})
	}
	return all
}
