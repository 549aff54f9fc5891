//! `MovingAI`'s benchmark files: `.map` and `.scen` as text in, a [`Map`] and its [`Scenario`]s out.
//!
//! The format and the maps are Nathan Sturtevant's ("Benchmarks for Grid-Based Pathfinding", 2012). `.`, `G` and
//! `S` can be walked on at the same cost, everything else is blocked; the default [`Rules`](crate::Rules) are the
//! benchmark's.

use core::fmt;

use crate::cell::Cell;
use crate::map::{Map, Terrain};
use crate::text::MapTextError;

/// One query of a `.scen` file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scenario {
    /// Queries of like length share a bucket.
    pub bucket: u32,
    /// Where the path begins.
    pub start: Cell,
    /// Where it ends.
    pub goal: Cell,
    /// The length of a shortest path, with 1 for a straight step and √2 for a diagonal.
    pub optimal: f64,
}

/// Reads the text of a `.map` file.
///
/// # Errors
/// [`MovingAiError`] names what is missing or wrong.
pub fn parse_map(text: &str) -> Result<Map, MovingAiError> {
    let mut lines = text.lines().map(str::trim_end);
    let mut sides = [None, None];
    loop {
        let line = lines.next().ok_or(MovingAiError::Header("map"))?;
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let side = match key {
            "map" => break,
            "height" => &mut sides[0],
            "width" => &mut sides[1],
            _ => continue,
        };
        *side = value.trim().parse::<u32>().ok();
    }
    let height = sides[0].ok_or(MovingAiError::Header("height"))?;
    let width = sides[1].ok_or(MovingAiError::Header("width"))?;
    let rows = lines.filter(|line| !line.is_empty());
    let map = Map::from_rows(rows, |symbol| match symbol {
        '.' | 'G' | 'S' => Some(Terrain::OPEN),
        _ => Some(Terrain::WALL),
    })
    .map_err(MovingAiError::Rows)?;
    let found = (map.width(), map.height());
    if found == (width, height) {
        Ok(map)
    } else {
        Err(MovingAiError::Size { stated: (width, height), found })
    }
}

/// Reads the text of a `.scen` file.
///
/// # Errors
/// [`MovingAiError::Scenario`] names the first line that is no query.
pub fn parse_scenarios(text: &str) -> Result<Vec<Scenario>, MovingAiError> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let queries = lines.filter(|(_, line)| !line.starts_with("version"));
    queries
        .map(|(number, line)| parse_scenario(line).ok_or(MovingAiError::Scenario { line: number }))
        .collect()
}

fn parse_scenario(line: &str) -> Option<Scenario> {
    let mut words = line.split_whitespace();
    let bucket = words.next()?.parse().ok()?;
    // The map's name, width and height: the caller knows which map the file belongs to.
    let mut numbers = words.skip(3);
    let mut coordinate = || numbers.next()?.parse::<i32>().ok();
    let start = Cell::new(coordinate()?, coordinate()?);
    let goal = Cell::new(coordinate()?, coordinate()?);
    let optimal = numbers.next()?.parse().ok()?;
    Some(Scenario { bucket, start, goal, optimal })
}

/// A file that is not in `MovingAI`'s format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MovingAiError {
    /// The header has no such line, or no number in it.
    Header(&'static str),
    /// The rows of the map cannot be read.
    Rows(MapTextError),
    /// The header states another size than the rows have.
    Size {
        /// Width and height of the header.
        stated: (u32, u32),
        /// Width and height of the rows.
        found: (u32, u32),
    },
    /// A line of a scenario file is no query.
    Scenario {
        /// Which line, from 1.
        line: usize,
    },
}

impl fmt::Display for MovingAiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(key) => write!(f, "the header has no valid `{key}` line"),
            Self::Rows(error) => error.fmt(f),
            Self::Size { stated, found } => write!(
                f,
                "the header states {} × {} cells, the rows have {} × {}",
                stated.0, stated.1, found.0, found.1
            ),
            Self::Scenario { line } => write!(f, "line {line} is no query"),
        }
    }
}

impl core::error::Error for MovingAiError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Rows(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: &str = "type octile\nheight 2\nwidth 3\nmap\n.GS\n@TW\n";

    #[test]
    fn a_map_is_read_with_its_three_kinds_of_ground() {
        let map = parse_map(TINY).unwrap();
        assert_eq!(map.to_text(|_| None), "...\n###");
        assert_eq!(parse_map(&TINY.replace('\n', "\r\n")).unwrap(), map);
    }

    #[test]
    fn what_is_wrong_with_a_map_is_named() {
        assert_eq!(parse_map(""), Err(MovingAiError::Header("map")));
        assert_eq!(parse_map(&TINY.replace("width 3", "width x")), Err(MovingAiError::Header("width")));
        let error = MovingAiError::Size { stated: (3, 4), found: (3, 2) };
        assert_eq!(parse_map(&TINY.replace("height 2", "height 4")), Err(error));
        assert!(matches!(parse_map(&TINY.replace('@', "@@")), Err(MovingAiError::Rows(_))));
    }

    #[test]
    fn scenarios_are_read_line_by_line() {
        let text = "version 1\n7\tdao/arena.map\t49\t49\t1\t11\t1\t12\t1.5\n";
        let scenario = Scenario { bucket: 7, start: Cell::new(1, 11), goal: Cell::new(1, 12), optimal: 1.5 };
        assert_eq!(parse_scenarios(text), Ok(vec![scenario]));
        assert_eq!(parse_scenarios("version 1\n7 a 1 1 2"), Err(MovingAiError::Scenario { line: 2 }));
    }
}
