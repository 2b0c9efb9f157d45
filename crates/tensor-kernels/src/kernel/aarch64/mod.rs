//! The registers of AArch64.

pub(super) mod neon;
