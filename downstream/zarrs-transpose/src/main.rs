//! zarrs' transpose codec, and the same codec on `tensor_kernels`: a chunk is encoded and decoded
//! by both, through zarrs' trait for codecs.

mod codec;

use std::{error::Error, num::NonZeroU64};

use codec::StridedTranspose;
use tensor_kernels::Exec;
use timing::{best_of, ms, noise, print_table, row, speedup, timed};
use zarrs::{
    array::{
        ArrayBytes, ArrayToArrayCodecTraits, CodecError, CodecOptions, DataType, FillValue,
        codec::TransposeCodec, data_type,
    },
    metadata_ext::codec::transpose::TransposeOrder,
};

/// A chunk and the two codecs for it.
struct Case {
    name: &'static str,
    shape: Vec<NonZeroU64>,
    data_type: DataType,
    fill_value: FillValue,
    chunk: Vec<u8>,
    theirs: TransposeCodec,
    ours: StridedTranspose,
}

impl Case {
    fn new(
        name: &'static str,
        shape: &[u64],
        order: &[usize],
        data_type: DataType,
    ) -> Result<Self, Box<dyn Error>> {
        let order = TransposeOrder::new(order)?;
        let item = data_type.fixed_size().ok_or("a type of a fixed size")?;
        let count = shape.iter().product::<u64>() as usize * item;
        Ok(Self {
            name,
            shape: shape.iter().map(|&size| size.try_into()).collect::<Result<_, _>>()?,
            data_type,
            fill_value: FillValue::new(vec![0; item]),
            chunk: noise(count).into_iter().map(|x| (x * 127.0) as i8 as u8).collect(),
            theirs: TransposeCodec::new(order.clone()),
            ours: StridedTranspose::new(&order),
        })
    }

    fn encode<'a>(
        &self,
        codec: &dyn ArrayToArrayCodecTraits,
        bytes: &'a [u8],
    ) -> Result<ArrayBytes<'a>, CodecError> {
        let options = CodecOptions::default();
        codec.encode(bytes.into(), &self.shape, &self.data_type, &self.fill_value, &options)
    }

    fn decode<'a>(
        &self,
        codec: &dyn ArrayToArrayCodecTraits,
        bytes: &'a [u8],
    ) -> Result<ArrayBytes<'a>, CodecError> {
        let options = CodecOptions::default();
        codec.decode(bytes.into(), &self.shape, &self.data_type, &self.fill_value, &options)
    }

    /// Both codecs encode alike, and decode to the chunk.
    fn check(&self) -> Result<Vec<u8>, CodecError> {
        let encoded = self.encode(&self.theirs, &self.chunk)?.into_fixed()?.into_owned();
        let ours = self.encode(&self.ours, &self.chunk)?.into_fixed()?;
        assert!(ours[..] == encoded[..], "{}: encoded otherwise", self.name);
        for codec in [&self.theirs as &dyn ArrayToArrayCodecTraits, &self.ours] {
            let decoded = self.decode(codec, &encoded)?.into_fixed()?;
            assert!(decoded[..] == self.chunk[..], "{}: decoded otherwise", self.name);
        }
        Ok(encoded)
    }

    /// The rows of encoding and decoding.
    fn rows(&self) -> Result<[Vec<String>; 2], CodecError> {
        let encoded = self.check()?;
        let encoding =
            best_of([&mut || timed(|| self.encode(&self.theirs, &self.chunk)), &mut || {
                timed(|| self.encode(&self.ours, &self.chunk))
            }]);
        let decoding =
            best_of([&mut || timed(|| self.decode(&self.theirs, &encoded)), &mut || {
                timed(|| self.decode(&self.ours, &encoded))
            }]);
        Ok([("encode", encoding), ("decode", decoding)].map(|(work, [before, after])| {
            row([self.name, work, &ms(before), &ms(after), &speedup(before, after)])
        }))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}\n", timing::machine(Exec::current()?.simd()));
    let mut rows = vec![row(["chunk", "work", "zarrs", "ours", "speedup"])];
    for case in [
        Case::new("256³ f32, reversed", &[256; 3], &[2, 1, 0], data_type::float32())?,
        Case::new("256³ f32, last axis first", &[256; 3], &[2, 0, 1], data_type::float32())?,
        Case::new("256³ f32, inner axes swapped", &[256; 3], &[0, 2, 1], data_type::float32())?,
        Case::new("4096² u16, transposed", &[4096; 2], &[1, 0], data_type::uint16())?,
        Case::new("64³ f64, reversed", &[64; 3], &[2, 1, 0], data_type::float64())?,
    ] {
        rows.extend(case.rows()?);
    }
    print_table(&rows);
    Ok(())
}
