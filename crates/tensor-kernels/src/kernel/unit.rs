//! Elements by width: kernels are compiled per width, not per element type.

/// An unsigned integer that stands for every element type of its width.
pub(crate) trait Unit: bytemuck::Pod + Send + Sync {
    /// Bytes of one element.
    const WIDTH: usize = size_of::<Self>();

    /// Elements in a 128-bit lane of a register.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    const PER_LANE: usize = 16 / Self::WIDTH;
}

impl Unit for u8 {}
impl Unit for u16 {}
impl Unit for u32 {}
impl Unit for u64 {}
impl Unit for u128 {}
