"""Erasure of memories, beliefs, episodes, persons, scopes and tenants, and its guard."""

from __future__ import annotations

from graphmem.erasure.records import ErasedKind as ErasedKind
from graphmem.erasure.records import ErasedText as ErasedText
from graphmem.erasure.records import ErasureCertificate as ErasureCertificate
from graphmem.erasure.records import ErasurePage as ErasurePage
from graphmem.erasure.records import ErasureRecord as ErasureRecord
from graphmem.erasure.records import ErasureReport as ErasureReport
from graphmem.erasure.records import ErasureTarget as ErasureTarget
from graphmem.erasure.records import RemainingNode as RemainingNode
from graphmem.erasure.records import ReopenReceipt as ReopenReceipt
from graphmem.erasure.records import Residue as Residue
