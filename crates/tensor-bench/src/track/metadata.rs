//! Operations on layouts, which move no elements. Their time must not depend on the size.

use std::hint::black_box;

use tensor_kernels::{Layout, MemoryFormat, Slice};

use crate::Result;

/// An operation on one layout.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The name in a record.
    pub name: &'static str,
    /// The call.
    pub call: &'static str,
    layout: Layout,
    run: fn(&Layout) -> Result<(), tensor_kernels::Error>,
}

impl Operation {
    /// Runs it once.
    ///
    /// # Errors
    /// None; a test checks that.
    pub fn run(&self) -> Result<()> {
        Ok((self.run)(black_box(&self.layout))?)
    }
}

macro_rules! operations {
    ($($name:literal on $layout:expr => |$on:ident| $call:expr;)*) => {
        /// All operations.
        ///
        /// # Errors
        /// None; a test checks that.
        pub fn operations() -> Result<Vec<Operation>> {
            Ok(vec![$(Operation {
                name: $name,
                call: stringify!($call),
                layout: $layout?,
                run: |$on| {
                    black_box($call?);
                    Ok(())
                },
            }),*])
        }
    };
}

operations! {
    "contiguous" on images() => |layout| Layout::contiguous(layout.shape());
    "new" on channels_last() => |layout| Layout::new(layout.shape(), layout.strides(), 0);
    "transpose" on images() => |layout| layout.transpose(1, 2);
    "permute" on images() => |layout| layout.permute([0, 2, 3, 1]);
    "narrow" on images() => |layout| layout.narrow(1, 8, 16);
    "select" on images() => |layout| layout.select(0, 3);
    "slice" on images() => |layout| layout.slice(3, Slice::new(None, None, 2));
    "flip" on images() => |layout| layout.flip([3]);
    "view" on images() => |layout| layout.view([32, 64, -1]);
    "flatten" on images() => |layout| layout.flatten(1, -1);
    "unsqueeze" on images() => |layout| layout.unsqueeze(0);
    "expand" on bias() => |layout| layout.expand([32, 64, 56, 56]);
    "diagonal" on images() => |layout| layout.diagonal(0, 2, 3);
    "unfold" on images() => |layout| layout.unfold(3, 8, 4);
    "chunk" on images() => |layout| layout.chunk(4, 1);
    "offset_of" on channels_last() => |layout| layout.offset_of(&[3, 5, 7, 9]);
}

type Made = Result<Layout, tensor_kernels::Error>;

fn images() -> Made {
    Layout::contiguous([32, 64, 56, 56])
}

fn channels_last() -> Made {
    Layout::with_format([32, 64, 56, 56], MemoryFormat::ChannelsLast)
}

fn bias() -> Made {
    Layout::contiguous([64, 1, 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_succeeds() {
        let all = operations().unwrap();
        assert!(all.iter().all(|operation| operation.run().is_ok()));
        assert_eq!((all[2].name, all[2].call), ("transpose", "layout.transpose(1, 2)"));
    }
}
