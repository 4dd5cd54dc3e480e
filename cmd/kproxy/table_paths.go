package main

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// tablePaths are those of the files of a kind's tables, one for each, given as TABLE=FILE; flag, with a space
// behind it, is how each is written, or empty for arguments.
func tablePaths(kind catalog.People, given []string, flag string) (map[catalog.Name]string, error) {
	who := strings.TrimSpace(flag)
	if who == "" {
		who = "the command line"
	}
	paths := make(map[catalog.Name]string)
	for _, data := range given {
		name, path, found := strings.Cut(data, "=")
		table := catalog.ParseName(name)
		switch _, twice := paths[table]; {
		case !found || path == "":
			return nil, fmt.Errorf("%s%s does not say of which table it is: write %s=%s and so on, since the policy has people", flag, data, kind.Root, data)
		case twice:
			return nil, fmt.Errorf("%s names table %s twice", who, table)
		}
		paths[table] = path
	}
	missing := []string{}
	known := len(paths)
	for _, name := range kind.Names() {
		if _, found := paths[name]; !found {
			missing = append(missing, name.String())
			continue
		}
		known--
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("there is no file of %s: write %s%s=FILE", strings.Join(missing, ", "), flag, missing[0])
	}
	if known > 0 {
		return nil, fmt.Errorf("%s names a table that is none of %s: %s", who, kind.Kind, strings.Join(catalog.Texts(kind.Names()), ", "))
	}
	return paths, nil
}
