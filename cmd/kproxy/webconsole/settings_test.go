package webconsole

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/cmd/kproxy/settings"
	"github.com/kproxy/kproxy/internal/config"
)

// TestEverySettingIsShown: the page has a place for each key that the schema of the configuration knows, set or
// not, but for the tables' policies, which stand on their own pages.
func TestEverySettingIsShown(t *testing.T) {
	t.Parallel()
	text, err := config.Schema("", config.Describe())
	if err != nil {
		t.Fatal(err)
	}
	var schema node
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	shown := make(map[string]bool)
	for _, section := range listSettings(consoleConfig(t)) {
		for _, s := range section.Settings {
			path := s.Key
			switch section.Name {
			case "general", "readable and functions":
			default:
				path = settings.Within(section.Name, s.Key)
			}
			for ; path != ""; path, _ = cutLast(path) {
				shown[strings.TrimRight(path, " 0123456789")] = true
			}
		}
	}
	for _, path := range schema.paths("") {
		if strings.HasSuffix(path, ".password_env") || strings.HasSuffix(path, ".password_file") {
			path, _ = cutLast(path)
			path += ".password" // where it came from
		}
		if !shown[path] {
			t.Errorf("%s is not on the page", path)
		}
	}
}

// paths are those of all keys below a node, but for policies.
func (n node) paths(before string) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(n.Properties)) {
		if before == "" && (key == "tables" || key == "people" || key == "mirrored") {
			continue
		}
		path := settings.Within(before, key)
		all = append(append(all, path), n.Properties[key].paths(path)...)
	}
	return all
}

// node is a part of a JSON schema.
type node struct {
	Properties map[string]node
}

// cutLast takes the last part off a path.
func cutLast(path string) (before string, found bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", false
	}
	return path[:i], true
}
