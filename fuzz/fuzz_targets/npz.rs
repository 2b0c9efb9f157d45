//! Archives of NumPy's arrays: an invalid one is an error, never a panic and never more memory than
//! the archive can unpack to; what was read can be written.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use tensor_kernels::{
    AnyTensor,
    interchange::npz::{Compression, NpzReader, NpzWriter},
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut archive) = NpzReader::new(Cursor::new(bytes)) else { return };
    let names: Vec<String> = archive.names().map(str::to_owned).collect();
    let mut writer = NpzWriter::new(Cursor::new(Vec::new()), Compression::Deflated);
    for name in &names {
        let array: Result<AnyTensor, _> = archive.read(name);
        match array {
            Ok(array) => drop(writer.write(name, &array)),
            Err(refused) => assert!(!refused.to_string().is_empty()),
        }
    }
    writer.finish().expect("a vector grows");
});
