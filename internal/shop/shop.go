// Package shop generates the second example of tables about the same persons: a mail-order shop
// with customers, their orders, the items of these, and payments. The same seed gives the same rows.
package shop

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Customer is a row of the table customers, with its orders.
type Customer struct {
	ID        int64 // 1, 2, 3, ...
	Email     string
	BirthYear int
	Postcode  string
	Orders    []Order // by date
}

// Order is a row of the table orders, with its items and payments.
type Order struct {
	OrderedOn time.Time
	Channel   string
	Items     []Item
	Payments  []Payment
}

// Cents is the total of the order's items in hundredths of the currency.
func (o Order) Cents() (total int64) {
	for _, item := range o.Items {
		total += int64(item.Quantity) * item.Cents
	}
	return total
}

// Item is a row of the table items. Cents is the price of one piece.
type Item struct {
	Product  product
	Quantity int
	Cents    int64
}

// Payment is a row of the table payments. Day counts from the day of the order.
type Payment struct {
	Method string
	Day    int
	Cents  int64
}

// The calendar years of orders, both included.
const (
	firstYear = 2023
	lastYear  = 2025
)

// Customers yields n customers with their orders. Most order rarely, and some every week.
func Customers(n int, seed uint64) iter.Seq[Customer] {
	return func(yield func(Customer) bool) {
		for id := int64(1); id <= int64(n); id++ {
			if !yield(customer(rand.New(rand.NewPCG(seed, uint64(id))), id)) {
				return
			}
		}
	}
}

func customer(rng *rand.Rand, id int64) Customer {
	c := Customer{
		ID: id, Email: fmt.Sprintf("customer%d@example.org", id),
		BirthYear: lastYear - 18 - int(math.Abs(22*rng.NormFloat64())+12*rng.Float64()),
		Postcode:  fmt.Sprintf("%d%02d00", 1+rng.IntN(5), ranked(rng, 40)),
	}
	// Few customers buy most of what is sold, each mostly of one category.
	zeal := math.Exp(rng.NormFloat64())
	liking := rng.IntN(len(categories))
	for year := firstYear; year <= lastYear; year++ {
		for range int(zeal * 0.9 * rng.ExpFloat64()) {
			c.Orders = append(c.Orders, order(rng, year, liking))
		}
	}
	slices.SortFunc(c.Orders, func(a, b Order) int { return a.OrderedOn.Compare(b.OrderedOn) })
	return c
}

func order(rng *rand.Rand, year, liking int) Order {
	o := Order{OrderedOn: day(rng, year), Channel: channels[ranked(rng, len(channels))]}
	for range 1 + ranked(rng, 6) {
		category := liking
		if rng.Float64() < 0.4 {
			category = rng.IntN(len(categories))
		}
		of := categories[category].products
		at := ranked(rng, len(of))
		cents := int64(categories[category].price * 100 * float64(3+at) / 4)
		o.Items = append(o.Items, Item{product{of[at], categories[category].name}, 1 + ranked(rng, 4), cents})
	}
	o.Payments = payments(rng, o.Cents())
	return o
}

// day draws a day. One in four orders is for Christmas.
func day(rng *rand.Rand, year int) time.Time {
	if rng.Float64() < 0.25 {
		return time.Date(year, 11, 10+rng.IntN(40), 0, 0, 0, 0, time.UTC)
	}
	return time.Date(year, 1, 1+rng.IntN(365), 0, 0, 0, 0, time.UTC)
}

// payments pays an amount at once, in parts, or not at all.
func payments(rng *rand.Rand, cents int64) []Payment {
	method := methods[ranked(rng, len(methods))]
	switch u := rng.Float64(); {
	case u < 0.04:
		return nil
	case u < 0.14 && cents > 1:
		half := cents / 2
		return []Payment{{method, rng.IntN(14), half}, {method, 30 + rng.IntN(14), cents - half}}
	default:
		return []Payment{{method, rng.IntN(14), cents}}
	}
}

// ranked draws an index below n that is the likelier the lower it is.
func ranked(rng *rand.Rand, n int) int {
	u := rng.Float64()
	return int(u * u * float64(n))
}
