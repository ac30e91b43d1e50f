//! `tools.skills`: whether there are skills, where they are, and which of them are not wanted.
//!
//! Owns the section's keys, defaults and limits. It opens nothing.

use std::path::PathBuf;

use weirgate_sdk::settings::Fields;

/// Most names under `disabled`.
const MAX_DISABLED: usize = 200;

/// The section `tools.skills`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Offer them.
    pub enabled: bool,
    /// Where they are; `None` for a folder beside the database.
    pub registry_path: Option<PathBuf>,
    /// Those that are not offered, by name.
    pub disabled: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            registry_path: None,
            disabled: Vec::new(),
        }
    }
}

impl Settings {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let path = fields.text("registry_path", "auto");
        let read = Self {
            enabled: fields.bool("enabled", default.enabled),
            registry_path: (!matches!(path.as_str(), "auto" | "")).then(|| PathBuf::from(path)),
            disabled: fields.texts("disabled", MAX_DISABLED),
        };
        fields.finish();
        read
    }
}
