SELECT n, p.visit, p.remarks, p.tags FROM patients p, generate_series(1, 110) n;
