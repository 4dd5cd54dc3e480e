package metamorphic

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// expectation begins an attack of the corpus; what must come of it is another test's
// concern.
var expectation = regexp.MustCompile(`(?m)^-- (?:allowed|harmless|refused [0-9A-Z ]+)(?:, echoes .*)?$`)

// ofAttacks sends the corpus of attacks, what tools send of catalogs, and statements that
// other tests look at.
func ofAttacks() ([]observable, error) {
	patterns := []string{"attacks/*.sql", "legitimate/*.sql", "*.sql"}
	if *temps {
		patterns = append(patterns, "attacks/temporary/*.sql")
	}
	var all []observable
	for _, pattern := range patterns {
		files, err := filepath.Glob("../../rewrite/testdata/" + pattern)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			all = append(all, attacksIn(filepath.Base(file), string(text))...)
		}
	}
	return all, nil
}

func attacksIn(file, text string) []observable {
	var all []observable
	line := 1
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		place := line
		line += strings.Count(paragraph, "\n") + 2
		sql, _, _ := strings.Cut(paragraph, "\n-->") // what follows is what it becomes
		if first := expectation.FindString(sql); first != "" {
			_, sql, _ = strings.Cut(sql, first)
		}
		if sql = strings.Trim(sql, "\n"); sql == "" {
			continue
		}
		steps := strings.Split(sql, "\n-- then\n")
		for _, w := range []way{simple, extended} {
			all = append(all, observable{
				family: "attack", name: fmt.Sprintf("%s:%d (%d) %.120s", file, place, w, strings.Join(strings.Fields(sql), " ")),
				texts: steps, way: w, leaves: true,
			})
		}
	}
	return all
}
