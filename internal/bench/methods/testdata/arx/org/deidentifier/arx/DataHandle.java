package org.deidentifier.arx;

public final class DataHandle {
    final String[][] rows;

    DataHandle(String[][] rows) {
        this.rows = rows;
    }

    public int getNumRows() {
        return rows.length;
    }

    public String getValue(int row, int column) {
        return rows[row][column];
    }
}
