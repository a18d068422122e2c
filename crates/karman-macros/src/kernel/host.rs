//! The dispatch function of a pair, and the loop it runs on the host.

use super::Pair;
use super::signature::{ComputedScalar, Parameter, Role, Specialization, element_of};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

impl Pair<'_> {
    pub(super) fn dispatch(&self) -> TokenStream {
        let (name, indexed) = (self.name(), self.options.indexed);
        let vis = &self.function.vis;
        let generics = &self.function.sig.generics;
        let documentation = self.function.attrs.iter().filter(|a| a.path().is_ident("doc"));
        let combining = !self.options.combine.is_empty();
        let mut signature = vec![];
        if combining {
            signature.push(quote!(partials: &::karman_backend::Partials));
        } else {
            signature.push(quote!(entity_count: usize));
        }
        if indexed {
            signature.push(quote!(list: &::karman_backend::Buffer<u32>));
        }
        if self.options.computed.is_some() {
            signature.push(quote!(computed: &mut ::karman_backend::Partials));
        }
        for Parameter { name, role } in &self.parameters {
            match role {
                Role::Input(t) => signature.push(quote!(#name: &::karman_backend::Buffer<#t>)),
                Role::Group(t) => signature.push(quote!(#name: &#t)),
                Role::Segment(t) => {
                    signature.push(quote!(#name: &mut ::karman_backend::Buffer<#t>));
                }
                Role::Update(t) => {
                    let (element, _) = element_of(t);
                    signature.push(quote!(#name: &mut ::karman_backend::Buffer<#element>));
                }
                Role::Comptime(t) | Role::Scalar(t) => signature.push(quote!(#name: #t)),
                Role::Parts => signature.push(quote!(parts: usize)),
                Role::Index | Role::Entity | Role::Reduced | Role::ComputedScalar | Role::Part => {}
            }
        }
        for (name, ty) in self.stores().into_iter().skip(self.options.update.len()) {
            let (element, _) = element_of(ty);
            signature.push(quote!(#name: &mut ::karman_backend::Buffer<#element>));
        }
        if !self.options.reduce.is_empty() {
            signature.push(quote!(partials: &mut ::karman_backend::Partials));
        }
        let host = self.host_body();
        let unused = self.options.split_sums.then(|| quote!(let _ = parts;));
        let device = self.device_launch();
        quote! {
            #(#documentation)*
            #[allow(clippy::too_many_arguments, unsafe_code)]
            #vis fn #name #generics (backend: &::karman_backend::Backend, #(#signature),*) {
                #[cfg(feature = "device")]
                if let Some(device) = backend.device() {
                    #device
                    return;
                }
                #unused
                #host
            }
        }
    }

    fn host_body(&self) -> TokenStream {
        let indexed = self.options.indexed;
        let combining = !self.options.combine.is_empty();
        let mut bindings = vec![];
        for Parameter { name, role } in &self.parameters {
            match role {
                Role::Input(_) => bindings.push(quote! {
                    let #name = #name.view();
                    ::karman_backend::Group::expect_on_host(&#name);
                }),
                Role::Group(_) => bindings.push(quote! {
                    let #name = *#name;
                    ::karman_backend::Group::expect_on_host(&#name);
                }),
                Role::Segment(_) => bindings.push(quote!(let #name = #name.writer();)),
                _ => {}
            }
        }
        if indexed {
            bindings.push(quote!(let list = list.view();));
        }
        for (name, ty) in self.stores() {
            let stride = format_ident!("{name}_stride");
            let (_, is_struct) = element_of(ty);
            bindings.push(quote!(let #name = #name.writer();));
            if is_struct {
                bindings.push(quote! {
                    let #stride = #name.len() / <#ty as ::karman_backend::Components>::COUNT;
                });
            }
        }
        let call = self.call(false, |k, Parameter { name, role }| match role {
            Role::Index => quote!(index),
            Role::Entity => quote!(entity),
            Role::Reduced => quote!(reduced[#k]),
            Role::Part => quote!(0usize),
            Role::Parts => quote!(1usize),
            Role::Segment(_) => quote!(&mut ::karman_backend::Segment::on_host(#name)),
            Role::Update(t) => {
                let stride = format_ident!("{name}_stride");
                if element_of(t).1 {
                    quote!(<#t as ::karman_backend::Components>::load(#name, entity, #stride))
                } else {
                    quote!(#name.get(entity))
                }
            }
            Role::Input(_) | Role::Group(_) => quote!(&#name),
            _ => quote!(#name),
        });
        let values = self.value_names();
        let stores = self.stores().into_iter().zip(&values).map(|((name, ty), value)| {
            let stride = format_ident!("{name}_stride");
            if element_of(ty).1 {
                quote!(::karman_backend::Components::store(#value, #name, entity, #stride);)
            } else {
                quote!(#name.set(entity, #value);)
            }
        });
        let entity = if indexed {
            quote!(let entity = list[index] as usize;)
        } else {
            quote!(let entity = index;)
        };
        if let Some(ComputedScalar { sums, .. }) = &self.options.computed {
            let sum = self.computed(
                |k| quote!(computed[#k]),
                |p| {
                    let name = &p.name;
                    match p.role {
                        Role::Input(_) | Role::Group(_) => quote!(&#name),
                        _ => quote!(#name),
                    }
                },
            );
            bindings.push(quote! {
                let computed = computed.combine_on_host([::karman_backend::Reduction::Sum; #sums]);
                #sum
            });
        }
        let operations: Vec<_> = self.operations().iter().map(Self::operation).collect();
        if combining {
            return quote! {
                #(#bindings)*
                let reduced = partials.combine_on_host([#(#operations),*]);
                let entity = 0usize;
                #call
                #(#stores)*
            };
        }
        // The work of an entity, in the closure that the loop is compiled for.
        let body = if operations.is_empty() {
            quote!(#entity #call #(#stores)*)
        } else {
            let first = self.options.update.len() + self.options.out.len();
            let contributions = values[first..].iter().zip(&operations).enumerate().map(
                |(k, (value, operation))| {
                    quote! {
                        totals[#k] =
                            ::karman_backend::accumulate(totals[#k], Into::<f64>::into(#value), #operation);
                    }
                },
            );
            quote!(#entity #call #(#stores)* #(#contributions)*)
        };
        let run = |choice: TokenStream| match operations.is_empty() {
            true => quote! {
                ::karman_backend::for_each_entity(entity_count, move |index| { #choice #body });
            },
            false => quote! {
                let identities = [#(::karman_backend::identity(#operations)),*];
                partials.reduce_on_host(entity_count, identities, move |index, totals| {
                    #choice #body
                });
            },
        };
        let whole = run(quote!());
        // Each choice has a loop of its own, the last one all others.
        let chain = self.options.specialize.iter().rev().fold(quote!({ #whole }), |rest, choice| {
            let part = |Specialization { parameter, fields, .. }: &Specialization| {
                quote!(#parameter #(.#fields)*)
            };
            let tests = choice.iter().map(|s| {
                let (part, value) = (part(s), &s.value);
                quote!(#part == #value)
            });
            let constants = choice.iter().map(|s| {
                let (Specialization { parameter, fields, value }, part) = (s, part(s));
                match fields.is_empty() {
                    true => quote!(let #parameter = #value;),
                    false => quote!(let mut #parameter = #parameter; #part = #value;),
                }
            });
            let specialized = run(quote!(#(#constants)*));
            quote!({ if #(#tests)&&* { #specialized } else #rest })
        });
        quote!(#(#bindings)* #chain)
    }
}
