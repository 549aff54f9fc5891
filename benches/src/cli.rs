//! The command line: in come the arguments, out goes a [`Command`] or a [`Failure`] that says what to change.
//! What every suite shares lives here too: its [`Options`], its [`Outcome`] and its ways to fail.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::{fmt, io};

use lexopt::prelude::{Long, Short, Value, ValueExt};

use crate::{crowd, dynamic, fields, frames, grid, scale, tiles, weighted};

/// Every suite, in the order in which the help lists them.
pub(crate) const SUITES: &[Suite] = &[
    Suite {
        name: "grid",
        data: Some("a folder"),
        about: "all X.map with X.map.scen below DIR (MovingAI's format), every answer checked",
        run: grid::run,
    },
    Suite {
        name: "dynamic",
        data: Some("a folder"),
        about: "all X.scen with X.patch in DIR: a map that changes between queries, every answer checked",
        run: dynamic::run,
    },
    Suite {
        name: "weighted",
        data: Some("a folder"),
        about: "eight maps below DIR (or all, if it has none of them) with terrain of many prices and roads",
        run: weighted::run,
    },
    Suite {
        name: "fields",
        data: Some("a folder"),
        about: "eight maps below DIR (or all, if it has none of them): many units to one goal or the nearest of eight",
        run: fields::run,
    },
    Suite {
        name: "scale",
        data: None,
        about: "maps of 256 × 256 to 8192 × 8192 cells: build, memory, first step, path, edit, and a survey from a file",
        run: scale::run,
    },
    Suite {
        name: "frames",
        data: Some("a map"),
        about: "units on the map file MAP ordered in one frame of a game: what frames cost the main thread",
        run: frames::run,
    },
    Suite {
        name: "tiles",
        data: None,
        about: "a tilemap of 256 × 256 tiles becomes ground, and stays so while tiles change",
        run: tiles::run,
    },
    Suite {
        name: "crowd",
        data: None,
        about: "units that get through each other, doors and walls in 20 steps a second, judged scene by scene",
        run: crowd::run,
    },
];

/// A set of measurements that share a kind of data, a table and a JSON shape.
#[derive(Debug)]
pub(crate) struct Suite {
    /// The word on the command line.
    pub(crate) name: &'static str,
    /// What it reads, for the message when that is missing; `None` if it makes its own.
    pub(crate) data: Option<&'static str>,
    /// What it reads and does, for the help.
    pub(crate) about: &'static str,
    /// Measures and prints.
    pub(crate) run: fn(&Options) -> Result<Outcome, Failure>,
}

/// What the user asked for.
#[derive(Debug)]
pub(crate) enum Command {
    /// Print the help and stop.
    Help,
    /// Run one suite.
    Run(&'static Suite, Options),
}

/// What every suite takes.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Where the data lies: a folder, or for some suites a file.
    pub(crate) dir: PathBuf,
    /// How many queries of each map to take, spread evenly; all if `None`.
    pub(crate) queries: Option<NonZeroUsize>,
    /// The side of the largest map; the suite's own if `None`.
    pub(crate) largest: Option<NonZeroUsize>,
    /// How many units are ordered at once, one run each; the suite's own numbers if `None`.
    pub(crate) units: Option<Vec<NonZeroUsize>>,
    /// How many times each scene is played, each time a little different; the suite's own number if `None`.
    pub(crate) seeds: Option<NonZeroU64>,
    /// A part of the names of the scenes to play, with a line for each seed; all scenes if `None`.
    pub(crate) scene: Option<String>,
    /// Where to put pictures.
    pub(crate) svg: Option<PathBuf>,
    /// Where to write the figures.
    pub(crate) json: Option<PathBuf>,
    /// Whether a missed bar is a fault.
    pub(crate) check: bool,
}

/// What a finished run found wrong with our own code, one sentence each.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Empty when all is well.
    pub(crate) faults: Vec<String>,
}

