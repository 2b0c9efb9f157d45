//! Loads the tensors of a `.npy`, `.npz` or `.safetensors` file and saves them to another one, of
//! any of these formats: no dtype is named. `scripts/interchange.sh` holds it against NumPy and
//! PyTorch.
//!
//! ```sh
//! cargo run -p tensor-core --features npz,safetensors --example interchange -- IN OUT [OPTION...]
//! ```
//!
//! Options: `map` (the file is mapped into memory), `transpose` (dimensions in reverse order),
//! `fortran` (order of elements in `.npy`), `deflate` (`.npz`).

use std::{env, error::Error, fs::File, io::BufWriter, path::Path, process::ExitCode};

use tensor_core::{
    AnyTensor, Result,
    interchange::{
        npy::{self, Order},
        npz::Compression,
        safetensors::{SafetensorsFile, SaveOptions},
    },
};

type Named = Vec<(String, AnyTensor)>;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let [from, to, options @ ..] = &args[..] else {
        eprintln!("interchange: expected two files");
        return ExitCode::from(2);
    };
    match copy(Path::new(from), Path::new(to), options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn copy(from: &Path, to: &Path, options: &[String]) -> Result<(), Box<dyn Error>> {
    let is_set = |option: &str| options.iter().any(|given| given == option);
    let mut tensors = if is_set("map") { map(from) } else { load(from) }?;
    if is_set("transpose") {
        tensors = tensors
            .into_iter()
            .map(|(name, tensor)| Ok((name, reversed(&tensor)?)))
            .collect::<Result<_>>()?;
    }
    save(to, &tensors, is_set("fortran"), is_set("deflate"))
}

fn reversed(tensor: &AnyTensor) -> Result<AnyTensor> {
    tensor.permute((0..tensor.ndim()).rev().collect::<Vec<_>>())
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

fn load(path: &Path) -> Result<Named, Box<dyn Error>> {
    Ok(match extension(path) {
        "npy" => vec![("array".to_owned(), AnyTensor::load_npy(path)?)],
        "npz" => AnyTensor::load_npz(path)?,
        "safetensors" => AnyTensor::load_safetensors(path)?,
        other => return Err(format!("{other:?} is no known extension").into()),
    })
}

fn map(path: &Path) -> Result<Named, Box<dyn Error>> {
    if extension(path) == "npy" {
        // SAFETY: nobody changes the file while this program runs.
        let mapped = unsafe { AnyTensor::map_npy(path) }?;
        return Ok(vec![("array".to_owned(), mapped.tensor)]);
    }
    if extension(path) == "npz" {
        // SAFETY: as above.
        let mapped = unsafe { AnyTensor::map_npz(path) }?;
        return Ok(mapped.into_iter().map(|(name, mapped)| (name, mapped.tensor)).collect());
    }
    // SAFETY: as above.
    let file = unsafe { SafetensorsFile::map(path) }?;
    let tensor = |name: &String| Ok((name.clone(), file.tensor(name)?));
    file.names().iter().map(tensor).collect()
}

fn save(path: &Path, all: &Named, fortran: bool, deflate: bool) -> Result<(), Box<dyn Error>> {
    let order = if fortran { Order::Fortran } else { Order::C };
    let compression = if deflate { Compression::Deflated } else { Compression::Stored };
    let named = all.iter().map(|(name, tensor)| (&name[..], tensor));
    match extension(path) {
        "npy" => npy::write(BufWriter::new(File::create(path)?), &all[0].1, order)?,
        "npz" => AnyTensor::save_npz(path, named, compression)?,
        "safetensors" => AnyTensor::save_safetensors(path, named, &SaveOptions::new().pack())?,
        other => return Err(format!("{other:?} is no known extension").into()),
    }
    Ok(())
}
