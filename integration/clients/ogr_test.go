package clients

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// layer is one of the two tables among the layers that ogrinfo lists, under whichever name.
var layer = regexp.MustCompile(`[a-z._]*\b(patients|wards) \(.*`)

// TestOGR has the programs of GDAL read tables, as geographers do: QGIS reads by the same driver.
func TestOGR(t *testing.T) {
	heavy(t)
	t.Parallel()
	rig.Need(t, "gdal-bin", rig.Program("ogr2ogr") != "" && rig.Program("ogrinfo") != "")
	compare(t, "ogr", func(t *testing.T, w way) []step {
		t.Helper()
		const source = "PG:application_name=work"
		var d diary
		for _, o := range []struct {
			name      string
			arguments []string
		}{
			{"layers", []string{"ogrinfo", "-ro", source}},
			{"structure", []string{"ogrinfo", "-ro", "-so", source, "patients"}},
			{"structure of wards", []string{"ogrinfo", "-ro", "-so", source, "wards"}},
			{"where", []string{"ogrinfo", "-ro", "-geom=NO", "-where", "visit < 30 AND mood = 'good'", source, "patients"}},
			{"one by its number", []string{"ogrinfo", "-ro", "-fid", "2", source, "patients"}},
			{"sql", []string{"ogrinfo", "-ro", "-sql", "SELECT diagnosis, count(*) AS n, avg(cost) FROM patients GROUP BY 1 ORDER BY 1", source}},
			{"sql of OGR", []string{"ogrinfo", "-ro", "-dialect", "OGRSQL", "-sql", "SELECT COUNT(*), MAX(visit) FROM patients", source}},
			{"csv", []string{"ogr2ogr", "-f", "CSV", "/vsistdout/", source, "-sql", "SELECT visit, cost, admitted, day, tags, details, raw, alive, mood FROM patients WHERE visit < 40 ORDER BY visit"}},
			{"selected", []string{"ogr2ogr", "-f", "CSV", "/vsistdout/", source, "-select", "ward,beds,Größe", "-where", "beds > 10", "wards"}},
			{"geojson", []string{"ogr2ogr", "-f", "GeoJSON", "/vsistdout/", source, "-sql", "SELECT visit, title, ratio, large, left_at, clock, matrix FROM patients WHERE visit IN (3, 4, 20) ORDER BY visit"}},
			{"dump", []string{"ogr2ogr", "-f", "PGDump", "/vsistdout/", source, "-lco", "CREATE_SCHEMA=NO", "-sql", "SELECT visit, diagnosis, cost, tags FROM patients WHERE visit < 9 ORDER BY visit", "-nln", "copy"}},
			{"many rows", []string{"ogr2ogr", "-f", "CSV", "/vsistdout/", source, "-sql", "SELECT n, p.visit, p.cost FROM patients p, generate_series(1, 20) n ORDER BY n, visit"}},
			{"unknown", []string{"ogrinfo", "-ro", "-sql", "SELECT nothing FROM patients", source}},
			{"writing", []string{"ogr2ogr", "-append", source, filepath.Join("testdata", "ogr", "wards.csv"), "-nln", "wards"}},
		} {
			d.note(o.name, func() (any, error) {
				output, failure, err := run(t, append(w.environment(), "CPL_TIMESTAMP=OFF"), o.arguments[0], o.arguments[1:]...)
				if o.name == "layers" { // straight, those of kproxy's store are among them
					return slices.Sorted(slices.Values(layer.FindAllString(output, -1))), err
				}
				return fmt.Sprintf("%q %q", output, failure), err
			})
		}
		return d.steps
	})
}
