package shop

import (
	"context"
	_ "embed"
	"fmt"
	"math/big"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/kproxy/kproxy/internal/example"
)

// Schema creates the tables customers, orders, items and payments in the schema that comes first
// on the search path.
//
//go:embed schema.sql
var Schema string

// Policy is a policy file that releases the tables together.
//
//go:embed policy.yaml
var Policy string

// rows are those of the tables.
type rows struct{ customers, orders, items, payments [][]any }

// Load creates the tables and fills them with n customers. It does all or nothing, and fails if
// one of the tables exists.
func Load(ctx context.Context, conn *pgx.Conn, n int, seed uint64) error {
	var r rows
	for c := range Customers(n, seed) {
		r.add(c)
	}
	err := example.Load(ctx, conn, Schema, []example.Table{
		{Name: "customers", Columns: []string{"customer_id", "email", "birth_year", "postcode"}, Rows: r.customers},
		{Name: "orders", Columns: []string{"order_id", "customer_id", "ordered_on", "channel", "total"}, Rows: r.orders},
		{Name: "items", Columns: []string{"order_id", "line", "product", "category", "quantity", "price"}, Rows: r.items},
		{Name: "payments", Columns: []string{"payment_id", "order_id", "method", "day", "amount"}, Rows: r.payments},
	})
	if err != nil {
		return fmt.Errorf("loading the shop: %w", err)
	}
	return nil
}

// add numbers the rows of one customer after those of the customers before.
func (r *rows) add(c Customer) {
	r.customers = append(r.customers, []any{c.ID, c.Email, c.BirthYear, c.Postcode})
	for _, o := range c.Orders {
		order := int64(len(r.orders)) + 1
		r.orders = append(r.orders, []any{order, c.ID, o.OrderedOn, o.Channel, money(o.Cents())})
		for i, item := range o.Items {
			r.items = append(r.items, []any{order, i + 1, item.Product.name, item.Product.category, item.Quantity, money(item.Cents)})
		}
		for _, p := range o.Payments {
			r.payments = append(r.payments, []any{int64(len(r.payments)) + 1, order, p.Method, p.Day, money(p.Cents)})
		}
	}
}

func money(cents int64) pgtype.Numeric {
	return pgtype.Numeric{Int: big.NewInt(cents), Exp: -2, Valid: true}
}
