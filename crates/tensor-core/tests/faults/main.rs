//! Misuse: every invalid request is an error with its values, never a panic or an access outside of
//! the buffer, in debug and in release builds. `cargo test -p tensor-core fault` runs these tests
//! and those in other programs; with `-- fault` also the programs that must not compile.
//!
//! | file | mistakes |
//! |---|---|
//! | `numbers` | sizes, strides and offsets that overflow or reach out of the buffer |
//! | `edges` | extreme values: rank 64, no elements, `isize::MAX`, `isize::MIN` |
//! | `requests` | operations that do not fit their input |
//! | `writes` | writes through overlapping views and to borrowed storages |
//! | `operands` | operands in the storage of the output |
//! | `threads` | `Send` and `Sync` of every type; thousands of readers and writers |
//! | `explanations` | refusals, lints and padding of extreme layouts |
//! | `texts` | printing huge tensors, and errors with any values |
//! | `../fault_allocation.rs` | every allocation fails in turn |
//! | `../fault_memory_cache.rs` | system calls while the cache of buffers is locked |
//! | `../memory.rs` | leaks, double frees and alignment, with a counting allocator |
//! | `../../src/compile_faults.rs` | programs that must not compile |
//!
//! # Which fault is tested where
//!
//! | | fault | tests, without `fault_` |
//! |---|---|---|
//! | 1 | a product of sizes that wraps | `numbers::a_product_of_sizes_beyond_isize_…` |
//! | 2 | too many bytes; the limit itself | `numbers::a_size_in_bytes_beyond_isize_…`, |
//! | | | `numbers::the_largest_number_of_elements_is_a_layout`, |
//! | | | `edges::isize_max_elements_have_every_…` |
//! | 3 | an overflow hidden by a size of 0 | `numbers::sizes_of_zero_do_not_hide_…` |
//! | 4 | rank 0, 64 and 1000 | `numbers::a_scalar_has_one_element`, |
//! | | | `numbers::there_is_no_largest_rank`, `edges::rank_64_supports_every_…`, |
//! | | | `edges::64_dimensions_of_size_two_…` |
//! | 5 | no elements | `numbers::an_empty_tensor_has_every_…`, |
//! | | | `numbers::empty_tensors_have_pytorch_s_strides`, |
//! | | | `edges::a_size_of_zero_in_…` |
//! | 6 | strides of another rank | `numbers::shape_and_strides_have_equal_lengths` |
//! | 7 | a buffer too short, an offset too far | `numbers::a_buffer_must_hold_…`, |
//! | | | `numbers::an_offset_beyond_isize_…`, |
//! | | | `numbers::the_number_of_values_must_…` |
//! | 8 | below the buffer; stride `isize::MIN` | `numbers::negative_strides_…`, |
//! | | | `edges::a_stride_of_isize_min_…`, |
//! | | | `edges::the_largest_offset_is_computed_…` |
//! | 9 | a huge stride, and what is derived | `numbers::what_is_derived_from_a_huge_stride_…`, |
//! | | | `operands::unused_strides_do_not_make_…` |
//! | 10 | an element written through two indices | `writes::a_mutable_view_refuses_shared_…`, |
//! | | | `writes::a_mutable_view_does_not_become_…`, |
//! | | | `writes::an_expanded_tensor_is_written_…` |
//! | 11 | dimensions repeated, missing or too many | `requests::a_permutation_names_every_…`, |
//! | | | `requests::dimensions_out_of_range_…`, |
//! | | | `requests::a_scalar_has_no_…` |
//! | 12 | a view that needs a copy | `requests::view_needs_the_same_number_…`, |
//! | | | `requests::a_view_never_copies`, |
//! | | | `requests::a_refused_view_names_the_…`, |
//! | | | `explanations`, all |
//! | 13 | shapes that do not broadcast | `requests::shapes_that_do_not_broadcast_…`, |
//! | | | `requests::only_sizes_of_one_expand` |
//! | 14 | ranges beyond their dimension | `requests::ranges_lie_within_…`, |
//! | | | `requests::slices_are_clamped_…`, |
//! | | | `requests::as_strided_stays_within_the_storage`, |
//! | | | `requests::element_access_needs_one_index_…` |
//! | 15 | strides of dimensions of size 1 | `numbers::strides_of_dimensions_of_size_…` |
//! | 16 | elements of size zero, or with invalid bit patterns | `compile_faults::ZERO_SIZED_…`, |
//! | | | `compile_faults::BYTES_AS_BOOL` |
//! | 17 | bytes misaligned or left over | `numbers::view_dtype_needs_sizes_that_…`, |
//! | | | `numbers::buffers_are_aligned_for_…`, |
//! | | | `memory`: `misaligned_adopted_bytes_are_not_…` |
//! | 18 | a storage written while it is read | `writes::many_readers_or_one_writer`, |
//! | | | `writes::threads_read_concurrently_and_…`, |
//! | | | `threads::thousands_of_readers_…`, |
//! | | | `threads::readers_and_writers_in_a_thousand_…`, |
//! | | | `writes::writes_from_many_threads_…`, |
//! | | | `threads::types_cross_threads_…`, |
//! | | | `compile_faults::VIEW_…`, `…::GUARD_WITHOUT_…`, |
//! | | | `compile_faults::BUFFER_WRITTEN_DURING_A_VIEW` |
//! | 19 | more elements than can be printed | `texts`, all |
//! | | two writers of an element | `writes::split_views_are_written_…`, |
//! | | | `writes::a_split_beyond_the_…`, `writes::a_pair_of_views_…`, |
//! | | | `operands::overlapping_operands_of_other_…`, |
//! | | | `compile_faults::TWO_MUTABLE_VIEWS…`, `…::COVARIANT_…`, |
//! | | | `compile_faults::CONTRAVARIANT_TENSOR` |
//! | | memory read before it is written | `compile_faults::UNINITIALISED_…`, |
//! | | | `compile_faults::PADDED_ELEMENTS` |
//! | | a closure or a thread that panics | `memory`: `a_closure_that_panics_…`, |
//! | | | `writes::a_panic_releases_its_guard` |
//! | | an unchecked layout | `compile_faults::UNCHECKED_LAYOUT` |
//! | | NaN where a length is computed | `requests::arange_refuses_steps_that_do_not_…` |
//! | | out of memory | `numbers::allocation_failure_is_an_error`, |
//! | | | `fault_allocation`, all |
//! | | memory leaked or freed twice | `memory`: `refused_operations_leak_nothing`, |
//! | | | `memory`: `a_vector_is_taken_over_and_freed_once` |
//! | | a lock held during system calls | `fault_memory_cache` |

mod edges;
mod explanations;
mod numbers;
mod operands;
mod requests;
mod texts;
mod threads;
mod writes;
