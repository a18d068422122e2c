//! Float literals in bodies that are generic over a number: `1.0` becomes `F::literal(1.0)`.

use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprCall, ExprMacro, GenericParam, Generics, Ident, Lit, Pat, TypeParamBound,
};

/// The first type parameter bounded by `Real`.
pub(crate) fn number(generics: &Generics) -> Option<Ident> {
    generics.params.iter().find_map(|p| match p {
        GenericParam::Type(t)
            if t.bounds.iter().any(|b| match b {
                TypeParamBound::Trait(t) => {
                    t.path.segments.last().is_some_and(|s| s.ident == "Real")
                }
                _ => false,
            }) =>
        {
            Some(t.ident.clone())
        }
        _ => None,
    })
}

pub(crate) fn rewrite(generics: &Generics, outer: Option<&Ident>, block: &mut Block) {
    if let Some(number) = number(generics).or_else(|| outer.cloned()) {
        Literals { number }.visit_block_mut(block);
    }
}

struct Literals {
    number: Ident,
}

impl VisitMut for Literals {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        if let Expr::Lit(lit) = e
            && let Lit::Float(float) = &lit.lit
            && float.suffix().is_empty()
        {
            let number = &self.number;
            let float = float.clone();
            *e = syn::parse_quote_spanned!(float.span()=> #number::literal(#float));
            return;
        }
        visit_mut::visit_expr_mut(self, e);
    }

    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        // `literal` takes its argument as it is written.
        if let Expr::Path(p) = &*call.func
            && p.path.segments.last().is_some_and(|s| s.ident == "literal")
        {
            return;
        }
        visit_mut::visit_expr_call_mut(self, call);
    }

    fn visit_expr_macro_mut(&mut self, _: &mut ExprMacro) {}
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
}
