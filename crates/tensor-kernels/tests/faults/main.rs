//! Faults: the answer is a typed error or the closure's own panic, without partial results or
//! deadlocks, in debug and in release builds. `cargo test -p tensor-kernels fault` runs these tests
//! and those in other programs.
//!
//! # Which fault is tested where
//!
//! | | fault | tests, without `fault_`; in this program, where no other is named |
//! |---|---|---|
//! | 20 | a result of another shape | `refusals::a_result_of_another_shape_…`, |
//! | | | `refusals::inputs_that_do_not_broadcast_…`, `operations`: `refusals`, |
//! | | | `plans`: `a_plan_runs_on_its_own_layouts_only_…` |
//! | | a result that overlaps an operand | `sharing`, all; `operations`: `aliasing`, all; |
//! | | | `operations`: `reductions::a_result_within_the_input`, |
//! | | | `compile_faults::SHIFTED_COPY_…` |
//! | 21 | a result that overlaps itself | `refusals::an_expanded_tensor_…`, |
//! | | | `refusals::windows_that_overlap_…` |
//! | 22 | rows of any length at any address | `tails`, all; for copies of every width |
//! | | | `conformance`: `every_length_of_a_run`, not called a fault |
//! | 23 | NaN, zeros and infinities | `extremes`, all; `conformance`: `every_level_computes_…`, |
//! | | | `conformance`: `relu_keeps_nan_…`, `operations`: `reductions::nan_is_…`, |
//! | | | `operations`: `reductions::infinities_and_zeros` |
//! | 24 | the limits of integers | `numbers`, all |
//! | | division by zero | `operations`: `refusals::integers_divided_by_zero`, |
//! | | | `operations`: `refusals::a_zero_that_another_thread_…` |
//! | 25 | extreme shapes | `shapes::dimensions_of_size_one_…`, |
//! | | | `shapes::many_dimensions_…`, `shapes::one_dimension_is_very_long`, |
//! | | | `shapes::rows_a_power_of_two_apart_…` (benchmarks measure their speed) |
//! | 26 | backwards, interleaved | `shapes::fields_of_interleaved_structures_…`, |
//! | | | `refusals::steps_and_flips_…` |
//! | 27 | a closure that panics | `panics`, all; `memory`: `a_closure_that_panics_…` |
//! | 28 | rayon in rayon | `threads::in_…`, `threads::inside_…`, |
//! | | | `threads::pools_that_call_each_other_…`, |
//! | | | `threads::results_are_the_same_bits_…`, |
//! | | | `threads::a_small_stack_…`, `threads::reductions_inside_each_other_…` |
//! | 29 | threads that cannot start | `threads::where_no_thread_can_start_…`, |
//! | | | `threads::where_some_threads_cannot_start_…`, |
//! | | | `threads::zero_threads_means_the_default`, |
//! | | | `threads::more_threads_than_a_process_can_have_…` |
//! | 30 | memory that runs out | `fault_allocation`, all; `memory`: `missing_…`; |
//! | | | `sizes::a_result_too_large_…` |
//! | 31 | a SIMD level that the CPU does not have | `levels`, all |
//! | 32 | a SIMD level that is not used | `levels`: `every_level_of_this_cpu_…`, |
//! | | | `sizes::plans_and_blocks_do_not_depend_on_the_level` |
//! | 33 | a number of bytes that overflows | `sizes::a_result_too_large_for_an_address_…`, |
//! | | | `plans`: `what_cannot_be_planned_…` |
//! | | no elements, strides of zero | `sizes::no_elements_…`, |
//! | | | `shapes::dimensions_without_elements_…`, |
//! | | | `shapes::strides_of_zero_…`, `plans`: `empty_layouts_at_huge_offsets_…`, |
//! | | | `operations`: `reductions::no_elements` |
//! | | elements of size zero, or with padding | `sizes::elements_of_no_size_…`, |
//! | | | `compile_faults::PADDED_ELEMENTS_…` |
//! | | elements larger than any scratch | `conformance`: `elements_larger_…`, |
//! | | | `conformance`: `elements_more_aligned_…` |
//! | | a storage written while it is read | `threads::a_thousand_threads_…`, |
//! | | | `refusals::a_reader_…`, `refusals::a_writer_…`, |
//! | | | `refusals::a_closure_that_borrows_…` |
//! | | types that must cross threads, or not | `threads::types_cross_threads`, |
//! | | | `compile_faults::FUNCTION_OF_ONE_THREAD` |
//! | | a machine with unrealistic numbers | `plans`: `a_machine_of_any_numbers_…` |
//! | | scratch memory leaked or overrun | `memory`: `refused_operations_leak_nothing`; in debug |
//! | | | builds every test, as guard bytes surround all scratch |

#![cfg(feature = "reductions")]

#[path = "../common/mod.rs"]
mod common;
mod extremes;
mod numbers;
mod panics;
mod refusals;
mod shapes;
mod sharing;
mod sizes;
mod tails;
#[cfg(feature = "rayon")]
mod threads;
