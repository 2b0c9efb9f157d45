//! `convert`: the bytes that arrive, and what a failed run leaves behind.

use std::fs;

use crate::common::{FORTRAN, Folder, PHOTOGRAPH, npy, npy_with_header, run, split_npy};

#[test]
fn a_fortran_array_transposed_is_the_same_bytes_in_c_order() {
    let folder = Folder::new();
    let out = folder.name("out.npy");
    let said = run(&["convert", FORTRAN, &out, "--transpose", "0,1"]).succeeded();
    let (header, data) = split_npy(&out);
    assert_eq!(header, "{'descr': '<f4', 'fortran_order': False, 'shape': (48, 64), }");
    assert_eq!(data, split_npy(FORTRAN).1);
    assert_eq!(said, format!("{out}: f32 (48, 64) in C order\n"));
}

#[test]
fn a_fortran_array_is_brought_into_c_order() {
    let folder = Folder::new();
    run(&["convert", FORTRAN, &folder.name("out.npy")]).succeeded();
    let (header, data) = split_npy(folder.path("out.npy"));
    let columns = split_npy(FORTRAN).1;
    let element = |row: usize, column: usize| columns[4 * (64 * column + row)..][..4].to_vec();
    let expected: Vec<u8> = (0..64 * 48).flat_map(|at| element(at / 48, at % 48)).collect();
    assert!(header.contains("(64, 48)"), "{header}");
    assert_eq!(data, expected);
}

#[test]
fn views_are_applied_in_the_order_they_stand() {
    let folder = Folder::new();
    let view = ["--flip", "1", "--permute", "2,0,1", "--slice", "::-1, 3:500:100, ..."];
    run(&[&["convert", PHOTOGRAPH, &folder.name("out.npy")][..], &view].concat()).succeeded();
    let (header, data) = split_npy(folder.path("out.npy"));
    let pixels = split_npy(PHOTOGRAPH).1;
    let mut expected = Vec::new();
    for channel in [2, 1, 0] {
        for row in (3..500).step_by(100) {
            expected
                .extend((0..512).rev().map(|column| pixels[(512 * row + column) * 3 + channel]));
        }
    }
    assert_eq!(header, "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 5, 512), }");
    assert_eq!(data, expected);
}

#[test]
fn every_dtype_arrives_in_this_machines_byte_order() {
    let folder = Folder::new();
    let widths = [
        ("b1", 1),
        ("u1", 1),
        ("u2", 2),
        ("u4", 4),
        ("u8", 8),
        ("i1", 1),
        ("i2", 2),
        ("i4", 4),
        ("i8", 8),
        ("f2", 2),
        ("f4", 4),
        ("f8", 8),
        ("c8", 8),
        ("c16", 16),
    ];
    for (name, width) in widths {
        let part = if name.starts_with('c') { width / 2 } else { width };
        let little: Vec<u8> =
            (0..6 * width as u8).map(|byte| if name == "b1" { byte % 2 } else { byte }).collect();
        let big: Vec<u8> =
            little.chunks(part).flat_map(|part| part.iter().rev().copied()).collect();
        for (order, data) in [('<', &little), ('>', &big)] {
            let input =
                folder.file("in.npy", npy(&format!("{order}{name}"), false, "(2, 3)", data));
            run(&["convert", &input, &folder.name("out.npy")]).succeeded();
            let (header, bytes) = split_npy(folder.path("out.npy"));
            let expected = if cfg!(target_endian = "big") { &big } else { &little };
            assert_eq!(&bytes, expected, "{order}{name}");
            assert!(header.contains(name), "{header}");
        }
    }
}

#[test]
fn fault_scalars_and_empty_arrays_are_arrays_too() {
    let folder = Folder::new();
    for (shape, data) in [("()", &[7u8][..]), ("(0, 5)", &[])] {
        let input = folder.file("in.npy", npy("|u1", true, shape, data));
        run(&["convert", &input, &folder.name("out.npy")]).succeeded();
        let (header, bytes) = split_npy(folder.path("out.npy"));
        assert!(header.contains(&format!("'shape': {shape}")) && bytes == data, "{header}");
    }
}

#[test]
fn a_file_is_converted_in_place_only_on_request() {
    let folder = Folder::new();
    let before = npy("|u1", true, "(2, 2)", &[1, 3, 2, 4]);
    let file = folder.file("a.npy", &before);
    let mut same = vec![file.clone(), folder.name("./a.npy")];
    if cfg!(unix) {
        fs::hard_link(&file, folder.path("b.npy")).unwrap();
        same.push(folder.name("b.npy"));
    }
    for output in same {
        run(&["convert", &file, &output]).refused("is the input, too: give another file, or");
        assert_eq!(fs::read(&file).unwrap(), before);
    }
    let _ = fs::remove_file(folder.path("b.npy"));
    run(&["convert", &file, &file, "--overwrite"]).succeeded();
    assert_eq!((split_npy(&file).1, folder.files()), (vec![1, 2, 3, 4], vec!["a.npy".to_owned()]));
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = Folder::new();
    let input = folder.file("in.npy", npy("|u1", false, "(1,)", &[1]));
    folder.file("target.npy", "old");
    std::os::unix::fs::symlink(folder.path("target.npy"), folder.path("link.npy")).unwrap();
    run(&["convert", &input, &folder.name("link.npy")]).succeeded();
    assert!(fs::symlink_metadata(folder.path("link.npy")).unwrap().is_symlink());
    assert_eq!(split_npy(folder.path("target.npy")).1, [1]);
}

