//! Scripts: in comes a folder, out come its [`Script`]s, read and played through once before anything is timed, so
//! that a bad file is reported in the first second and not in the last.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use wayfare::prelude::{Area, Cell, Map, Terrain};

use super::patch::{self, Patch, Reader};
use crate::check::{Board, Query};
use crate::cli::Failure;
use crate::level::Level;

/// By how much a length may differ from the published one, which has eleven decimals. Ours is made of whole costs,
/// whose diagonal is within 4 × 10^-7 of √2.
const TOLERANCE: f64 = 1e-3;

/// A map that begins free of walls, with what happens to it and what is asked meanwhile.
#[derive(Debug)]
pub(crate) struct Script {
    /// The map as it begins, and all queries in their order.
    pub(crate) level: Level,
    pub(crate) rounds: Vec<Round>,
}

impl Script {
    /// How many rounds begin with edits.
    pub(crate) fn batches(&self) -> usize {
        self.rounds.iter().filter(|round| round.batch.is_some()).count()
    }
}

/// Edits, then queries on the map as they left it.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// Only the first round may have none.
    pub(crate) batch: Option<Batch>,
    /// Which queries of the level, perhaps none at the end.
    pub(crate) queries: Range<usize>,
}

/// Edits made at once.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// As the script has them. Where they overlap, later ones win.
    pub(crate) stamps: Vec<Stamp>,
    /// What they change all together: row by row, each cell once, with whether it is open now.
    pub(crate) changes: Vec<(Cell, bool)>,
}

/// A patch at its place.
#[derive(Debug)]
pub(crate) struct Stamp {
    patch: Rc<Patch>,
    area: Area,
}

impl Stamp {
    /// The cells it covers, all on the map.
    pub(crate) fn area(&self) -> Area {
        self.area
    }

    /// What one of them becomes.
    pub(crate) fn terrain(&self, cell: Cell) -> Terrain {
        let (x, y) = self.area.min().gap(cell);
        if self.patch.is_blocked(x as usize, y as usize) { Terrain::WALL } else { Terrain::OPEN }
    }
}

/// Reads every script in `dir`, sorted by name.
pub(crate) fn load(dir: &Path) -> Result<Vec<Script>, Failure> {
    let fail = |error| Failure::Read(dir.into(), error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension().is_some_and(|extension| extension == "scen") {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(Failure::NoScripts(dir.into()));
    }
    paths.iter().map(|path| load_script(path)).collect()
}

fn load_script(path: &Path) -> Result<Script, Failure> {
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| Failure::Read(path.into(), error));
    let malformed = |path: &Path| {
        let path = path.to_path_buf();
        move |reason| Failure::Malformed(path, reason)
    };
    let text = read(path)?;
    let mut reader = Reader::new(&text);
    let header = Header::parse(&mut reader).map_err(malformed(path))?;
    let patch_path = path.with_file_name(&header.patch_file);
    let patches = patch::parse(&read(&patch_path)?).map_err(malformed(&patch_path))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    parse_commands(name, &header, patches, &mut reader).map_err(malformed(path))
}

struct Header {
    width: u32,
    height: u32,
    patch_file: PathBuf,
}

impl Header {
    fn parse(reader: &mut Reader<'_>) -> Result<Self, String> {
        reader.expect("version", "2")?;
        let (height, width) = (reader.number("height")?, reader.number("width")?);
        reader.expect("cost", "1 octile")?;
        let (_, patch_file) = reader.value("patch")?;
        reader.expect("commands", "")?;
        Ok(Self { width, height, patch_file: patch_file.into() })
    }
}

