//! The calls that a way out prints, read back and made, give what the way out says.

use tensor_core::{Layout, Remedy};

use crate::naive::{Naive, indices};

/// A tensor, for calls: its layout, and the offset in the first storage of each element of its own.
struct Called {
    layout: Layout,
    storage: Option<Vec<i128>>,
}

impl Called {
    fn elements(&self) -> Vec<i128> {
        let offsets = Naive::of(&self.layout).offsets;
        match &self.storage {
            Some(storage) => offsets.iter().map(|&at| storage[at as usize]).collect(),
            None => offsets,
        }
    }

    fn copied(&self) -> Self {
        let layout = Layout::contiguous(self.layout.shape()).unwrap();
        Self { layout, storage: Some(self.elements()) }
    }

    fn viewed(&self, layout: tensor_core::Result<Layout>) -> Self {
        Self { layout: layout.unwrap(), storage: self.storage.clone() }
    }

    /// Makes one call, such as `.view(&[2, 6])`; names of indices are given by `index`.
    fn call(&self, call: &str, index: &[(String, usize)]) -> Self {
        let (name, arguments) = call.split_once('(').unwrap();
        let numbers = arguments.trim_matches(['&', '[', ']', ')']).split(", ");
        let number = |text: &str| -> usize {
            let named = index.iter().find(|(name, _)| name == text).map(|&(_, i)| i);
            named.unwrap_or_else(|| text.parse().unwrap_or_else(|_| panic!("{text} in {call}")))
        };
        let n: Vec<usize> = numbers.filter(|text| !text.is_empty()).map(number).collect();
        match name {
            ".contiguous" => self.copied(),
            ".expand" => self.viewed(self.layout.expand(&n)),
            ".narrow" => self.viewed(self.layout.narrow(n[0], n[1], n[2])),
            ".permute" => self.viewed(self.layout.permute(&n)),
            ".reshape" => match self.layout.view(&n) {
                Ok(viewed) => self.viewed(Ok(viewed)),
                Err(_) => self.copied().call(&call.replace(".reshape", ".view"), index),
            },
            ".select" => self.viewed(self.layout.select(n[0], n[1])),
            ".view" => self.viewed(self.layout.view(&n)),
            _ => panic!("{call}"),
        }
    }
}

fn call_all(layout: &Layout, calls: &str, index: &[(String, usize)]) -> Naive {
    let start = Called { layout: layout.clone(), storage: None };
    let end = calls.split('?').fold(start, |tensor, call| tensor.call(call, index));
    Naive { shape: end.layout.shape().to_vec(), offsets: end.elements() }
}

/// What the text of a way out gives: one tensor, or one for each index of its blocks.
pub(crate) fn results_of_text(remedy: &Remedy, layout: &Layout) -> Vec<Naive> {
    let text = remedy.to_string();
    let Some((calls, names)) = text.split_once(" for all ") else {
        return vec![call_all(layout, &text, &[])];
    };
    let names: Vec<String> = names.split(", ").map(str::to_owned).collect();
    let dims = names.iter().map(|name| name[1..].parse::<usize>().unwrap());
    let sizes: Vec<usize> = dims.map(|d| layout.shape()[d]).collect();
    let named = |index: Vec<usize>| names.iter().cloned().zip(index).collect::<Vec<_>>();
    indices(&sizes).into_iter().map(|index| call_all(layout, calls, &named(index))).collect()
}
