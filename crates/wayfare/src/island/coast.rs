//! What the world outside sees of a square piece of the map: the [`Coast`], its open cells along the four sides.
//!
//! Comes in: sets of cells that are connected inside the piece. Goes out: its areas by number, those that reach a side
//! first, in the order in which they do. Numbered like this, whatever changes inside without changing who is connected
//! to whom along the sides leaves the coast as it was, and nobody outside need look again.

use super::union::Union;

/// A connected area inside a piece of the map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Area {
    /// It reaches a side, and may go on beyond it.
    Open(u32),
    /// It does not: it is an island by itself. Counted apart from the others.
    Closed(u32),
}

/// Open cells in a row along a side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stretch {
    pub(super) first: u16,
    pub(super) last: u16,
    /// The open area they belong to.
    pub(super) area: u32,
}

/// Which side of a piece; both rows and columns are counted from the top left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    North = 0,
    East = 1,
    South = 2,
    West = 3,
}

impl Side {
    pub(super) const ALL: [Self; 4] = [Self::North, Self::East, Self::South, Self::West];
}

/// The four sides of a piece.
#[derive(PartialEq, Eq, Default)]
pub(super) struct Coast {
    stretches: Vec<Stretch>,
    /// Where the stretches of each side end.
    ends: [usize; 4],
    /// How many areas reach a side.
    pub(super) areas: u32,
}

impl Coast {
    /// What it keeps in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.stretches)
    }

    pub(super) fn side(&self, side: Side) -> &[Stretch] {
        let end = self.ends[side as usize];
        let start = if side == Side::North { 0 } else { self.ends[side as usize - 1] };
        &self.stretches[start..end]
    }

    /// The area of the cell where a row ends, if it is open. Asked of the north or the south.
    pub(super) fn corner(&self, side: Side, end: Side, length: u32) -> Option<u32> {
        let row = self.side(side);
        let stretch = match end {
            Side::West => row.first().filter(|stretch| stretch.first == 0),
            _ => row.last().filter(|stretch| u32::from(stretch.last) + 1 == length),
        };
        stretch.map(|stretch| stretch.area)
    }
}

/// A coast in the making: its areas are still members of a [`Union`].
#[derive(Default)]
pub(super) struct Survey(Coast);

impl Survey {
    /// Adds open cells of a side, in order. Those that go on where the last ones ended are one stretch with them.
    pub(super) fn add(&mut self, side: Side, stretch: Stretch) {
        let Self(coast) = self;
        let start = if side == Side::North { 0 } else { coast.ends[side as usize - 1] };
        match coast.stretches[start..].last_mut() {
            Some(before) if before.last + 1 == stretch.first => before.last = stretch.last,
            _ => coast.stretches.push(stretch),
        }
    }

    /// All of a side has been added; the next ones follow in their order.
    pub(super) fn end(&mut self, side: Side) {
        self.0.ends[side as usize] = self.0.stretches.len();
    }

    /// The coast if it is known which area each member belongs to, and that so many are open. `None` if they are others, or not
    /// numbered in the order in which they come.
    pub(super) fn known(self, open: u32, area_of: impl Fn(u32) -> Area) -> Option<Coast> {
        let Self(mut coast) = self;
        for stretch in &mut coast.stretches {
            match area_of(stretch.area) {
                Area::Open(area) if area <= coast.areas => stretch.area = area,
                _ => return None,
            }
            coast.areas = coast.areas.max(stretch.area + 1);
        }
        (coast.areas == open).then_some(coast)
    }

    /// Numbers the areas: the coast, the area of each member, and how many areas are closed.
    pub(super) fn settle(self, union: &mut Union) -> (Coast, Vec<Area>, u32) {
        let Self(mut coast) = self;
        let mut areas: Vec<Option<Area>> = vec![None; union.len()];
        let mut open = 0;
        for stretch in &mut coast.stretches {
            let known = &mut areas[union.find(stretch.area) as usize];
            stretch.area = match *known {
                Some(Area::Open(area)) => area,
                _ => {
                    *known = Some(Area::Open(open));
                    open += 1;
                    open - 1
                }
            };
        }
        coast.areas = open;
        let mut closed = 0;
        let mut numbered = Vec::with_capacity(areas.len());
        for member in (0..).take(areas.len()) {
            // The lowest member stands for its set, so that it comes first.
            let known = &mut areas[union.find(member) as usize];
            let area = known.unwrap_or_else(|| {
                closed += 1;
                Area::Closed(closed - 1)
            });
            *known = Some(area);
            numbered.push(area);
        }
        (coast, numbered, closed)
    }
}

/// Calls `meet` with the areas of stretches that touch across a side, one of each piece. Cells touch if they lie side by
/// side, or also corner to corner if the rule lets units slip through there.
pub(super) fn for_each_contact(
    one: &[Stretch],
    other: &[Stretch],
    slips: bool,
    mut meet: impl FnMut(u32, u32),
) {
    let reach = u16::from(slips);
    let mut others = other.iter().peekable();
    for stretch in one {
        while others.next_if(|next| next.last + reach < stretch.first).is_some() {}
        let touching = others.clone().take_while(|next| next.first <= stretch.last + reach);
        touching.for_each(|next| meet(stretch.area, next.area));
    }
}
