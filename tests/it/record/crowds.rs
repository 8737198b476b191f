//! Many at once, and much that is there already.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Instant;

use kubebench_git::record::Mode;

use super::server::Http;
use super::*;

/// Starts `count` writers together, one result each, and returns what it took, for people.
fn crowd(site: &Site, mode: Mode, count: u32, remote: Option<&str>) -> String {
    let started = Instant::now();
    let gate = std::sync::Barrier::new(count as usize);
    let tries: Vec<u32> = std::thread::scope(|scope| {
        let writers = (0..count).map(|number| {
            let gate = &gate;
            scope.spawn(move || {
                let mut destination = site.destination(mode);
                if let Some(remote) = remote {
                    remote.clone_into(&mut destination.remote);
                }
                gate.wait();
                let recorded = git::record(&[result(number)], &destination).unwrap();
                assert_eq!(recorded.added.len(), 1);
                recorded.tries
            })
        });
        let writers: Vec<_> = writers.collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let (took, pushes, most) = (started.elapsed(), tries.iter().sum::<u32>(), tries.iter().max().unwrap());
    let server = if remote.is_some() { "HTTP" } else { "folder" };
    format!("{count}/{count} in mode {} ({server}): {took:.1?}, {pushes} pushes, {most} at most", mode.name())
}

/// Together, because most of the first one's time is waiting.
#[test]
fn crowds_in_a_branch_and_in_inboxes() {
    std::thread::scope(|scope| {
        for crowd in [thirty_two_in_one_branch, thirty_two_in_an_inbox_over_http, two_hundred_in_an_inbox_and_folded] {
            scope.spawn(move || println!("{}", crowd()));
        }
    });
}

fn thirty_two_in_one_branch() -> String {
    let site = Site::new();
    let took = crowd(&site, Mode::Branch, 32, None);
    assert_eq!(site.files(), expected(&results(0..32)));
    assert_eq!(run(&site.remote(), &["rev-list", "--count", "kubebench/results"]), "32");
    site.assert_clean();
    took
}

fn thirty_two_in_an_inbox_over_http() -> String {
    let site = Site::new();
    let http = Http::serve(site.path(), &[], None, None);
    let took = crowd(&site, Mode::Inbox, 32, Some(&http.url("remote.git")));
    assert!(took.ends_with(" 32 pushes, 1 at most"), "nobody is raced in an inbox");
    assert_eq!(site.fold().unwrap().added.len(), 32);
    assert_eq!(site.files(), expected(&results(0..32)));
    took
}

fn two_hundred_in_an_inbox_and_folded() -> String {
    let site = Site::new();
    let took = crowd(&site, Mode::Inbox, 200, None);
    assert_eq!(site.refs("refs/kubebench/inbox").len(), 200);
    let started = Instant::now();
    let folded = site.fold().unwrap();
    let fold_took = started.elapsed();
    assert_eq!((folded.added.len(), folded.tries), (200, 1));
    assert_eq!(site.files(), expected(&results(0..200)));
    assert_eq!(run(&site.remote(), &["rev-list", "--count", "kubebench/results"]), "1");
    assert_eq!(site.refs("refs/kubebench"), Vec::<String>::new());
    format!("{took}; folded in {fold_took:.1?}")
}

#[test]
fn one_more_beside_fifty_thousand() {
    let site = Site::new();
    let mut import = git_in(&site.remote(), &["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stream = std::io::BufWriter::new(import.stdin.take().unwrap());
    write!(stream, "commit refs/heads/kubebench/results\ncommitter A <a@b> 1 +0000\ndata 1\nx\n").unwrap();
    let padding = "0123456789abcdef".repeat(20);
    for number in 0..50_000_u32 {
        let (bench, case) = (number % 40, number / 40 % 25);
        let text =
            format!("{{\"number\":{number},\"more\":\"{padding}\",\"noise\":{}}}\n", u64::from(number) * 2_654_435_761);
        let path = format!("results/bench-{bench}/case-{case}/20261121T154111Z-{number:08x}-r1-a1.txt");
        write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len()).unwrap();
    }
    drop(stream);
    assert!(import.wait().unwrap().success());
    let http = Http::serve(site.path(), &[], None, None);
    run(&site.remote(), &["config", "uploadpack.allowFilter", "true"]);
    let (folder, served) = (site.remote().display().to_string(), http.url("remote.git"));
    let ways = [(Mode::Branch, &folder), (Mode::Branch, &served), (Mode::Inbox, &folder), (Mode::Inbox, &served)];
    for ((mode, remote), number) in ways.into_iter().zip(0..) {
        let destination = Destination { remote: remote.clone(), ..site.destination(mode) };
        let before = http.sent();
        git::record(&[result(number)], &destination).unwrap();
        let came = http.sent() - before;
        println!("recorded in mode {} beside 50,000 results at {remote}: {came} bytes came", mode.name());
        // The names of all files are 1.4 MB, and with what is in them 5.3 MB.
        assert!(came < 2_500_000, "{came} bytes");
    }
    let count = run(&site.remote(), &["ls-tree", "-r", "--name-only", "kubebench/results"]).lines().count();
    assert_eq!(count, 50_002);
}