/// Why nothing could be measured.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments make no sense.
    Usage(String),
    /// The folder holds nothing to measure.
    NoMaps(PathBuf),
    /// The folder holds no scripts of a changing map.
    NoScripts(PathBuf),
    /// A file or folder cannot be read.
    Read(PathBuf, io::Error),
    /// The figures cannot be written.
    Write(PathBuf, io::Error),
    /// A file is not what its name promises.
    Malformed(PathBuf, String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what) => write!(f, "{what}\nTry `wayfare_bench --help`."),
            Self::NoMaps(dir) => {
                write!(f, "no maps in {}: need files X.map with X.map.scen beside them", dir.display())
            }
            Self::NoScripts(dir) => {
                write!(f, "no scripts in {}: need files X.scen with X.patch beside them", dir.display())
            }
            Self::Read(path, source) => write!(f, "cannot read {}: {source}", path.display()),
            Self::Write(path, source) => write!(f, "cannot write {}: {source}", path.display()),
            Self::Malformed(path, reason) => write!(f, "{} is malformed: {reason}", path.display()),
        }
    }
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

/// Reads the arguments.
pub(crate) fn parse(mut arguments: lexopt::Parser) -> Result<Command, Failure> {
    let mut suite = None;
    let mut dir = None;
    let mut options = Options::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(Command::Help),
            Long("queries") => options.queries = Some(arguments.value()?.parse()?),
            Long("largest") => options.largest = Some(arguments.value()?.parse()?),
            Long("units") => options.units = Some(parse_list(&arguments.value()?.string()?)?),
            Long("seeds") => options.seeds = Some(arguments.value()?.parse()?),
            Long("scene") => options.scene = Some(arguments.value()?.string()?),
            Long("svg") => options.svg = Some(arguments.value()?.into()),
            Long("json") => options.json = Some(arguments.value()?.into()),
            Long("check") => options.check = true,
            Value(name) if suite.is_none() => {
                let name = name.string()?;
                let known = SUITES.iter().find(|known| known.name == name);
                suite = Some(known.ok_or_else(|| Failure::Usage(format!("unknown suite `{name}`")))?);
            }
            Value(path) if dir.is_none() => dir = Some(PathBuf::from(path)),
            other => return Err(other.unexpected().into()),
        }
    }
    let suite = suite.ok_or_else(|| Failure::Usage("which suite?".into()))?;
    options.dir = match (dir, suite.data) {
        (Some(dir), Some(_)) => dir,
        (None, Some(data)) => return Err(Failure::Usage(format!("`{}` needs {data}", suite.name))),
        (Some(_), None) => return Err(Failure::Usage(format!("`{}` reads nothing", suite.name))),
        (None, None) => PathBuf::new(),
    };
    Ok(Command::Run(suite, options))
}

/// Numbers with commas between them.
fn parse_list(text: &str) -> Result<Vec<NonZeroUsize>, Failure> {
    let parse = |number: &str| number.trim().parse();
    let numbers: Result<_, _> = text.split(',').map(parse).collect();
    numbers.map_err(|error| Failure::Usage(format!("`{text}` is no list of numbers: {error}")))
}

