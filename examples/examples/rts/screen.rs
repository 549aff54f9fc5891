//! No display, no GPU: Bevy panics; the player gets one sentence and exit code 1 instead.

use std::panic;

/// What the panics say that mean "there is nothing to draw on".
const SIGNS: [&str; 3] =
    ["Failed to build event loop", "Unable to find a GPU", "Failed to create wgpu surface"];

/// From now on such a panic ends the program with a sentence.
pub(crate) fn explain_if_missing() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        if SIGNS.iter().any(|sign| text.contains(sign)) {
            eprintln!("rts: there is no display or no GPU to draw on; --headless runs without them");
            std::process::exit(1);
        }
        usual(panic);
    }));
}
