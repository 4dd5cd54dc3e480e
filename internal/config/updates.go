package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/catalog"
)

// updateNodes are the places of what says how a table's changes become visible, nil
// where it is not said.
type updateNodes struct{ reanonymize, suppression *yaml.Node }

const (
	// maxUpdateWait is longer than any project that waits for records.
	maxUpdateWait = 3650 * day
	maxCrowd      = 1000
)

// howToUpdate is what to write of a table that does not say when its changes become
// visible: both choices, and what each of them means.
const howToUpdate = "updates: guarded, where comparing versions tells readers no more than one release does, and new records wait for a batch; " +
	"or updates: immediate, where every commit is visible at once, and whoever polls learns the sensitive values of those who come, leave or change"

// updatesField is the key updates. There is no default for tables that live, since the
// difference is one of what readers learn. A file is published once, and may leave it out.
func (r *reader) updatesField(to *catalog.Updates, live bool) field {
	f := field{key: "updates", read: r.updates(to), doc: "When changes become visible: so that comparing versions tells no more than one release does (guarded), " +
		"or every commit at once (immediate), by which whoever polls learns the sensitive values of those who come, leave or change."}
	if live {
		f.need = howToUpdate
		f.why = "there is no default for when changes become visible, since it decides what readers learn of whom"
		f.doc += " There is no default."
	}
	return f
}

// updates reads a mode alone, or a mapping with the mode and how it publishes.
func (r *reader) updates(to *catalog.Updates) func(*yaml.Node) {
	return func(n *yaml.Node) {
		known := false
		readMode := func(n *yaml.Node) {
			to.Mode, known = choose(r, n, "updates", catalog.Immediate, catalog.Guarded)
		}
		guarded := catalog.Updates{Mode: catalog.Guarded, Crowd: catalog.DefaultCrowd, Batch: catalog.DefaultBatch, Within: catalog.DefaultWithin}
		said := make(map[string]*yaml.Node)
		r.either(n, yaml.ScalarNode, readMode, func(n *yaml.Node) {
			option := func(key, doc string, read func(*yaml.Node)) field {
				return field{key: key, doc: doc, read: func(n *yaml.Node) {
					said[key] = r.follow(n)
					read(n)
				}}
			}
			r.mapping(
				n, "updates",
				field{key: "mode", doc: "immediate or guarded.", need: "mode: immediate or mode: guarded", read: readMode},
				option("crowd", "A new class has so many times k records at least.", r.storeInteger(&guarded.Crowd, "crowd", 1, maxCrowd)),
				option("batch", "How many waiting records, or persons, are published together.", r.storeInteger(&guarded.Batch, "batch", 0, maxCount)),
				option("within", "A smaller batch is tried once a record has waited so long; 0s is never.", r.storeDuration(&guarded.Within, "within", true, maxUpdateWait)),
				option("deadline", "A record that has waited so long stays withheld for good; 0s is never.", r.storeDuration(&guarded.Deadline, "deadline", true, maxUpdateWait)),
			)
		})
		switch {
		case !known:
		case to.Mode == catalog.Immediate && len(said) > 0:
			r.wrong(r.follow(n), "updates are immediate, but something is said that only guarded ones have", "write mode: guarded, or updates: immediate alone")
		case to.Mode == catalog.Guarded:
			r.checkWaits(&guarded, said["within"], said["deadline"])
			*to = guarded
		}
	}
}

// checkWaits compares the two times that records wait. Where only the deadline is
// said, small batches are published no later.
func (r *reader) checkWaits(u *catalog.Updates, within, deadline *yaml.Node) {
	switch {
	case u.Deadline == 0 || u.Deadline >= u.Within:
	case within == nil:
		u.Within = u.Deadline
	default:
		r.wrong(deadline, "deadline is before within, so that records are withheld for good before a small batch would be published",
			"write a longer deadline, or a shorter within")
	}
}

// reanonymize reads the share by which a maintained release may be worse than a
// fresh one.
func (r *reader) reanonymize(to *float64, at *updateNodes) func(*yaml.Node) {
	return func(n *yaml.Node) {
		at.reanonymize = r.follow(n)
		share, ok := r.share(n, "reanonymize")
		r.bounded(n, Bounds{Most: 1})
		switch {
		case !ok:
		case share <= 0 || share > 1:
			r.wrong(at.reanonymize, "reanonymize is out of range", "write a share above 0 and up to 1, for example 0.1 or 10%")
		default:
			*to = share
		}
	}
}

// checkUpdates sees to it that what is said beside guarded updates has a use there,
// and that their constraints can be kept by classes that never change.
func (r *reader) checkUpdates(policy catalog.TablePolicy, at updateNodes, stated []statement) {
	if policy.Updates.Mode != catalog.Guarded {
		return
	}
	if at.reanonymize != nil {
		r.wrong(at.reanonymize, "updates are guarded, so that the classes cannot all be made anew: whoever compares the releases would learn more",
			"remove reanonymize, or write updates: immediate")
	}
	if policy.Suppression > 0 {
		r.wrong(at.suppression, "updates are guarded, which publish all records of a batch or none: nothing can be set aside", "remove suppression")
	}
	for _, s := range stated {
		if catalog.Relative(s.spec.Model) {
			r.wrong(s.at, fmt.Sprintf("updates are guarded, but the constraint %v compares classes with the whole table, which moves, and they never change", s.spec),
				"use entropy_l, recursive_l or alpha instead, or write updates: immediate")
		}
	}
}
