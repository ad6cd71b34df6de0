//! The same tools where nothing is really started: for examples, and for trying them out. A file says which
//! model is on a port.

use std::path::{Path, PathBuf};

use gate::{ToolError, ToolOutput};

use super::{failure, load, model::LoadableModel, port_folder::ServerPhase, unload};

fn file(dir: &Path, port: u16) -> PathBuf {
    dir.join(port.to_string()).join("model")
}

pub(super) fn load(dir: &Path, port: u16, model: &LoadableModel) -> Result<ToolOutput, ToolError> {
    let file = file(dir, port);
    match std::fs::read_to_string(&file) {
        Ok(there) if there.trim() == model.target => Ok(load::already(port, model)),
        Ok(there) => Err(failure::busy(load::taken(port, there.trim(), &ServerPhase::Ready))),
        Err(_) => {
            let folder = file.parent().unwrap_or(dir);
            let written =
                std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, &model.target));
            written.map_err(|error| failure::state(&error))?;
            Ok(load::loaded(port, model))
        }
    }
}

pub(super) fn unload(dir: &Path, port: u16) -> Result<ToolOutput, ToolError> {
    match std::fs::remove_file(file(dir, port)) {
        Ok(()) => Ok(unload::answer(port)),
        Err(_) => Err(failure::not_listening(format!("nothing is loaded on port {port}"))),
    }
}
