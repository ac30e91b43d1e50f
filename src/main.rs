//! The program: reads the command line and hands over. Everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    weirgate::cli::main()
}
