package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/tablefile"
)

// fileOutput holds the flags of commands that write released tables to files.
type fileOutput struct {
	path, format string
	force        bool
}

func (o *fileOutput) flags(c *cobra.Command, what string) {
	c.Flags().StringVarP(&o.path, "out", "o", "", what)
	c.Flags().StringVar(&o.format, "format", "", "`FORMAT` of the release: csv or parquet (default: what --out ends in)")
	c.Flags().BoolVar(&o.force, "force", false, "replace files that exist")
	_ = c.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{string(tablefile.CSV), string(tablefile.Parquet)}, cobra.ShellCompDirectiveNoFileComp
	}) // the flag is there
}

// fileFormat is the format of a single file.
func (o *fileOutput) fileFormat() (tablefile.Format, error) {
	if o.format != "" {
		return o.named()
	}
	if o.path == tablefile.Stdout {
		return tablefile.CSV, nil
	}
	format, known := tablefile.FormatOf(o.path)
	if !known {
		return "", usageError{fmt.Errorf("--out %s ends in neither .csv nor .parquet: add --format csv or --format parquet", o.path)}
	}
	return format, nil
}

// folderFormat is the format of the files in a folder.
func (o *fileOutput) folderFormat() (tablefile.Format, error) {
	if _, file := tablefile.FormatOf(o.path); file || o.path == tablefile.Stdout {
		return "", usageError{fmt.Errorf("--out %s is one file, and there are several tables: name a folder, and --format", o.path)}
	}
	if o.format == "" {
		return "", usageError{errors.New("--out is a folder: add --format csv or --format parquet")}
	}
	return o.named()
}

func (o *fileOutput) named() (tablefile.Format, error) {
	format, err := tablefile.ParseFormat(o.format)
	if err != nil {
		return "", usageError{fmt.Errorf("--format: %w", err)}
	}
	return format, nil
}

// inFolder are the paths of tables' files in the folder: relation.format, with the schema before it unless that
// is public.
func (o *fileOutput) inFolder(tables []catalog.Name, format tablefile.Format) []string {
	var paths []string
	for _, t := range tables {
		name := strings.TrimPrefix(t.String(), "public.")
		name = strings.Map(func(r rune) rune {
			if r == filepath.Separator || r == 0 {
				return '_'
			}
			return r
		}, name)
		paths = append(paths, filepath.Join(o.path, name+"."+string(format)))
	}
	return paths
}

// audiencePath is the path of a table's release for an audience, whose name stands before the ending; the table's
// own readers have no name.
func audiencePath(path, audience string) string {
	if audience == "" {
		return path
	}
	ending := filepath.Ext(path)
	return strings.TrimSuffix(path, ending) + "." + audience + ending
}

// checkFree makes the folder of paths, if it is missing, and checks that files and manifests can be written: before
// long work.
func (o *fileOutput) checkFree(paths []string) error {
	for _, path := range paths {
		if path == tablefile.Stdout {
			continue
		}
		for _, file := range []string{path, tablefile.ManifestPath(path)} {
			if err := tablefile.CheckFree(file, o.force); err != nil {
				return err
			}
		}
		folder := filepath.Dir(path)
		if folder == filepath.Clean(o.path) {
			if err := os.MkdirAll(folder, 0o777); err != nil { // less the umask
				return fmt.Errorf("making the folder: %w", err)
			}
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return usageError{fmt.Errorf("--out: there is no folder %s", folder)}
		}
	}
	return nil
}

// files are outputs that get their names together, once all of them are whole.
type files struct {
	list, manifests []*tablefile.Output
	unnamed         []*tablefile.Output // get none
}

func (f *files) create(path string, force, named bool) (*tablefile.Output, error) {
	output, err := tablefile.Create(path, force)
	switch {
	case err != nil:
		return nil, err
	case named:
		f.list = append(f.list, output)
	default:
		f.unnamed = append(f.unnamed, output)
	}
	return output, nil
}

// addManifest writes the manifest of a file.
func (f *files) addManifest(m tablefile.Manifest, path string, force bool) error {
	text, err := m.Text()
	if err != nil {
		return err
	}
	output, err := tablefile.Create(tablefile.ManifestPath(path), force)
	if err != nil {
		return err
	}
	f.manifests = append(f.manifests, output)
	if _, err := output.Write(text); err != nil {
		return fmt.Errorf("writing %s: %w", output.Path(), err)
	}
	return nil
}

// commit gives the files their names, and the manifests last: a file without one is not whole. If one cannot
// get its name, those that have got one go, too.
func (f *files) commit(stdout io.Writer) error {
	all := slices.Concat(f.list, f.manifests)
	for i, output := range all {
		if err := output.Commit(stdout); err != nil {
			for _, done := range all[:i] {
				_ = os.Remove(done.Path())
			}
			return err
		}
	}
	return nil
}

// discard removes what has not got its name.
func (f *files) discard() {
	for _, output := range slices.Concat(f.list, f.manifests, f.unnamed) {
		output.Discard()
	}
}
