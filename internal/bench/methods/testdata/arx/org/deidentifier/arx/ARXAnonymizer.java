package org.deidentifier.arx;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Stands in for ARX: the same level for all attributes, the lowest at which few enough are withheld. */
public final class ARXAnonymizer {
    private static final int MOST = 20;

    public ARXResult anonymize(Data data, ARXConfiguration configuration) throws IOException {
        System.out.println("what is printed here is read by nobody");
        for (int level = 0; level <= MOST; level++) {
            String[][] rows = at(data, level);
            Map<List<String>, Integer> sizes = new HashMap<>();
            for (String[] row : rows) {
                sizes.merge(Arrays.asList(row), 1, Integer::sum);
            }
            int[] members = Arrays.stream(rows).mapToInt(row -> sizes.get(Arrays.asList(row))).toArray();
            long withheld = Arrays.stream(members).filter(size -> size < configuration.k).count();
            if (withheld <= configuration.suppressionLimit * rows.length) {
                return new ARXResult(data, rows, members, configuration.k);
            }
        }
        return new ARXResult(data, null, null, configuration.k);
    }

    static String[][] at(Data data, int level) {
        String[] names = data.table[0];
        String[][] rows = new String[data.table.length - 1][names.length];
        for (int row = 0; row < rows.length; row++) {
            for (int column = 0; column < names.length; column++) {
                AttributeType.Hierarchy hierarchy = (AttributeType.Hierarchy) data.getDefinition().types.get(names[column]);
                rows[row][column] = hierarchy.at(data.table[row + 1][column], level);
            }
        }
        return rows;
    }
}
