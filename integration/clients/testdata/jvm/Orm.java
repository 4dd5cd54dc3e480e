import jakarta.persistence.Column;
import jakarta.persistence.ConstraintMode;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.ForeignKey;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.LockModeType;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.NamedQuery;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OrderBy;
import jakarta.persistence.Table;
import jakarta.persistence.Tuple;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.hibernate.Hibernate;
import org.hibernate.ScrollMode;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.BatchSize;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.annotations.NotFound;
import org.hibernate.annotations.NotFoundAction;
import org.hibernate.cfg.Configuration;
import org.hibernate.type.SqlTypes;

/** Hibernate: validating the schema, entities with relations, HQL, criteria, scrolling, native queries, locks. */
class Orm extends Report {
    enum Mood { low, fair, good }

    @Entity(name = "Ward")
    @Table(name = "wards")
    static class Ward {
        @Id String ward;
        int beds;
        @Column(name = "\"Größe\"") Integer size;
    }

    @Entity(name = "Patient")
    @Table(name = "patients")
    @NamedQuery(name = "costly", query = "from Patient p where p.cost > :cost order by p.cost desc, p.visit")
    @BatchSize(size = 10)
    static class Patient {
        @Id Integer visit;
        String diagnosis;
        @Column(precision = 10, scale = 2) BigDecimal cost;
        Boolean alive;
        Short small;
        Long large;
        Double ratio;
        Float single;
        @Column(length = 20) String title;
        byte[] raw;
        UUID uid;
        @JdbcTypeCode(SqlTypes.JSON) Map<String, Object> details;
        String[] tags;
        Instant admitted;
        LocalDate day;
        @JdbcTypeCode(SqlTypes.INTERVAL_SECOND) @Column(insertable = false, updatable = false) Duration span;
        @JdbcTypeCode(SqlTypes.NAMED_ENUM) Mood mood;
        // No key is told to be followed: some of the rows that it refers to are not there.
        @ManyToOne(fetch = FetchType.LAZY)
        @JoinColumn(name = "share", columnDefinition = "percentage", foreignKey = @ForeignKey(ConstraintMode.NO_CONSTRAINT))
        @NotFound(action = NotFoundAction.IGNORE) Patient guide;
        @OneToMany(mappedBy = "guide") @OrderBy("visit") @BatchSize(size = 7) Set<Patient> guided;

        @Override
        public String toString() {
            return visit + " " + diagnosis + " " + cost + " " + alive + " " + small + " " + large + " " + ratio + " " + single + " " + title + " " + Arrays.toString(raw)
                + " " + uid + " " + (details == null ? null : new java.util.TreeMap<>(details)) + " " + Arrays.toString(tags) + " " + admitted + " " + day + " " + span + " " + mood;
        }
    }

    /** A table that is not there. */
    @Entity(name = "Absent")
    @Table(name = "absent")
    static class Absent {
        @Id int id;
    }

    /** A column of another type. */
    @Entity(name = "Strange")
    @Table(name = "wards")
    static class Strange {
        @Id String ward;
        @JdbcTypeCode(SqlTypes.TIMESTAMP) Instant beds;
    }

    static SessionFactory factory(String action, Class<?>... entities) {
        Configuration c = new Configuration();
        c.setProperty("jakarta.persistence.jdbc.url", URL);
        properties().forEach((name, value) -> c.setProperty("hibernate.connection." + name, (String) value));
        c.setProperty("hibernate.connection.pool_size", "2");
        c.setProperty("hibernate.hbm2ddl.auto", action);
        c.setProperty("hibernate.type.preferred_instant_jdbc_type", "TIMESTAMP_WITH_TIMEZONE");
        for (Class<?> entity : entities) {
            c.addAnnotatedClass(entity);
        }
        return c.buildSessionFactory();
    }

    static <T> T in(SessionFactory f, Function<Session, T> work) {
        return f.fromTransaction(work);
    }

