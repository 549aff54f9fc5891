//! [`Islands`] as bytes, and back: see [`bake`](crate::bake).
//!
//! Which cells are open follows from the map, and so does which of them lie side by side. What takes long to find is kept: which
//! area each run of open cells belongs to, chunk by chunk, and which area of its block each area of a piece does. What is
//! read is the same tree as one that was found, so that edits are followed in it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Islands;
use super::block::{Block, Joined, Piece, SPAN_SHIFT, span, tiers};
use super::coast::Area;
use super::shores::Shores;
use crate::bake::{BakeError, Reader, Writer};
use crate::ground::Ground;
use crate::map::{CHUNK_SIDE, Chunk};

impl Islands {
    /// All that was found, the pieces of a block before the block.
    pub(crate) fn write(&self, writer: &mut Writer) {
        if let Some(whole) = &self.whole {
            write_piece(whole, writer);
        }
    }

    /// Reads what was [written](Self::write) of the same ground. Whatever the bytes are, areas are counted as they should be
    /// and nothing that is asked of them goes wrong; what hangs together is as they say.
    pub(crate) fn read(ground: &Ground, reader: Reader<'_>) -> Result<Self, BakeError> {
        let (columns, rows) = (ground.map.columns(), ground.map.height().div_ceil(CHUNK_SIDE));
        let tiers = tiers(columns, rows);
        let mut pieces = Pieces { ground, columns, rows, reader, twins: VecDeque::new() };
        let exists = !ground.map.chunks().is_empty();
        let whole = exists.then(|| pieces.piece(tiers, (0, 0))).transpose()?;
        pieces.reader.finish()?;
        Ok(Self { whole, tiers, columns, rows })
    }
}

fn write_piece(piece: &Piece, writer: &mut Writer) {
    match piece {
        Piece::Chunk(shores) => write_areas(shores.of_runs(), writer),
        Piece::Block(block) => {
            block.pieces.iter().for_each(|piece| write_piece(piece, writer));
            write_areas(block.joined.areas.iter().copied(), writer);
        }
    }
}

/// The pieces of a map being read.
struct Pieces<'a> {
    ground: &'a Ground,
    columns: u32,
    rows: u32,
    reader: Reader<'a>,
    /// As when they are [found](super::refresh): chunks that are one are labelled once.
    twins: VecDeque<(&'a Arc<Chunk>, Arc<Shores>)>,
}

impl Pieces<'_> {
    fn piece(&mut self, tiers: u32, (x, y): (u32, u32)) -> Result<Piece, BakeError> {
        let Some(inner) = tiers.checked_sub(1) else { return self.chunk((x, y)).map(Piece::Chunk) };
        let shift = SPAN_SHIFT * inner;
        let (columns, rows) = (span(tiers, x, self.columns), span(tiers, y, self.rows));
        let mut pieces = Vec::with_capacity((columns * rows) as usize);
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            pieces.push(self.piece(inner, (x + (column << shift), y + (row << shift)))?);
        }
        let joined = Joined::known(&pieces, columns, CHUNK_SIDE << shift, |areas| {
            read_areas(areas as usize, &mut self.reader, |area| area)
        })?;
        Ok(Piece::Block(Arc::new(Block::new(pieces.into(), columns, Arc::new(joined)))))
    }

    fn chunk(&mut self, (x, y): (u32, u32)) -> Result<Arc<Shores>, BakeError> {
        let chunk = &self.ground.map.chunks()[(y * self.columns + x) as usize];
        if let Some((_, shores)) = self.twins.iter().find(|(twin, _)| Arc::ptr_eq(twin, chunk)) {
            read_areas(shores.of_runs().len(), &mut self.reader, |_| ())?;
            return Ok(Arc::clone(shores));
        }
        let rows = self.ground.open().rows(&chunk.terrain);
        let shores = Shores::known(rows, |runs, pack| read_areas(runs, &mut self.reader, pack))?;
        let shores = Arc::new(shores);
        self.twins.truncate(3);
        self.twins.push_front((chunk, Arc::clone(&shores)));
        Ok(shores)
    }
}

