package people

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// cells releases for an outsider who knows one row in each window. It makes classes of crowd times
// k persons by the root and, inside each class and window, cells of at least k persons; those of
// child tables lie inside their parents' cells.
func (r *releasing) cells(ctx context.Context, crowd int) error {
	classes, err := r.classesByRoot(ctx, crowd)
	if err != nil {
		return err
	}
	r.release.Classes = classes
	found := make([][]TableRelease, len(classes))
	err = r.eachClass(ctx, func(w *worker, class int) {
		found[class] = make([]TableRelease, len(r.tables))
		for _, t := range r.roots() {
			var rows []int32
			for _, p := range classes[class] {
				rows = append(rows, r.tables[t].below.of(p)...)
			}
			for window, rows := range r.byWindow(t, rows) {
				w.cells(t, int32(class), window, rows, found[class])
			}
		}
	})
	r.collect(found)
	return err
}

// collect puts the cells of all classes together, in the order of the classes.
func (r *releasing) collect(found [][]TableRelease) {
	for _, tables := range found {
		for t := range tables {
			r.release.Tables[t].Cells = append(r.release.Tables[t].Cells, tables[t].Cells...)
		}
	}
}

// byWindow iterates over the rows of each window, in order.
func (r *releasing) byWindow(table int, rows []int32) func(yield func(int32, []int32) bool) {
	window := r.tables[table].window
	slices.SortStableFunc(rows, func(x, y int32) int { return int(window[x]) - int(window[y]) })
	return func(yield func(int32, []int32) bool) {
		for from := 0; from < len(rows); {
			to := from + 1
			for to < len(rows) && window[rows[to]] == window[rows[from]] {
				to++
			}
			if !yield(window[rows[from]], rows[from:to]) {
				return
			}
			from = to
		}
	}
}

// eachClass calls a function for each class, on every processor.
func (r *releasing) eachClass(ctx context.Context, do func(w *worker, class int)) error {
	var next sync.Mutex
	tracker := r.o.Track(len(r.release.Classes))
	class := 0
	take := func() (int, bool) {
		next.Lock()
		defer next.Unlock()
		class++
		return class - 1, class <= len(r.release.Classes) && ctx.Err() == nil
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			w := newWorker(r)
			for {
				i, ok := take()
				if !ok {
					return
				}
				do(w, i)
				tracker.Add(1)
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// worker is what one goroutine works with.
type worker struct {
	*releasing
	dividers []*divider // of each table
	trees    *trees
}

func newWorker(r *releasing) *worker {
	w := &worker{releasing: r, trees: newTrees(r)}
	for i := range r.tables {
		w.dividers = append(w.dividers, newDivider(r, &r.tables[i], 0))
	}
	return w
}

// cells divides rows of one class and window, and inside each cell the rows below.
// What is no cell is left to the pool, with all rows below it.
func (w *worker) cells(table int, class, window int32, rows []int32, into []TableRelease) {
	divider := w.dividers[table]
	divider.window = window
	for _, cell := range divider.cells(rows) {
		into[table].Cells = append(into[table].Cells, Cell{Rows: cell, Class: class, Window: window})
		for _, child := range divider.table.children {
			var below []int32
			for _, row := range cell {
				below = append(below, w.tables[child].below.of(row)...)
			}
			w.cells(child, class, window, below, into)
		}
	}
}
