#!/usr/bin/env bash
# Compiles libpq_pipeline, PostgreSQL's own test of pipelines, from the source that
# integration/regress.sh fetches, and prints the folder that it is in:
#
#   integration/suites/source.sh FOLDER
#
# Beside it is libpq_pipeline_temporary, whose tables are temporary ones, without a
# sequence, and that does not set lc_messages: as it has to be through kproxy.
#
# It needs a C compiler and libpq-dev, beside what regress.sh needs.
set -euo pipefail

folder=${1:?"usage: integration/suites/source.sh FOLDER"}
"$(dirname "$0")/../regress.sh" "$folder" >/dev/null
folder=$(cd "$folder" && pwd)
source=$folder/libpq-source

if [ ! -x "$source/libpq_pipeline" ]; then
    mkdir -p "$source/catalog"
    tar -C "$source" -xf "$folder"/postgresql-15_*.orig.tar.* --strip-components 1 --wildcards \
        '*/src/include/*.h' '*/src/backend/catalog/pg_type_d.h' '*/src/test/modules/libpq_pipeline/*' \
        '*/src/common/fe_memutils.c' '*/src/common/psprintf.c' '*/src/port/snprintf.c' '*/src/port/strerror.c'
    cp "$source/src/backend/catalog/pg_type_d.h" "$source/catalog/"
    headers=$(pg_config --includedir)
    module=$source/src/test/modules/libpq_pipeline
    sed -E 's/SET lc_messages TO [^;]*"\)/SET jit TO off")/; s/id serial primary key/id integer/; s/create (unlogged )?table (pq|ppln)_/CREATE TEMPORARY TABLE \2_/I' \
        "$module/libpq_pipeline.c" >"$module/libpq_pipeline_temporary.c"
    for program in libpq_pipeline_temporary libpq_pipeline; do
        (cd "$source" && cc -w -D_GNU_SOURCE -DFRONTEND -I"$headers" -I"$headers/internal" -I. -Isrc/include -o $program \
            "$module/$program.c" src/common/{fe_memutils,psprintf}.c src/port/{snprintf,strerror}.c -lpq)
    done
fi
echo "$source"
