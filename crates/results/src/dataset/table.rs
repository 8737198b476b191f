//! Equal parts of many rows, kept once.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use kubebench_syntax::digest::Canonical;
use kubebench_syntax::invariant::Invariant as _;

/// Parts by number.
#[derive(Clone, Debug)]
pub(super) struct Table<T> {
    items: Vec<T>,
    texts: Vec<String>,
    known: BTreeMap<String, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { items: Vec::new(), texts: Vec::new(), known: BTreeMap::new() }
    }
}

impl<T> PartialEq for Table<T> {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts
    }
}

impl<T: Clone + Serialize + DeserializeOwned> Table<T> {
    /// Returns the number of `item`.
    pub(super) fn id(&mut self, item: &T) -> u32 {
        let text = serde_json::to_value(item)
            .and_then(|json| serde_json::to_string(&Canonical::of(&json)))
            .expected("canonical JSON of our own types");
        self.place(text, item)
    }

    /// Returns the number here of what has the number `id` in another table.
    pub(super) fn adopt(&mut self, id: u32, from: &Self) -> u32 {
        self.place(from.texts.get(id as usize).cloned().expected("an item that the other table has"), from.get(id))
    }

    fn place(&mut self, text: String, item: &T) -> u32 {
        if let Some(id) = self.known.get(&text) {
            return *id;
        }
        let id = u32::try_from(self.items.len()).expected("fewer than 2^32 items");
        self.items.push(item.clone());
        self.texts.push(text.clone());
        self.known.insert(text, id);
        id
    }

    #[expect(clippy::indexing_slicing, reason = "numbers come from this table, or were looked at when they were read")]
    pub(super) fn get(&self, id: u32) -> &T {
        &self.items[id as usize]
    }

    /// Returns the parts, by number.
    pub(super) fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns whether there is a part of this number.
    pub(super) fn has(&self, id: u32) -> bool {
        (id as usize) < self.items.len()
    }

    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Reads parts back; nothing where one is damaged.
    pub(super) fn of_texts(texts: Vec<String>) -> Option<Self> {
        let items: Option<Vec<T>> = texts.iter().map(|text| serde_json::from_str(text).ok()).collect();
        let known = texts.iter().cloned().zip(0..).collect();
        Some(Self { items: items?, texts, known })
    }
}
