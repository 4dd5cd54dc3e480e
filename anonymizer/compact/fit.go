package compact

// Fit gives back the room of a list that was made for far more than came.
func Fit[T any](list []T) []T {
	if cap(list) <= 2*len(list)+1<<10 {
		return list
	}
	return append(make([]T, 0, len(list)), list...)
}
