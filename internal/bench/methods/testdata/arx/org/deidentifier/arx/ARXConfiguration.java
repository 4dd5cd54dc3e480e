package org.deidentifier.arx;

import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

public final class ARXConfiguration {
    int k;
    double suppressionLimit;

    public static ARXConfiguration create() {
        return new ARXConfiguration();
    }

    public void addPrivacyModel(KAnonymity model) {
        k = model.k;
    }

    public void setSuppressionLimit(double limit) {
        suppressionLimit = limit;
    }

    public void setQualityModel(Metric<?> model) {
    }
}
