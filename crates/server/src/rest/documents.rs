//! The documents that describe the catalogue, rendered once and served as bytes.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use contract::{Contract, Limits};
use gate::Catalogue;

use crate::{
    ServerSettings,
    mcp::listing::RenderedListings,
    rest::openapi::{OpenApiSettings, document},
};

/// The documents of one catalogue.
pub(crate) struct Documents {
    catalogue: Arc<Catalogue>,
    settings: ServerSettings,
    ceilings: Limits,
    listing: OnceLock<Rendered>,
    openapi: OnceLock<(Rendered, Rendered)>,
    page: OnceLock<Bytes>,
    /// The listings of MCP.
    pub mcp: RenderedListings,
}

/// Bytes and the tag that changes with them.
pub(crate) struct Rendered {
    pub bytes: Bytes,
    pub etag: String,
}

impl Rendered {
    pub(crate) fn new(bytes: impl Into<Bytes>) -> Self {
        use sha2::{Digest, Sha256};
        let bytes = bytes.into();
        let hash = contract::canonical::hex(&Sha256::digest(&bytes)[..16]);
        Self { bytes, etag: format!("\"{hash}\"") }
    }
}

impl Documents {
    pub(crate) fn new(
        catalogue: Arc<Catalogue>,
        settings: &ServerSettings,
        ceilings: Limits,
    ) -> Self {
        Self {
            catalogue,
            settings: settings.clone(),
            ceilings,
            listing: OnceLock::new(),
            openapi: OnceLock::new(),
            page: OnceLock::new(),
            mcp: RenderedListings::default(),
        }
    }

    /// True if these are the documents of that catalogue.
    pub(crate) fn describe(&self, catalogue: &Arc<Catalogue>) -> bool {
        Arc::ptr_eq(&self.catalogue, catalogue)
    }

    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    pub(crate) fn listing(&self) -> &Rendered {
        self.listing.get_or_init(|| {
            Rendered::new(listing(self.catalogue.tools().map(|tool| tool.descriptor().get())))
        })
    }

    /// OpenAPI as JSON and as YAML.
    pub(crate) fn openapi(&self) -> &(Rendered, Rendered) {
        self.openapi.get_or_init(|| {
            let contracts: Vec<&Contract> =
                self.catalogue.tools().map(|tool| &*tool.contract).collect();
            let document = document(
                &contracts,
                &OpenApiSettings {
                    version: self.settings.version,
                    max_body_bytes: self.settings.max_body_bytes as u64,
                    server_url: None,
                    bearer: !self.settings.tokens.is_empty(),
                    ceilings: self.ceilings,
                },
            );
            let json = serde_json::to_vec_pretty(&document).unwrap_or_default();
            (Rendered::new(json), Rendered::new(contract::document::to_yaml(&document)))
        })
    }

    /// The page for people, made by whoever knows how.
    pub(crate) fn page(&self, make: impl FnOnce(&Catalogue) -> String) -> Bytes {
        self.page.get_or_init(|| Bytes::from(make(&self.catalogue))).clone()
    }
}

/// `{"tools":[…]}` of descriptors that are already printed.
pub(crate) fn listing<'a>(descriptors: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::from("{\"tools\":[");
    for (index, descriptor) in descriptors.enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(descriptor);
    }
    text.push_str("]}");
    text
}
