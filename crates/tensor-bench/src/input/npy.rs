//! `.npy` files named on the command line. The library reads and writes the format; here a file is
//! refused before it is read if it does not fit into memory.

use std::{
    io::{BufReader, Write},
    path::Path,
};

use tensor_kernels::{
    AnyTensor, Error,
    interchange::{
        InterchangeError,
        npy::{self, Order},
    },
};

use crate::{Failure, Result, input::file, system::memory};

/// Reads a file.
///
/// # Errors
/// [`Failure::Input`] with the name of the file; [`Failure::Work`] if it does not fit into memory.
pub fn read_file(path: &Path) -> Result<AnyTensor> {
    let (file, len) = file::open(path)?;
    memory::preflight(len.into())
        .and_then(|()| npy::read(BufReader::new(file), len).map_err(refused))
        .map_err(|failure| failure.at(path.display()))
}

/// Reads a file that is in memory.
///
/// # Errors
/// Those of [`read_file`].
pub fn read(bytes: &[u8]) -> Result<AnyTensor> {
    npy::read(bytes, bytes.len() as u64).map_err(refused)
}

/// Writes a tensor of any layout in C order.
///
/// # Errors
/// [`Failure::Work`] for a dtype that NumPy has no name for, [`Failure::Output`] from the writer.
pub fn write(out: &mut dyn Write, tensor: &AnyTensor) -> Result<()> {
    npy::write(out, tensor, Order::C).map_err(|error| match error {
        InterchangeError::Io(error) => Failure::Output(error),
        other => Failure::work(other),
    })
}

fn refused(error: InterchangeError) -> Failure {
    match error {
        InterchangeError::Tensor(error @ Error::OutOfMemory { .. }) => Failure::work(error),
        other => Failure::input(other),
    }
}

#[cfg(test)]
mod tests {
    use tensor_kernels::DType;

    use super::*;
    use crate::cases::layouts::PHOTOGRAPH;

    #[test]
    fn the_photograph_is_readable() {
        let any = read(PHOTOGRAPH).unwrap();
        assert_eq!((any.dtype(), any.layout().shape()), (DType::U8, &[512, 512, 3][..]));
    }

    #[test]
    fn what_is_not_a_file_is_refused() {
        assert_eq!(read_file(Path::new("/missing/a.npy")).unwrap_err().exit_code(), 2);
        assert_eq!(read_file(Path::new("/")).unwrap_err().exit_code(), 2);
    }
}