    public static void main(String[] arguments) {
        for (String action : List.of("validate", "update", "create")) {
            step("schema " + action, () -> {
                try (SessionFactory f = factory(action, Ward.class, Patient.class)) {
                    return in(f, s -> s.createSelectionQuery("select count(*) from Patient", Long.class).getSingleResult());
                }
            });
        }
        for (Class<?> entity : List.of(Absent.class, Strange.class)) {
            step("validate " + entity.getSimpleName(), () -> {
                try (SessionFactory f = factory("validate", entity)) {
                    return "valid";
                }
            });
        }
        try (SessionFactory f = factory("none", Ward.class, Patient.class)) {
            entities(f);
            queries(f);
            more(f);
            transactions(f);
        }
    }

    static void hql(SessionFactory f, String name, String query, Object... parameters) {
        step(name, () -> in(f, s -> {
            var q = s.createSelectionQuery(query, Object[].class);
            for (int i = 0; i < parameters.length; i++) {
                if (parameters[i] instanceof List<?> list) {
                    q.setParameterList(i + 1, list);
                } else {
                    q.setParameter(i + 1, parameters[i]);
                }
            }
            return q.getResultList();
        }));
    }

    static void entities(SessionFactory f) {
        step("found", () -> in(f, s -> List.of(s.find(Patient.class, 3), s.find(Patient.class, 20), s.find(Ward.class, "Größe").size, s.find(Patient.class, 9999) == null)));
        step("several", () -> in(f, s -> s.findMultiple(Patient.class, List.of(5, 9999, 4))));
        step("lazy", () -> in(f, s -> {
            StringBuilder b = new StringBuilder();
            for (Patient p : s.createSelectionQuery("from Patient where visit between 105 and 110 order by visit", Patient.class).list()) {
                b.append(p.guide == null ? null : p.guide.visit + " " + p.guide.guided.size() + " " + p.guide.guided.stream().mapToInt(g -> g.visit).sum()).append("; ");
            }
            return b;
        }));
        step("fetch join", () -> in(f, s -> {
            StringBuilder b = new StringBuilder();
            for (Patient p : s.createSelectionQuery("select distinct p from Patient p left join fetch p.guided where p.visit < 9 order by p.visit", Patient.class).list()) {
                b.append(Hibernate.isInitialized(p.guided)).append(p.guided.stream().map(g -> g.visit).sorted().toList());
            }
            return b;
        }));
        step("entity graph", () -> in(f, s -> {
            var graph = s.createEntityGraph(Patient.class);
            graph.addSubgraph("guide");
            Patient p = s.find(Patient.class, 105, Map.of("jakarta.persistence.fetchgraph", graph));
            return Hibernate.isInitialized(p.guide) + " " + p.guide;
        }));
        step("named query", () -> in(f, s -> s.createNamedQuery("costly", Patient.class).setParameter("cost", new BigDecimal("4900")).setMaxResults(5).getResultList()));
        step("refreshed", () -> in(f, s -> {
            Ward w = s.find(Ward.class, "surgery");
            w.beds = 0;
            s.refresh(w);
            return w.beds;
        }));
    }

