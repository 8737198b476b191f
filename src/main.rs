//! The `kubebench` program.

/// A compilation is many small strings that die together; the system's allocator takes a quarter of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    kubebench::cli::main()
}
