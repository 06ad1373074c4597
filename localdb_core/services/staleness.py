"""How a store differs from what the config asks for now (L-EMB-41)."""

from __future__ import annotations

from dataclasses import dataclass

from localdb_core.domain.ids import policy_version
from localdb_core.domain.store import Store
from localdb_core.services.components import Components
from localdb_core.storage.catalog import Catalog


@dataclass
class Staleness:
    """Told by ``status`` and by every search; loads no model."""

    components: Components
    catalog: Catalog

    def notices(self, store: Store) -> list[str]:
        """What differs, and what to do about it; nothing for a store without documents."""
        stored = self.catalog.stores.embedder(store.id)
        wanted = self.components.config.defaults.indexing.embedding
        if stored is not None and not self.components.goes_on(stored.provider, stored.model):
            return [
                f"store {store.name!r} was embedded with {stored.provider} {stored.model}, "
                f"the config says {wanted.provider} {wanted.model}; set it back, or index into "
                "a new store: localdb store add NAME"
            ]
        now = policy_version(self.components.policy())
        if store.policy_version and store.policy_version != now:
            return [
                f"store {store.name!r} was indexed with other settings than the config's; "
                "bring it up to date with: localdb index"
            ]
        return []
