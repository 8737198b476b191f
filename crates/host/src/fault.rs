//! Internal faults: panics of this process. Each is reported once, on standard error and without secrets; where it must not cost what was
//! measured, it is caught and becomes a value.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, Once, PoisonError};

use super::terminal;
use kubebench_syntax::diag::render::on_its_lines;
use kubebench_syntax::redact::Redactor;

/// The newest faults of all threads, as the hook has seen them: what catches one is not given its place.
static NEWEST: Mutex<VecDeque<InternalFault>> = Mutex::new(VecDeque::new());
/// The maximum number of them that are kept.
const KEPT: usize = 64;
/// Takes secrets out of reports.
static REDACTOR: LazyLock<Mutex<Arc<Redactor>>> = LazyLock::new(Mutex::default);
/// How many [`caught`] are at work.
static CATCHING: AtomicUsize = AtomicUsize::new(0);

/// What was wrong, and where in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalFault {
    message: String,
    place: Option<String>,
}

impl InternalFault {
    fn of(payload: &(dyn Any + Send), place: Option<String>) -> Self {
        let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        Self { message: text.unwrap_or("a panic without a message").to_owned(), place }
    }

    fn seen(panic: &PanicHookInfo<'_>) -> Self {
        let place = panic.location().map(|place| format!("{}:{}", place.file(), place.line()));
        Self::of(panic.payload(), place)
    }
}

impl fmt::Display for InternalFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.place.iter().try_for_each(|place| write!(f, " ({place})"))
    }
}

/// Reports internal faults from now on in the way of this program, in place of Rust's.
pub fn report() {
    std::panic::set_hook(Box::new(|panic| {
        let redactor = Arc::clone(&locked(&REDACTOR));
        let is_caught = CATCHING.load(Ordering::SeqCst) > 0;
        for line in words(&InternalFault::seen(panic), &redactor, is_caught) {
            terminal::tell(&line);
        }
    }));
}

fn words(fault: &InternalFault, redactor: &Redactor, is_caught: bool) -> [String; 2] {
    let said = format!("error: internal fault: {fault}");
    let left = if is_caught { "what was measured is kept" } else { "nothing else was written" };
    [on_its_lines(&redactor.text(&said)).into_owned(), format!("this is a bug in kubebench; {left}")]
}

/// Takes what `redactor` knows out of reports from now on.
pub fn redact_by(redactor: &Arc<Redactor>) {
    *locked(&REDACTOR) = Arc::clone(redactor);
}

/// Does `work`, whose internal fault becomes a value. What `work` has changed stays as it is then.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, InternalFault> {
    static NOTED: Once = Once::new();
    NOTED.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let mut newest = locked(&NEWEST);
            newest.push_front(InternalFault::seen(panic));
            newest.truncate(KEPT);
            drop(newest);
            report(panic);
        }));
    });
    CATCHING.fetch_add(1, Ordering::SeqCst);
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.fetch_sub(1, Ordering::SeqCst);
    done.map_err(|payload| {
        let fault = InternalFault::of(payload.as_ref(), None);
        let mut newest = locked(&NEWEST);
        let seen = newest.iter().position(|seen| seen.message == fault.message);
        seen.and_then(|at| newest.remove(at)).unwrap_or(fault)
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
