//! The attribute `kernel`: parsing of its arguments and of the entity function's signature, and the
//! generation of the dispatch function and the device kernel.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, FnArg, GenericArgument, GenericParam, Ident, ItemFn, Pat, PathArguments,
    ReturnType, Token, Type, parenthesized,
};

/// `name, update(a, b), out(c), reduce(sum), combine(max), given(p = f(2, v)), indexed, unroll(4)`
struct Options {
    name: Ident,
    update: Vec<Ident>,
    out: Vec<Ident>,
    reduce: Vec<Ident>,
    combine: Vec<Ident>,
    given: Option<Given>,
    indexed: bool,
    unroll: Option<syn::LitInt>,
}

/// `parameter = function(sums, argument, …)`: a parameter that `function` makes, once, of the finished
/// sums of earlier kernels' partials and of other parameters.
struct Given {
    parameter: Ident,
    function: Ident,
    sums: usize,
    arguments: Vec<Ident>,
}

impl Parse for Given {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let parameter = input.parse()?;
        input.parse::<Token![=]>()?;
        let function = input.parse()?;
        let inside;
        parenthesized!(inside in input);
        let sums = inside.parse::<syn::LitInt>()?.base10_parse()?;
        let mut arguments = vec![];
        while inside.parse::<Option<Token![,]>>()?.is_some() && !inside.is_empty() {
            arguments.push(inside.parse()?);
        }
        Ok(Given { parameter, function, sums, arguments })
    }
}

impl Parse for Options {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut options = Options {
            name: input.parse()?,
            update: vec![],
            out: vec![],
            reduce: vec![],
            combine: vec![],
            given: None,
            indexed: false,
            unroll: None,
        };
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let key: Ident = input.parse()?;
            if key == "indexed" {
                options.indexed = true;
                continue;
            }
            let inside;
            parenthesized!(inside in input);
            if key == "unroll" {
                options.unroll = Some(inside.parse()?);
                continue;
            }
            if key == "given" {
                options.given = Some(inside.parse()?);
                continue;
            }
            let list: Vec<Ident> =
                Punctuated::<Ident, Token![,]>::parse_terminated(&inside)?.into_iter().collect();
            match key.to_string().as_str() {
                "update" => options.update = list,
                "out" => options.out = list,
                "reduce" => options.reduce = list,
                "combine" => options.combine = list,
                _ => {
                    let known = "expected update, out, reduce, combine, given, indexed or unroll";
                    return Err(Error::new_spanned(key, known));
                }
            }
        }
        Ok(options)
    }
}

/// What a parameter of the entity function is.
enum Role {
    Index,
    Entity,
    Reduced,
    Given,
    Input(Type),
    Segment(Type),
    Update(Type),
    Comptime(Type),
    Scalar(Type),
}

struct Parameter {
    name: Ident,
    role: Role,
}

