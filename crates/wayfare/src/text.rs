//! Maps as text: one character a cell, one line a row. For tests, documentation and small games.
//!
//! `.` is open ground, `#` a wall, `1` to `9` ground that costs that much.

use core::fmt;

use crate::cell::Cell;
use crate::map::{Map, MapError, Terrain};

impl Map {
    /// Reads a map drawn as text. Indentation and empty lines do not count.
    ///
    /// ```
    /// use wayfare::prelude::*;
    ///
    /// let map = Map::from_text(
    ///     "..#
    ///      .3.",
    /// )?;
    /// assert_eq!((map.width(), map.height()), (3, 2));
    /// assert_eq!(map.terrain(Cell::new(2, 0)), Terrain::WALL);
    /// # Ok::<(), MapTextError>(())
    /// ```
    ///
    /// # Errors
    /// [`MapTextError`] names the first line or character that is no part of a map.
    pub fn from_text(text: &str) -> Result<Self, MapTextError> {
        Self::from_rows(text.lines().map(str::trim).filter(|line| !line.is_empty()), |symbol| match symbol {
            '.' => Some(Terrain::OPEN),
            '#' => Some(Terrain::WALL),
            _ => symbol.to_digit(10).and_then(|digit| Terrain::digit(u8::try_from(digit).ok()?)),
        })
    }

    /// Reads a map from rows of characters, each of which `meaning` turns into a terrain.
    ///
    /// # Errors
    /// [`MapTextError`] if the rows differ in length, a character has no meaning, or the map is too large.
    pub fn from_rows<'a>(
        rows: impl Iterator<Item = &'a str> + Clone,
        meaning: impl Fn(char) -> Option<Terrain>,
    ) -> Result<Self, MapTextError> {
        let side = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let width = side(rows.clone().next().map_or(0, |row| row.chars().count()));
        let height = side(rows.clone().count());
        let mut map = Self::new(width, height).map_err(MapTextError::Map)?;
        let mut terrain = Vec::new();
        for (line, row) in (1..).zip(rows) {
            let length = row.chars().count();
            if side(length) != width {
                return Err(MapTextError::Ragged { line, length, expected: width });
            }
            for (column, symbol) in (1..).zip(row.chars()) {
                let Some(found) = meaning(symbol) else {
                    return Err(MapTextError::Symbol { line, column, symbol });
                };
                terrain.push(found);
            }
        }
        let Some(area) = map.area() else {
            return Ok(map);
        };
        let row_major =
            |cell: Cell| cell.y.unsigned_abs() as usize * width as usize + cell.x.unsigned_abs() as usize;
        // A map just read has not been edited yet.
        map.write(area, 0, |cell, _| terrain[row_major(cell)]).map_err(MapTextError::Map)?;
        Ok(map)
    }

    /// Draws the map as text, `mark` first: it may put a character of its own on any cell. Terrain that has no
    /// character of its own is drawn as `.`, and a hole as a space.
    ///
    /// ```
    /// use wayfare::prelude::*;
    ///
    /// let map = Map::from_text(".#.")?;
    /// assert_eq!(map.to_text(|cell| (cell.x == 0).then_some('S')), "S#.");
    /// # Ok::<(), MapTextError>(())
    /// ```
    pub fn to_text(&self, mark: impl Fn(Cell) -> Option<char>) -> String {
        let mut text = String::new();
        let Some(area) = self.area() else { return text };
        for cell in area.cells() {
            if cell.x == 0 && cell.y > 0 {
                text.push('\n');
            }
            text.push(mark(cell).unwrap_or_else(|| symbol_of(self.terrain(cell))));
        }
        text
    }
}

fn symbol_of(terrain: Terrain) -> char {
    match terrain {
        Terrain::WALL => '#',
        Terrain::OUTSIDE => ' ',
        other => other.as_digit().map_or('.', |digit| char::from(b'0' + digit)),
    }
}

/// A text that is no map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MapTextError {
    /// A row is longer or shorter than the first one.
    Ragged {
        /// Which row, from 1.
        line: usize,
        /// Its length in characters.
        length: usize,
        /// The length of the first row.
        expected: u32,
    },
    /// A character that means no terrain.
    Symbol {
        /// Which row, from 1.
        line: usize,
        /// Which character, from 1.
        column: usize,
        /// The character.
        symbol: char,
    },
    /// The text is well formed, but the map cannot be made.
    Map(MapError),
}

impl fmt::Display for MapTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ragged { line, length, expected } => {
                write!(f, "row {line} has {length} cells where the first has {expected}")
            }
            Self::Symbol { line, column, symbol } => {
                write!(f, "{symbol:?} in row {line}, column {column} is no terrain")
            }
            Self::Map(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for MapTextError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Map(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_what_is_read() {
        let text = "..#1\n9#..\n....";
        let map = Map::from_text(text).unwrap();
        assert_eq!(map.to_text(|_| None), text);
        assert_eq!(map.terrain(Cell::new(0, 1)), Terrain::digit(9).unwrap());
        assert_eq!((map.version(), map.changed_since(0).count()), (0, 0));
    }

    #[test]
    fn no_text_is_an_empty_map() {
        for text in ["", "\n\n", "   "] {
            let map = Map::from_text(text).unwrap();
            assert_eq!((map.width(), map.height()), (0, 0));
            assert_eq!(map.to_text(|_| None), "");
        }
    }

    #[test]
    fn what_is_no_map_is_named() {
        assert_eq!(Map::from_text("...\n.."), Err(MapTextError::Ragged { line: 2, length: 2, expected: 3 }));
        let first_empty = Map::from_rows(["", "..."].into_iter(), |_| Some(Terrain::OPEN));
        assert_eq!(first_empty, Err(MapTextError::Ragged { line: 2, length: 3, expected: 0 }));
        assert_eq!(Map::from_text("..\n.0"), Err(MapTextError::Symbol { line: 2, column: 2, symbol: '0' }));
        assert_eq!(Map::from_text(".x").unwrap_err().to_string(), "'x' in row 1, column 2 is no terrain");
        let long = ".".repeat(20_000);
        assert!(matches!(Map::from_text(&long), Err(MapTextError::Map(MapError::TooLarge { .. }))));
    }
}
