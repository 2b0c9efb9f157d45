//! Transposes of squares of all sizes: where time per element has a cliff over size, it shows here.

use tensor_kernels::DType;

use super::{Bounds, Drawn, Family};
use crate::{
    Result,
    cases::{operand::Operand, view_op::ViewOp},
    suite::{Case, Op, SizeClass},
};

/// The sides of the smallest and of the largest square.
const SIDES: std::ops::RangeInclusive<usize> = 48..=8192;

/// Sizes between one power of two and the next, each in two variants.
const STEPS_PER_OCTAVE: usize = 8;

/// What is added to every second side, in turn: odd and even numbers, and neighbours of powers of
/// two on both sides.
const BESIDE: [isize; STEPS_PER_OCTAVE] = [1, 3, 2, 7, -1, 5, 6, -4];

/// The element types that are swept if none is named.
const DTYPES: [DType; 3] = [DType::F32, DType::F64, DType::U8];

/// What to sweep.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// The bytes of results; all sizes if there are no bounds.
    pub bounds: Option<Bounds>,
    /// The element types; f32, f64 and u8 if there are none.
    pub dtypes: Vec<DType>,
}

/// The cases: each side with every element type.
///
/// # Errors
/// None for sizes that fit into memory.
pub fn sweep(sweep: &Sweep) -> Result<Vec<Drawn>> {
    let dtypes = if sweep.dtypes.is_empty() { &DTYPES[..] } else { &sweep.dtypes };
    let within = |case: &Case| {
        sweep.bounds.is_none_or(|Bounds { low, high }| (low..=high).contains(&case.result_bytes()))
    };
    let mut drawn = Vec::new();
    for &dtype in dtypes {
        for side in sides() {
            let case = case(side, dtype)?;
            if within(&case) {
                drawn.push(Drawn { family: Family::Square, case });
            }
        }
    }
    Ok(drawn)
}

/// All sides, smallest first.
fn sides() -> Vec<usize> {
    let octaves = SIDES.start().ilog2()..=SIDES.end().ilog2();
    let even = octaves.flat_map(|octave| {
        (0..STEPS_PER_OCTAVE).map(move |step| (step, ((STEPS_PER_OCTAVE + step) << octave) / 8))
    });
    let both = even.flat_map(|(step, side)| [side, side.saturating_add_signed(BESIDE[step])]);
    let mut sides: Vec<usize> = both.filter(|side| SIDES.contains(side)).collect();
    sides.sort_unstable();
    sides.dedup();
    sides
}

fn case(side: usize, dtype: DType) -> Result<Case> {
    let operand = Operand::new(dtype, vec![side, side], vec![ViewOp::Permute(vec![1, 0])])?;
    let id = format!("{side}_{dtype}");
    let mut case = Case {
        group: String::new(),
        id,
        op: Op::Copy,
        out: dtype,
        operands: vec![operand],
        dims: vec![],
    };
    case.group = SizeClass::of(&case).name().to_owned();
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_dense_and_of_every_parity() {
        let sides = sides();
        assert_eq!((sides[0], sides[sides.len() - 1], sides.len()), (48, 8192, 119));
        assert!(sides.windows(2).all(|pair| pair[1] * 8 <= pair[0] * 9 + 16), "{sides:?}");
        for residue in 0..8 {
            assert!(sides.iter().filter(|&&side| side % 8 == residue).count() >= 4, "{residue}");
        }
        for power in 6..=13 {
            assert!(sides.contains(&(1 << power)), "{power}");
        }
    }

    #[test]
    fn a_sweep_has_every_side_with_every_element_type() {
        let all = sweep(&Sweep::default()).unwrap();
        assert_eq!(all.len(), 3 * sides().len());
        let bounds = Some(Bounds { low: 16384, high: 16384 });
        let one = sweep(&Sweep { bounds, dtypes: vec![DType::F32] }).unwrap();
        let names: Vec<String> = one.iter().map(|drawn| drawn.case.to_string()).collect();
        assert_eq!(names, ["small/64_f32"]);
    }
}
