import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/**
 * Has ARX anonymize a table, for internal/bench/methods.
 *
 * <pre>go run ./internal/bench/methods -peer "arx-global=java -cp libarx.jar internal/bench/peers/Arx.java global"</pre>
 *
 * libarx.jar is the library of ARX, https://arx.deidentifier.org (Apache License); Java is 17 or later,
 * which runs this file as it is. "global" is ARX's own method: one generalization for all records, the
 * best that it finds, with none of them withheld. "local" has groups of records generalized each in its
 * way, with the settings of ARX's user interface: a hundredth of the records at least in each of its
 * steps, and what nothing suits is withheld. Behind the way, internal/bench/methods puts the table's file and k,
 * and it reads what is printed here.
 *
 * ARX generalizes by hierarchies that it is given. Here they are groups of four neighbors among an
 * attribute's values, of four such groups, and so on; categories are in the order of the table, as kproxy
 * has them. The seconds are those from data in memory to published data; the processor time is that of
 * the same, by all threads, with Java's compiler and its collection of garbage.
 */
final class Arx {
    /** How many groups make one of the next level. */
    private static final int NEIGHBORS = 4;

    /** The part of the records that a step of local recoding covers at least. */
    private static final double STEP = 0.01;

    /** What ARX writes in place of all values of a record that it withholds. */
    private static final String WITHHELD = "*";

    public static void main(String[] words) throws Exception {
        if (words.length != 3 || !words[0].matches("global|local")) {
            throw fail("usage: java -cp libarx.jar Arx.java global|local TABLE K");
        }
        String[][] table = read(Path.of(words[1]));
        Data data = Data.create(table);
        for (int column = 0; column < table[0].length; column++) {
            data.getDefinition().setAttributeType(table[0][column], hierarchy(table, column));
        }
        PrintStream answer = System.out;
        System.setOut(System.err); // what ARX prints would be read as classes
        long began = System.nanoTime();
        long busy = processorTime();
        DataHandle published = anonymize(data, words[0].equals("local"), Integer.parseInt(words[2]));
        double seconds = (System.nanoTime() - began) * 1e-9;
        double cpu = (processorTime() - busy) * 1e-9;
        StringBuilder lines = new StringBuilder();
        lines.append("version ").append(version()).append("\nseconds ").append(seconds).append("\ncpu ").append(cpu).append('\n');
        for (int number : classes(published, table)) {
            lines.append(number).append('\n');
        }
        answer.print(lines);
        answer.flush();
    }

    /** Anonymizes by ARX. */
    private static DataHandle anonymize(Data data, boolean local, int k) throws Exception {
        ARXConfiguration configuration = ARXConfiguration.create();
        configuration.addPrivacyModel(new KAnonymity(k));
        configuration.setSuppressionLimit(local ? 1 - STEP : 0);
        configuration.setQualityModel(local ? Metric.createLossMetric(0) : Metric.createLossMetric());
        ARXResult result = new ARXAnonymizer().anonymize(data, configuration);
        DataHandle published = result.getOutput(false);
        if (published == null) {
            throw fail("ARX finds no generalization that is " + k + "-anonymous");
        }
        if (local) {
            result.optimizeIterativeFast(published, STEP);
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

    /** The hierarchy of an attribute: each value with its groups, from the smallest to all values. */
    private static Hierarchy hierarchy(String[][] table, int column) {
        double[] values = Arrays.stream(table, 1, table.length).mapToDouble(row -> Double.parseDouble(row[column])).sorted().distinct().toArray();
        Map<Double, String> texts = new HashMap<>();
        for (int row = 1; row < table.length; row++) {
            texts.put(Double.parseDouble(table[row][column]), table[row][column]);
        }
        int levels = 1;
        for (long size = 1; size < values.length; size *= NEIGHBORS) {
            levels++;
        }
        String[][] groups = new String[values.length][levels];
        for (int rank = 0; rank < values.length; rank++) {
            groups[rank][0] = texts.get(values[rank]);
            int size = NEIGHBORS;
            for (int level = 1; level < levels; level++, size *= NEIGHBORS) {
                int first = rank / size * size;
                int last = Math.min(first + size, values.length) - 1;
                groups[rank][level] = texts.get(values[first]) + "~" + texts.get(values[last]);
            }
        }
        return Hierarchy.create(groups);
    }

    /** The class of each record: what reads the same; those that are withheld have -1. */
    private static int[] classes(DataHandle published, String[][] table) {
        if (published.getNumRows() != table.length - 1) {
            throw fail(published.getNumRows() + " of " + (table.length - 1) + " records are published");
        }
        int[] classes = new int[table.length - 1];
        Map<List<String>, Integer> numbers = new HashMap<>();
        for (int record = 0; record < classes.length; record++) {
            List<String> texts = new ArrayList<>();
            for (int column = 0; column < table[0].length; column++) {
                String text = published.getValue(record, column);
                if (!holds(text, table[record + 1][column])) {
                    throw fail("record " + record + " has " + table[record + 1][column] + ", and " + text + " is published of it");
                }
                texts.add(text);
            }
            boolean withheld = texts.stream().allMatch(WITHHELD::equals);
            classes[record] = withheld ? -1 : numbers.computeIfAbsent(texts, unknown -> numbers.size());
        }
        return classes;
    }

    /** Whether a published text is true of a value. */
    private static boolean holds(String text, String value) {
        if (text.equals(WITHHELD)) {
            return true;
        }
        String[] ends = text.split("~");
        double number = Double.parseDouble(value);
        return Double.parseDouble(ends[0]) <= number && number <= Double.parseDouble(ends[ends.length - 1]);
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
