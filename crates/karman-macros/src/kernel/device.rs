//! The device kernel of a pair, and its launch.

use super::Pair;
use super::signature::{ComputedScalar, Parameter, Role, element_of, with_static};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{PathArguments, Type};

impl Pair<'_> {
    /// The computed parameter in the device kernel, where every plane adds the few block results.
    fn device_scalar(&self) -> TokenStream {
        let Some(ComputedScalar { sums, .. }) = &self.options.computed else { return quote!() };
        let totals: Vec<_> = (0..*sums).map(|k| format_ident!("sum_{k}")).collect();
        let place = 0..*sums;
        let computed = self.computed(
            |k| {
                let total = &totals[k];
                quote!(#total)
            },
            |Parameter { name, .. }| quote!(#name),
        );
        quote! {
            #(let #totals = ::karman_backend::sum_of_blocks(
                computed, #place * sums_blocks, sums_blocks, planes,
            );)*
            #computed
        }
    }

    /// Parameters of the device kernel, in order, with the expression the dispatch function passes.
    fn device_parameters(&self) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let (mut signature, mut arguments) = (vec![], vec![]);
        if !self.options.combine.is_empty() {
            signature.push(quote!(partials: &[f64]));
            arguments.push(quote!(partials.values().arg()));
        }
        if self.options.indexed {
            signature.push(quote!(list: &[u32]));
            arguments.push(quote!(list.arg()));
        }
        if self.options.computed.is_some() {
            signature.push(quote!(computed: &[f64]));
            signature.push(quote!(sums_blocks: usize));
            arguments.push(quote!(computed.arg()));
            arguments.push(quote!(sums_blocks));
        }
        for Parameter { name, role } in &self.parameters {
            match role {
                Role::Input(t) => {
                    signature.push(quote!(#name: &::karman_backend::View<'static, #t>));
                    arguments.push(quote!(::karman_backend::DeviceArg::arg(&#name.view())));
                }
                Role::Group(t) => {
                    let t = with_static(t);
                    signature.push(quote!(#name: &#t));
                    arguments.push(quote!(::karman_backend::DeviceArg::arg(#name)));
                }
                Role::Segment(t) => {
                    signature.push(quote!(#name: &mut [#t]));
                    arguments.push(quote!(#name.arg()));
                }
                Role::Scalar(t) => {
                    signature.push(quote!(#name: #t));
                    arguments.push(quote!(#name));
                }
                _ => {}
            }
        }
        for (name, ty) in self.stores() {
            let (element, is_struct) = element_of(ty);
            signature.push(quote!(#name: &mut [#element]));
            arguments.push(quote!(#name.arg()));
            if is_struct {
                let stride = format_ident!("{name}_stride");
                signature.push(quote!(#stride: usize));
                arguments.push(quote!(#name.len() / <#ty as ::karman_backend::Components>::COUNT));
            }
        }
        if !self.options.reduce.is_empty() {
            signature.push(quote!(partials: &mut [f64]));
            arguments.push(quote!(partials.own_values().arg()));
            signature.push(quote!(ranges: &[u32]));
            arguments.push(quote!(partials.ranges().arg()));
            for place in [
                "chunk",
                "first_block",
                "block_stride",
                "component_blocks",
                "component_entities",
                "component_stride",
            ] {
                let place = format_ident!("{place}");
                signature.push(quote!(#place: usize));
                arguments.push(quote!(places.#place));
            }
        }
        if self.options.combine.is_empty() {
            signature.push(quote!(entity_count: usize));
            arguments.push(quote!(entity_count));
        } else {
            signature.push(quote!(block_count: usize));
            arguments.push(quote!(partials.block_count()));
        }
        for Parameter { name, role } in &self.parameters {
            if let Role::Comptime(t) = role {
                signature.push(quote!(#[comptime] #name: #t));
                arguments.push(quote!(#name));
            }
        }
        if !self.options.reduce.is_empty() {
            signature.push(quote!(#[comptime] in_ranges: bool));
            arguments.push(quote!(places.in_ranges));
        }
        if self.options.split_sums {
            signature.push(quote!(#[comptime] parts: usize));
            arguments.push(quote!(parts));
        }
        if !self.operations().is_empty() || self.options.split_sums {
            signature.push(quote!(#[comptime] threads: usize));
            arguments.push(quote!(::karman_backend::THREADS_PER_BLOCK));
        }
        if !self.operations().is_empty() || self.options.computed.is_some() {
            signature.push(quote!(#[comptime] planes: bool));
            arguments.push(quote!(device.has_planes()));
        }
        (signature, arguments)
    }

    fn device_call(&self) -> TokenStream {
        let call = self.call(true, |k, Parameter { name, role }| match role {
            Role::Index => quote!(index),
            Role::Entity => quote!(entity),
            Role::Reduced => {
                let reduced = format_ident!("reduced_{k}");
                quote!(#reduced)
            }
            Role::Update(t) => {
                if let (_, true) = element_of(t) {
                    let stride = format_ident!("{name}_stride");
                    let path = struct_path(t);
                    quote!(#path::gather(&*#name, entity, #stride))
                } else {
                    quote!(#name[entity])
                }
            }
            Role::Segment(t) => quote!(::karman_backend::Segment::<#t>::of(#name)),
            _ => quote!(#name),
        });
        let values = self.value_names();
        let stores = self.stores().into_iter().zip(&values).map(|((name, ty), value)| {
            if element_of(ty).1 {
                let stride = format_ident!("{name}_stride");
                let path = struct_path(ty);
                quote!(#path::scatter(#value, #name, entity, #stride);)
            } else {
                quote!(#name[entity] = #value;)
            }
        });
        let entity = if self.options.indexed {
            quote!(let entity = list[index] as usize;)
        } else {
            quote!(let entity = index;)
        };
        if self.options.split_sums {
            return quote!(#entity #call if is_writer { #(#stores)* });
        }
        quote!(#entity #call #(#stores)*)
    }

    /// Entities each thread takes at a time.
    fn per_thread(&self) -> TokenStream {
        self.options.unroll.as_ref().map_or(quote!(1), |u| quote!(#u))
    }

    /// `body` for the entities `start + k step` before `end`, k below the unroll factor. Away from the end no
    /// entity is tested, so that all their loads can be in flight at once.
    fn unrolled(
        &self,
        start: TokenStream,
        step: TokenStream,
        end: TokenStream,
        body: &TokenStream,
    ) -> TokenStream {
        let Some(factor) = &self.options.unroll else {
            return quote!(let index = #start; #body);
        };
        let last = factor.base10_parse::<usize>().unwrap_or(1) - 1;
        quote! {
            if #start + #last * (#step) < #end {
                #[unroll]
                for k in 0..#factor {
                    let index = #start + k * (#step);
                    #body
                }
            } else {
                #[unroll]
                for k in 0..#factor {
                    let index = #start + k * (#step);
                    if index < #end {
                        #body
                    }
                }
            }
        }
    }

    pub(super) fn device_kernel(&self) -> TokenStream {
        let kernel = self.name();
        let generics = &self.function.sig.generics;
        let (signature, _) = self.device_parameters();
        let computed = self.device_scalar();
        let body = self.device_call();
        let operations: Vec<_> = self.operations().iter().map(Self::operation).collect();
        let count = 0..operations.len();
        let body = if !self.options.combine.is_empty() {
            let reduced = count.clone().map(|k| format_ident!("reduced_{k}"));
            quote! {
                #(let #reduced = ::karman_backend::combine_block(
                    partials, #count * block_count, block_count, #operations, threads, planes,
                );)*
                if UNIT_POS == 0 {
                    let index = 0usize;
                    #body
                }
            }
        } else if !operations.is_empty() {
            let totals: Vec<_> = count.clone().map(|k| format_ident!("total_{k}")).collect();
            let first = self.options.update.len() + self.options.out.len();
            let values = &self.value_names()[first..];
            let reduced_body = quote! {
                #body
                #(#totals = ::karman_backend::accumulate(
                    #totals, f64::cast_from(#values), #operations);)*
            };
            let unrolled = self.unrolled(
                quote!(first_entity),
                quote!(threads),
                quote!(chunk_end),
                &reduced_body,
            );
            let per_thread = self.per_thread();
            quote! {
                #(let mut #totals = ::karman_backend::identity(#operations);)*
                let of_component = CUBE_POS / component_blocks;
                let of_block = CUBE_POS % component_blocks;
                let mut component_end = (of_component + 1) * component_entities;
                if component_end > entity_count {
                    component_end = entity_count;
                }
                let mut chunk_start = of_component * component_entities + of_block * chunk;
                let mut chunk_end = chunk_start + chunk;
                if chunk_end > component_end {
                    chunk_end = component_end;
                }
                if comptime!(in_ranges) {
                    chunk_start = ranges[2 * CUBE_POS] as usize;
                    chunk_end = ranges[2 * CUBE_POS + 1] as usize;
                }
                let mut first_entity = chunk_start + UNIT_POS as usize;
                while first_entity < chunk_end {
                    #unrolled
                    first_entity += threads * #per_thread;
                }
                #(
                    let block = ::karman_backend::reduce_block(#totals, #operations, threads, planes);
                    if UNIT_POS == 0 {
                        let of_list = #count * block_stride + of_component * component_stride;
                        partials[of_list + first_block + of_block] = block;
                    }
                )*
            }
        } else if self.options.unroll.is_some() {
            let unrolled = self.unrolled(
                quote!(first_entity),
                quote!(CUBE_DIM as usize),
                quote!(entity_count),
                &body,
            );
            let per_thread = self.per_thread();
            quote! {
                let first_entity =
                    CUBE_POS * (CUBE_DIM as usize) * #per_thread + UNIT_POS as usize;
                #unrolled
            }
        } else if self.options.split_sums {
            // Consecutive threads take consecutive entities. All of a block stay to the end, since they
            // meet in sums.
            quote! {
                let entities_in_block = comptime!(threads / parts);
                let place =
                    CUBE_POS * entities_in_block + UNIT_POS as usize % entities_in_block;
                let part = UNIT_POS as usize / entities_in_block;
                let is_writer = part == 0 && place < entity_count;
                let mut index = entity_count - 1;
                if place < index {
                    index = place;
                }
                #body
            }
        } else {
            quote! {
                let index = ABSOLUTE_POS;
                if index < entity_count {
                    #body
                }
            }
        };
        quote! {
            #[cfg(feature = "device")]
            pub(super) mod on_device {
            use super::*;
            use cubecl::prelude::*;
            #[cubecl::prelude::cube(launch_unchecked)]
            // Device code alone: `cast_from` never runs on the host.
            #[allow(clippy::too_many_arguments, clippy::disallowed_methods)]
            #[allow(unsafe_code, missing_docs, unused_variables)]
            pub fn #kernel #generics (#(#signature),*) {
                #computed
                #body
            }
            }
        }
    }

    pub(super) fn device_launch(&self) -> TokenStream {
        let name = self.name();
        let kernel = quote!(#name::on_device::#name);
        let turbofish = self.turbofish();
        let (_, arguments) = self.device_parameters();
        let geometry = if !self.options.combine.is_empty() {
            quote!(let blocks = ::karman_backend::one_block();)
        } else if !self.options.reduce.is_empty() {
            let count = self.options.reduce.len();
            quote! {
                let places = partials.begin_on_device(entity_count, #count);
                let blocks = ::karman_backend::blocks(places.blocks);
            }
        } else {
            let per_thread = self.per_thread();
            let threads = match self.options.split_sums {
                true => quote!(entity_count * parts),
                false => quote!(entity_count),
            };
            quote! {
                if entity_count == 0 {
                    return;
                }
                let blocks = device.entity_blocks(#threads, #per_thread);
            }
        };
        let computed = self.options.computed.as_ref().map(
            |ComputedScalar { sums, .. }| quote!(let (computed, sums_blocks) = computed.few(device, #sums);),
        );
        let gather = (!self.options.reduce.is_empty()).then(|| {
            let count = self.options.reduce.len();
            quote!(partials.gather_on_device(backend, #count);)
        });
        quote! {
            #geometry
            #computed
            // SAFETY: every index an entity function forms comes from connectivity checked when the
            // mesh or the matrix was built; buffers are at least as long as their declared length.
            unsafe {
                #kernel::launch_unchecked #turbofish (
                    device.client(), blocks, ::karman_backend::block_size(), #(#arguments),*
                );
            }
            #gather
        }
    }
}

/// `Vec3::<F>` of the type `Vec3<F>`.
fn struct_path(ty: &Type) -> TokenStream {
    let Type::Path(path) = ty else { return quote!(#ty) };
    let mut path = path.path.clone();
    if let Some(last) = path.segments.last_mut()
        && let PathArguments::AngleBracketed(list) = &mut last.arguments
    {
        list.colon2_token = Some(Default::default());
    }
    quote!(#path)
}
