import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;

import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;
import org.deidentifier.arx.metric.Metric.AggregateFunction;

/**
 * Has ARX anonymize a table, for internal/bench/methods.
 *
 * <pre>go run ./internal/bench/methods -peer "arx-global=java -Xmx4g -cp .bin/arx/*:.bin/arx/lib/*:.bin/arx Arx global"</pre>
 *
 * <a href="https://github.com/arx-deidentifier/arx">ARX</a> (Apache License) builds so without its user interface, and
 * with the libraries of its own folder, by Java 17 or later, in the root of kproxy's repository:
 *
 * <pre>
 * git clone https://github.com/arx-deidentifier/arx .bin/arx-source
 * git -C .bin/arx-source checkout aacd487fb77b3af7970d5d6fa1b2f6cca1182b64   # six commits after version 3.9.2
 * mkdir -p .bin/arx/lib .bin/arx-classes
 * cp $(find .bin/arx-source/lib/ant -name '*.jar') .bin/arx/lib
 * javac -nowarn -encoding UTF-8 -cp '.bin/arx/lib/*' -d .bin/arx-classes $(find .bin/arx-source/src/main -name '*.java')
 * jar --create --file .bin/arx/arx-$(git -C .bin/arx-source describe --tags).jar -C .bin/arx-classes .
 * javac -cp '.bin/arx/*' -d .bin/arx internal/bench/peers/Arx.java
 * </pre>
 *
 * "global" is ARX's own method: one generalization for all records, the best that it finds, with none of
 * them withheld. "local" has groups of records generalized each in its way: whatever loses least for a part of
 * the records, a hundredth of all at least, is taken for them, and the rest is generalized anew until less is
 * left, which is withheld (the project's Example54). "fine" does so with parts of any size (Example38). What
 * ARX looks for is what is measured, the mean loss. Behind the way, internal/bench/methods puts the table's
 * file and k, and it reads what is printed here.
 *
 * ARX generalizes by the hierarchies that stand beside the table. The seconds are those from data in memory
 * to published data; the processor time is that of the same, by all threads, with Java's compiler and its
 * collection of garbage. The memory is the most that this process had, the table and Java included.
 */
final class Arx {
    /** The part of the records that a step of local recoding covers at least. */
    private static final double STEP = 0.01;

    public static void main(String[] words) throws Exception {
        if (words.length != 3 || !words[0].matches("global|local|fine")) {
            throw fail("usage: java -cp ... Arx global|local|fine TABLE K");
        }
        Path file = Path.of(words[1]);
        String[][] table = read(file);
        Data data = Data.create(table);
        for (String attribute : table[0]) {
            data.getDefinition().setAttributeType(attribute, hierarchy(file.resolveSibling(attribute + ".csv")));
        }
        PrintStream answer = System.out;
        System.setOut(System.err); // what ARX prints would be read as classes
        double part = words[0].equals("global") ? 1 : words[0].equals("local") ? STEP : 1.0 / (table.length - 1);
        long began = System.nanoTime();
        long busy = processorTime();
        DataHandle published = anonymize(data, part, Integer.parseInt(words[2]));
        double seconds = (System.nanoTime() - began) * 1e-9;
        double cpu = (processorTime() - busy) * 1e-9;
        StringBuilder lines = new StringBuilder();
        lines.append("version ").append(version()).append("\nseconds ").append(seconds).append("\ncpu ").append(cpu).append('\n');
        peakMemory().ifPresent(kilobytes -> lines.append("memory ").append(kilobytes * 1024).append('\n'));
        for (int record = 0; record < table.length - 1; record++) {
            for (int column = 0; column < table[0].length; column++) {
                lines.append(column == 0 ? "" : ",").append(published.getValue(record, column));
            }
            lines.append('\n');
        }
        answer.print(lines);
        answer.flush();
    }

    /** Anonymizes by ARX, with parts of so many of the records at least; 1 is one generalization for all. */
    private static DataHandle anonymize(Data data, double part, int k) throws Exception {
        ARXConfiguration configuration = ARXConfiguration.create();
        configuration.addPrivacyModel(new KAnonymity(k));
        configuration.setSuppressionLimit(1 - part);
        configuration.setQualityModel(Metric.createLossMetric(part == 1 ? 0.5 : 0, AggregateFunction.ARITHMETIC_MEAN));
        ARXResult result = new ARXAnonymizer().anonymize(data, configuration);
        DataHandle published = result.getOutput(false);
        if (published == null) {
            throw fail("ARX finds no generalization that is " + k + "-anonymous");
        }
        if (part < 1) {
            result.optimizeIterativeFast(published, part);
        }
        return published;
    }

    /** The table, with names of attributes for its first row; categories are numbers as well. */
    private static String[][] read(Path file) throws Exception {
        List<String[]> rows = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            String[] row = line.split(",", -1);
            for (int column = 0; column < row.length; column++) {
                if (rows.isEmpty()) {
                    row[column] = row[column].replaceFirst(":(numeric|categorical)$", "");
                } else if (row[column].startsWith("v")) {
                    row[column] = row[column].substring(1);
                }
            }
            rows.add(row);
        }
        return rows.toArray(new String[0][]);
    }

    /** The hierarchy in a file. */
    private static Hierarchy hierarchy(Path file) throws Exception {
        return Hierarchy.create(Files.readAllLines(file).stream().map(line -> line.split(";")).toArray(String[][]::new));
    }

    /** The most memory that this process had, in kilobytes, where the system tells. */
    private static OptionalLong peakMemory() throws Exception {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return OptionalLong.empty();
        }
        return Files.readAllLines(status).stream().filter(line -> line.startsWith("VmHWM")).mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).findFirst();
    }

    /** The processor time of this process, in nanoseconds. */
    private static long processorTime() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** The library by its file's name and the beginning of its SHA-256, and Java. */
    private static String version() throws Exception {
        String java = "Java " + System.getProperty("java.version");
        Path library = Path.of(ARXAnonymizer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        if (Files.isDirectory(library)) {
            return java;
        }
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(library));
        return library.getFileName() + " " + HexFormat.of().formatHex(hash, 0, 6) + ", " + java;
    }

    private static RuntimeException fail(String why) {
        System.err.println(why);
        System.exit(1);
        return new IllegalStateException(why);
    }
}
