package pattern

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// isEmail: a part before the sign and a domain behind it, as most addresses have them (RFC
// 5321, section 4.1.2, without its rare forms).
func isEmail(text string) bool { return len(text) <= 254 && email.MatchString(text) }

var email = regexp.MustCompile(`^[^\s@<>"(),;:\\]+@[\pL\pN](?:[\pL\pN-]*[\pL\pN])?(?:\.[\pL\pN](?:[\pL\pN-]*[\pL\pN])?)+$`)

// isPhone: a number of nine digits at least, with the sign of an international one, a
// leading zero, or brackets and gaps as people write them (ITU-T E.123).
func isPhone(text string) bool {
	if !phone.MatchString(text) {
		return false
	}
	n := strings.IndexFunc(text, func(c rune) bool { return c >= '1' && c <= '9' })
	count := 0
	for _, c := range text {
		if c >= '0' && c <= '9' {
			count++
		}
	}
	return n >= 0 && count >= 9 && count <= 15
}

var phone = regexp.MustCompile(`^(\+|00?[1-9]|\([0-9]{2,5}\)|[2-9][0-9]{2}[-. ][2-9][0-9]{2}[-. ])[0-9 ()/.\-]{4,20}$`)

// isIBAN: a country, two check digits and up to thirty characters (ISO 13616).
func isIBAN(text string) bool {
	text = strings.ReplaceAll(strings.ToUpper(text), " ", "")
	if !iban.MatchString(text) {
		return false
	}
	remainder, ok := mod97(text[4:] + text[:4])
	return ok && remainder == 1
}

var iban = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$`)

// isCard: 13 to 19 digits by Luhn that begin as those of card issuers do (ISO/IEC 7812).
func isCard(text string) bool {
	for length := 13; length <= 19; length++ {
		if ds, ok := digits(text, length); ok {
			return ds[0] >= 2 && ds[0] <= 6 && luhn(ds) && !same(ds)
		}
	}
	return false
}

// isIMEI: fifteen digits by Luhn (3GPP TS 23.003, annex B), whose first two are a body
// that gives them out.
func isIMEI(text string) bool {
	ds, ok := digits(text, 15)
	return ok && luhn(ds) && (number(ds[:2]) == 1 || number(ds[:2]) == 35 || number(ds[:2]) == 86 || number(ds[:2]) == 99)
}

// isVIN: seventeen characters, the ninth a check digit (49 CFR 565.15); elsewhere than in
// North America and China it need not be one.
func isVIN(text string) bool {
	text = strings.ToUpper(text)
	if !vin.MatchString(text) {
		return false
	}
	const values = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ"
	sum := 0
	for i, weight := range []int{8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2} {
		sum += strings.IndexByte(values, text[i]) % 10 * weight
	}
	return "0123456789X"[sum%11] == text[8]
}

var vin = regexp.MustCompile(`^[0-9A-HJ-NPR-Z]{17}$`)

// isUUID: RFC 9562, section 4.
func isUUID(text string) bool { return uuid.MatchString(text) }

var uuid = regexp.MustCompile(`^\{?[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\}?$`)

// isMAC: IEEE 802, with any of the three usual separators.
func isMAC(text string) bool { return mac.MatchString(text) }

var mac = regexp.MustCompile(`^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$|^([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}$`)

// isIP: addresses of both versions, with or without the length of a prefix. Numbers of
// versions, such as 1.2.3.4, cannot be told from them.
func isIP(text string) bool {
	address, length, prefixed := strings.Cut(text, "/")
	if _, err := strconv.ParseUint(length, 10, 8); prefixed && err != nil {
		return false
	}
	_, err := netip.ParseAddr(address)
	return err == nil
}

// isURL: a scheme that leads to a page or a file.
func isURL(text string) bool { return page.MatchString(text) }

var page = regexp.MustCompile(`^(?i:https?://|ftp://|www\.)\S+\.\S+$`)

// isPlace: latitude and longitude in degrees, with decimals, in this order.
func isPlace(text string) bool {
	m := place.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	latitude, err := strconv.ParseFloat(m[1], 64)
	longitude, err2 := strconv.ParseFloat(m[2], 64)
	return err == nil && err2 == nil && latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180
}

var place = regexp.MustCompile(`^\(?([+-]?[0-9]{1,2}\.[0-9]{3,}) ?[,; ] ?([+-]?[0-9]{1,3}\.[0-9]{3,})\)?$`)

// hasContact looks for e-mail addresses and phone numbers in a longer text.
func hasContact(text string) bool { return contact.MatchString(text) }

var contact = regexp.MustCompile(`[\pL\pN._%+-]+@[\pL\pN-]+\.[\pL]{2,}|\+[0-9][0-9 ()/.\-]{7,}[0-9]|\b0[1-9][0-9]{1,4}[ /\-][0-9][0-9 \-]{4,}[0-9]`)