/// The text of `--help`.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "Wayfare measured beside its peers, in one process, with every answer checked.\n\n\
         Usage: wayfare_bench SUITE [DIR|MAP] [--queries N] [--largest N] [--units N,N] [--seeds N] [--scene NAME]\n\
         \x20                     [--svg DIR] [--json FILE] [--check]\n\nSuites:\n",
    );
    for suite in SUITES {
        text += &format!("  {:<10} {}\n", suite.name, suite.about);
    }
    text + "\nOptions:\n\
         \x20 --queries N   grid, weighted: N queries of each map, spread evenly over its list; scale: N random ones\n\
         \x20               (default: all of them for grid, 100 for weighted and scale)\n\
         \x20 --largest N   scale: the side of the largest map (default: 8192)\n\
         \x20 --units N,N   frames: how many units are ordered at once (default: 100,1000,10000)\n\
         \x20 --seeds N     crowd: how many times each scene is played (default: 5)\n\
         \x20 --scene NAME  crowd: only scenes with NAME in their name, with a line for each seed\n\
         \x20 --svg DIR     crowd: a picture of each scene's traces\n\
         \x20 --json FILE   write the figures to FILE\n\
         \x20 --check       fail when a bar stated for the suite is missed\n\
         \x20 -h, --help    this text\n\n\
         Exit code: 0 good, 1 a wrong answer of ours or a missed bar, 2 nothing could be measured."
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(words: &[&str]) -> Result<Command, Failure> {
        parse(lexopt::Parser::from_args(words))
    }

    fn complaint(words: &[&str]) -> String {
        parse_words(words).expect_err("should be refused").to_string()
    }

    #[test]
    fn all_options_are_read_in_any_order() {
        let words = ["--check", "grid", "--queries", "20", "maps", "--json=out.json"];
        let Ok(Command::Run(suite, options)) = parse_words(&words) else { panic!("should run") };
        assert_eq!(suite.name, "grid");
        assert_eq!(options.dir, PathBuf::from("maps"));
        assert_eq!(options.queries, NonZeroUsize::new(20));
        assert_eq!(options.json, Some(PathBuf::from("out.json")));
        assert!(options.check);
    }

    #[test]
    fn suites_of_maps_take_a_folder() {
        for (name, words) in [
            ("dynamic", ["dynamic", "scripts", "--json", "out.json", "--check"]),
            ("weighted", ["--queries=5", "weighted", "scripts", "--check", "--json=out.json"]),
            ("fields", ["fields", "--check", "scripts", "--json", "out.json"]),
        ] {
            let Ok(Command::Run(suite, options)) = parse_words(&words) else { panic!("should run") };
            assert_eq!(suite.name, name);
            assert_eq!(options.dir, PathBuf::from("scripts"));
            assert_eq!(options.json, Some(PathBuf::from("out.json")));
            assert!(options.check);
            assert!(complaint(&[name]).contains("needs a folder"));
        }
    }

    #[test]
    fn numbers_of_units_are_a_list() {
        let Ok(Command::Run(suite, options)) = parse_words(&["frames", "x.map", "--units", "100,1000"])
        else {
            panic!("should run")
        };
        assert_eq!(suite.name, "frames");
        let units = options.units.expect("given");
        assert_eq!(units, [100, 1000].map(|count| NonZeroUsize::new(count).expect("not 0")));
    }

    #[test]
    fn the_largest_map_is_a_number() {
        let Ok(Command::Run(suite, options)) = parse_words(&["scale", "--largest", "1024"]) else {
            panic!("should run")
        };
        assert_eq!((suite.name, options.largest), ("scale", NonZeroUsize::new(1024)));
        assert!(complaint(&["scale", "maps"]).contains("reads nothing"));
        assert!(complaint(&["scale", "--largest", "huge"]).contains("huge"));
    }

    #[test]
    fn seeds_scene_and_pictures_are_read() {
        let words = ["crowd", "--seeds", "3", "--svg", "pictures", "--scene=door"];
        let Ok(Command::Run(suite, options)) = parse_words(&words) else { panic!("should run") };
        assert_eq!(suite.name, "crowd");
        assert_eq!(options.seeds, NonZeroU64::new(3));
        assert_eq!(options.svg, Some(PathBuf::from("pictures")));
        assert_eq!(options.scene.as_deref(), Some("door"));
    }

    #[test]
    fn help_wins_and_names_every_suite() {
        assert!(matches!(parse_words(&["grid", "--help"]), Ok(Command::Help)));
        assert!(SUITES.iter().all(|suite| help().contains(suite.name)));
    }

    #[test]
    fn bad_usage_is_explained() {
        assert!(complaint(&[]).contains("which suite"));
        assert!(complaint(&["grid"]).contains("needs a folder"));
        assert!(complaint(&["frames"]).contains("needs a map"));
        assert!(complaint(&["tiles", "maps"]).contains("reads nothing"));
        assert!(complaint(&["crowd", "maps"]).contains("reads nothing"));
        assert!(complaint(&["crowd", "--seeds", "0"]).contains('0'));
        assert!(complaint(&["gird", "maps"]).contains("gird"));
        assert!(complaint(&["grid", "maps", "more"]).contains("more"));
        assert!(complaint(&["grid", "maps", "--queries", "0"]).contains('0'));
        assert!(complaint(&["frames", "x.map", "--units", "100,many"]).contains("100,many"));
        assert!(complaint(&["grid", "maps", "--fast"]).contains("--fast"));
    }
}
