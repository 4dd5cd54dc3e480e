package org.deidentifier.arx;

public class AttributeType {
    public static final class Hierarchy extends AttributeType {
        final String[][] levels;

        private Hierarchy(String[][] levels) {
            this.levels = levels;
        }

        public static Hierarchy create(String[][] levels) {
            return new Hierarchy(levels);
        }

        /** What a value is at a level, or at the highest one below. */
        String at(String value, int level) {
            for (String[] row : levels) {
                if (row[0].equals(value)) {
                    return row[Math.min(level, row.length - 1)];
                }
            }
            throw new IllegalArgumentException(value + " is not in the hierarchy");
        }
    }
}
