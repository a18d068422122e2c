//! The derive of `Linear`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields};

pub(crate) fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(name, "Linear needs a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(name, "Linear needs named fields"));
    };
    if input.generics.params.len() != 1 || input.generics.type_params().count() != 1 {
        return Err(Error::new_spanned(&input.generics, "Linear needs one type parameter"));
    }
    let f: Vec<_> = fields.named.iter().map(|f| &f.ident).collect();
    let on_device = format_ident!("{name}Expand");
    let real = quote!(::karman_backend::real::Real);
    Ok(quote! {
        impl<F: #real> ::std::ops::Add for #name<F> {
            type Output = Self;
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                #name { #(#f: self.#f + b.#f),* }
            }
        }
        impl<F: #real> ::std::ops::Sub for #name<F> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, b: Self) -> Self {
                #name { #(#f: self.#f - b.#f),* }
            }
        }
        impl<F: #real> ::std::ops::Neg for #name<F> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                #name { #(#f: -self.#f),* }
            }
        }
        impl<F: #real> ::std::ops::Mul<F> for #name<F> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, s: F) -> Self {
                #name { #(#f: self.#f * s),* }
            }
        }
        impl<F: #real> ::std::ops::AddAssign for #name<F> {
            #[inline(always)]
            fn add_assign(&mut self, b: Self) {
                #(self.#f += b.#f;)*
            }
        }
        impl<F: #real> ::std::ops::SubAssign for #name<F> {
            #[inline(always)]
            fn sub_assign(&mut self, b: Self) {
                #(self.#f -= b.#f;)*
            }
        }
        #[cfg(feature = "device")]
        impl<F: #real> #on_device<F> {
            pub fn __expand_add_method(self, scope: &cubecl::prelude::Scope, b: Self) -> Self {
                #on_device { #(#f: self.#f.__expand_add_method(scope, b.#f)),* }
            }
            pub fn __expand_sub_method(self, scope: &cubecl::prelude::Scope, b: Self) -> Self {
                #on_device { #(#f: self.#f.__expand_sub_method(scope, b.#f)),* }
            }
            pub fn __expand_neg_method(self, scope: &cubecl::prelude::Scope) -> Self {
                #on_device { #(#f: self.#f.__expand_neg_method(scope)),* }
            }
            pub fn __expand_mul_method(
                self,
                scope: &cubecl::prelude::Scope,
                s: cubecl::prelude::NativeExpand<F>,
            ) -> Self {
                #on_device { #(#f: self.#f.__expand_mul_method(scope, s)),* }
            }
            pub fn __expand_add_assign_method(&mut self, scope: &cubecl::prelude::Scope, b: Self) {
                #(self.#f.__expand_add_assign_method(scope, b.#f);)*
            }
            pub fn __expand_sub_assign_method(&mut self, scope: &cubecl::prelude::Scope, b: Self) {
                #(self.#f.__expand_sub_assign_method(scope, b.#f);)*
            }
        }
    })
}
