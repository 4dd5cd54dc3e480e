package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/kproxy/kproxy/internal/bench/result"
	"github.com/kproxy/kproxy/internal/eval/chart"
)

// picture is a drawing of a figure over one parameter, a curve for each way and each value
// of another parameter.
type picture struct {
	file, title string
	x, y        string // the parameter, and the name of the other axis
	name        string // of the figure
	line        string // the other parameter; empty = the way alone
	where       map[string]string
	logX, logY  bool
	drawn       bool // by the command itself
}

// draw writes the file; false where there are no figures.
func (p picture) draw(folder string, s *result.Section) (bool, error) {
	path := filepath.Join(folder, p.file+".svg")
	if p.drawn {
		_, err := os.Stat(path)
		return err == nil, nil
	}
	c := chart.Chart{Title: p.title, X: p.x, Y: p.y, LogX: p.logX, LogY: p.logY}
	at := map[string]int{}
	for _, f := range s.Figures {
		x, err := strconv.ParseFloat(f.Parameters[p.x], 64)
		if f.Name != p.name || !has(f, p.where) || err != nil {
			continue
		}
		name := f.Way
		if p.line != "" {
			name = f.Parameters[p.line]
		}
		i, found := at[name]
		if !found {
			i = len(c.Lines)
			at[name] = i
			c.Lines = append(c.Lines, chart.Line{Name: name, Strong: p.line == "" && f.Way == "kproxy"})
		}
		c.Lines[i].Points = append(c.Lines[i].Points, chart.Point{X: x, Y: f.Median})
	}
	if len(c.Lines) == 0 {
		return false, nil
	}
	svg, err := c.SVG()
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(path, append(svg, '\n'), 0o644); err != nil {
		return false, fmt.Errorf("writing a picture: %w", err)
	}
	return true, nil
}
