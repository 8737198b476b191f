mod places;
mod specs;

use std::fs;
use std::path::Path;

use super::*;

fn put(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let place = root.join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, text).unwrap();
}
