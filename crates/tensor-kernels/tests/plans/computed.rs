//! The paths of elementwise operations, which are in the same table.

use std::{collections::BTreeSet, fmt::Write};

use tensor_kernels::{Layout, TensorViewMut, elementwise_path, ops};

use crate::{brief, common::strided, dense, edge_of_the_address_space, for_any_machine};

/// An elementwise operation: its name, its result and its inputs.
type Operation = (&'static str, [Layout; 3]);

fn operations() -> Vec<Operation> {
    let shape: &[usize] = &[512, 512];
    let c = dense(shape);
    let t = strided(shape, &[1, 512], 0);
    let of = |strides: [isize; 2]| strided(shape, &strides, 0);
    let [row, column, steps] = [of([0, 1]), of([1, 0]), of([1024, 2])];
    let image = |strides: [isize; 4]| strided(&[16, 64, 56, 56], &strides, 0);
    let planes = dense(&[16, 64, 56, 56]);
    let pixels = image([200_704, 1, 3584, 64]);
    let channels = image([0, 1, 0, 0]);
    let cube = dense(&[64, 64, 64]);
    let reversed = strided(&[64, 64, 64], &[1, 64, 4096], 0);
    let one = strided(shape, &[0, 0], 0);
    let many: &[usize] = &[64, 512, 3];
    let short = |strides: [isize; 3]| strided(many, &strides, 0);
    let rgb = dense(many);
    let rgba = short([2048, 4, 1]);
    vec![
        ("5 axes reversed", {
            let shape: &[usize] = &[9, 8, 7, 6, 5];
            let reversed = strided(shape, &[1, 9, 72, 504, 3024], 0);
            [dense(shape), dense(shape), reversed]
        }),
        ("contiguous", [c.clone(), c.clone(), c.clone()]),
        ("columns, all of them", [t.clone(), t.clone(), t.clone()]),
        ("one transposed", [c.clone(), c.clone(), t.clone()]),
        ("both transposed", [c.clone(), t.clone(), t.clone()]),
        ("result transposed", [t.clone(), c.clone(), c.clone()]),
        ("row for all", [c.clone(), c.clone(), row.clone()]),
        ("column for all", [c.clone(), c.clone(), column.clone()]),
        ("outer", [c.clone(), column, row]),
        ("one element for all", [c.clone(), c.clone(), one]),
        ("every second", [c.clone(), steps.clone(), c.clone()]),
        ("every second and transposed", [c.clone(), steps.clone(), t.clone()]),
        ("to every second", [steps.clone(), c.clone(), c.clone()]),
        ("to every second, transposed", [steps, c.clone(), t]),
        ("flipped", [c.clone(), of([512, -1]), c.clone()]),
        ("rows flipped", [c.clone(), of([-512, 1]), c.clone()]),
        ("all flipped", [of([512, -1]), of([512, -1]), of([512, -1])]),
        ("narrowed", [c.clone(), of([520, 1]), c]),
        ("planes and pixels", [planes.clone(), planes.clone(), pixels]),
        ("one for a channel", [planes.clone(), planes, channels]),
        ("axes reversed", [cube.clone(), cube, reversed]),
        ("three of four channels", [rgb.clone(), rgba.clone(), rgb.clone()]),
        ("one for a channel, pixels", [rgb.clone(), rgb.clone(), short([0, 0, 1])]),
        ("one for a pixel", [rgb.clone(), rgb.clone(), short([512, 1, 0])]),
        ("into three of four channels", [rgba, rgb.clone(), rgb.clone()]),
        ("one for a channel, from planes", [rgb, short([512, 1, 32_768]), short([0, 0, 1])]),
        ("a few short rows", [dense(&[4, 3]), dense(&[4, 3]), strided(&[4, 3], &[0, 1], 0)]),
        ("no elements", [dense(&[3, 0]), dense(&[3, 0]), strided(&[3, 0], &[0, 1], 0)]),
    ]
}

/// Adds the entries of elementwise operations to the table.
pub(crate) fn append_to(text: &mut String) {
    for (name, [out, a, b]) in operations() {
        let path = elementwise_path([&out, &a, &b], [4; 3]).expect("shapes that broadcast");
        let (out, a, b) = (brief(&out), brief(&a), brief(&b));
        writeln!(text, "\n{name}, elementwise: {out} of {a} and {b}\n    {path}").expect("memory");
    }
}

#[test]
fn every_path_is_in_the_table() {
    let taken: BTreeSet<_> = operations()
        .iter()
        .map(|(_, [out, a, b])| elementwise_path([out, a, b], [4; 3]).unwrap())
        .collect();
    let all = [
        "contiguous",
        "rows",
        "packed_rows",
        "transposed",
        "gathered",
        "transposed_and_gathered",
        "tiled",
    ];
    assert_eq!(taken, BTreeSet::from(all));
}

#[test]
fn paths_at_the_edge_of_the_address_space() {
    for [to, from] in edge_of_the_address_space() {
        assert!(!elementwise_path([&to, &from, &to], [1; 3]).unwrap().is_empty());
    }
}

#[test]
fn fault_a_machine_of_any_numbers_computes() {
    for_any_machine(|exec, from, values| {
        let mut result = vec![0u16; 3600];
        let mut to = TensorViewMut::new(&mut result, dense(from.shape())).unwrap();
        ops::add_into(exec, from, from, &mut to).unwrap();
        let doubled: Vec<u16> = values.iter().map(|x| 2 * x).collect();
        assert_eq!(result, doubled, "{:?}", exec.machine);
    });
}