pub(crate) fn expand(attributes: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let options: Options = syn::parse2(attributes)?;
    let function: ItemFn = syn::parse2(item)?;
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
    let mut inner = function.clone();
    inner.attrs.retain(|a| a.path().is_ident("doc"));
    if !inner.attrs.iter().any(|a| a.path().is_ident("doc")) {
        let doc = format!("Entity function of [`{}`].", options.name);
        inner.attrs.push(syn::parse_quote!(#[doc = #doc]));
    }
    // Parameters that only the given one is made of.
    let unused = options.given.is_some().then(|| quote!(#[allow(unused_variables)]));
    Ok(quote! {
        #[cubecl::prelude::cube]
        #unused
        #[allow(clippy::too_many_arguments)]
        #[inline(always)]
        #inner
        #device
        #dispatch
    })
}

fn is_comptime(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|a| a.path().is_ident("comptime"))
}

/// `T` of `&View<T>` or `&mut Segment<T>`.
fn element_behind(ty: &Type, wrapper: &str) -> Option<Type> {
    let Type::Reference(reference) = ty else { return None };
    let Type::Path(path) = &*reference.elem else { return None };
    let last = path.path.segments.last()?;
    if last.ident != wrapper {
        return None;
    }
    first_argument(&last.arguments)
}

fn first_argument(arguments: &PathArguments) -> Option<Type> {
    let PathArguments::AngleBracketed(list) = arguments else { return None };
    list.args.iter().find_map(|a| match a {
        GenericArgument::Type(t) => Some(t.clone()),
        _ => None,
    })
}

/// The scalar a value is made of (`F` of `Vec3<F>`), and whether it is a struct.
fn element_of(ty: &Type) -> (Type, bool) {
    if let Type::Path(path) = ty
        && let Some(last) = path.path.segments.last()
        && let Some(element) = first_argument(&last.arguments)
    {
        return (element, true);
    }
    (ty.clone(), false)
}

fn parameters(function: &ItemFn, options: &Options) -> syn::Result<Vec<Parameter>> {
    let mut list = vec![];
    for (k, argument) in function.sig.inputs.iter().enumerate() {
        let FnArg::Typed(typed) = argument else {
            return Err(Error::new_spanned(argument, "an entity function takes no self"));
        };
        let Pat::Ident(pattern) = &*typed.pat else {
            return Err(Error::new_spanned(&typed.pat, "expected a name"));
        };
        let name = pattern.ident.clone();
        let ty = (*typed.ty).clone();
        let role = if k < options.combine.len() {
            Role::Reduced
        } else if options.combine.is_empty() && k == 0 {
            Role::Index
        } else if options.indexed && k == 1 {
            Role::Entity
        } else if options.given.as_ref().is_some_and(|g| g.parameter == name) {
            Role::Given
        } else if options.update.contains(&name) {
            Role::Update(ty)
        } else if let Some(element) = element_behind(&ty, "View") {
            Role::Input(element)
        } else if let Some(element) = element_behind(&ty, "Segment") {
            Role::Segment(element)
        } else if is_comptime(&typed.attrs) {
            Role::Comptime(ty)
        } else {
            Role::Scalar(ty)
        };
        list.push(Parameter { name, role });
    }
    Ok(list)
}

fn returned(function: &ItemFn) -> Vec<Type> {
    match &function.sig.output {
        ReturnType::Default => vec![],
        ReturnType::Type(_, ty) => match &**ty {
            Type::Tuple(tuple) => tuple.elems.iter().cloned().collect(),
            other => vec![other.clone()],
        },
    }
}

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

    fn kernel_name(&self) -> Ident {
        format_ident!("{}_kernel", self.options.name)
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
    fn call(&self, argument: impl Fn(usize, &Parameter) -> TokenStream) -> TokenStream {
        let inner = &self.function.sig.ident;
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
        quote!(crate::backend::Reduction::#variant)
    }

    fn dispatch(&self) -> TokenStream {
        let Options { name, indexed, .. } = self.options;
        let vis = &self.function.vis;
        let generics = &self.function.sig.generics;
        let documentation = self.function.attrs.iter().filter(|a| a.path().is_ident("doc"));
        let combining = !self.options.combine.is_empty();
        let mut signature = vec![];
        if combining {
            signature.push(quote!(partials: &crate::backend::Partials));
        } else {
            signature.push(quote!(entity_count: usize));
        }
        if *indexed {
            signature.push(quote!(list: &crate::backend::Buffer<u32>));
        }
        if self.options.given.is_some() {
            signature.push(quote!(given: &mut crate::backend::Partials));
        }
        for Parameter { name, role } in &self.parameters {
            match role {
                Role::Input(t) => signature.push(quote!(#name: &crate::backend::Buffer<#t>)),
                Role::Segment(t) => {
                    signature.push(quote!(#name: &mut crate::backend::Buffer<#t>));
                }
                Role::Update(t) => {
                    let (element, _) = element_of(t);
                    signature.push(quote!(#name: &mut crate::backend::Buffer<#element>));
                }
                Role::Comptime(t) | Role::Scalar(t) => signature.push(quote!(#name: #t)),
                Role::Index | Role::Entity | Role::Reduced | Role::Given => {}
            }
        }
        for (name, ty) in self.stores().into_iter().skip(self.options.update.len()) {
            let (element, _) = element_of(ty);
            signature.push(quote!(#name: &mut crate::backend::Buffer<#element>));
        }
        if !self.options.reduce.is_empty() {
            signature.push(quote!(partials: &mut crate::backend::Partials));
        }
        let host = self.host_body();
        let device = self.device_launch();
        quote! {
            #(#documentation)*
            #[allow(clippy::too_many_arguments, unsafe_code)]
            #vis fn #name #generics (backend: &crate::backend::Backend, #(#signature),*) {
                match backend.device() {
                    None => { #host }
                    Some(device) => { #device }
                }
            }
        }
    }

    fn host_body(&self) -> TokenStream {
        let indexed = self.options.indexed;
        let combining = !self.options.combine.is_empty();
        let mut bindings = vec![];
        for Parameter { name, role } in &self.parameters {
            match role {
                Role::Input(_) => bindings.push(quote!(let #name = #name.view();)),
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
                    let #stride = #name.len() / <#ty as crate::backend::Components>::COUNT;
                });
            }
        }
        let call = self.call(|k, Parameter { name, role }| match role {
            Role::Index => quote!(index),
            Role::Entity => quote!(entity),
            Role::Reduced => quote!(reduced[#k]),
            Role::Segment(_) => quote!(&mut crate::backend::Segment::on_host(#name)),
            Role::Update(t) => {
                let stride = format_ident!("{name}_stride");
                if element_of(t).1 {
                    quote!(<#t as crate::backend::Components>::load(#name, entity, #stride))
                } else {
                    quote!(#name.get(entity))
                }
            }
            _ => quote!(#name),
        });
        let values = self.value_names();
        let stores = self.stores().into_iter().zip(&values).map(|((name, ty), value)| {
            let stride = format_ident!("{name}_stride");
            if element_of(ty).1 {
                quote!(crate::backend::Components::store(#value, #name, entity, #stride);)
            } else {
                quote!(#name.set(entity, #value);)
            }
        });
        let entity = if indexed {
            quote!(let entity = list[index] as usize;)
        } else {
            quote!(let entity = index;)
        };
        if let Some(Given { sums, .. }) = &self.options.given {
            let sum = self.given(
                |k| quote!(given[#k]),
                |p| {
                    let name = &p.name;
                    quote!(#name)
                },
            );
            bindings.push(quote! {
                let given = given.combine_on_host([crate::backend::Reduction::Sum; #sums]);
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
        if operations.is_empty() {
            quote! {
                #(#bindings)*
                crate::backend::for_each_entity(entity_count, |index| { #entity #call #(#stores)* });
            }
        } else {
            let first = self.options.update.len() + self.options.out.len();
            let contributions = values[first..].iter().map(|v| quote!(Into::<f64>::into(#v)));
            quote! {
                #(#bindings)*
                partials.reduce_on_host(entity_count, [#(#operations),*], |index| {
                    #entity #call #(#stores)* [#(#contributions),*]
                });
            }
        }
    }

    /// The binding of the given parameter, from the expressions of its sums and arguments.
    fn given(
        &self,
        sum: impl Fn(usize) -> TokenStream,
        argument: impl Fn(&Parameter) -> TokenStream,
    ) -> TokenStream {
        let Some(Given { parameter, function, sums, arguments }) = &self.options.given else {
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

    /// The given parameter in the device kernel, where every plane adds the few block results.
    fn device_given(&self) -> TokenStream {
        let Some(Given { sums, .. }) = &self.options.given else { return quote!() };
        let totals: Vec<_> = (0..*sums).map(|k| format_ident!("given_{k}")).collect();
        let place = 0..*sums;
        let given = self.given(
            |k| {
                let total = &totals[k];
                quote!(#total)
            },
            |Parameter { name, role }| match role {
                Role::Input(t) => quote!(crate::backend::View::<#t>::of(#name)),
                _ => quote!(#name),
            },
        );
        quote! {
            #(let #totals = crate::backend::sum_of_blocks(
                given, #place * given_blocks, given_blocks, planes,
            );)*
            #given
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
        if self.options.given.is_some() {
            signature.push(quote!(given: &[f64]));
            signature.push(quote!(given_blocks: usize));
            arguments.push(quote!(given.arg()));
            arguments.push(quote!(given_blocks));
        }
        for Parameter { name, role } in &self.parameters {
            match role {
                Role::Input(t) => {
                    signature.push(quote!(#name: &[#t]));
                    arguments.push(quote!(#name.arg()));
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
                arguments.push(quote!(#name.len() / <#ty as crate::backend::Components>::COUNT));
            }
        }
        if !self.options.reduce.is_empty() {
            signature.push(quote!(partials: &mut [f64]));
            arguments.push(quote!(partials.values().arg()));
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
        if !self.operations().is_empty() {
            signature.push(quote!(#[comptime] threads: usize));
            arguments.push(quote!(crate::backend::THREADS_PER_BLOCK));
        }
        if !self.operations().is_empty() || self.options.given.is_some() {
            signature.push(quote!(#[comptime] planes: bool));
            arguments.push(quote!(device.has_planes()));
        }
        (signature, arguments)
    }

    fn device_call(&self) -> TokenStream {
        let call = self.call(|k, Parameter { name, role }| match role {
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
            Role::Input(t) => quote!(crate::backend::View::<#t>::of(#name)),
            Role::Segment(t) => quote!(crate::backend::Segment::<#t>::of(#name)),
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
        quote!(#entity #call #(#stores)*)
    }

    /// Entities each thread takes at a time.
    fn per_thread(&self) -> TokenStream {
        self.options.unroll.as_ref().map_or(quote!(1), |u| quote!(#u))
    }

    /// `body` for the entities `start + k step`, k below the unroll factor. Away from the end no
    /// entity is tested, so that all their loads can be in flight at once.
    fn unrolled(&self, start: TokenStream, step: TokenStream, body: &TokenStream) -> TokenStream {
        let Some(factor) = &self.options.unroll else {
            return quote!(let index = #start; #body);
        };
        let last = factor.base10_parse::<usize>().unwrap_or(1) - 1;
        quote! {
            if #start + #last * (#step) < entity_count {
                #[unroll]
                for k in 0..#factor {
                    let index = #start + k * (#step);
                    #body
                }
            } else {
                #[unroll]
                for k in 0..#factor {
                    let index = #start + k * (#step);
                    if index < entity_count {
                        #body
                    }
                }
            }
        }
    }

    fn device_kernel(&self) -> TokenStream {
        let kernel = self.kernel_name();
        let generics = &self.function.sig.generics;
        let (signature, _) = self.device_parameters();
        let given = self.device_given();
        let body = self.device_call();
        let operations: Vec<_> = self.operations().iter().map(Self::operation).collect();
        let count = 0..operations.len();
        let body = if !self.options.combine.is_empty() {
            let reduced = count.clone().map(|k| format_ident!("reduced_{k}"));
            quote! {
                #(let #reduced = crate::backend::combine_block(
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
                #(#totals = crate::backend::accumulate(
                    #totals, f64::cast_from(#values), #operations);)*
            };
            let unrolled =
                self.unrolled(quote!(first_entity), quote!(entities_in_flight), &reduced_body);
            let per_thread = self.per_thread();
            quote! {
                #(let mut #totals = crate::backend::identity(#operations);)*
                let entities_in_flight = CUBE_COUNT * threads;
                let mut first_entity = ABSOLUTE_POS;
                while first_entity < entity_count {
                    #unrolled
                    first_entity += entities_in_flight * #per_thread;
                }
                #(
                    let block = crate::backend::reduce_block(#totals, #operations, threads, planes);
                    if UNIT_POS == 0 {
                        partials[#count * CUBE_COUNT + CUBE_POS] = block;
                    }
                )*
            }
        } else if self.options.unroll.is_some() {
            let unrolled = self.unrolled(quote!(first_entity), quote!(CUBE_DIM as usize), &body);
            let per_thread = self.per_thread();
            quote! {
                let first_entity =
                    CUBE_POS * (CUBE_DIM as usize) * #per_thread + UNIT_POS as usize;
                #unrolled
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
            #[cubecl::prelude::cube(launch_unchecked)]
            // Device code alone: `cast_from` never runs on the host.
            #[allow(clippy::too_many_arguments, clippy::disallowed_methods)]
            #[allow(unsafe_code, missing_docs, unused_variables)]
            fn #kernel #generics (#(#signature),*) {
                #given
                #body
            }
        }
    }

    fn device_launch(&self) -> TokenStream {
        let kernel = self.kernel_name();
        let turbofish = self.turbofish();
        let (_, arguments) = self.device_parameters();
        let geometry = if !self.options.combine.is_empty() {
            quote!(let blocks = crate::backend::one_block();)
        } else if !self.options.reduce.is_empty() {
            let count = self.options.reduce.len();
            quote! {
                let blocks = device.reduction_blocks(entity_count);
                partials.set_block_count(blocks, #count);
                let blocks = crate::backend::blocks(blocks);
            }
        } else {
            let per_thread = self.per_thread();
            quote! {
                if entity_count == 0 {
                    return;
                }
                let blocks = device.entity_blocks(entity_count, #per_thread);
            }
        };
        let given = self.options.given.as_ref().map(
            |Given { sums, .. }| quote!(let (given, given_blocks) = given.few(device, #sums);),
        );
        quote! {
            #geometry
            #given
            // SAFETY: every index an entity function forms comes from connectivity checked when the
            // mesh or the matrix was built; buffers are at least as long as their declared length.
            unsafe {
                #kernel::launch_unchecked #turbofish (
                    device.client(), blocks, crate::backend::block_size(), #(#arguments),*
                );
            }
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
