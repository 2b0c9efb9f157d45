//! `TENSOR_SIMD` forces a SIMD level or is refused. The active level is determined once per
//! process, so each case runs in a child process.

mod common;

use common::child::{again, printed};
use tensor_kernels::{
    CopyPlan, Element, Error, Exec, Layout, Machine, SimdLevel, Tensor, TensorExt, TensorViewMut,
};

/// The output of a child process with this value of `TENSOR_SIMD`, or with none.
fn answer(variable: Option<&str>) -> String {
    let mut child = again("the_active_level");
    match variable {
        Some(value) => child.env("TENSOR_SIMD", value),
        None => child.env_remove("TENSOR_SIMD"),
    };
    printed(child)
}

/// Run in child processes by the tests below; alone it tests that a method and `Exec` agree.
#[test]
fn the_active_level() {
    let current = Exec::current();
    let transposed = Tensor::arange(0i32, 6, 1).and_then(|t| t.view([2, 3])?.t()).unwrap();
    match (current, transposed.contiguous()) {
        (Ok(exec), Ok(copy)) => println!("{} copied {:?}.", exec.simd(), copy.to_vec().unwrap()),
        (Err(refused), Err(Error::Simd { level, .. })) => println!("{level:?} refused: {refused}."),
        (current, copy) => panic!("{current:?}, but {copy:?}"),
    }
}

#[test]
fn the_best_level_is_the_default() {
    let best = SimdLevel::detect();
    let said = answer(None);
    assert!(said.contains(&format!("{best} copied [0, 3, 1, 4, 2, 5].")), "{said}");
}

#[test]
fn fault_every_level_of_this_cpu_can_be_forced() {
    for level in SimdLevel::available() {
        let said = answer(Some(&level.to_string()));
        assert!(said.contains(&format!("{level} copied [0, 3, 1, 4, 2, 5].")), "{said}");
    }
}

#[test]
fn fault_a_level_of_another_cpu_is_refused_and_those_of_this_cpu_are_named() {
    let here: Vec<_> = SimdLevel::available().iter().map(ToString::to_string).collect();
    for level in SimdLevel::ALL.into_iter().filter(|level| !level.is_available()) {
        let said = answer(Some(&level.to_string()));
        let text = format!("\"{level}\" refused: SIMD level {level} is not available on this CPU");
        assert!(said.contains(&text), "{said}");
        assert!(here.iter().all(|name| said.contains(name)), "{said}");
    }
}

#[test]
fn fault_a_name_of_no_level_is_refused_and_the_valid_ones_are_listed() {
    for name in ["bogus", "", "AVX2", "V3", "v3 "] {
        let said = answer(Some(name));
        let text = format!(
            "{name:?} refused: unknown SIMD level {name:?}: expected scalar, v3, v4 or neon."
        );
        assert!(said.contains(&text), "{said}");
    }
}

#[test]
fn fault_an_exec_cannot_be_given_a_level_that_is_not_there() {
    let exec = *Exec::current().unwrap();
    for level in SimdLevel::ALL {
        let forced = exec.with_simd(level);
        assert_eq!(forced.as_ref().map(Exec::simd).ok(), level.is_available().then_some(level));
        assert_eq!(matches!(forced, Err(Error::Simd { .. })), !level.is_available());
    }
}

/// Groups that a machine with wide registers picks elements of are assembled by other means at the
/// other levels, and by each thread for its part.
#[test]
fn a_plan_for_wide_registers_runs_at_every_level() {
    for exec in
        SimdLevel::ALL.into_iter().filter_map(|l| Exec::current().unwrap().with_simd(l).ok())
    {
        let parts = exec.with_machine(Machine { grain: 64, ..exec.machine });
        for exec in [exec.serial(), parts] {
            for [rows, a, b] in [[3, 7, 5], [700, 7, 5], [900, 3, 4], [41, 16, 8], [5000, 2, 3]] {
                copies_groups(&exec, [rows, a, b], |i| i as u8);
                copies_groups(&exec, [rows, a, b], |i| i as u16);
                copies_groups(&exec, [rows, a, b], |i| i as f32);
                copies_groups(&exec, [rows, a, b], |i| i as f64);
            }
        }
    }
}

/// Copies mirrored and transposed groups by plans for wide registers.
fn copies_groups<T: Element + PartialEq>(exec: &Exec, shape: [usize; 3], element: fn(usize) -> T) {
    let [_, a, b] = shape;
    let data: Vec<T> = (0..shape.iter().product()).map(element).collect();
    let rows = Tensor::from_vec(data.clone(), shape).unwrap();
    for view in [rows.flip([2]).unwrap(), rows.flip([1]).unwrap(), rows.transpose(1, 2).unwrap()] {
        let to = Layout::contiguous(view.shape()).unwrap();
        let plan = CopyPlan::new(view.layout(), &to, size_of::<T>(), &Machine::REFERENCE).unwrap();
        let mut copy = vec![element(0); data.len()];
        plan.run(exec, &view, &mut TensorViewMut::new(&mut copy, to).unwrap()).unwrap();
        let expected: Vec<T> = view.iter().unwrap().collect();
        assert!(copy == expected, "{} {a} by {b}, {plan}", exec.simd());
    }
}
