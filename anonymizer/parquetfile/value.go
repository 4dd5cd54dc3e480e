package parquetfile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// toParquet makes a value of a kind of its text. Errors name no value.
func (c Column) toParquet(text string) (v parquet.Value, err error) {
	switch c.Kind {
	case Boolean:
		switch text {
		case "t", "true":
			return parquet.BooleanValue(true), nil
		case "f", "false":
			return parquet.BooleanValue(false), nil
		}
		return v, errNot(c)
	case Int16, Int32:
		n, err := strconv.ParseInt(text, 10, map[Kind]int{Int16: 16, Int32: 32}[c.Kind])
		return parquet.Int32Value(int32(n)), notOf(c, err)
	case Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		return parquet.Int64Value(n), notOf(c, err)
	case Float32:
		f, err := strconv.ParseFloat(text, 32)
		return parquet.FloatValue(float32(f)), notOf(c, err)
	case Float64:
		f, err := strconv.ParseFloat(text, 64)
		return parquet.DoubleValue(f), notOf(c, err)
	case Decimal:
		return c.toDecimal(text)
	case Date:
		day, err := parseYears(time.DateOnly, text)
		return parquet.Int32Value(int32(day.Unix() / secondsOfDay)), notOf(c, err)
	case Timestamp:
		at, err := parseYears(moments, text)
		return parquet.Int64Value(at.UnixMicro()), notOf(c, err)
	case TimestampTZ:
		text, utc := strings.CutSuffix(text, "+00")
		at, err := parseYears(moments, text)
		if !utc {
			err = errNot(c)
		}
		return parquet.Int64Value(at.UnixMicro()), notOf(c, err)
	case UUID:
		b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		if err == nil && len(b) != 16 {
			err = errNot(c)
		}
		return parquet.FixedLenByteArrayValue(b), notOf(c, err)
	case Bytes:
		digits, marked := strings.CutPrefix(text, `\x`)
		b, err := hex.DecodeString(digits)
		if !marked {
			err = errNot(c)
		}
		return parquet.ByteArrayValue(b), notOf(c, err)
	}
	return parquet.ByteArrayValue([]byte(text)), nil
}

const (
	secondsOfDay = 24 * 60 * 60
	moments      = "2006-01-02 15:04:05.999999"
)

// parseYears reads a date or point in time of the years 1 to 9999.
func parseYears(layout, text string) (time.Time, error) {
	at, err := time.Parse(layout, text)
	if err == nil && at.Year() < 1 {
		err = errors.New("before the year 1")
	}
	return at, err
}

func errNot(c Column) error {
	return fmt.Errorf("a value is not of the type %s as Parquet has it: choose CSV, which holds every value", Column{Kind: c.Kind, Precision: c.Precision, Scale: c.Scale})
}

// notOf is an error about a text that is none of the kind's; the text is not told.
func notOf(c Column, err error) error {
	if err != nil {
		return errNot(c)
	}
	return nil
}

// toDecimal counts a number in multiples of 10^-Scale.
func (c Column) toDecimal(text string) (v parquet.Value, err error) {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	fraction = strings.TrimRight(fraction, "0")
	if whole == "" || strings.Trim(whole+fraction, "0123456789") != "" || len(fraction) > c.Scale {
		return v, errNot(c)
	}
	counted := strings.TrimLeft(whole+fraction+strings.Repeat("0", c.Scale-len(fraction)), "0")
	if len(counted) > c.Precision {
		return v, errNot(c)
	}
	if counted == "" {
		counted = "0"
	}
	if c.Precision <= 18 {
		n, err := strconv.ParseInt(counted, 10, 64)
		if negative {
			n = -n
		}
		if c.Precision <= 9 {
			return parquet.Int32Value(int32(n)), notOf(c, err)
		}
		return parquet.Int64Value(n), notOf(c, err)
	}
	n, ok := new(big.Int).SetString(counted, 10)
	if !ok {
		return v, errNot(c)
	}
	if negative {
		n.Neg(n)
	}
	return parquet.FixedLenByteArrayValue(twosComplement(n)), nil
}

// decimalBytes is the length of a number of up to MaxPrecision digits.
const decimalBytes = 16

func twosComplement(n *big.Int) []byte {
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), 8*decimalBytes))
	}
	return n.FillBytes(make([]byte, decimalBytes))
}

func fromTwosComplement(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// decimalText writes n * 10^-scale, with all of its digits.
func decimalText(n *big.Int, scale int) string {
	if scale <= 0 {
		return n.String()
	}
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
	}
	digits := new(big.Int).Abs(n).String()
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

// floatText writes a number as numeric does, without an exponent.
func floatText(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}

func uuidText(b []byte) string {
	d := hex.EncodeToString(b)
	return d[:8] + "-" + d[8:12] + "-" + d[12:16] + "-" + d[16:20] + "-" + d[20:]
}

// momentText writes a point in time. Beyond the years 1 to 9999 there is an error.
func momentText(at time.Time, layout string) (string, error) {
	if at = at.UTC(); at.Year() < 1 || at.Year() > 9999 {
		return "", errors.New("a date lies beyond the years 1 to 9999")
	}
	return at.Format(layout), nil
}
