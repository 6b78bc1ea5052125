//go:build !linux

package testtmp

func roomy(string) bool { return false }
