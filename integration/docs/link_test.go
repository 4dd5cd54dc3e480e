package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	picture = regexp.MustCompile(`!\[([^\]]*)\]\(`)
)

// anchors are the names by which the headings of a page can be linked to, as GitHub makes
// them.
func anchors(text string) map[string]bool {
	seen := make(map[string]int)
	all := make(map[string]bool)
	for _, found := range heading.FindAllStringSubmatch(parse("", text).prose, -1) {
		title := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(found[1], "$1")
		title = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`).ReplaceAllString(strings.ToLower(title), "")
		name := strings.ReplaceAll(title, " ", "-")
		if n := seen[name]; n > 0 {
			all[fmt.Sprintf("%s-%d", name, n)] = true
		}
		seen[name]++
		all[name] = true
	}
	return all
}

// TestLinks looks for everything in the repository that a page links to. The pages at the
// root that are no documentation of use are looked at as well.
func TestLinks(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for _, path := range []string{"SECURITY.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md"} {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parse(path, string(text)))
	}
	for _, p := range all {
		for _, found := range link.FindAllStringSubmatch(p.prose, -1) {
			target := found[1] + found[2]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			path, anchor, _ := strings.Cut(target, "#")
			whole := filepath.Join(root, filepath.Dir(p.path), path)
			if path == "" {
				whole = filepath.Join(root, p.path)
			}
			text, err := os.ReadFile(whole)
			if info, statErr := os.Stat(whole); statErr == nil && info.IsDir() {
				text, err = nil, nil
			}
			if err != nil {
				t.Errorf("%s links to %s, which is not there", p.path, target)
			} else if anchor != "" && !anchors(string(text))[anchor] {
				t.Errorf("%s links to %s, which has no such heading", p.path, target)
			}
		}
		for _, found := range picture.FindAllStringSubmatch(p.prose, -1) {
			if found[1] == "" {
				t.Errorf("%s has a picture without words for who cannot see it", p.path)
			}
		}
	}
}

// TestEveryPageIsFound follows the links of docs/README.md, and of pages that it leads to,
// to all pages.
func TestEveryPageIsFound(t *testing.T) {
	t.Parallel()
	all := make(map[string]page)
	for _, p := range pages(t) {
		all[p.path] = p
	}
	const index = "docs/README.md"
	found := map[string]bool{index: true, "README.md": true}
	for queue := []string{index}; len(queue) > 0; queue = queue[1:] {
		for _, target := range link.FindAllStringSubmatch(all[queue[0]].prose, -1) {
			path, _, _ := strings.Cut(target[1], "#")
			path = filepath.Join(filepath.Dir(queue[0]), path)
			if _, isPage := all[path]; isPage && !found[path] {
				found[path] = true
				queue = append(queue, path)
			}
		}
	}
	for path := range all {
		if !found[path] {
			t.Errorf("%s does not lead to %s", index, path)
		}
	}
}
