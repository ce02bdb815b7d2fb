"""Export of a tenant to a file, and import of such files and of other products' exports."""

from graphmem.transfer.records import ExportReport, ForeignImportReport, ImportReport

__all__ = ["ExportReport", "ForeignImportReport", "ImportReport"]
