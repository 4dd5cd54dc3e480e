package config

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/catalog"
)

// updates says when a table's changes become visible: a mode alone, or with how it publishes.
// The defaults are those of catalog; the bound of the durations is longer than any project
// that waits for records.
type updates struct {
	Mode     catalog.UpdateMode `yaml:"mode" alone:"guarded or immediate" what:"updates" need:"mode: immediate or mode: guarded" doc:"immediate or guarded."`
	Crowd    int                `yaml:"crowd" default:"2" range:"1..1000" doc:"A new class has so many times k records at least."`
	Batch    int                `yaml:"batch" default:"1000" range:"0..2147483647" doc:"How many waiting records, or persons, are published together."`
	Within   time.Duration      `yaml:"within" default:"1d" range:"0s..3650d" doc:"A smaller batch is tried once a record has waited so long; 0s is never."`
	Deadline time.Duration      `yaml:"deadline" default:"0s" range:"0s..3650d" doc:"A record that has waited so long stays withheld for good; 0s is never."`
}

func (u *updates) check(d *decoder, n *yaml.Node, _ string) {
	switch u.Mode {
	case catalog.Immediate:
		for _, option := range []any{&u.Crowd, &u.Batch, &u.Within, &u.Deadline} {
			if d.at(option) != nil {
				d.wrong(n, "updates are immediate, but something is said that only guarded ones have", "write mode: guarded, or updates: immediate alone")
				return
			}
		}
	case catalog.Guarded:
		if u.Deadline == 0 || u.Deadline >= u.Within {
			return
		}
		if d.at(&u.Within) == nil {
			u.Within = u.Deadline // small batches are published no later
			return
		}
		d.wrong(d.at(&u.Deadline), "deadline is before within, so that records are withheld for good before a small batch would be published",
			"write a longer deadline, or a shorter within")
	}
}

func (u *updates) policy() catalog.Updates {
	if u.Mode != catalog.Guarded {
		return catalog.Updates{Mode: u.Mode}
	}
	return catalog.Updates{Mode: u.Mode, Crowd: u.Crowd, Batch: u.Batch, Within: u.Within, Deadline: u.Deadline}
}

// personUpdates says when changes of tables that are released together become visible.
type personUpdates struct {
	Mode       catalog.UpdateMode `yaml:"mode" alone:"guarded or immediate" what:"updates" need:"mode: immediate or mode: guarded" doc:"immediate or guarded."`
	Pace       catalog.Pace       `yaml:"pace" default:"months" doc:"How fresh rows are, at the price of the root's columns and of new persons, who wait for crowd times k: months, weeks or days, about which a row waits that its person has once a year. It sets crowd (8, 16, 64) and rows_within (60d, 30d, 10d), where they are not written."`
	Batch      int                `yaml:"batch" default:"1000" range:"0..2147483647" doc:"How many waiting persons are published together; never fewer than one class has."`
	Within     time.Duration      `yaml:"within" default:"1d" range:"0s..3650d" doc:"A smaller batch is tried once a person has waited so long; 0s is never."`
	Rows       int                `yaml:"rows" default:"0" range:"0..2147483647" doc:"How many waiting rows of a table, of one class of persons and one window, are published together, half as many with a new class; 0 for twice k, or 20 where constraints count values. Without effect with knows: all, where each person of a class needs one."`
	RowsWithin time.Duration      `yaml:"rows_within" default:"60d" range:"0s..3650d" doc:"Once a row of a published person has waited so long, fewer are tried; those of fewer than k persons are published without keys. 0s is never."`
}

func (u *personUpdates) check(d *decoder, n *yaml.Node, _ string) {
	if u.Mode != catalog.Immediate {
		return
	}
	for _, option := range []any{&u.Pace, &u.Batch, &u.Within, &u.Rows, &u.RowsWithin} {
		if d.at(option) != nil {
			d.wrong(n, "updates are immediate, but something is said that only guarded ones have", "write mode: guarded, or updates: immediate alone")
			return
		}
	}
}

func (u *personUpdates) policy() catalog.Updates {
	return catalog.Updates{Mode: u.Mode, Batch: u.Batch, Within: u.Within, Rows: u.Rows, RowsWithin: u.RowsWithin}
}

// checkUpdates sees to it that what is said in addition to guarded updates has a use there,
// and that their constraints can be kept by classes that never change.
func (t *table) checkUpdates(d *decoder) {
	if t.Updates.Mode != catalog.Guarded {
		return
	}
	if at := d.at(&t.Reanonymize); at != nil {
		d.wrong(at, "updates are guarded, so that the classes cannot all be made anew: whoever compares the releases would learn more",
			"remove reanonymize, or write updates: immediate")
	}
	if t.Summary == catalog.SummaryStored {
		d.wrong(d.at(&t.Summary), "updates are guarded, of which there is no summary", "remove summary, or write updates: immediate")
	}
	if t.Suppression > 0 {
		d.wrong(d.at(&t.Suppression), "updates are guarded, which publish all records of a batch or none: nothing can be set aside", "remove suppression")
	}
	for i := range t.Constraints {
		c := &t.Constraints[i]
		if c.complete && catalog.Relative(c.spec.Model) {
			d.wrong(d.at(c), fmt.Sprintf("updates are guarded, but the constraint %v compares classes with the whole table, which moves, and they never change", c.spec),
				"use entropy_l, recursive_l or alpha instead, or write updates: immediate")
		}
	}
}