fn parse_commands(
    name: String,
    header: &Header,
    patches: Vec<Patch>,
    reader: &mut Reader<'_>,
) -> Result<Script, String> {
    let map = Map::new(header.width, header.height).map_err(|error| error.to_string())?;
    let area = map.area().ok_or("a map without cells")?;
    let patches: Vec<Rc<Patch>> = patches.into_iter().map(Rc::new).collect();
    let mut now = Board::new(header.width, header.height, |_| true);
    let start = now.clone();
    let mut queries: Vec<Query> = Vec::new();
    let mut rounds = vec![Round::default()];
    let mut stamps = Vec::new();
    while let Some((number, line)) = reader.next() {
        let at_line = |reason: String| format!("line {number}: {reason}");
        match line.split_once(char::is_whitespace) {
            Some(("P", rest)) => stamps.push(parse_stamp(rest, &patches, area).map_err(at_line)?),
            Some(("Q", rest)) => {
                if !stamps.is_empty() {
                    rounds.push(edit_round(std::mem::take(&mut stamps), &mut now, queries.len()));
                }
                queries.push(parse_query(rest, area, &now).map_err(at_line)?);
                if let Some(round) = rounds.last_mut() {
                    round.queries.end = queries.len();
                }
            }
            _ => return Err(at_line("neither `P` nor `Q`".into())),
        }
    }
    if !stamps.is_empty() {
        rounds.push(edit_round(stamps, &mut now, queries.len()));
    }
    if queries.is_empty() {
        return Err("it holds no queries".into());
    }
    let level = Level { name, set: String::new(), map, map_bytes: 0, board: start, queries };
    Ok(Script { level, rounds })
}

/// A round without queries yet; the board follows its edits.
fn edit_round(stamps: Vec<Stamp>, board: &mut Board, first_query: usize) -> Round {
    let before = board.clone();
    let mut cells: Vec<Cell> = stamps.iter().flat_map(|stamp| stamp.area.cells()).collect();
    cells.sort_unstable_by_key(|cell| (cell.y, cell.x));
    cells.dedup();
    for stamp in &stamps {
        for cell in stamp.area.cells() {
            board.set(cell, stamp.terrain(cell) == Terrain::OPEN);
        }
    }
    let is_changed = |cell: &Cell| board.is_open(cell.x, cell.y) != before.is_open(cell.x, cell.y);
    let changed = cells.into_iter().filter(is_changed);
    let changes = changed.map(|cell| (cell, board.is_open(cell.x, cell.y))).collect();
    Round { batch: Some(Batch { stamps, changes }), queries: first_query..first_query }
}

/// `bucket patch x y`.
fn parse_stamp(text: &str, patches: &[Rc<Patch>], map: Area) -> Result<Stamp, String> {
    let [_bucket, index, x, y] = numbers(text).ok_or("not four numbers after `P`")?;
    let patch = usize::try_from(index).ok().and_then(|index| patches.get(index));
    let patch = patch.ok_or_else(|| format!("there is no patch {index}"))?;
    let side = |cells: usize| i32::try_from(cells - 1).ok();
    let far = |near: i32, cells: usize| near.checked_add(side(cells)?);
    let corner = far(x, patch.width()).zip(far(y, patch.height()));
    let max = corner.map(Cell::from).filter(|max| map.contains(*max) && map.contains(Cell::new(x, y)));
    let max = max.ok_or_else(|| format!("patch {index} at ({x}, {y}) reaches beyond the map"))?;
    Ok(Stamp { patch: Rc::clone(patch), area: Area::new((x, y), max) })
}

/// `bucket sx sy gx gy length`.
fn parse_query(text: &str, map: Area, board: &Board) -> Result<Query, String> {
    let wrong = "not five numbers and a length after `Q`";
    let (ends, length) = text.trim().rsplit_once(char::is_whitespace).ok_or(wrong)?;
    let [_bucket, sx, sy, gx, gy] = numbers(ends).ok_or(wrong)?;
    let length: f64 = length.parse().map_err(|_| wrong)?;
    let (start, goal) = (Cell::new(sx, sy), Cell::new(gx, gy));
    let is_solvable = length >= 0.0;
    for end in [start, goal] {
        // Several peers panic on a cell outside of the map.
        if !map.contains(end) {
            return Err(format!("{end} is outside"));
        }
        if is_solvable && !board.is_open(end.x, end.y) {
            return Err(format!("{end} is blocked"));
        }
    }
    let is_unsolvable = (length + 1.0).abs() < TOLERANCE;
    // Nobody is unable to stay where it is, and only staying has no length.
    let makes_sense =
        if start == goal { is_solvable && length < TOLERANCE } else { length > 0.0 || is_unsolvable };
    if !(makes_sense && length.is_finite()) {
        return Err(format!("{length} is no length from {start} to {goal}"));
    }
    // Here `Query` has 0 between two cells where the file has -1.
    Ok(Query { start, goal, optimal: length.max(0.0), tolerance: TOLERANCE })
}

