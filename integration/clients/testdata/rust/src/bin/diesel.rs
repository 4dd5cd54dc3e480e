//! Diesel over libpq: queries that it builds and checks, joins, plain SQL, streams, transactions.
use bigdecimal::BigDecimal;
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clients::{step, Digest, LARGE};
use diesel::connection::{DefaultLoadingMode, SimpleConnection};
use diesel::dsl::{avg, count, count_star, exists, max, not, sql, sum};
use diesel::pg::PgRowByRowLoadingMode;
use diesel::prelude::*;
use diesel::query_dsl::positional_order_dsl::PositionalOrderDsl;
use diesel::result::Error;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use diesel::{debug_query, sql_query};
use uuid::Uuid;

diesel::table! {
    patients (visit) {
        visit -> Int4,
        diagnosis -> Text,
        cost -> Nullable<Numeric>,
        alive -> Nullable<Bool>,
        small -> Nullable<Int2>,
        large -> Nullable<Int8>,
        ratio -> Nullable<Float8>,
        single -> Nullable<Float4>,
        title -> Nullable<Varchar>,
        raw -> Nullable<Bytea>,
        uid -> Nullable<Uuid>,
        details -> Nullable<Jsonb>,
        tags -> Nullable<Array<Nullable<Text>>>,
        admitted -> Nullable<Timestamptz>,
        day -> Nullable<Date>,
        clock -> Nullable<Time>,
    }
}

diesel::table! {
    wards (ward) {
        ward -> Text,
        beds -> Int4,
        #[sql_name = "Größe"]
        size -> Nullable<Int4>,
    }
}

diesel::joinable!(patients -> wards (diagnosis));
diesel::allow_tables_to_appear_in_same_query!(patients, wards);

#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = patients, check_for_backend(diesel::pg::Pg))]
#[allow(dead_code)] // printed
struct Patient {
    visit: i32,
    diagnosis: String,
    cost: Option<BigDecimal>,
    alive: Option<bool>,
    small: Option<i16>,
    large: Option<i64>,
    ratio: Option<f64>,
    single: Option<f32>,
    title: Option<String>,
    raw: Option<Vec<u8>>,
    uid: Option<Uuid>,
    details: Option<serde_json::Value>,
    tags: Option<Vec<Option<String>>>,
    admitted: Option<DateTime<Utc>>,
    day: Option<NaiveDate>,
    clock: Option<NaiveTime>,
}

#[derive(Debug, QueryableByName)]
#[allow(dead_code)] // printed
struct Grouped {
    #[diesel(sql_type = Text)]
    diagnosis: String,
    #[diesel(sql_type = BigInt)]
    n: i64,
}

#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = wards, check_for_backend(diesel::pg::Pg))]
#[allow(dead_code)] // printed
struct Ward {
    ward: String,
    beds: i32,
    size: Option<i32>,
}

#[derive(Insertable)]
#[diesel(table_name = wards)]
struct New {
    ward: String,
    beds: i32,
}

/// All that an error has, which its text leaves out.
fn told(error: Error) -> String {
    match error {
        Error::DatabaseError(kind, e) => format!("{kind:?} {} detail {:?} hint {:?} position {:?} table {:?}", e.message(), e.details(), e.hint(), e.statement_position(), e.table_name()),
        other => other.to_string(),
    }
}