    static void queries(SessionFactory f) {
        hql(f, "grouped", "select p.diagnosis, count(*), avg(p.cost), max(p.day) from Patient p group by p.diagnosis having count(*) > ?1 order by 1", 20);
        hql(f, "in a list", "select p.visit, p.title from Patient p where p.diagnosis in ?1 and p.visit < ?2 order by p.visit", List.of("I10", "J18"), 40);
        hql(f, "implicit join", "select p.visit, p.guide.diagnosis from Patient p where p.guide.cost > ?1 order by 1 fetch first 5 rows only", new BigDecimal(4000));
        hql(f, "subquery", "select p.visit, p.cost from Patient p where p.cost > (select avg(q.cost) * 1.9 from Patient q where q.diagnosis = p.diagnosis) order by 1");
        hql(f, "exists", "select count(*) from Patient p where exists (from Patient q where q.guide = p) and p.guided is not empty");
        hql(f, "with", "with t as (select p.diagnosis as d, count(*) as n from Patient p group by p.diagnosis) select t.d, t.n from t t where t.n > 50 order by t.d");
        hql(f, "union", "select p.visit from Patient p where p.visit < 3 union select w.beds from Ward w order by 1");
        hql(f, "window", "select p.visit, row_number() over (partition by p.diagnosis order by p.visit), sum(p.cost) over (order by p.visit) from Patient p where p.visit < 8 order by p.visit");
        hql(f, "functions", "select upper(p.title), substring(p.title, 2, 3), length(p.title), concat(p.title, '-', p.diagnosis), coalesce(p.cost, 0), nullif(p.diagnosis, 'I10'), abs(p.small), mod(p.visit, 4),"
            + " cast(p.visit as String), locate('t', p.title), trim(p.title), replace(p.title, 'T', 't'), round(p.cost, 1), sqrt(p.visit), floor(p.ratio), sign(p.small) from Patient p where p.visit in (3, 4) order by p.visit");
        hql(f, "dates", "select extract(year from p.day), month(p.day), p.day + 3 day, trunc(p.admitted, month), format(p.admitted as 'yyyy-MM-dd HH:mm'), (p.admitted - p.admitted) by second from Patient p where p.visit = 5");
        hql(f, "case", "select case when p.alive then 'yes' when p.alive is null then 'unknown' else 'no' end, count(*) from Patient p group by 1 order by 1");
        hql(f, "listed", "select p.diagnosis, listagg(p.title, ',') within group (order by p.visit), any(p.alive), every(p.alive), count(*) filter (where p.cost > 100) from Patient p where p.visit < 12 group by p.diagnosis order by 1");
        hql(f, "quantiles", "select percentile_cont(0.5) within group (order by p.ratio), mode() within group (order by p.diagnosis), stddev_samp(p.visit) from Patient p where p.visit <> 20");
        hql(f, "arrays", "select p.tags, array_length(p.tags), array_get(p.tags, 1) from Patient p where p.visit = 3");
        hql(f, "enum", "select p.mood, count(*) from Patient p where p.mood in ?1 group by p.mood order by p.mood", List.of(Mood.low, Mood.good));
        hql(f, "like", "select w.ward from Ward w where lower(w.ward) like ?1 or w.ward ilike ?2 order by 1", "%größe%", "SURG%");
        hql(f, "rollup", "select p.diagnosis, p.alive, count(*) from Patient p group by rollup(p.diagnosis, p.alive) order by 1 nulls last, 2 nulls first");
        hql(f, "unknown function", "select nothing(p.visit) from Patient p");
        hql(f, "database function", "select function('pg_backend_pid') is not null, current_date is not null, local datetime is not null from Ward w where w.ward = 'surgery'");
        step("page", () -> in(f, s -> s.createSelectionQuery("from Patient where alive = true order by visit desc", Patient.class).setFirstResult(3).setMaxResults(4).getResultList()));
        step("page with its total", () -> in(f, s -> s.createSelectionQuery("from Patient where cost > 2000", Patient.class).getResultCount()));
        step("criteria", () -> in(f, s -> {
            var b = s.getCriteriaBuilder();
            var q = b.createQuery(Object[].class);
            var p = q.from(Patient.class);
            var guide = p.<Patient, Patient>join("guide");
            q.multiselect(guide.get("diagnosis"), b.count(p), b.sum(p.get("visit")));
            q.where(b.or(b.greaterThan(p.get("cost"), new BigDecimal(1000)), b.isNull(p.get("alive"))), b.like(p.get("title"), "Title 1%"));
            q.groupBy(guide.get("diagnosis")).orderBy(b.asc(guide.get("diagnosis")));
            return s.createQuery(q).getResultList();
        }));
    }

