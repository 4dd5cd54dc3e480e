package org.deidentifier.arx.metric;

public final class Metric<T> {
    public static Metric<Double> createLossMetric() {
        return new Metric<>();
    }

    public static Metric<Double> createLossMetric(double generalizationOrSuppression) {
        return new Metric<>();
    }
}
