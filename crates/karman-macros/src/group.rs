//! The derive of `Group`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Type, visit_mut::VisitMut};

pub(crate) fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let name = &input.ident;
    let vis = &input.vis;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(name, "a group is a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(name, "a group has named fields"));
    };
    let lifetimes = input.generics.lifetimes().count();
    if lifetimes != 1 {
        return Err(Error::new_spanned(name, "a group has one lifetime, that of what it lends"));
    }
    // Type parameters with their bounds, and their names.
    let params: Vec<_> =
        input.generics.params.iter().filter(|p| !matches!(p, GenericParam::Lifetime(_))).collect();
    let names: Vec<_> = input.generics.type_params().map(|p| &p.ident).collect();
    let expand = format_ident!("{name}Expand");
    let is_comptime: Vec<bool> = fields
        .named
        .iter()
        .map(|f| f.attrs.iter().any(|a| a.path().is_ident("comptime")))
        .collect();
    let field: Vec<_> = fields.named.iter().map(|f| f.ident.as_ref()).collect();
    let types: Vec<Type> = fields
        .named
        .iter()
        .map(|f| {
            let mut ty = f.ty.clone();
            Static.visit_type_mut(&mut ty);
            ty
        })
        .collect();
    let pick = |comptime: &dyn Fn(usize) -> TokenStream, runtime: &dyn Fn(usize) -> TokenStream| {
        (0..field.len())
            .map(|k| if is_comptime[k] { comptime(k) } else { runtime(k) })
            .collect::<Vec<_>>()
    };
    let nested = |parts: Vec<TokenStream>| {
        parts.into_iter().rev().fold(quote!(()), |rest, part| quote!((#part, #rest)))
    };
    let expand_types = pick(
        &|k| {
            let t = &types[k];
            quote!(#t)
        },
        &|k| {
            let t = &types[k];
            quote!(<#t as cubecl::prelude::CubeType>::ExpandType)
        },
    );
    let clones = pick(
        &|k| {
            let f = field[k];
            quote!(self.#f.clone())
        },
        &|k| {
            let f = field[k];
            quote!(cubecl::prelude::ExpandTypeClone::clone_unchecked(&self.#f))
        },
    );
    let runtime_type = nested(pick(
        &|k| {
            let t = &types[k];
            quote!(#t)
        },
        &|k| {
            let t = &types[k];
            quote!(<#t as cubecl::prelude::LaunchArg>::RuntimeArg)
        },
    ));
    let compilation_type = nested(pick(
        &|k| {
            let t = &types[k];
            quote!(#t)
        },
        &|k| {
            let t = &types[k];
            quote!(<#t as cubecl::prelude::LaunchArg>::CompilationArg)
        },
    ));
    let pattern = nested(field.iter().map(|f| quote!(#f)).collect());
    let registered = pick(&|_| quote!(), &|k| {
        let (f, t) = (field[k], &types[k]);
        quote!(let #f = <#t as cubecl::prelude::LaunchArg>::register(#f, launcher);)
    });
    let expanded = pick(
        &|k| {
            let f = field[k];
            quote!(#f: #f.clone())
        },
        &|k| {
            let (f, t) = (field[k], &types[k]);
            quote!(#f: <#t as cubecl::prelude::LaunchArg>::expand(#f, builder))
        },
    );
    let arguments = nested(pick(
        &|k| {
            let f = field[k];
            quote!(self.#f)
        },
        &|k| {
            let f = field[k];
            quote!(::karman_backend::DeviceArg::arg(&self.#f))
        },
    ));
    let lends: Vec<_> =
        fields.named.iter().filter(|f| has_lifetime(&f.ty)).map(|f| f.ident.as_ref()).collect();
    Ok(quote! {
        impl<#(#params),*> ::karman_backend::Group for #name<'_, #(#names),*> {
            #[inline]
            fn expect_on_host(&self) {
                #(::karman_backend::Group::expect_on_host(&self.#lends);)*
            }
        }
        #[cfg(feature = "device")]
        const _: () = {
            impl<'lent, #(#params),*> cubecl::prelude::CubeType for #name<'lent, #(#names),*> {
                type ExpandType = #expand<'lent, #(#names),*>;
            }
            impl<#(#params),*> cubecl::prelude::ExpandTypeClone for #expand<'_, #(#names),*> {
                fn clone_unchecked(&self) -> Self {
                    #expand { #(#field: #clones,)* lent: self.lent }
                }
            }
            impl<#(#params),*> cubecl::prelude::IntoExpand for #expand<'_, #(#names),*> {
                type Expand = Self;
                fn into_expand(self, _: &cubecl::prelude::Scope) -> Self { self }
            }
            impl<#(#params),*> cubecl::prelude::IntoMut for #expand<'_, #(#names),*> {
                fn into_mut(self, _: &cubecl::prelude::Scope) -> Self { self }
            }
            impl<#(#params),*> cubecl::prelude::CubeDebug for #expand<'_, #(#names),*> {}
            impl<#(#params),*> cubecl::prelude::AsRefExpand for #expand<'_, #(#names),*> {
                fn __expand_ref_method(&self, _: &cubecl::prelude::Scope) -> &Self { self }
            }
            impl<#(#params),*> cubecl::prelude::AsMutExpand for #expand<'_, #(#names),*> {
                fn __expand_ref_mut_method(&mut self, _: &cubecl::prelude::Scope) -> &mut Self { self }
            }
            impl<#(#params),*> cubecl::prelude::LaunchArg for #name<'static, #(#names),*> {
                type RuntimeArg = #runtime_type;
                type CompilationArg = #compilation_type;
                fn register(
                    #pattern: Self::RuntimeArg,
                    launcher: &mut cubecl::prelude::KernelLauncher,
                ) -> Self::CompilationArg {
                    #(#registered)*
                    #pattern
                }
                fn expand(
                    #pattern: &Self::CompilationArg,
                    builder: &mut cubecl::prelude::KernelBuilder,
                ) -> #expand<'static, #(#names),*> {
                    #expand { #(#expanded,)* lent: core::marker::PhantomData }
                }
            }
            impl<#(#params),*> ::karman_backend::DeviceArg for #name<'_, #(#names),*> {
                type Arg = #runtime_type;
                fn arg(&self) -> Self::Arg { #arguments }
            }
        };
        #[cfg(feature = "device")]
        #[doc(hidden)]
        #vis struct #expand<'lent, #(#params),*> {
            #(pub #field: #expand_types,)*
            pub lent: core::marker::PhantomData<&'lent ()>,
        }
    })
}

struct Static;
impl VisitMut for Static {
    fn visit_lifetime_mut(&mut self, l: &mut syn::Lifetime) {
        *l = syn::parse_quote!('static);
    }
}

fn has_lifetime(ty: &Type) -> bool {
    struct Find(bool);
    impl<'a> syn::visit::Visit<'a> for Find {
        fn visit_lifetime(&mut self, _: &'a syn::Lifetime) {
            self.0 = true;
        }
    }
    let mut find = Find(false);
    syn::visit::Visit::visit_type(&mut find, ty);
    find.0
}
