//! The `kubebench` program.

fn main() -> std::process::ExitCode {
    kubebench::cli::main()
}
