//go:build !race

package methods_test

const raceDetector = false
