package hospital

import "testing"

func BenchmarkGenerate50000(b *testing.B) {
	for b.Loop() {
		for range Generate(50_000, 1) {
		}
	}
}
