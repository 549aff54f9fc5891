//! The command line: in come the arguments, out goes a [`Command`] or a [`Failure`] that says what to change.
//! What every suite shares lives here too: its [`Options`], its [`Outcome`] and its ways to fail.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::{fmt, io};

use lexopt::prelude::{Long, Short, Value, ValueExt};

use crate::grid;

/// Every suite, in the order in which the help lists them.
pub(crate) const SUITES: &[Suite] = &[Suite {
    name: "grid",
    about: "all X.map with X.map.scen below DIR (MovingAI's format), every answer checked",
    run: grid::run,
}];

/// A set of measurements that share a kind of data, a table and a JSON shape.
#[derive(Debug)]
pub(crate) struct Suite {
    /// The word on the command line.
    pub(crate) name: &'static str,
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
    /// Where the data lies.
    pub(crate) dir: PathBuf,
    /// How many queries of each map to take, spread evenly; all if `None`.
    pub(crate) queries: Option<NonZeroUsize>,
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
    options.dir = dir.ok_or_else(|| Failure::Usage(format!("`{}` needs a folder", suite.name)))?;
    Ok(Command::Run(suite, options))
}

/// The text of `--help`.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "Wayfare measured beside its peers, in one process, with every answer checked.\n\n\
         Usage: wayfare_bench SUITE DIR [--queries N] [--json FILE] [--check]\n\nSuites:\n",
    );
    for suite in SUITES {
        text += &format!("  {:<10} {}\n", suite.name, suite.about);
    }
    text + "\nOptions:\n\
         \x20 --queries N   N queries of each map, spread evenly over its list (default: all)\n\
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
    fn help_wins_and_names_every_suite() {
        assert!(matches!(parse_words(&["grid", "--help"]), Ok(Command::Help)));
        assert!(SUITES.iter().all(|suite| help().contains(suite.name)));
    }

    #[test]
    fn bad_usage_is_explained() {
        assert!(complaint(&[]).contains("which suite"));
        assert!(complaint(&["grid"]).contains("needs a folder"));
        assert!(complaint(&["gird", "maps"]).contains("gird"));
        assert!(complaint(&["grid", "maps", "more"]).contains("more"));
        assert!(complaint(&["grid", "maps", "--queries", "0"]).contains('0'));
        assert!(complaint(&["grid", "maps", "--fast"]).contains("--fast"));
    }
}
