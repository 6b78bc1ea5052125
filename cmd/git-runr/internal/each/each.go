// Package each makes lists of other lists.
package each

// Of returns the results of a function for all elements of a list, in order. The result is never nil: in JSON it is a
// list.
func Of[T, R any](list []T, result func(T) R) []R {
	results := make([]R, len(list))
	for i, element := range list {
		results[i] = result(element)
	}
	return results
}
