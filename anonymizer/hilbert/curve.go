package hilbert

// toTranspose turns the coordinates of a cell of a grid with 2^bits cells on
// each axis into its index on the Hilbert curve, in place: bit q of axis 0, bit q
// of axis 1 and so on are consecutive digits of the index, q falling (the
// transposed form of Skilling, "Programming the Hilbert curve", AIP Conference
// Proceedings 707, 2004). bits is 1 to 32.
func toTranspose(axes []uint32, bits int) {
	if len(axes) == 0 {
		return
	}
	// From the coarsest cells to the finest: undo how the curve is reflected and
	// its axes are exchanged inside the cell.
	for bit := uint32(1) << (bits - 1); bit > 1; bit >>= 1 {
		below := bit - 1
		for i := range axes {
			if axes[i]&bit != 0 {
				axes[0] ^= below
			} else {
				differing := (axes[0] ^ axes[i]) & below
				axes[0] ^= differing
				axes[i] ^= differing
			}
		}
	}
	// From a cell's place to its number: the inverse of a Gray code.
	for i := 1; i < len(axes); i++ {
		axes[i] ^= axes[i-1]
	}
	flips := uint32(0)
	for bit := uint32(1) << (bits - 1); bit > 1; bit >>= 1 {
		if axes[len(axes)-1]&bit != 0 {
			flips ^= bit - 1
		}
	}
	for i := range axes {
		axes[i] ^= flips
	}
}

// wordBits is the number of bits in a word of a key.
const wordBits = 64

// keyWords is the number of words of a key.
func keyWords(axes, bits int) int { return max(1, (axes*bits+wordBits-1)/wordBits) }

// putKey writes the index on the curve of a cell, whose coordinates it destroys,
// as words of which the first weighs most; the last one is filled up with zeros.
// Keys of the same grid compare like the indexes.
func putKey(key []uint64, axes []uint32, bits int) {
	toTranspose(axes, bits)
	clear(key)
	place := 0
	for q := bits - 1; q >= 0; q-- {
		for _, x := range axes {
			key[place/wordBits] |= uint64(x>>q&1) << (wordBits - 1 - place%wordBits)
			place++
		}
	}
}
