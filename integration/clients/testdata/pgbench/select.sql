\set visit random(1, 500)
SELECT title, cost, admitted FROM patients WHERE visit = :visit;
