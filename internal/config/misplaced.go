package config

import (
	"strings"
	"sync"
)

// homes are the sections of keys, by the keys' names: those that are in one section only.
var (
	homes     map[string]string
	homesOnce sync.Once
)

// placeOf says where an unknown key belongs: to another section that has one of that name,
// or it is a key of this section misspelled.
func placeOf(name string, keys []string) string {
	homesOnce.Do(func() { homes = sections() })
	if home := homes[name]; home != "" && nearest(name, keys) == "" {
		return "write it under " + home + ":"
	}
	return suggestion(name, keys, "the keys are")
}

// sections finds the one section of each key that only one has.
func sections() map[string]string {
	found := make(map[string]string)
	several := make(map[string]bool)
	Describe().Paths(func(path string, k Key) {
		above := strings.TrimSuffix(strings.TrimSuffix(path, k.Name), ".")
		if earlier, twice := found[k.Name]; twice && earlier != above {
			several[k.Name] = true
		}
		found[k.Name] = above
	})
	for name, home := range found {
		// Below names and lists nobody expects a key that stands elsewhere.
		if several[name] || strings.ContainsAny(home, "*[") {
			delete(found, name)
		}
	}
	return found
}
