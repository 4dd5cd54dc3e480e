//! sqlx: a pool, queries into rows and records, transactions, descriptions, streams, COPY, a listener.
use clients::{parameter, step, Digest, LARGE, SLOW};
use futures_util::TryStreamExt;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolCopyExt, PgPoolOptions, PgRow, PgSslMode};
use sqlx::types::{chrono, BigDecimal, Json, Uuid};
use sqlx::{AssertSqlSafe, Acquire, Column, Connection, Executor, FromRow, Row, SqlSafeStr, Statement, TypeInfo};
use std::time::Duration;

type Outcome<T> = Result<T, String>;

/// All that an error has, which its text leaves out. The numbers of types are others on each server.
fn told(error: sqlx::Error) -> String {
    match error.as_database_error().and_then(|e| e.try_downcast_ref::<sqlx::postgres::PgDatabaseError>()) {
        Some(e) => format!("{:?} {} {} detail {:?} hint {:?} position {:?}", e.severity(), e.code(), e.message().replace(char::is_numeric, "N"), e.detail(), e.hint(), e.position()),
        None => error.to_string(),
    }
}

fn options() -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass().host(&parameter("PGHOST")).port(parameter("PGPORT").parse().unwrap()).username(&parameter("PGUSER")).password(&parameter("PGPASSWORD")).database(&parameter("PGDATABASE"))
        .ssl_mode(PgSslMode::VerifyFull).ssl_root_cert(parameter("PGSSLROOTCERT")).application_name("work")
}

#[derive(Debug, sqlx::Type)]
#[sqlx(type_name = "mood", rename_all = "lowercase")]
enum Mood {
    Low,
    Fair,
    Good,
}

#[derive(Debug, FromRow)]
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
    details: Option<Json<serde_json::Value>>,
    admitted: Option<chrono::DateTime<chrono::Utc>>,
    left_at: Option<chrono::NaiveDateTime>,
    day: Option<chrono::NaiveDate>,
    clock: Option<chrono::NaiveTime>,
    mood: Option<Mood>,
}

fn texts(rows: Vec<PgRow>) -> Vec<Vec<Option<String>>> {
    rows.iter().map(|r| (0..r.len()).map(|i| r.get(i)).collect()).collect()
}

async fn query<'e>(e: impl sqlx::PgExecutor<'e>, sql: &str) -> Outcome<Vec<Vec<Option<String>>>> {
    sqlx::query(AssertSqlSafe(sql)).fetch_all(e).await.map(texts).map_err(told)
}

async fn queries(pool: &PgPool) {
    step("records", sqlx::query_as::<_, Patient>("SELECT * FROM patients WHERE visit IN (3, 7, 11) ORDER BY visit").fetch_all(pool).await.map_err(told));
    step("bound", sqlx::query_as::<_, (i32, Option<Mood>)>("SELECT visit, mood FROM patients WHERE diagnosis = ANY($1) AND mood = $2 AND visit < $3 ORDER BY visit")
        .bind(vec!["I10", "J18"]).bind(Mood::Good).bind(60).fetch_all(pool).await.map_err(told));
    step("bound as a text", sqlx::query_scalar::<_, i32>("SELECT visit FROM patients WHERE mood = $1::mood AND visit < $2 ORDER BY visit").bind("good").bind(12).fetch_all(pool).await.map_err(told));
    step("scalars", sqlx::query_scalar::<_, Vec<Option<String>>>("SELECT tags FROM patients WHERE visit = $1").bind(3).fetch_one(pool).await.map_err(told));
    step("optional", sqlx::query_scalar::<_, i64>("SELECT count(*) FROM patients HAVING count(*) < $1").bind(3i64).fetch_optional(pool).await.map_err(told));
    step("many", async {
        let mut seen = Vec::new();
        let mut results = sqlx::raw_sql("SELECT 1; SELECT count(*) FROM patients; VALUES ('x'), (NULL)").fetch_many(pool);
        while let Some(result) = results.try_next().await.map_err(told)? {
            seen.push(result.either(|done| format!("done {}", done.rows_affected()), |row| format!("row of {}", row.len())));
        }
        Ok::<_, String>(seen)
    }.await);
    step("stream", async {
        let mut d = Digest::default();
        let mut rows = sqlx::query(LARGE).fetch(pool);
        while let Some(row) = rows.try_next().await.map_err(told)? {
            d.add(format!("{} {} {:?} {:?}", row.get::<i32, _>(0), row.get::<i32, _>(1), row.get::<Option<String>, _>(2), row.get::<Option<String>, _>(3)).as_bytes());
        }
        Ok::<_, String>(d)
    }.await);
    step("stream left early", async {
        let mut seen = Vec::new();
        {
            let mut rows = sqlx::query_scalar::<_, i32>("SELECT visit FROM patients ORDER BY visit").fetch(pool);
            for _ in 0..5 {
                seen.push(rows.try_next().await.map_err(told)?);
            }
        }
        Ok::<_, String>((seen, query(pool, "SELECT 'after'").await))
    }.await);
    step("copy", async {
        let mut data = pool.copy_out_raw("COPY (SELECT visit, title, cost FROM patients ORDER BY visit) TO STDOUT (FORMAT csv)").await.map_err(told)?;
        let mut d = Digest::default();
        while let Some(part) = data.try_next().await.map_err(told)? {
            d.add(&part);
        }
        Ok::<_, String>(d)
    }.await);
    for (name, sql) in [("division", "SELECT (1 / (visit - 100))::text FROM patients"), ("unknown column", "SELECT nothing FROM patients"), ("unknown function", "SELECT nothing(visit) FROM patients"),
        ("write", "UPDATE wards SET beds = 1"), ("locked", "SELECT ward FROM wards FOR UPDATE")] {
        step(name, query(pool, sql).await);
    }
    // sqlx takes such a lock before it runs migrations.
    step("advisory lock", query(pool, "SELECT pg_advisory_lock(7)::text, pg_advisory_unlock(7)::text").await);
}

