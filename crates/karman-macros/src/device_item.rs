//! The attribute `device`: a function, an impl or a struct that kernels use.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, ImplItem, Item};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut item: Item = syn::parse2(item)?;
    match &mut item {
        Item::Fn(f) => {
            crate::literals::rewrite(&f.sig.generics, None, &mut f.block);
            inline(&mut f.attrs);
        }
        Item::Impl(i) => {
            let outer = crate::literals::number(&i.generics);
            for item in &mut i.items {
                if let ImplItem::Fn(f) = item {
                    crate::literals::rewrite(&f.sig.generics, outer.as_ref(), &mut f.block);
                    inline(&mut f.attrs);
                }
            }
        }
        _ => {}
    }
    if let Item::Struct(_) = item {
        return Ok(quote! {
            #[cfg_attr(feature = "device", derive(cubecl::prelude::CubeType, cubecl::prelude::CubeTypeMut))]
            #[cfg_attr(feature = "device", expand(derive(Clone, Copy)))]
            #item
        });
    }
    let host = without_comptime(item.clone());
    Ok(quote! {
        #[cfg(feature = "device")]
        #[cubecl::prelude::cube(#arguments)]
        #item
        #[cfg(not(feature = "device"))]
        #host
    })
}

/// Lets the host's loops inline a function: they call it for each entity, from other crates too, and an incremental
/// build inlines no function of another crate without the attribute.
fn inline(attributes: &mut Vec<Attribute>) {
    if !attributes.iter().any(|attribute| attribute.path().is_ident("inline")) {
        attributes.push(syn::parse_quote!(#[inline]));
    }
}

/// The item without the attributes that CubeCL takes away: `#[comptime]`, `#[unroll]`.
pub(crate) fn without_comptime(mut item: Item) -> Item {
    use syn::visit_mut::VisitMut;
    struct Strip;
    impl VisitMut for Strip {
        fn visit_pat_type_mut(&mut self, p: &mut syn::PatType) {
            p.attrs.retain(|a| !a.path().is_ident("comptime"));
        }
        fn visit_expr_for_loop_mut(&mut self, e: &mut syn::ExprForLoop) {
            e.attrs.retain(|a| !a.path().is_ident("unroll"));
            syn::visit_mut::visit_expr_for_loop_mut(self, e);
        }
    }
    Strip.visit_item_mut(&mut item);
    item
}
