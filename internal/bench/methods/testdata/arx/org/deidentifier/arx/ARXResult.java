package org.deidentifier.arx;

import java.util.Arrays;

public final class ARXResult {
    private final Data data;
    private final String[][] rows;

    ARXResult(Data data, String[][] rows, int[] members, int k) {
        this.data = data;
        this.rows = rows;
        for (int row = 0; rows != null && row < rows.length; row++) {
            if (members[row] < k) {
                Arrays.fill(rows[row], "*");
            }
        }
    }

    public DataHandle getOutput(boolean fork) {
        return rows == null ? null : new DataHandle(rows);
    }

    /** Publishes of what was withheld that it is anything, but for as few as one could be told by. */
    public void optimizeIterativeFast(DataHandle output, double step) {
        String[][] anything = ARXAnonymizer.at(data, Integer.MAX_VALUE);
        long withheld = Arrays.stream(rows).filter(row -> row[0].equals("*")).count();
        for (int row = 0; row < rows.length && withheld > step * rows.length; row++) {
            if (rows[row][0].equals("*")) {
                rows[row] = anything[row];
            }
        }
    }
}