/// Exactly so many whole numbers.
fn numbers<const N: usize>(text: &str) -> Option<[i32; N]> {
    let parsed: Option<Vec<i32>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    parsed?.try_into().ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::level::tests::TempDir;

    /// A wall with and without a gap, and a wall of one cell.
    pub(crate) const PATCHES: &str = "type patch\npatches 3\n\
        patch 0\nheight 3\nwidth 1\nmap\n@\n@\n.\n\
        patch 1\nheight 1\nwidth 1\nmap\n@\n\
        patch 2\nheight 3\nwidth 2\nmap\n..\n..\n..\n";

    /// Two queries on the free map, two around a wall, one where the wall is closed, and one when it is gone.
    pub(crate) const SCRIPT: &str = "version 2\nheight 3\nwidth 4\ncost 1 octile\npatch tiny.patch\ncommands\n\
        Q 0 0 0 3 0 3\n\
        Q 0 0 0 2 2 2.82842712475\n\
        P 1 0 1 0\n\
        Q 1 0 0 2 0 6\n\
        Q 1 1 2 1 2 0\n\
        P 2 1 1 2\n\
        P 2 1 1 1\n\
        Q 2 0 0 2 0 -1\n\
        P 3 2 1 0\n\
        Q 3 0 1 3 1 3\n\
        P 4 1 3 2\n";

    fn write(name: &str, script: &str, patches: &str) -> TempDir {
        let dir = TempDir::new(name);
        dir.write("tiny.scen", script);
        dir.write("tiny.patch", patches);
        dir
    }

    /// The only script of a folder that holds these files.
    pub(crate) fn script(name: &str) -> Script {
        load(&write(name, SCRIPT, PATCHES).0).expect("valid").remove(0)
    }

    fn complaint(from: &str, to: &str) -> String {
        // Tests run at the same time: each complaint has a folder of its own.
        let folder: String = format!("script_{from}_{to}").replace([' ', '/', '\n'], "_");
        let dir = write(&folder, &SCRIPT.replacen(from, to, 1), PATCHES);
        let text = load(&dir.0).expect_err("malformed").to_string();
        text.split_once("is malformed: ").map_or(text.clone(), |(_, reason)| reason.into())
    }

    #[test]
    fn rounds_hold_what_the_script_says() {
        let script = script("rounds");
        assert_eq!(script.level.name, "tiny");
        assert_eq!(script.level.queries.len(), 6);
        let ranges: Vec<_> = script.rounds.iter().map(|round| round.queries.clone()).collect();
        assert_eq!(ranges, [0..2, 2..4, 4..5, 5..6, 6..6]);
        assert_eq!(script.batches(), 4);
        let changes = |round: usize| script.rounds[round].batch.as_ref().map(|batch| batch.changes.clone());
        assert_eq!(changes(0), None);
        let cell = Cell::new;
        assert_eq!(changes(1), Some(vec![(cell(1, 0), false), (cell(1, 1), false)]));
        assert_eq!(changes(2), Some(vec![(cell(1, 2), false)]), "the second stamp changes nothing");
        assert_eq!(changes(3), Some(vec![(cell(1, 0), true), (cell(1, 1), true), (cell(1, 2), true)]));
        assert!(!script.level.queries[4].is_solvable());
    }

    #[test]
    fn a_stamp_covers_its_cells() {
        let script = script("stamp");
        let batch = script.rounds[1].batch.as_ref().expect("edits");
        let stamp = &batch.stamps[0];
        let terrain: Vec<_> = stamp.area().cells().map(|cell| stamp.terrain(cell)).collect();
        assert_eq!(terrain, [Terrain::WALL, Terrain::WALL, Terrain::OPEN]);
        assert_eq!(stamp.area(), Area::new((1, 0), (1, 2)));
    }

    #[test]
    fn bad_headers_and_commands_are_named() {
        assert_eq!(complaint("version 2", "version 1"), "line 1: `version 1` instead of `version 2`");
        assert_eq!(complaint("height 3", "height x"), "line 2: `height` has no valid number");
        assert_eq!(complaint("width 4", "width 0"), "a map without cells");
        assert!(complaint("width 4", "width 4000000000").contains("4000000000"));
        assert_eq!(
            complaint("cost 1 octile", "cost 2 manhattan"),
            "line 4: `cost 2 manhattan` instead of `cost 1 octile`"
        );
        assert_eq!(complaint("commands", "command"), "line 6: no `commands`");
        assert_eq!(complaint("P 1 0 1 0", "R 1 0 1 0"), "line 9: neither `P` nor `Q`");
        assert_eq!(complaint("P 1 0 1 0", "P 1 0 1"), "line 9: not four numbers after `P`");
        assert_eq!(complaint("P 1 0 1 0", "P 1 3 1 0"), "line 9: there is no patch 3");
        assert_eq!(complaint("P 1 0 1 0", "P 1 -1 1 0"), "line 9: there is no patch -1");
        let beyond = "line 9: patch 0 at (1, 1) reaches beyond the map";
        assert_eq!(complaint("P 1 0 1 0", "P 1 0 1 1"), beyond);
        assert!(complaint("P 1 0 1 0", "P 1 0 -1 0").contains("beyond the map"));
        assert!(complaint("P 1 0 1 0", "P 1 0 1 2147483647").contains("beyond the map"));
    }

    #[test]
    fn bad_queries_are_named() {
        let query = "Q 1 0 0 2 0 6";
        let wrong = "line 10: not five numbers and a length after `Q`";
        assert_eq!(complaint(query, "Q 1 0 0 2 0"), wrong);
        assert_eq!(complaint(query, "Q 1 0 0 2 0 6 7"), wrong);
        assert_eq!(complaint(query, "Q 1 0 0 2 0 far"), wrong);
        assert_eq!(complaint(query, "Q 1 0 0 1 0 6"), "line 10: (1, 0) is blocked");
        assert_eq!(complaint(query, "Q 1 0 0 4 0 6"), "line 10: (4, 0) is outside");
        assert_eq!(complaint(query, "Q 1 0 0 4 0 -1"), "line 10: (4, 0) is outside");
        for length in ["-2", "0", "inf", "NaN"] {
            let text = complaint(query, &format!("Q 1 0 0 2 0 {length}"));
            assert!(text.ends_with("is no length from (0, 0) to (2, 0)"), "{length}: {text}");
        }
        assert!(complaint(query, "Q 1 0 0 0 0 -1").contains("is no length"));
        assert!(complaint(query, "Q 1 0 0 0 0 2").contains("is no length"));
    }

    #[test]
    fn bad_folders_and_files_are_named() {
        let dir = TempDir::new("scripts");
        let text = || load(&dir.0).expect_err("nothing to measure").to_string();
        assert!(text().starts_with("no scripts in "), "{}", text());
        dir.write("tiny.scen", SCRIPT);
        assert!(text().contains("cannot read") && text().contains("tiny.patch"), "{}", text());
        dir.write("tiny.patch", "type patch\n");
        assert!(text().contains("tiny.patch is malformed: it ends before `patches`"), "{}", text());
        dir.write("tiny.patch", PATCHES);
        let (header, _) = SCRIPT.split_once("Q 0").expect("a query");
        dir.write("tiny.scen", header);
        assert!(text().contains("tiny.scen is malformed: it holds no queries"), "{}", text());
        let missing = load(Path::new("no/such/folder")).expect_err("should be refused");
        assert!(missing.to_string().contains("cannot read no/such/folder"));
    }

    #[test]
    fn no_cut_of_a_script_panics() {
        let dir = write("cut", SCRIPT, PATCHES);
        for end in 0..SCRIPT.len() {
            dir.write("tiny.scen", &SCRIPT[..end]);
            let in_header = end < SCRIPT.find("Q 0").expect("a query");
            assert!(load(&dir.0).is_err() || !in_header, "{:?}", &SCRIPT[..end]);
        }
    }
}
