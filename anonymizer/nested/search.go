package nested

import "context"

func (d *division) improve(_ context.Context, groups [][]int32) [][]int32 { return groups }
