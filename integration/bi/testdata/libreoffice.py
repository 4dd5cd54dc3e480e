"""Works as a user of LibreOffice Base and Calc does: makes a database document for
kproxy, lists its tables, keeps a query in it, and fills a sheet and a chart from that.

    libreoffice.py SOCKET FOLDER

prints "table TAB name" and "row TAB value TAB ...", and writes hospital.odb,
hospital.ods and hospital.pdf into FOLDER. LibreOffice listens on SOCKET.
"""

import os
import sys
import time

import uno
from com.sun.star.awt import Rectangle
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException

QUERY = """SELECT "chapter", COUNT(*) AS "patients", ROUND(AVG("cost"), 2) AS "average cost"
FROM "public"."patients" INNER JOIN "public"."icd10" ON "code" = "diagnosis"
GROUP BY "chapter" ORDER BY "patients" DESC, "chapter" """


def properties(**values):
    return tuple(PropertyValue(Name=name, Value=value) for name, value in values.items())


def office(socket):
    """The context of the office, once it listens."""
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    while True:
        try:
            return resolver.resolve(f"uno:{socket};urp;StarOffice.ComponentContext")
        except NoConnectException:
            time.sleep(0.2)


def main(socket, folder):
    context = office(socket)
    manager = context.ServiceManager

    # File > New > Database > connect to PostgreSQL; the document keeps no password.
    databases = manager.createInstanceWithContext("com.sun.star.sdb.DatabaseContext", context)
    source = databases.createInstance()
    source.URL = "sdbc:postgresql:host={PGHOST} port={PGPORT} dbname={PGDATABASE}".format(**os.environ)
    source.User = os.environ["PGUSER"]
    source.IsPasswordRequired = True
    definition = manager.createInstanceWithContext("com.sun.star.sdb.QueryDefinition", context)
    definition.Command = QUERY
    source.QueryDefinitions.insertByName("chapters", definition)
    database = uno.systemPathToFileUrl(os.path.join(folder, "hospital.odb"))
    source.DatabaseDocument.storeAsURL(database, ())

    connection = source.getConnection(os.environ["PGUSER"], os.environ["PGPASSWORD"])
    tables = connection.Tables
    for name in sorted(tables.ElementNames):
        if not name.startswith(("information_schema.", "pg_catalog.")):
            columns = tables.getByName(name).Columns.ElementNames
            print("table", name, *sorted(columns), sep="\t")

    # What the query shows, into a sheet.
    desktop = manager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
    document = desktop.loadComponentFromURL("private:factory/scalc", "_blank", 0, properties(Hidden=True))
    sheet = document.Sheets.getByIndex(0)
    sheet.Name = "chapters"
    statement = connection.prepareCommand("chapters", 1)  # com.sun.star.sdb.CommandType.QUERY
    result = statement.executeQuery()
    names = result.Columns.ElementNames
    data = [names]
    while result.next():
        data.append((result.getString(1), result.getLong(2), result.getDouble(3)))
    cells = sheet.getCellRangeByPosition(0, 0, len(names) - 1, len(data) - 1)
    cells.setDataArray(tuple(data))
    header = sheet.getCellRangeByPosition(0, 0, len(names) - 1, 0)
    header.CharWeight = 150.0  # com.sun.star.awt.FontWeight.BOLD
    cells.Columns.OptimalWidth = True
    box = Rectangle(0, cells.Size.Height + 500, 15500, 9500)
    counts = sheet.getCellRangeByPosition(0, 0, 1, len(data) - 1).RangeAddress
    sheet.Charts.addNewByName("patients", box, (counts,), True, True)
    chart = sheet.Charts.getByName("patients").EmbeddedObject
    chart.Diagram = chart.createInstance("com.sun.star.chart.BarDiagram")
    chart.Diagram.Vertical = True
    chart.HasLegend = False
    chart.HasMainTitle = True
    chart.Title.String = "Patients by chapter of ICD-10"
    chart.Diagram.XAxis.ReverseDirection = True

    for row in cells.getDataArray()[1:]:
        print("row", *(f"{value:.10g}" if isinstance(value, float) else value for value in row), sep="\t")
    for name, form in (("hospital.ods", "calc8"), ("hospital.pdf", "calc_pdf_Export")):
        document.storeToURL(uno.systemPathToFileUrl(os.path.join(folder, name)), properties(FilterName=form))
    document.close(True)
    connection.close()
    try:
        desktop.terminate()
    except Exception:  # the office ends before it has answered
        pass


main(*sys.argv[1:])
