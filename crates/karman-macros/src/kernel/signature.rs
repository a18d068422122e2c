//! What the arguments of the attribute and the entity function's signature say.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, FnArg, GenericArgument, Ident, ItemFn, Pat, PathArguments, ReturnType, Token,
    Type, parenthesized,
};

/// `name, update(a, b), out(c), reduce(sum), combine(max), given(p = f(2, v)), indexed, unroll(4),
/// parts, usual(kind = Kind::Common)`
pub(super) struct Options {
    pub(super) name: Ident,
    pub(super) update: Vec<Ident>,
    pub(super) out: Vec<Ident>,
    pub(super) reduce: Vec<Ident>,
    pub(super) combine: Vec<Ident>,
    pub(super) given: Option<Given>,
    pub(super) indexed: bool,
    pub(super) unroll: Option<syn::LitInt>,
    pub(super) parts: bool,
    /// A comptime parameter, and the value that host loops are compiled for.
    pub(super) usual: Option<(Ident, syn::Expr)>,
}

/// `parameter = function(sums, argument, …)`: a parameter that `function` makes, once, of the finished
/// sums of earlier kernels' partials and of other parameters.
pub(super) struct Given {
    pub(super) parameter: Ident,
    pub(super) function: Ident,
    pub(super) sums: usize,
    pub(super) arguments: Vec<Ident>,
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
            parts: false,
            usual: None,
        };
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let key: Ident = input.parse()?;
            if key == "indexed" {
                options.indexed = true;
                continue;
            }
            if key == "parts" {
                options.parts = true;
                continue;
            }
            let inside;
            parenthesized!(inside in input);
            if key == "unroll" {
                options.unroll = Some(inside.parse()?);
                continue;
            }
            if key == "usual" {
                let name = inside.parse()?;
                inside.parse::<Token![=]>()?;
                options.usual = Some((name, inside.parse()?));
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
                    let known = "expected update, out, reduce, combine, given, indexed, unroll, \
                                 parts or usual";
                    return Err(Error::new_spanned(key, known));
                }
            }
        }
        let alone = options.combine.is_empty() && options.reduce.is_empty();
        if options.parts && !(alone && !options.indexed && options.unroll.is_none()) {
            let message = "parts goes with update, out and given alone";
            return Err(Error::new_spanned(&options.name, message));
        }
        Ok(options)
    }
}

/// What a parameter of the entity function is.
pub(super) enum Role {
    Index,
    Entity,
    Reduced,
    Given,
    Input(Type),
    Segment(Type),
    Update(Type),
    Comptime(Type),
    Scalar(Type),
    /// Which part of the entity's terms a thread adds.
    Part,
    /// In how many parts they are added.
    Parts,
}

pub(super) struct Parameter {
    pub(super) name: Ident,
    pub(super) role: Role,
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
pub(super) fn element_of(ty: &Type) -> (Type, bool) {
    if let Type::Path(path) = ty
        && let Some(last) = path.path.segments.last()
        && let Some(element) = first_argument(&last.arguments)
    {
        return (element, true);
    }
    (ty.clone(), false)
}

pub(super) fn parameters(function: &ItemFn, options: &Options) -> syn::Result<Vec<Parameter>> {
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
        } else if options.parts && k == 1 {
            Role::Part
        } else if options.parts && name == "parts" {
            Role::Parts
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

pub(super) fn returned(function: &ItemFn) -> Vec<Type> {
    match &function.sig.output {
        ReturnType::Default => vec![],
        ReturnType::Type(_, ty) => match &**ty {
            Type::Tuple(tuple) => tuple.elems.iter().cloned().collect(),
            other => vec![other.clone()],
        },
    }
}
