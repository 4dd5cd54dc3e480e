package org.deidentifier.arx;

import java.util.HashMap;
import java.util.Map;

public final class DataDefinition {
    final Map<String, AttributeType> types = new HashMap<>();

    public void setAttributeType(String attribute, AttributeType type) {
        types.put(attribute, type);
    }
}