/// What sqlx asks the server, and its catalogs, when it checks queries while it compiles.
async fn described(pool: &PgPool) {
    step("prepared", async {
        let mut c = pool.acquire().await.map_err(told)?;
        let s = c.prepare("SELECT visit, mood, home, share, years FROM patients WHERE visit = $1 AND mood = $2".into_sql_str()).await.map_err(told)?;
        Ok::<_, String>((s.columns().iter().map(|c| format!("{} {}", c.name(), c.type_info().name())).collect::<Vec<_>>(), format!("{:?}", s.parameters().map(|p| p.map_left(|t| t.iter().map(|t| t.name().to_string()).collect::<Vec<_>>())))))
    }.await);
    for (name, sql) in [("patients", "SELECT * FROM patients WHERE visit = $1"), ("wards", "SELECT ward, beds, \"Größe\" FROM wards"), ("joined", "SELECT w.ward, p.visit, count(*) FROM wards w LEFT JOIN patients p ON p.visit = w.beds GROUP BY 1, 2"),
        ("wrong", "SELECT nothing FROM wards")] {
        step(&format!("described {name}"), async {
            let mut c = pool.acquire().await.map_err(told)?;
            let d = (&mut *c).describe(sql.into_sql_str()).await.map_err(told)?;
            Ok::<_, String>((0..d.columns().len()).map(|i| format!("{} {} {:?}", d.columns()[i].name(), d.columns()[i].type_info(), d.nullable(i))).collect::<Vec<_>>())
        }.await);
    }
}

async fn transactions(pool: &PgPool) {
    step("transaction", async {
        let mut t = pool.begin().await.map_err(told)?;
        let mut inner = t.begin().await.map_err(told)?;
        let failed = query(&mut *inner, "SELECT (1 / 0)::text").await;
        inner.rollback().await.map_err(told)?;
        let after = query(&mut *t, "SELECT count(*)::text FROM wards").await;
        t.commit().await.map_err(told)?;
        Ok::<_, String>((failed, after))
    }.await);
    step("transaction left", async {
        {
            let mut t = pool.begin_with("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY").await.map_err(told)?;
            query(&mut *t, "SHOW transaction_isolation").await?;
        }
        query(pool, "SHOW transaction_isolation").await
    }.await);
    step("time limit", async {
        let mut c = pool.acquire().await.map_err(told)?;
        query(&mut *c, "SET statement_timeout = 300").await?;
        let result = query(&mut *c, SLOW).await;
        query(&mut *c, "RESET statement_timeout").await?;
        Ok::<_, String>(result)
    }.await);
    step("concurrent", async {
        let sums = futures_util::future::try_join_all((0..12).map(|i| sqlx::query_scalar::<_, i64>("SELECT sum(visit) FROM patients WHERE visit % 12 = $1").bind(i).fetch_one(pool))).await.map_err(told)?;
        Ok::<_, String>(sums)
    }.await);
    step("listener", async {
        let mut l = PgListener::connect_with(pool).await.map_err(told)?;
        l.listen("channel").await.map_err(told)
    }.await);
    step("ping", async {
        let mut c = pool.acquire().await.map_err(told)?;
        c.ping().await.map_err(told)
    }.await);
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let pool = PgPoolOptions::new().max_connections(3).acquire_timeout(Duration::from_secs(60)).after_connect(|c, _| Box::pin(async move {
        c.execute("SET lock_timeout = '4s'").await.map(|_| ())
    })).connect_with(options()).await.unwrap();
    step("settings", query(&pool, "SELECT current_setting('lock_timeout'), current_setting('TimeZone'), current_setting('extra_float_digits')").await);
    queries(&pool).await;
    described(&pool).await;
    transactions(&pool).await;
    pool.close().await;
    step("wrong password", PgPoolOptions::new().connect_with(options().password("wrong")).await.map(|_| "open").map_err(told));
    step("options", async {
        let mut c = sqlx::PgConnection::connect_with(&options().options([("lock_timeout", "7s"), ("statement_timeout", "8s")])).await.map_err(told)?;
        query(&mut c, "SELECT current_setting('lock_timeout'), current_setting('statement_timeout')").await
    }.await);
}
