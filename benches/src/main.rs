//! Wayfare measured beside its peers: in come a suite's name and its data, out go a table, if asked a
//! JSON file, and an exit code (0 good, 1 a wrong answer or a missed bar, 2 nothing could be measured).
//!
//! A suite is a module with `run(&Options) -> Result<Outcome, Failure>` and one line in [`cli::SUITES`]. The
//! modules below stand in the order in which a run passes through them.

mod cli;
mod level;
mod contender;
mod peers;
mod measure;
mod check;
mod stats;
mod gears;
mod figures;
mod report;
mod grid;
mod dynamic;
mod weighted;
mod fields;
mod scale;
mod frames;
mod tiles;
mod crowd;

use std::process::ExitCode;

use cli::Command;

fn main() -> ExitCode {
    let command = match cli::parse(lexopt::Parser::from_env()) {
        Ok(command) => command,
        Err(failure) => return refuse(&failure),
    };
    match command {
        Command::Help => {
            report::print(&cli::help());
            ExitCode::SUCCESS
        }
        Command::Run(suite, options) => match (suite.run)(&options) {
            Ok(outcome) => finish(&outcome),
            Err(failure) => refuse(&failure),
        },
    }
}

/// Says what went wrong in the measured code; the figures are printed already.
fn finish(outcome: &cli::Outcome) -> ExitCode {
    for fault in &outcome.faults {
        eprintln!("FAILED: {fault}");
    }
    if outcome.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Says why nothing was measured.
fn refuse(failure: &cli::Failure) -> ExitCode {
    eprintln!("wayfare_bench: {failure}");
    ExitCode::from(2)
}
