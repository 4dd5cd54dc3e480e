package shop

import (
	"context"
	_ "embed"
	"fmt"
	"math/big"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Schema creates the tables customers, orders, items and payments in the schema that comes first
// on the search path.
//
//go:embed schema.sql
var Schema string

// rows are those of the tables.
type rows struct{ customers, orders, items, payments [][]any }

// Load creates the tables and fills them with n customers. It does all or nothing, and fails if
// one of the tables exists.
func Load(ctx context.Context, conn *pgx.Conn, n int, seed uint64) error {
	var r rows
	for c := range Customers(n, seed) {
		r.add(c)
	}
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, Schema); err != nil {
			return fmt.Errorf("creating the tables: %w", err)
		}
		for _, t := range []struct {
			name    string
			columns []string
			rows    [][]any
		}{
			{"customers", []string{"customer_id", "email", "birth_year", "postcode"}, r.customers},
			{"orders", []string{"order_id", "customer_id", "ordered_on", "channel", "total"}, r.orders},
			{"items", []string{"order_id", "line", "product", "category", "quantity", "price"}, r.items},
			{"payments", []string{"payment_id", "order_id", "method", "day", "amount"}, r.payments},
		} {
			if _, err := tx.CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, pgx.CopyFromRows(t.rows)); err != nil {
				return fmt.Errorf("filling %s: %w", t.name, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("loading the shop: %w", err)
	}
	if _, err := conn.Exec(ctx, "ANALYZE customers, orders, items, payments"); err != nil {
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
