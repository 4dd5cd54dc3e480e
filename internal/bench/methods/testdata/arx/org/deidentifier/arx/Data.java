package org.deidentifier.arx;

public final class Data {
    final String[][] table;
    private final DataDefinition definition = new DataDefinition();

    private Data(String[][] table) {
        this.table = table;
    }

    public static Data create(String[][] table) {
        return new Data(table);
    }

    public DataDefinition getDefinition() {
        return definition;
    }
}
