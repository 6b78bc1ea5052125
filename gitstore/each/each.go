// Package each makes lists, sets and counts of other lists.
package each

import (
	"cmp"
	"maps"
	"slices"
)

// Of returns the results of a function for all elements of a list, in order. The result is never nil: in JSON it is a
// list.
func Of[T, R any](list []T, result func(T) R) []R {
	results := make([]R, len(list))
	for i, element := range list {
		results[i] = result(element)
	}
	return results
}

// Where returns the elements of a list for which a function is true, in order; nil if there are none.
func Where[T any](list []T, is func(T) bool) []T {
	var found []T
	for _, element := range list {
		if is(element) {
			found = append(found, element)
		}
	}
	return found
}

// First returns the first element of a list for which a function is true.
func First[T any](list []T, is func(T) bool) (element T, ok bool) {
	if at := slices.IndexFunc(list, is); at >= 0 {
		return list[at], true
	}
	return element, false
}

// Count returns the number of elements of a list for which a function is true.
func Count[T any](list []T, is func(T) bool) int {
	n := 0
	for _, element := range list {
		if is(element) {
			n++
		}
	}
	return n
}

// Once appends an element to a list that does not have it.
func Once[T comparable](list []T, element T) []T {
	if slices.Contains(list, element) {
		return list
	}
	return append(list, element)
}

// Set returns the elements of a list as a set.
func Set[T comparable](list []T) map[T]bool { return SetOf(list, func(element T) T { return element }) }

// SetOf returns the results of a function for the elements of a list as a set.
func SetOf[T any, K comparable](list []T, key func(T) K) map[K]bool {
	set := map[K]bool{}
	for _, element := range list {
		set[key(element)] = true
	}
	return set
}

// Keys returns the keys of maps, sorted.
func Keys[K cmp.Ordered, V any](all ...map[K]V) []K {
	union := map[K]V{}
	for _, one := range all {
		maps.Copy(union, one)
	}
	return slices.Sorted(maps.Keys(union))
}
