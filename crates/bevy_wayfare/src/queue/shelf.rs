//! Memory for the searches to come: scratches that nobody uses, and fields that convoys have left.
//!
//! Comes in: what searches leave behind when they end. Goes out: a scratch for the next one and, if there is one, a field that
//! leads where it is to go. Both are bounded, in number and in bytes; what finds no room is dropped.

use wayfare::{Field, Scratch};

use crate::queue::order::Destination;
use crate::scene::Scene;

/// So many fields are kept for those who come later.
const KEPT_FIELDS: usize = 4;

/// So many bytes all fields together may take, and all scratches. A field over the whole of a map takes 10 to 20 bytes per
/// cell, most of which it needs to copy ways that it has traced before.
const KEPT_BYTES: usize = 256 << 20;

/// What is kept for later.
#[derive(Default)]
pub(crate) struct Shelf {
    /// With the bytes each takes.
    scratches: Vec<(usize, Scratch)>,
    /// The newest last.
    fields: Vec<Kept>,
}

struct Kept {
    leads_to: Destination,
    bytes: usize,
    field: Box<Field>,
}

impl Shelf {
    /// A scratch, used before if possible.
    pub(crate) fn scratch(&mut self) -> Scratch {
        self.scratches.pop().map(|(_, scratch)| scratch).unwrap_or_default()
    }

    /// Keeps a scratch for the next search, unless there are so many already.
    pub(crate) fn give(&mut self, scratch: Scratch, most: usize) {
        let bytes = scratch.bytes();
        let kept: usize = self.scratches.iter().map(|(bytes, _)| bytes).sum();
        if bytes > 0 && self.scratches.len() < most && kept.saturating_add(bytes) <= KEPT_BYTES {
            self.scratches.push((bytes, scratch));
        }
    }

    /// Whether there is a field that leads there.
    pub(crate) fn has_field(&self, destination: &Destination) -> bool {
        self.fields.iter().any(|kept| kept.leads_to == *destination)
    }

    /// The field that leads there.
    pub(crate) fn field(&mut self, destination: &Destination) -> Option<Box<Field>> {
        let at = self.fields.iter().position(|kept| kept.leads_to == *destination)?;
        Some(self.fields.remove(at).field)
    }

    /// Keeps a field as long as the ground stays as it is, and gives the scratches of those that make room for it to the next
    /// searches.
    pub(crate) fn keep(&mut self, leads_to: Destination, field: Box<Field>, most: usize) {
        let bytes = field.bytes();
        let mut left = Vec::new();
        if bytes > KEPT_BYTES {
            left.push(field);
        } else {
            left.extend(self.field(&leads_to));
            self.fields.push(Kept { leads_to, bytes, field });
        }
        let is_full = |fields: &[Kept]| {
            let bytes: usize = fields.iter().map(|kept| kept.bytes).sum();
            fields.len() > KEPT_FIELDS || bytes > KEPT_BYTES
        };
        while is_full(&self.fields) {
            left.push(self.fields.remove(0).field);
        }
        left.into_iter().for_each(|field| self.give(field.finish(), most));
    }

    /// The maps may have changed. Fields over what they were are of no use any more.
    pub(crate) fn set_scene(&mut self, scene: &Scene, most: usize) {
        let (fields, stale): (Vec<Kept>, Vec<Kept>) =
            self.fields.drain(..).partition(|kept| is_valid(scene, &kept.leads_to, &kept.field));
        self.fields = fields;
        stale.into_iter().for_each(|kept| self.give(kept.field.finish(), most));
    }

    /// How many scratches and fields there are, and the bytes of both.
    #[cfg(test)]
    pub(crate) fn count(&self) -> ([usize; 2], usize) {
        let of_scratches: usize = self.scratches.iter().map(|(_, scratch)| scratch.bytes()).sum();
        let of_fields: usize = self.fields.iter().map(|kept| kept.field.bytes()).sum();
        ([self.scratches.len(), self.fields.len()], of_scratches + of_fields)
    }
}

/// Whether a field shows the ground as it is now.
pub(crate) fn is_valid(scene: &Scene, leads_to: &Destination, field: &Field) -> bool {
    scene.place(leads_to.map).is_some_and(|place| place.shows(leads_to.kind, field.snapshot()))
}
