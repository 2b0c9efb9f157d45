//! A plain copy with non-temporal stores: one of the two copies whose bandwidth every result is
//! compared with.

use super::{
    dispatch::dispatch,
    fence::FenceOnDrop,
    isa::{Isa, Kernel},
};
use crate::{exec::SimdLevel, memory::Stores};

/// Copies `src` to `dst` past the cache, with non-temporal stores of whole cache lines, at the
/// CPU's best level. On a level without such stores it is a plain copy.
///
/// From some megabytes on this is faster than a plain copy, if the result is not read again soon: a
/// plain store first fetches the line that it overwrites. The stores are visible to every thread
/// when the call returns.
///
/// # Panics
///
/// When the lengths differ, as [`slice::copy_from_slice`] does.
///
/// ```
/// let src: Vec<u8> = (0..=255).cycle().take(100_000).collect();
/// let mut dst = vec![0; src.len()];
/// tensor_kernels::stream_copy(&mut dst, &src);
/// assert_eq!(dst, src);
/// ```
#[track_caller]
pub fn stream_copy(dst: &mut [u8], src: &[u8]) {
    assert_eq!(dst.len(), src.len(), "stream_copy: the lengths of dst and src differ");
    let simd = SimdLevel::detect();
    let _fence = FenceOnDrop(simd);
    dispatch(simd, StreamCopy { dst, src });
}

struct StreamCopy<'a> {
    dst: &'a mut [u8],
    src: &'a [u8],
}

impl Kernel for StreamCopy<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let (dst, len) = (self.dst.as_mut_ptr(), self.dst.len());
        // SAFETY: two slices of the same length, M1 and M2; one is borrowed mutably, M3.
        unsafe { isa.run(self.src.as_ptr(), dst, len, Stores::NonTemporal) }
    }
}

#[cfg(test)]
mod tests {
    use super::stream_copy;

    #[test]
    fn every_byte_arrives_and_no_other_is_touched() {
        let src: Vec<u8> = (0..4096_usize).map(|i| (i * 7 % 251) as u8).collect();
        for len in [0, 1, 15, 63, 64, 255, 256, 257, 1000, 3000] {
            for offset in 0..65 {
                let mut dst = vec![0xEE; 4096];
                stream_copy(&mut dst[offset..offset + len], &src[1..1 + len]);
                assert_eq!(dst[offset..offset + len], src[1..1 + len], "{len} at {offset}");
                let (before, after) = (&dst[..offset], &dst[offset + len..]);
                assert!(before.iter().chain(after).all(|&b| b == 0xEE), "{len} at {offset}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "lengths")]
    fn lengths_must_agree() {
        stream_copy(&mut [0; 3], &[0; 4]);
    }
}
