//! Patches: in comes the text of a `.patch` file, out come the rectangles of walls and free cells that a script
//! stamps on its map. The [`Reader`] serves both kinds of files.

use std::iter::Enumerate;
use std::str::{FromStr, Lines};

/// A rectangle of cells, at least one wide and high.
#[derive(Debug)]
pub(crate) struct Patch {
    width: usize,
    /// Row by row.
    blocked: Vec<bool>,
}

impl Patch {
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn height(&self) -> usize {
        self.blocked.len() / self.width
    }

    /// Whether the cell in this column and row of the patch becomes a wall.
    pub(crate) fn is_blocked(&self, x: usize, y: usize) -> bool {
        self.blocked[y * self.width + x]
    }
}

/// Reads all patches, or says what is wrong with which line.
pub(crate) fn parse(text: &str) -> Result<Vec<Patch>, String> {
    let mut reader = Reader::new(text);
    reader.expect("type", "patch")?;
    let count: usize = reader.number("patches")?;
    let mut patches = Vec::new();
    for index in 0..count {
        reader.expect("patch", &index.to_string())?;
        let (height, width) = (reader.number("height")?, reader.number("width")?);
        reader.expect("map", "")?;
        patches.push(parse_rows(&mut reader, width, height)?);
    }
    match reader.next() {
        Some((line, _)) => Err(format!("line {line}: more than the {count} patches of the header")),
        None => Ok(patches),
    }
}

fn parse_rows(reader: &mut Reader<'_>, width: usize, height: usize) -> Result<Patch, String> {
    if width == 0 || height == 0 {
        return Err("an empty patch".into());
    }
    let mut blocked = Vec::new();
    for _ in 0..height {
        let (line, row) = reader.next().ok_or("it ends inside of a patch")?;
        if row.len() != width {
            return Err(format!("line {line}: {} cells instead of {width}", row.len()));
        }
        for symbol in row.bytes() {
            blocked.push(match symbol {
                b'@' => true,
                b'.' => false,
                _ => return Err(format!("line {line}: a cell that is neither `@` nor `.`")),
            });
        }
    }
    Ok(Patch { width, blocked })
}

/// The lines of a file that are not blank, with their numbers.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    lines: Enumerate<Lines<'a>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { lines: text.lines().enumerate() }
    }

    /// The next line, from 1.
    pub(crate) fn next(&mut self) -> Option<(usize, &'a str)> {
        let mut lines = self.lines.by_ref().map(|(index, line)| (index + 1, line.trim()));
        lines.find(|(_, line)| !line.is_empty())
    }

    /// What stands behind `key` in the next line.
    pub(crate) fn value(&mut self, key: &str) -> Result<(usize, &'a str), String> {
        let (number, line) = self.next().ok_or_else(|| format!("it ends before `{key}`"))?;
        let (found, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if found == key { Ok((number, value.trim())) } else { Err(format!("line {number}: no `{key}`")) }
    }

    /// The number behind `key` in the next line.
    pub(crate) fn number<T: FromStr>(&mut self, key: &str) -> Result<T, String> {
        let (line, value) = self.value(key)?;
        value.parse().map_err(|_| format!("line {line}: `{key}` has no valid number"))
    }

    /// Makes sure that the next line is `key` with this value.
    pub(crate) fn expect(&mut self, key: &str, value: &str) -> Result<(), String> {
        let (line, found) = self.value(key)?;
        if found == value {
            Ok(())
        } else {
            Err(format!("line {line}: `{key} {found}` instead of `{key} {value}`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "type patch\npatches 2\npatch 0\nheight 2\nwidth 3\nmap\n@.@\n..@\n\
        patch 1\nheight 1\nwidth 1\nmap\n.\n";

    #[test]
    fn patches_are_read_row_by_row() {
        let patches = parse(TWO).expect("valid");
        assert_eq!(patches.len(), 2);
        let first = &patches[0];
        assert_eq!((first.width(), first.height()), (3, 2));
        let walls: Vec<_> = (0..6).map(|index| first.is_blocked(index % 3, index / 3)).collect();
        assert_eq!(walls, [true, false, true, false, false, true]);
        assert_eq!((patches[1].width(), patches[1].height()), (1, 1));
        assert_eq!(parse("type patch\npatches 0\n").map(|patches| patches.len()), Ok(0));
    }

    #[test]
    fn every_cut_of_a_file_is_refused() {
        let text = TWO.trim_end();
        for end in 0..text.len() {
            assert!(parse(&text[..end]).is_err(), "{:?}", &text[..end]);
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let complaint = |from: &str, to: &str| parse(&TWO.replacen(from, to, 1)).expect_err("malformed");
        assert_eq!(complaint("type patch", "type octile"), "line 1: `type octile` instead of `type patch`");
        assert_eq!(complaint("patches 2", "patches -2"), "line 2: `patches` has no valid number");
        assert_eq!(complaint("patches 2", "patches 1"), "line 9: more than the 1 patches of the header");
        assert_eq!(complaint("patches 2", "patches 99999999999"), "it ends before `patch`");
        assert_eq!(complaint("patch 1", "patch 7"), "line 9: `patch 7` instead of `patch 1`");
        assert_eq!(complaint("width 3", "width 4"), "line 7: 3 cells instead of 4");
        assert_eq!(complaint("width 3", "width 0"), "an empty patch");
        assert_eq!(complaint("height 2", "height 3"), "line 9: 7 cells instead of 3");
        assert_eq!(complaint("..@", "..T"), "line 8: a cell that is neither `@` nor `.`");
        assert_eq!(complaint("@.@", "é."), "line 7: a cell that is neither `@` nor `.`");
    }
}
