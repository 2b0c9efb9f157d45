//! A transpose codec for zarrs: elements of a fixed size are moved by `tensor_kernels`, and the
//! rest, which is metadata, partial reads and strings, is that of zarrs' own codec.

use std::{num::NonZeroU64, sync::Arc};

use tensor_kernels::{ByteView, Exec, Layout, to_byte_vec};
use zarrs::{
    array::{
        ArrayBytes, ArrayCodecTraits, ArrayPartialDecoderTraits, ArrayPartialEncoderTraits,
        ArrayToArrayCodecTraits, ChunkShape, CodecError, CodecMetadataOptions, CodecOptions,
        CodecTraits, DataType, FillValue, RecommendedConcurrency,
        codec::{
            TransposeCodec,
            api::{PartialDecoderCapability, PartialEncoderCapability},
        },
    },
    metadata::Configuration,
    metadata_ext::codec::transpose::TransposeOrder,
    plugin::{ExtensionName, ZarrVersion},
};

/// zarrs' `transpose`, encoded and decoded by strided copies.
#[derive(Clone, Debug)]
pub struct StridedTranspose {
    order: Vec<usize>,
    theirs: Arc<TransposeCodec>,
}

impl StridedTranspose {
    /// The codec whose encoded axis `i` is the decoded axis `order[i]`.
    pub fn new(order: &TransposeOrder) -> Self {
        Self { order: order.0.clone(), theirs: Arc::new(TransposeCodec::new(order.clone())) }
    }
}

/// The items of a row-major array of this shape, in the order that results from permuting its axes.
fn permuted(
    bytes: &[u8],
    item: usize,
    shape: &[u64],
    order: &[usize],
) -> Result<Vec<u8>, CodecError> {
    let copied = || {
        let order: Vec<isize> = order.iter().map(|&axis| axis as isize).collect();
        let shape: Vec<usize> = shape.iter().map(|&size| size as usize).collect();
        let layout = Layout::contiguous(&shape)?.permute(&order)?;
        to_byte_vec(&Exec::current()?.serial(), &ByteView::new(bytes, item, layout)?)
    };
    copied().map_err(|error: tensor_kernels::Error| CodecError::Other(error.to_string()))
}

/// The order that undoes `order`.
fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        inverse[from] = to;
    }
    inverse
}

impl ArrayToArrayCodecTraits for StridedTranspose {
    fn encode<'a>(
        &self,
        bytes: ArrayBytes<'a>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
        options: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        let (ArrayBytes::Fixed(items), Some(size)) = (&bytes, data_type.fixed_size()) else {
            return self.theirs.encode(bytes, shape, data_type, fill_value, options);
        };
        bytes.validate(shape.iter().map(|size| size.get()).product(), data_type)?;
        let shape: Vec<u64> = shape.iter().map(|size| size.get()).collect();
        permuted(items, size, &shape, &self.order).map(ArrayBytes::from)
    }

    fn decode<'a>(
        &self,
        bytes: ArrayBytes<'a>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
        options: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        let (ArrayBytes::Fixed(items), Some(size)) = (&bytes, data_type.fixed_size()) else {
            return self.theirs.decode(bytes, shape, data_type, fill_value, options);
        };
        bytes.validate(shape.iter().map(|size| size.get()).product(), data_type)?;
        let stored: Vec<u64> = self.encoded_shape(shape)?.iter().map(|size| size.get()).collect();
        permuted(items, size, &stored, &inverse(&self.order)).map(ArrayBytes::from)
    }

    fn into_dyn(self: Arc<Self>) -> Arc<dyn ArrayToArrayCodecTraits> {
        self
    }

    fn encoded_data_type(&self, decoded: &DataType) -> Result<DataType, CodecError> {
        self.theirs.encoded_data_type(decoded)
    }

    fn encoded_fill_value(
        &self,
        data_type: &DataType,
        decoded: &FillValue,
    ) -> Result<FillValue, CodecError> {
        self.theirs.encoded_fill_value(data_type, decoded)
    }

    fn encoded_shape(&self, decoded: &[NonZeroU64]) -> Result<ChunkShape, CodecError> {
        self.theirs.encoded_shape(decoded)
    }

    fn decoded_shape(&self, encoded: &[NonZeroU64]) -> Result<Option<ChunkShape>, CodecError> {
        self.theirs.decoded_shape(encoded)
    }

    fn partial_decoder(
        self: Arc<Self>,
        input: Arc<dyn ArrayPartialDecoderTraits>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
        options: &CodecOptions,
    ) -> Result<Arc<dyn ArrayPartialDecoderTraits>, CodecError> {
        self.theirs.clone().partial_decoder(input, shape, data_type, fill_value, options)
    }

    fn partial_encoder(
        self: Arc<Self>,
        output: Arc<dyn ArrayPartialEncoderTraits>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
        options: &CodecOptions,
    ) -> Result<Arc<dyn ArrayPartialEncoderTraits>, CodecError> {
        self.theirs.clone().partial_encoder(output, shape, data_type, fill_value, options)
    }
}

impl ArrayCodecTraits for StridedTranspose {
    fn recommended_concurrency(
        &self,
        shape: &[NonZeroU64],
        data_type: &DataType,
    ) -> Result<RecommendedConcurrency, CodecError> {
        self.theirs.recommended_concurrency(shape, data_type)
    }
}

