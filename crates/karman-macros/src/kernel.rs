//! The attribute `kernel`: from an entity function to its dispatch function and its device kernel.

mod device;
mod host;
mod signature;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use signature::{ComputedScalar, Options, Parameter, parameters, returned};
use syn::{Error, GenericParam, Ident, ItemFn, Type};

/// Most parameters of an entity function, its indices included.
const MOST_PARAMETERS: usize = 8;

pub(crate) fn expand(attributes: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let options: Options = syn::parse2(attributes)?;
    let mut function: ItemFn = syn::parse2(item)?;
    if function.sig.inputs.len() > MOST_PARAMETERS {
        let message = format!("a kernel takes at most {MOST_PARAMETERS} parameters: group views");
        return Err(Error::new_spanned(&function.sig.inputs, message));
    }
    crate::literals::rewrite(&function.sig.generics, None, &mut function.block);
    let parameters = parameters(&function, &options)?;
    let returned = returned(&function);
    let expected = options.update.len() + options.out.len() + options.reduce.len();
    if returned.len() != expected {
        let message = format!(
            "the function returns {} values, but update, out and reduce name {expected}",
            returned.len()
        );
        return Err(Error::new_spanned(&function.sig, message));
    }
    let pair = Pair { options: &options, function: &function, parameters, returned };
    let dispatch = pair.dispatch();
    let device = pair.device_kernel();
    // The function dispatches; the module of the same name has the entity function and the device kernel.
    let (name, vis) = (&function.sig.ident, &function.vis);
    let mut inner = function.clone();
    inner.attrs.retain(|a| a.path().is_ident("doc"));
    if inner.attrs.is_empty() {
        let doc = format!("Entity function of [`{name}`].");
        inner.attrs.push(syn::parse_quote!(#[doc = #doc]));
    }
    inner.sig.ident = format_ident!("entity");
    inner.vis = syn::parse_quote!(pub);
    // Parameters that only the computed one is made of.
    let unused = options.computed.is_some().then(|| quote!(#[allow(unused_variables)]));
    let doc = format!("The entity function and the device kernel of [`{name}()`].");
    let both = both(inner, &unused);
    Ok(quote! {
        #dispatch
        #[doc = #doc]
        #vis mod #name {
            use super::*;
            #both
            #device
        }
    })
}

/// The entity function for builds with devices and for those without.
fn both(mut inner: ItemFn, unused: &Option<TokenStream>) -> TokenStream {
    inner.attrs.push(syn::parse_quote!(#[allow(clippy::too_many_arguments)]));
    inner.attrs.push(syn::parse_quote!(#[inline(always)]));
    let host = crate::device_item::without_comptime(syn::Item::Fn(inner.clone()));
    quote! {
        #[cfg(feature = "device")]
        #[cubecl::prelude::cube]
        #unused
        #inner
        #[cfg(not(feature = "device"))]
        #unused
        #host
    }
}

/// An entity function and what the attribute says of it.
struct Pair<'a> {
    options: &'a Options,
    function: &'a ItemFn,
    parameters: Vec<Parameter>,
    returned: Vec<Type>,
}

impl Pair<'_> {
    fn value_names(&self) -> Vec<Ident> {
        (0..self.returned.len()).map(|k| format_ident!("value_{k}")).collect()
    }

    /// Destination buffer and type of each stored value: updates first, then outputs.
    fn stores(&self) -> Vec<(&Ident, &Type)> {
        self.options.update.iter().chain(&self.options.out).zip(&self.returned).collect()
    }

    /// The name of the kernel; CubeCL names compiled kernels after it.
    fn name(&self) -> &Ident {
        &self.function.sig.ident
    }

    /// The path of the entity function from its module, or from beside the dispatch function.
    fn entity_path(&self, inside: bool) -> TokenStream {
        let name = self.name();
        if inside { quote!(self::entity) } else { quote!(#name::entity) }
    }

    /// `::<F, S>`, or nothing.
    fn turbofish(&self) -> TokenStream {
        let names: Vec<_> = self
            .function
            .sig
            .generics
            .params
            .iter()
            .filter_map(|p| match p {
                GenericParam::Type(t) => Some(&t.ident),
                GenericParam::Const(c) => Some(&c.ident),
                GenericParam::Lifetime(_) => None,
            })
            .collect();
        if names.is_empty() { quote!() } else { quote!(::<#(#names),*>) }
    }

    /// The call of the entity function with `argument` giving each parameter's expression.
    fn call(
        &self,
        inside: bool,
        argument: impl Fn(usize, &Parameter) -> TokenStream,
    ) -> TokenStream {
        let inner = self.entity_path(inside);
        let turbofish = self.turbofish();
        let arguments = self.parameters.iter().enumerate().map(|(k, p)| argument(k, p));
        let values = self.value_names();
        let call = quote!(#inner #turbofish(#(#arguments),*));
        match values.as_slice() {
            [] => quote!(#call;),
            [one] => quote!(let #one = #call;),
            many => quote!(let (#(#many),*) = #call;),
        }
    }

    fn operations(&self) -> &[Ident] {
        if self.options.combine.is_empty() { &self.options.reduce } else { &self.options.combine }
    }

    fn operation(name: &Ident) -> TokenStream {
        let variant = match name.to_string().as_str() {
            "sum" => "Sum",
            "min" => "Min",
            "max" => "Max",
            _ => return Error::new_spanned(name, "expected sum, min or max").into_compile_error(),
        };
        let variant = Ident::new(variant, Span::call_site());
        quote!(::karman_backend::Reduction::#variant)
    }

    /// The binding of the computed parameter, from the expressions of its sums and arguments.
    fn computed(
        &self,
        sum: impl Fn(usize) -> TokenStream,
        argument: impl Fn(&Parameter) -> TokenStream,
    ) -> TokenStream {
        let Some(ComputedScalar { parameter, function, sums, arguments }) = &self.options.computed
        else {
            return quote!();
        };
        let sums = (0..*sums).map(sum);
        let arguments =
            arguments.iter().map(|name| match self.parameters.iter().find(|p| p.name == *name) {
                Some(parameter) => argument(parameter),
                None => Error::new_spanned(name, "no parameter has this name").into_compile_error(),
            });
        quote!(let #parameter = #function(#(#sums,)* #(#arguments),*);)
    }
}