fn queries(c: &mut PgConnection) {
    step("records", patients::table.filter(patients::visit.eq_any([3, 7, 11])).order(patients::visit).select(Patient::as_select()).load(c).map_err(told));
    step("filtered", patients::table.filter(patients::diagnosis.like("I%").and(patients::cost.gt(BigDecimal::from(4000)).or(patients::alive.is_null()))).order(patients::visit.desc()).limit(5).offset(2)
        .select((patients::visit, patients::diagnosis)).load::<(i32, String)>(c).map_err(told));
    step("found", wards::table.find("Größe").first::<(String, i32, Option<i32>)>(c).optional().map_err(told));
    step("not found", wards::table.find("none").first::<(String, i32, Option<i32>)>(c).map_err(told));
    step("grouped", patients::table.group_by(patients::diagnosis).having(count_star().gt(20)).order(patients::diagnosis)
        .select((patients::diagnosis, count_star(), sum(patients::cost), avg(patients::small).is_not_null(), max(patients::admitted))).load::<(String, i64, Option<BigDecimal>, bool, Option<DateTime<Utc>>)>(c).map_err(told));
    step("joined", wards::table.left_join(patients::table.on(patients::visit.eq(wards::beds))).order(wards::ward).select((wards::ward, patients::visit.nullable(), patients::title.nullable()))
        .load::<(String, Option<i32>, Option<String>)>(c).map_err(told));
    step("by the key", patients::table.inner_join(wards::table).count().get_result::<i64>(c).map_err(told));
    let other = diesel::alias!(patients as other);
    step("with itself", patients::table.inner_join(other.on(other.field(patients::diagnosis).eq(patients::diagnosis))).filter(patients::visit.lt(5)).filter(other.field(patients::visit).gt(490))
        .order((patients::visit, other.field(patients::visit))).select((patients::visit, other.field(patients::visit))).load::<(i32, i32)>(c).map_err(told));
    step("subquery", patients::table.filter(patients::visit.eq_any(wards::table.select(wards::beds))).filter(not(exists(wards::table.filter(wards::ward.eq("none"))))).order(patients::visit).select(patients::visit).load::<i32>(c).map_err(told));
    step("distinct", patients::table.distinct_on(patients::diagnosis).order((patients::diagnosis, patients::visit)).select((patients::diagnosis, patients::visit)).load::<(String, i32)>(c).map_err(told));
    step("union", patients::table.select(patients::visit).filter(patients::visit.lt(3)).union(wards::table.select(wards::beds)).positional_order_by(1).load::<i32>(c).map_err(told));
    step("arrays", patients::table.filter(patients::tags.contains(vec![Some("a3".to_string())])).select((patients::visit, patients::tags)).load::<(i32, Option<Vec<Option<String>>>)>(c).map_err(told));
    step("json", patients::table.filter(patients::visit.eq(3)).select(sql::<Nullable<Text>>("details->'list'->>1")).load::<Option<String>>(c).map_err(told));
    let counting = patients::table.filter(patients::diagnosis.eq("I10")).select(count(patients::cost));
    step("text of a query", Ok::<_, String>(debug_query::<diesel::pg::Pg, _>(&counting).to_string()));
    step("again and again", (0..8).map(|i| patients::table.filter(patients::visit.gt(i * 50)).count().get_result::<i64>(c)).collect::<Result<Vec<_>, _>>().map_err(told));
    step("plain", sql_query("SELECT diagnosis, count(*) AS n FROM patients WHERE visit < $1 GROUP BY 1 ORDER BY 1").bind::<Integer, _>(100).load::<Grouped>(c).map_err(told));
    for (name, text) in [("unknown column", "SELECT nothing FROM patients"), ("unknown table", "SELECT * FROM nothing"), ("division", "SELECT diagnosis, 1 / (visit - 100) FROM patients"), ("syntax", "SELECT FROM WHERE")] {
        step(name, sql_query(text).execute(c).map_err(told));
    }
}

fn rows(c: &mut PgConnection) {
    let large = sql_query(LARGE);
    step("many rows", large.execute(c).map_err(told));
    step("at once", patients::table.order(patients::visit).select(patients::visit).load_iter::<i32, DefaultLoadingMode>(c).and_then(|r| r.collect::<QueryResult<Vec<_>>>()).map(|v| v.len()).map_err(told));
    step("row by row", patients::table.order(patients::visit).select((patients::visit, patients::title)).load_iter::<(i32, Option<String>), PgRowByRowLoadingMode>(c).and_then(|r| {
        let mut d = Digest::default();
        for row in r {
            d.add(format!("{:?}", row?).as_bytes());
        }
        Ok(d)
    }).map_err(told));
    step("copied", diesel::copy_to(wards::table).load::<Ward, _>(c).and_then(|r| r.collect::<QueryResult<Vec<_>>>()).map_err(told));
}

fn transactions(c: &mut PgConnection) {
    step("transaction", c.transaction(|c| {
        let failed = c.transaction(|c| sql_query("SELECT 1 / 0").execute(c)).map_err(told);
        Ok((failed, wards::table.count().get_result::<i64>(c)?))
    }).map_err(told));
    step("isolated", c.build_transaction().serializable().read_only().deferrable().run(|c| diesel::select(sql::<Text>("current_setting('transaction_isolation')")).get_result::<String>(c)).map_err(told));
    step("tried", Ok::<_, String>(c.test_transaction::<_, Error, _>(|c| wards::table.count().get_result::<i64>(c))));
    step("rolled back", c.transaction::<(), _, _>(|_| Err(Error::RollbackTransaction)).map_err(told));
    step("batch", c.batch_execute("SET lock_timeout = '3s'; SELECT 1; RESET lock_timeout").map_err(told));
    step("insert", diesel::insert_into(wards::table).values(New { ward: "new".to_string(), beds: 1 }).execute(c).map_err(told));
    step("update", diesel::update(wards::table.find("surgery")).set(wards::beds.eq(1)).returning(wards::ward).get_result::<String>(c).map_err(told));
    step("delete", diesel::delete(wards::table).execute(c).map_err(told));
    step("locked", wards::table.select(wards::ward).for_update().skip_locked().load::<String>(c).map_err(told));
    step("after all", wards::table.count().get_result::<i64>(c).map_err(told));
}

fn main() {
    // libpq finds the way in its environment.
    let mut c = PgConnection::establish("").unwrap();
    queries(&mut c);
    rows(&mut c);
    transactions(&mut c);
    step("wrong password", PgConnection::establish("password=wrong hostaddr=127.0.0.1").map(|_| "open").map_err(|e| {
        // The way's port is in it.
        e.to_string().rsplit("FATAL:").next().unwrap_or_default().trim().to_string()
    }));
}
