//! What the player asked for: in come the words of the command line, out come [`Options`] or one clear sentence.

use std::path::{Path, PathBuf};

use lexopt::prelude::*;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
A small real-time strategy game on Wayfare. Press H in the game for its keys.

cargo run --release --example rts -- [OPTIONS]

  --seed N           the land is made from this number (default 6)
  --units N          how many units there are at first (default 24; 2000 with --headless, 300 with --bridge)
  --frames N         exit after so many frames (600 with --headless)
  --screenshot FILE  save the last frame as a picture; needs --frames
  --script FILE      play timed clicks and keys; its format is described in script.rs
  --headless         no window: let all units walk, and print what that costs the main thread
  --bridge           with --headless: send all over one bridge, print how they fare, and fail if they jam
  --help             this text";

/// How the game is to run.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) seed: u64,
    pub(crate) units: Option<usize>,
    pub(crate) frames: Option<u32>,
    pub(crate) screenshot: Option<PathBuf>,
    pub(crate) script: Option<PathBuf>,
    pub(crate) headless: bool,
    pub(crate) bridge: bool,
    pub(crate) help: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 6,
            units: None,
            frames: None,
            screenshot: None,
            script: None,
            headless: false,
            bridge: false,
            help: false,
        }
    }
}

impl Options {
    /// Reads the command line. An error is one sentence for the player.
    pub(crate) fn from_env() -> Result<Self, String> {
        let options = Self::read(lexopt::Parser::from_env()).map_err(|error| error.to_string())?;
        if options.headless && (options.screenshot.is_some() || options.script.is_some()) {
            return Err("--headless has no window for --screenshot and --script".into());
        }
        if options.bridge && (!options.headless || options.frames.is_some()) {
            return Err("--bridge needs --headless, and ends by itself without --frames".into());
        }
        if options.screenshot.is_some() && options.frames.is_none() {
            return Err("--screenshot saves the last frame, so it needs --frames".into());
        }
        let folder = options.screenshot.as_deref().and_then(Path::parent);
        if let Some(missing) = folder.filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
            return Err(format!("there is no folder {} for the screenshot", missing.display()));
        }
        Ok(options)
    }

    fn read(mut words: lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut options = Self::default();
        while let Some(word) = words.next()? {
            match word {
                Long("seed") => options.seed = words.value()?.parse()?,
                Long("units") => options.units = Some(words.value()?.parse()?),
                Long("frames") => options.frames = Some(words.value()?.parse()?),
                Long("screenshot") => options.screenshot = Some(words.value()?.into()),
                Long("script") => options.script = Some(words.value()?.into()),
                Long("headless") => options.headless = true,
                Long("bridge") => options.bridge = true,
                Long("help") | Short('h') => options.help = true,
                _ => return Err(word.unexpected()),
            }
        }
        Ok(options)
    }
}
