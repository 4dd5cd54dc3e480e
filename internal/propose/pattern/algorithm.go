package pattern

// luhn is the check of ISO/IEC 7812-1, annex B: the last digit makes the sum of all,
// every second one from the right doubled, a multiple of ten.
func luhn(ds []int) bool {
	sum := 0
	for i, d := range ds {
		if (len(ds)-i)%2 == 0 {
			d *= 2
			if d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// mod97 is ISO 7064, MOD 97-10, of a text of digits and letters, a letter being a number
// from 10 to 35; false where there is anything else.
func mod97(text string) (remainder int, ok bool) {
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			remainder = (10*remainder + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			remainder = (100*remainder + int(c-'A') + 10) % 97
		default:
			return 0, false
		}
	}
	return remainder, true
}

// mod1110 is ISO 7064, MOD 11,10: whether the last digit checks the others.
func mod1110(ds []int) bool {
	product := 10
	for _, d := range ds[:len(ds)-1] {
		sum := (d + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = 2 * sum % 11
	}
	return (11-product)%10 == ds[len(ds)-1]
}

// The tables of Verhoeff, Error Detecting Decimal Codes, 1969: the dihedral group of ten
// elements, and a permutation for each place.
var (
	dihedral = [10][10]int{
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		{1, 2, 3, 4, 0, 6, 7, 8, 9, 5},
		{2, 3, 4, 0, 1, 7, 8, 9, 5, 6},
		{3, 4, 0, 1, 2, 8, 9, 5, 6, 7},
		{4, 0, 1, 2, 3, 9, 5, 6, 7, 8},
		{5, 9, 8, 7, 6, 0, 4, 3, 2, 1},
		{6, 5, 9, 8, 7, 1, 0, 4, 3, 2},
		{7, 6, 5, 9, 8, 2, 1, 0, 4, 3},
		{8, 7, 6, 5, 9, 3, 2, 1, 0, 4},
		{9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
	}
	permuted = [8][10]int{
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		{1, 5, 7, 6, 2, 8, 3, 0, 9, 4},
		{5, 8, 0, 3, 7, 9, 6, 1, 4, 2},
		{8, 9, 1, 6, 0, 4, 3, 5, 2, 7},
		{9, 4, 5, 3, 1, 2, 6, 8, 7, 0},
		{4, 2, 8, 6, 5, 7, 3, 9, 0, 1},
		{2, 7, 9, 3, 8, 0, 6, 4, 1, 5},
		{7, 0, 4, 6, 9, 1, 3, 2, 5, 8},
	}
)

func verhoeff(ds []int) bool {
	check := 0
	for i := range ds {
		check = dihedral[check][permuted[i%8][ds[len(ds)-1-i]]]
	}
	return check == 0
}