/// What members there are belong to.
pub(super) struct Known<T> {
    pub(super) areas: Vec<T>,
    /// How many of each kind there are, if none is left out.
    pub(super) open: u32,
    pub(super) closed: u32,
}

/// Open areas by their number, closed ones by how many there were before: one that is new is 0. Members of one area that follow
/// each other are written once.
fn write_areas(areas: impl Iterator<Item = Area>, writer: &mut Writer) {
    let (mut areas, mut closed) = (areas.peekable(), 0);
    while let Some(area) = areas.next() {
        let more = core::iter::from_fn(|| areas.next_if_eq(&area)).count() as u64;
        let code = match area {
            Area::Open(number) => u64::from(number) << 1,
            Area::Closed(number) => {
                let back = closed - number;
                closed = closed.max(number + 1);
                u64::from(back) << 1 | 1
            }
        };
        writer.number(code << 1 | u64::from(more > 0));
        if more > 0 {
            writer.number(more - 1);
        }
    }
}

/// The areas of so many members.
fn read_areas<T: Clone>(
    members: usize,
    reader: &mut Reader<'_>,
    make: impl Fn(Area) -> T,
) -> Result<Known<T>, BakeError> {
    let mut known = Known { areas: Vec::with_capacity(members), open: 0, closed: 0 };
    while known.areas.len() < members {
        let code: u32 = reader.number()?;
        let number = code >> 2;
        let area = if code & 2 == 0 {
            known.open = known.open.max(number + 1);
            Area::Open(number)
        } else {
            known.closed += u32::from(number == 0);
            Area::Closed(known.closed.checked_sub(number.max(1)).ok_or(BakeError::Damaged)?)
        };
        known.areas.push(make(area));
        if code & 1 != 0 {
            let more: usize = reader.number()?;
            if more >= members - known.areas.len() {
                return Err(BakeError::Damaged);
            }
            known.areas.extend(core::iter::repeat_n(make(area), more + 1));
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::Mark;
    use crate::cell::{Area, Cell};
    use crate::island::Island;
    use crate::map::{Map, Terrain};
    use crate::rules::{Corners, Rules};
    use crate::view::View;

    const MARK: Mark = *b"wayfrTST";

    fn written(islands: &Islands) -> Vec<u8> {
        let mut writer = Writer::new(MARK, 0);
        writer.section(|writer| islands.write(writer));
        writer.finish()
    }

    fn read(bytes: &[u8], ground: &Ground) -> Result<Islands, BakeError> {
        Islands::read(ground, Reader::open(bytes, MARK)?.1.section()?)
    }

    fn scattered(width: u32, height: u32, walls: u64) -> Map {
        let (mut map, mut seed) = (Map::new(width, height).unwrap(), walls);
        map.edit(map.area().unwrap(), |_, _| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if (seed >> 33) % 100 < walls { Terrain::WALL } else { Terrain::OPEN }
        })
        .unwrap();
        map
    }

    #[test]
    fn the_tree_that_is_read_is_the_one_that_was_found() {
        let mut tiers = 0;
        for (width, height, walls) in [
            (3, 2, 30),
            (64, 64, 45),
            (65, 200, 35),
            (300, 280, 40),
            (300, 280, 3),
            (1100, 90, 60),
            (70, 70, 100),
        ] {
            for corners in [Corners::BothFree, Corners::Always] {
                let rules = Rules { corners, ..Rules::default() };
                let ground = Ground::new(scattered(width, height, walls), View::from(rules));
                let found = Islands::new(&ground);
                let bytes = written(&found);
                let read = read(&bytes, &ground).unwrap();
                assert!(read.whole == found.whole, "{width} × {height}, {walls} %");
                assert_eq!((read.tiers, read.columns, read.rows), (found.tiers, found.columns, found.rows));
                assert!(written(&read) == bytes);
                tiers = tiers.max(read.tiers);
            }
        }
        assert_eq!(tiers, 3);
    }

    #[test]
    fn chunks_that_are_one_are_read_once() {
        let ground = Ground::new(Map::new(1024, 1000).unwrap(), View::default());
        let bytes = written(&Islands::new(&ground));
        let islands = read(&bytes, &ground).unwrap();
        let whole = islands.whole.as_ref().unwrap();
        let first: *const Shores = whole.shores(2, (0, 0));
        assert!((1..15).all(|i| core::ptr::eq(first, whole.shores(2, (i, 15 - i)))));
        assert_eq!((islands.count(), bytes.len() < 1200), (1, true), "{}", bytes.len());
    }

    #[test]
    fn whatever_is_read_areas_are_counted_as_they_should_be() {
        let (mut taken, mut refused, mut seed) = (0, 0, 1_u64);
        let mut next = |below: i32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i32::try_from((seed >> 33) % u64::from(below.cast_unsigned())).unwrap()
        };
        for walls in [2, 30, 42] {
            let ground = Ground::new(scattered(300, 280, walls), View::default());
            let mut edited = ground.clone();
            let mut map = ground.map.clone();
            map.fill(Area::new((100, 100), (200, 130)), Terrain::WALL).unwrap();
            edited.set_map(&map);
            let bytes = written(&Islands::new(&ground));
            for _ in 0..300 {
                // The checksum is somebody else's: a header, the length of the section, then what is looked at.
                let mut section = bytes[36..bytes.len() - 8].to_vec();
                for _ in 0..=next(3) {
                    let at = usize::try_from(next(section.len().try_into().unwrap())).unwrap();
                    section[at] = if next(2) == 0 {
                        section[at] ^ 1 << next(8)
                    } else {
                        next(80).to_le_bytes()[0] & !3
                    };
                }
                let Ok(islands) = Islands::read(&ground, Reader::of(&section)) else {
                    refused += 1;
                    continue;
                };
                taken += 1;
                let again = islands.updated(&edited, &ground.map);
                for (islands, ground) in [(islands, &ground), (again, &edited)] {
                    for cell in (0..300).map(|_| Cell::new(next(300), next(280))) {
                        let island = islands.at(ground.map.index_inside(cell)).map(Island::number);
                        assert_eq!(island.is_some(), ground.is_open(cell), "{cell}");
                        assert!(island.is_none_or(|island| island < islands.count()), "{cell}");
                        let found = islands.nearest(ground, &[cell], |other| Some(other.number()) == island);
                        assert_eq!(found, island.map(|_| cell));
                    }
                }
            }
        }
        assert!(taken > 50 && refused > 50, "{taken} taken, {refused} refused");
    }

    #[test]
    fn nobody_reads_of_more_than_there_is() {
        // A single row of two runs.
        let ground = Ground::new(Map::from_text("..#.").unwrap(), View::default());
        let tell = |numbers: &[u64]| {
            let mut writer = Writer::new(MARK, 0);
            writer.section(|writer| numbers.iter().for_each(|number| writer.number(*number)));
            read(&writer.finish(), &ground).map(|islands| islands.count())
        };
        // Two open areas; or one, told at once or one by one.
        assert_eq!((tell(&[0, 4]), tell(&[1, 0]), tell(&[0, 0])), (Ok(2), Ok(1), Ok(1)));
        for wrong in [
            &[][..],
            &[0],
            &[0, 4, 4],
            &[1],
            &[1, 1],
            &[1, u64::MAX],
            &[1, u64::from(u32::MAX)],
            &[0, u64::MAX],
            &[0, u64::from(u32::MAX) & !3],
            &[0, (1 << 15) << 2],
            &[0, (1 << 16) << 2],
            &[0, 2],
            &[0, 6],
            &[2, 6],
            &[4, 0],
        ] {
            assert_eq!(tell(wrong), Err(BakeError::Damaged), "{wrong:?}");
        }
    }
}
