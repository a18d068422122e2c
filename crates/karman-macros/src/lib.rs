//! The macros of karman: host loop and device kernel from one piece of Rust, and words for choices.
//!
//! [`kernel`] turns an *entity function* (the value of one cell, face, row, …) into a pair: a
//! parallel loop over the entities on the host and a CubeCL kernel on a device, behind one dispatch
//! function. [`Components`] lets a struct of scalars be read from and written to component-major
//! fields by both, [`Linear`] gives it operators. [`Keyword`] gives the variants of an enum their words in case files.
//!
//! The generated code names items of the crates `karman-backend`, `cubecl` and `serde`.

mod components;
mod device_item;
mod group;
mod kernel;
mod keyword;
mod linear;
mod literals;

use proc_macro::TokenStream;

/// Makes the host loop, the device kernel and the dispatch function of an entity function.
///
/// ```text
/// /// y_r = Σ_k a_k x_{column k}.
/// #[kernel(out(y))]
/// pub fn spmv<F: Real>(r: usize, offsets: &View<u32>, columns: &View<u32>,
///                      values: &View<F>, x: &View<F>) -> F { … }
/// // generates, with the function itself as `spmv::entity`:
/// pub fn spmv<F: Real>(backend: &Backend, n: usize, offsets: &Buffer<u32>,
///                      columns: &Buffer<u32>, values: &Buffer<F>, x: &Buffer<F>,
///                      y: &mut Buffer<F>)
/// ```
///
/// The function's parameters say what each is:
/// - the first is the entity's index (`usize`); with `indexed`, it is the position in a list and the
///   second is the entity the list names, where outputs are written;
/// - `&View<T>` is an input buffer;
/// - `&mut Segment<T>` is an output whose elements the entity picks itself, no two entities the same
///   (a row of a matrix, a place found by a scan);
/// - a parameter named in `update(…)` is the entity's old value of a buffer that is written back;
/// - `#[comptime]` parameters specialise the device kernel;
/// - everything else is a scalar, the same for all entities.
///
/// It returns the values of the `update` buffers, then of the `out` buffers, then the `reduce`
/// contributions (one value, or a tuple). A value is a scalar, or a struct with `Components`, which
/// is stored component-major, `[component][entity]`.
///
/// - `reduce(sum, max, …)`: the last returned values are reduced over all entities into a
///   `Partials`, whose block results a `combine` kernel finishes. Accumulation is in `f64`.
/// - `combine(sum, max, …)`: the function has no index; its first parameters are the finished
///   reductions of a `Partials` (`f64`), and it runs once.
/// - `scalar(s = f(2, v))`: the parameter `s` is f(sum, sum, v), computed of the first two finished
///   sums of a `Partials` and of other parameters: once on the host, by each thread of a device.
/// - `unroll(4)`: entities a device thread takes at a time.
/// - `specialize(kind = Kind::Common)`: the host's loop is compiled for this value of a comptime parameter, and
///   once for all others; `specialize(group.kind = Kind::Common)` names a comptime field of a group. It may name several
///   parameters and stand several times, a loop each.
#[proc_macro_attribute]
pub fn kernel(attributes: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attributes.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Lets a struct whose fields are all of its one type parameter be an update or an output of a
/// [`kernel`]: host `load`/`store` and device `gather`/`scatter` of component-major fields.
#[proc_macro_derive(Components)]
pub fn components(item: TokenStream) -> TokenStream {
    components::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Gives a struct whose fields are all of its one type parameter the operators of a vector space, component by component, on
/// the host and in kernels: sums, differences, negation, products with a number.
#[proc_macro_derive(Linear)]
pub fn linear(item: TokenStream) -> TokenStream {
    linear::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Gives the variants of an enum words: `ALL`, `WORDS`, `word`, `from_word`, and a `Deserialize` that names
/// the valid words where it finds another one; `MEANINGS` and `meaning` are the first paragraph of the documentation of
/// each variant, for the case reference. The word of a variant is its name in snake case, or that of
/// `#[word = "…"]`. A variant with fields states those of its word: `#[with(degree: 4, ratio: 30.0)]`.
#[proc_macro_derive(Keyword, attributes(word, with))]
pub fn keyword(item: TokenStream) -> TokenStream {
    keyword::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// A function, an `impl` or a struct that kernels use: plain Rust in a build without devices, CubeCL's `cube` otherwise.
/// A float literal without a suffix has the type of the number, the first type parameter bounded by `Real`.
#[proc_macro_attribute]
pub fn device(attributes: TokenStream, item: TokenStream) -> TokenStream {
    device_item::expand(attributes.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// A struct of views, scalars, `#[comptime]` choices and other groups that a [`kernel`] takes as one argument,
/// `&Struct<F>`. It has one lifetime, that of the buffers.
#[proc_macro_derive(Group, attributes(comptime))]
pub fn group(item: TokenStream) -> TokenStream {
    group::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
