"""Sign certificates with an Ed25519 key that stays on this machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphmem import private_files
from graphmem.errors import ConfigurationError
from graphmem.folders import home_folder

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from graphmem.erasure import ErasureCertificate
    from graphmem.settings import Settings

FILE = "erasure.key"
SETTING = "GRAPHMEM_HOME"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """An Ed25519 key; its repr hides the private part."""

    _private: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def of(cls, settings: Settings) -> SigningKey:
        """Return the key in the home folder of the settings; generate it on first use."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        path = home_folder(settings.home) / FILE
        try:
            text = private_files.read_or_create(
                path,
                lambda: Ed25519PrivateKey.generate().private_bytes_raw().hex(),
                setting=SETTING,
            )
            private = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text))
        except OSError as error:
            raise ConfigurationError(
                f"The signing key {path} cannot be used: {error.strerror}.",
                hint="Correct this, or remove the file: a new key is made.",
            ) from None
        except ValueError:
            raise ConfigurationError(
                f"The signing key {path} is damaged.",
                hint="Restore the file, or remove it: a new key is made.",
            ) from None
        return cls(private)

    @property
    def public(self) -> str:
        """Public key, hex."""
        return self._private.public_key().public_bytes_raw().hex()

    def certify(self, certificate: ErasureCertificate) -> ErasureCertificate:
        """Return the certificate with this public key and its signature."""
        named = certificate.model_copy(update={"public_key": self.public})
        return named.model_copy(update={"signature": self._private.sign(named.message).hex()})


def is_signed(certificate: ErasureCertificate) -> bool:
    """Return whether the owner of its public key signed exactly this certificate."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(certificate.public_key))
        key.verify(bytes.fromhex(certificate.signature), certificate.message)
    except (InvalidSignature, ValueError):
        return False
    return True
