package org.deidentifier.arx.criteria;

public final class KAnonymity {
    public final int k;

    public KAnonymity(int k) {
        this.k = k;
    }
}
