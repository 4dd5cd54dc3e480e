package draft

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/propose"
)

// FileOptions say how a CSV file is read: Delimiter is one character or tab, Missing a text
// that stands for no value. Table is what is made of it, public and the file's name where it
// is empty.
type FileOptions struct {
	Data, Delimiter, Missing string
	Table                    string
}

// FromFile drafts the policy of a CSV file, as YAML.
func FromFile(o FileOptions) (string, error) {
	delimiter, size := utf8.DecodeRuneInString(o.Delimiter)
	if o.Delimiter == "tab" {
		delimiter, size = '\t', len(o.Delimiter)
	}
	if size != len(o.Delimiter) || delimiter == utf8.RuneError {
		return "", fmt.Errorf("--delimiter %q is not a single character", o.Delimiter)
	}
	form := config.CSV{Delimiter: delimiter, Header: true, Missing: o.Missing, TrimSpaces: true}
	file, err := dataset.Read(o.Data, form)
	if single := (*dataset.SingleFieldError)(nil); errors.As(err, &single) {
		return "", fmt.Errorf("%s has a single column, %q: the fields seem to be separated otherwise: --delimiter %s", o.Data, single.Header, dataset.DelimiterName(single.Delimiter))
	}
	if err != nil {
		return "", err
	}
	name := o.Table
	if name == "" {
		base := filepath.Base(o.Data)
		name = "public." + strings.ReplaceAll(strings.TrimSuffix(base, filepath.Ext(base)), ".", "_")
	}
	var columns []propose.Column
	for i, column := range file.Columns {
		c := propose.Column{Name: column, Type: file.Types[i], Note: note(file, i)}
		for _, field := range file.Fields(i) {
			c.Values = append(c.Values, field)
		}
		columns = append(columns, c)
	}
	return csvSection(o, file.Columns) + "\n" + propose.Propose(catalog.ParseName(name), columns).YAML(), nil
}

// note tells of a column that few fields make a text. They are not quoted: a
// policy is shown around.
func note(file *dataset.File, column int) string {
	name, line, misfits, nearly := file.Nearly(column)
	switch {
	case !nearly:
		return ""
	case misfits == 1:
		return fmt.Sprintf("a text because of line %d alone, else %s: correct that field, or pass --missing", line, name)
	default:
		return fmt.Sprintf("a text because of %d fields alone, the first on line %d, else %s: correct them, or pass --missing", misfits, line, name)
	}
}

func csvSection(o FileOptions, columns []string) string {
	text := "csv:\n"
	if o.Delimiter == "tab" || o.Delimiter == "\t" {
		text += "  delimiter: tab\n"
	} else {
		text += fmt.Sprintf("  delimiter: %q\n", o.Delimiter)
	}
	if o.Missing != "" {
		text += fmt.Sprintf("  missing: %q\n", o.Missing)
	}
	if key := freeKey(columns); key != defaultKey {
		text += fmt.Sprintf("  key: %s\n", key)
	}
	return text + "  trim_spaces: true\n"
}

// defaultKey is what config calls the generated key where a policy does not say.
const defaultKey = "row_number"

// freeKey names the generated key unlike any column.
func freeKey(columns []string) string {
	key := defaultKey
	for slices.Contains(columns, key) {
		key += "_"
	}
	return key
}