impl CodecTraits for StridedTranspose {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn configuration(
        &self,
        version: ZarrVersion,
        options: &CodecMetadataOptions,
    ) -> Option<Configuration> {
        self.theirs.configuration(version, options)
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        self.theirs.partial_decoder_capability()
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        self.theirs.partial_encoder_capability()
    }
}

impl ExtensionName for StridedTranspose {
    fn name(&self, version: ZarrVersion) -> Option<std::borrow::Cow<'static, str>> {
        self.theirs.name(version)
    }
}

#[cfg(test)]
mod tests {
    use zarrs::array::{
        ArrayBytesOffsets, ArraySubset, ArrayToBytesCodecTraits, codec::BytesCodec, data_type,
    };

    use super::*;

    /// A codec, with zarrs' own.
    fn codecs(order: &[usize]) -> (Arc<StridedTranspose>, TransposeCodec) {
        let order = TransposeOrder::new(order).unwrap();
        (Arc::new(StridedTranspose::new(&order)), TransposeCodec::new(order))
    }

    fn shape(sizes: &[u64]) -> ChunkShape {
        sizes.iter().map(|&size| NonZeroU64::new(size).unwrap()).collect()
    }

    /// Encodes and decodes by both codecs.
    fn assert_same(order: &[usize], sizes: &[u64], data_type: &DataType, bytes: &ArrayBytes<'_>) {
        let (ours, theirs) = codecs(order);
        let (shape, options) = (shape(sizes), CodecOptions::default());
        let fill_value = FillValue::new(vec![0; data_type.fixed_size().unwrap_or(0)]);
        let encode = |codec: &dyn ArrayToArrayCodecTraits| {
            codec.encode(bytes.clone(), &shape, data_type, &fill_value, &options).unwrap()
        };
        let encoded = encode(&*ours);
        assert_eq!(encoded, encode(&theirs), "{order:?} of {sizes:?}");
        let decoded = ours.decode(encoded, &shape, data_type, &fill_value, &options);
        assert_eq!(decoded.unwrap(), *bytes, "{order:?} of {sizes:?}");
    }

    #[test]
    fn every_order_and_item_size_is_as_in_zarrs() {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let types = [
            data_type::uint8(),
            data_type::int16(),
            data_type::float32(),
            data_type::float64(),
            data_type::complex128(),
        ];
        for (order, data_type) in orders.iter().flat_map(|o| types.iter().map(move |t| (o, t))) {
            let count = 4 * 5 * 7 * data_type.fixed_size().unwrap();
            let bytes: Vec<u8> = (0..count).map(|i| (i * 7 + i / 251) as u8).collect();
            assert_same(order, &[4, 5, 7], data_type, &bytes.into());
        }
    }

    #[test]
    fn strings_are_left_to_zarrs() {
        let offsets = ArrayBytesOffsets::new(vec![0, 1, 3, 6, 6, 7, 9]).unwrap();
        let bytes = ArrayBytes::new_vlen(b"abbcccdee".to_vec(), offsets).unwrap();
        assert_same(&[1, 0], &[2, 3], &data_type::string(), &bytes);
    }

    #[test]
    fn parts_of_a_chunk_are_decoded() {
        let (ours, _) = codecs(&[1, 0]);
        let (shape, data_type, options) =
            (shape(&[3, 4]), data_type::uint8(), CodecOptions::default());
        let fill_value = FillValue::from(0u8);
        let bytes: Vec<u8> = (0..12).collect();
        let encoded = ours.encode(bytes.into(), &shape, &data_type, &fill_value, &options).unwrap();
        let stored = ours.encoded_shape(&shape).unwrap();
        let stored = Arc::new(BytesCodec::default())
            .partial_decoder(
                Arc::new(encoded.into_fixed().unwrap()),
                &stored,
                &data_type,
                &fill_value,
                &options,
            )
            .unwrap();
        let decoder =
            ours.partial_decoder(stored, &shape, &data_type, &fill_value, &options).unwrap();
        let part = ArraySubset::new_with_ranges(&[1..3, 1..4]);
        let decoded = decoder.partial_decode(&part, &options).unwrap().into_fixed().unwrap();
        assert_eq!(decoded[..], [5, 6, 7, 9, 10, 11]);
    }

    #[test]
    fn what_does_not_fit_the_shape_is_an_error() {
        let (ours, theirs) = codecs(&[1, 0]);
        let (data_type, options) = (data_type::uint16(), CodecOptions::default());
        let fill_value = FillValue::from(0u16);
        for codec in [&*ours as &dyn ArrayToArrayCodecTraits, &theirs] {
            let encode = |bytes: Vec<u8>, sizes: &[u64]| {
                codec.encode(bytes.into(), &shape(sizes), &data_type, &fill_value, &options)
            };
            assert!(encode(vec![0; 12], &[2, 3]).is_ok());
            assert!(encode(vec![0; 11], &[2, 3]).is_err());
            assert!(encode(vec![0; 12], &[1, 2, 3]).is_err());
            assert!(encode(vec![0; 12], &[6]).is_err());
        }
    }
}
