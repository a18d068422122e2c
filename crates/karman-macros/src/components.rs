//! The derive of `Components`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, GenericParam};

pub(crate) fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(name, "Components needs a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(name, "Components needs named fields"));
    };
    let element = match input.generics.params.first() {
        Some(GenericParam::Type(t)) if input.generics.params.len() == 1 => &t.ident,
        _ => {
            return Err(Error::new_spanned(&input.generics, "Components needs one type parameter"));
        }
    };
    let names: Vec<_> = fields.named.iter().map(|f| &f.ident).collect();
    let at: Vec<_> = (0..names.len()).collect();
    let count = names.len();
    Ok(quote! {
        impl<#element: ::karman_backend::real::Real> ::karman_backend::Components for #name<#element> {
            type Element = #element;
            const COUNT: usize = #count;
            #[inline(always)]
            fn of_components(values: &[#element]) -> Self {
                #name { #(#names: values[#at]),* }
            }
            #[inline(always)]
            fn load(from: ::karman_backend::Writer<#element>, i: usize, stride: usize) -> Self {
                #name { #(#names: from.get(#at * stride + i)),* }
            }
            #[inline(always)]
            fn store(self, to: ::karman_backend::Writer<#element>, i: usize, stride: usize) {
                #(to.set(#at * stride + i, self.#names);)*
            }
        }
        #[cfg(feature = "device")]
        #[cubecl::prelude::cube]
        impl<#element: ::karman_backend::real::Real> #name<#element> {
            /// The components of entity `i` of a component-major device field.
            pub fn gather(field: &[#element], i: usize, stride: usize) -> #name<#element> {
                #name::<#element> { #(#names: field[#at * stride + i]),* }
            }
            /// Writes the components of entity `i` of a component-major device field.
            pub fn scatter(value: #name<#element>, field: &mut [#element], i: usize, stride: usize) {
                #(field[#at * stride + i] = value.#names;)*
            }
        }
        #[karman_macros::device]
        impl<#element: ::karman_backend::real::Real> #name<#element> {
            /// Entity `i` of a component-major field `[component][stride]`.
            #[inline(always)]
            pub fn at(
                field: &::karman_backend::View<#element>,
                i: usize,
                stride: usize,
            ) -> #name<#element> {
                #name::<#element> { #(#names: field[#at * stride + i]),* }
            }
            /// Sets entity `i` of a component-major field.
            #[inline(always)]
            pub fn put(
                value: #name<#element>,
                field: &mut ::karman_backend::Segment<#element>,
                i: usize,
                stride: usize,
            ) {
                #(field[#at * stride + i] = value.#names;)*
            }
        }
    })
}