#[test]
fn fault_hostile_files_are_refused_and_leave_nothing() {
    let dictionary = |descr: &str, shape: &str| {
        npy_with_header(
            &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"),
            &[0; 8],
        )
    };
    let good = npy("<f4", false, "(2,)", &[0; 8]);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (vec![], "magic"),
        (b"not an array at all".to_vec(), "magic"),
        (good[..9].to_vec(), "ends in its header"),
        (good[..40].to_vec(), "ends in its header"),
        (good[..good.len() - 1].to_vec(), "needs 8 bytes, 7 follow"),
        ([&good[..], &[0]].concat(), "1 bytes too many"),
        (dictionary("'<f4'", "(1152921504606846976,)"), "truncated"),
        (dictionary("'<f4'", "(4294967296, 4294967296)"), "too large"),
        (dictionary("'<f4'", "(0, 9223372036854775807, 9223372036854775807)"), "too large"),
        (dictionary("'<f4'", "(-2,)"), "not a size"),
        (dictionary("'<f4'", "2"), "expected `(`"),
        (dictionary("'<U2'", "(1,)"), "dtype '<U2' is not supported"),
        (dictionary("'|O'", "(1,)"), "dtype '|O' is not supported"),
        (dictionary("'|V8'", "(1,)"), "dtype '|V8' is not supported"),
        (dictionary("[('x', '<f4'), ('y', '<f4')]", "(1,)"), "structured"),
        (npy_with_header(&"{".repeat(9000), &[]), "expected a key"),
        (npy_with_header(&"(".repeat(9000), &[]), "expected `{`"),
        (npy_with_header(&" ".repeat(60_000), &[]), "longer than the 10000"),
        (npy("|b1", false, "(2,)", &[1, 7]), "element 1 is 7"),
    ];
    for (content, reason) in cases {
        let folder = Folder::new();
        let input = folder.file("in.npy", content);
        let old = folder.file("out.npy", "old");
        run(&["convert", &input, &old]).refused(reason);
        assert_eq!(fs::read(&old).unwrap(), b"old", "{reason}");
        assert_eq!(folder.files(), ["in.npy", "out.npy"], "{reason}");
    }
}

#[test]
fn fault_a_sparse_file_larger_than_memory_is_refused_with_numbers() {
    let folder = Folder::new();
    let header = npy("|u1", false, "(1125899906842624,)", &[]);
    let input = folder.file("in.npy", &header);
    let file = fs::OpenOptions::new().write(true).open(&input).unwrap();
    if file.set_len(header.len() as u64 + (1 << 50)).is_err() {
        return; // A file system without sparse files of this size.
    }
    run(&["convert", &input, &folder.name("out.npy")]).failed("of memory, but only");
    assert_eq!(folder.files(), ["in.npy"]);
}

#[test]
fn fault_a_failed_conversion_leaves_what_was_there() {
    let cases: &[(&[&str], &str)] = &[
        (&["--permute", "0,0"], "duplicate dims"),
        (&["--permute", "0,1,2"], "permute"),
        (&["--flip", "2"], "Dimension out of range"),
        (&["--slice", "64"], "index 64 is out of bounds"),
        (&["--expand", "2,48"], "expanded size"),
        (&["--slice", "None", "--expand", "1000000000000,-1,-1"], "of memory, but only"),
        (
            &["--slice", "None", "--expand", "9223372036854775807,-1,-1"],
            "size calculation overflowed",
        ),
    ];
    for (view, reason) in cases {
        let folder = Folder::new();
        let old = folder.file("out.npy", "old");
        run(&[&["convert", FORTRAN, &old], *view].concat()).failed(reason);
        assert_eq!(
            (fs::read(&old).unwrap().as_slice(), folder.files().len()),
            (&b"old"[..], 1),
            "{view:?}"
        );
    }
}

#[test]
fn fault_an_output_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    run(&["convert", FORTRAN, &folder.name("no/such/out.npy")]).failed("cannot write");
    run(&["convert", FORTRAN, &folder.name("")]).failed("cannot write");
}

#[cfg(target_os = "linux")]
#[test]
fn fault_a_device_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    run(&["convert", FORTRAN, "/dev/full"]).failed("cannot write /dev/full");
    let ran = run(&["convert", FORTRAN, "/dev/null"]);
    assert_eq!((ran.code, &ran.out[..]), (Some(0), ""));
    for device in ["/dev/full", "/dev/null"] {
        assert!(fs::metadata(device).unwrap().file_type().is_char_device());
    }
}

/// The standard output has the array alone.
#[cfg(target_os = "linux")]
#[test]
fn an_array_can_be_written_to_the_standard_output() {
    let folder = Folder::new();
    run(&["convert", FORTRAN, &folder.name("out.npy")]).succeeded();
    let output = crate::common::command(&["convert", FORTRAN, "/dev/stdout"]).output().unwrap();
    assert_eq!(output.stdout, fs::read(folder.path("out.npy")).unwrap());
}