    static void more(SessionFactory f) {
        step("scrolled", () -> in(f, s -> {
            StringBuilder b = new StringBuilder();
            try (var rows = s.createSelectionQuery("from Patient order by visit", Patient.class).setFetchSize(10).setReadOnly(true).scroll(ScrollMode.FORWARD_ONLY)) {
                for (int n = 0; rows.next() && n < 35; n++) {
                    b.append(rows.get().visit).append(' ');
                }
            }
            return b;
        }));
        step("scrolled back", () -> in(f, s -> {
            try (var rows = s.createSelectionQuery("select visit from Patient order by visit", Integer.class).scroll(ScrollMode.SCROLL_INSENSITIVE)) {
                List<Integer> seen = new ArrayList<>();
                rows.last();
                seen.add(rows.get());
                rows.first();
                seen.add(rows.get());
                rows.scroll(10);
                seen.add(rows.get());
                return seen;
            }
        }));
        step("streamed", () -> in(f, s -> {
            try (var rows = s.createSelectionQuery("select visit from Patient", Integer.class).setFetchSize(50).getResultStream()) {
                return rows.mapToInt(i -> i).sum();
            }
        }));
        step("without a session", () -> {
            try (var s = f.openStatelessSession()) {
                return List.of(s.get(Patient.class, 7), s.createSelectionQuery("from Ward order by ward", Ward.class).list().stream().map(w -> w.ward).toList());
            }
        });
        step("native", () -> in(f, s -> s.createNativeQuery("SELECT * FROM patients WHERE visit < :n ORDER BY visit", Patient.class).setParameter("n", 4).getResultList()));
        step("native tuples", () -> in(f, s -> s.createNativeQuery("SELECT ward, beds, \"Größe\" AS size, now() IS NOT NULL AS now FROM wards ORDER BY 1", Tuple.class).getResultList().stream()
            .map(t -> Arrays.toString(t.toArray()) + t.getElements().stream().map(e -> e.getAlias()).toList()).toList()));
        step("native page", () -> in(f, s -> s.createNativeQuery("SELECT visit, mood::text FROM patients ORDER BY 1", Object[].class).setFirstResult(5).setMaxResults(2).getResultList()));
        step("wrong native query", () -> in(f, s -> s.createNativeQuery("SELECT nothing FROM patients", Object.class).getResultList()));
    }

    static void transactions(SessionFactory f) {
        step("read only", () -> {
            try (Session s = f.withOptions().readOnly(true).openSession()) {
                s.beginTransaction();
                s.doWork(c -> c.setReadOnly(true));
                Ward w = s.find(Ward.class, "surgery");
                w.beds = 99;
                s.getTransaction().commit();
                return s.isDefaultReadOnly() + " " + s.isReadOnly(w);
            }
        });
        for (LockModeType mode : List.of(LockModeType.PESSIMISTIC_READ, LockModeType.PESSIMISTIC_WRITE)) {
            step("locked " + mode, () -> in(f, s -> s.find(Ward.class, "surgery", mode).beds));
        }
        step("locked without waiting", () -> in(f, s -> s.find(Ward.class, "surgery", LockModeType.PESSIMISTIC_WRITE, Map.of("jakarta.persistence.lock.timeout", 0)).beds));
        step("time limit", () -> in(f, s -> s.createNativeQuery("SELECT count(*) FROM generate_series(1, 100000000000)", Long.class).setTimeout(1).getSingleResult()));
        step("insert", () -> in(f, s -> {
            Ward w = new Ward();
            w.ward = "new";
            s.persist(w);
            return "kept";
        }));
        step("update", () -> in(f, s -> s.createMutationQuery("update Ward set beds = beds + 1").executeUpdate()));
        step("delete", () -> in(f, s -> s.createMutationQuery("delete from Ward where beds > 10").executeUpdate()));
        step("after all", () -> in(f, s -> s.createSelectionQuery("select count(*) from Ward", Long.class).getSingleResult()));
    }
}
