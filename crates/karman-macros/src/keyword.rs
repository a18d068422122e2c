//! The derive of `Keyword`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Lit, Meta, Variant};

pub(crate) fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let name = &input.ident;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(name, "Keyword needs an enum"));
    };
    let values = data.variants.iter().map(value).collect::<syn::Result<Vec<_>>>()?;
    let patterns: Vec<_> = data.variants.iter().map(pattern).collect();
    let words = data.variants.iter().map(word).collect::<syn::Result<Vec<_>>>()?;
    let meanings: Vec<String> = data.variants.iter().map(meaning).collect();
    let count = values.len();
    let expected = format!("one of \"{}\"", words.join("\", \""));
    Ok(quote! {
        impl #name {
            /// Every choice, in the order of [`Self::WORDS`].
            pub const ALL: [Self; #count] = [#(Self::#values),*];

            /// The words of a case file and of the command line.
            pub const WORDS: &'static [&'static str] = &[#(#words),*];

            /// The meaning of each word, its documentation.
            pub const MEANINGS: &'static [&'static str] = &[#(#meanings),*];

            /// The word for this choice.
            pub const fn word(self) -> &'static str {
                match self { #(Self::#patterns => #words),* }
            }

            /// The meaning of this choice.
            pub const fn meaning(self) -> &'static str {
                match self { #(Self::#patterns => #meanings),* }
            }

            /// The choice of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    #(#words => Some(Self::#values),)*
                    _ => None,
                }
            }
        }

        impl<'de> ::serde::Deserialize<'de> for #name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Word;
                impl ::serde::de::Visitor<'_> for Word {
                    type Value = #name;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str(#expected)
                    }

                    fn visit_str<E: ::serde::de::Error>(self, word: &str) -> Result<#name, E> {
                        #name::from_word(word).ok_or_else(|| E::unknown_variant(word, #name::WORDS))
                    }
                }
                deserializer.deserialize_str(Word)
            }
        }
    })
}

/// The variant with the fields of `#[with(…)]`.
fn value(variant: &Variant) -> syn::Result<TokenStream> {
    let name = &variant.ident;
    let attribute = variant.attrs.iter().find(|a| a.path().is_ident("with"));
    match (&variant.fields, attribute) {
        (Fields::Unit, None) => Ok(quote!(#name)),
        (Fields::Unit, Some(attribute)) => {
            Err(Error::new_spanned(attribute, "the variant has no fields"))
        }
        (_, None) => Err(Error::new_spanned(variant, "a variant with fields needs #[with(…)]")),
        (fields, Some(attribute)) => {
            let values = &attribute.meta.require_list()?.tokens;
            Ok(match fields {
                Fields::Named(_) => quote!(#name { #values }),
                _ => quote!(#name(#values)),
            })
        }
    }
}

/// The variant with any fields.
fn pattern(variant: &Variant) -> TokenStream {
    let name = &variant.ident;
    match &variant.fields {
        Fields::Unit => quote!(#name),
        Fields::Named(_) => quote!(#name { .. }),
        Fields::Unnamed(_) => quote!(#name(..)),
    }
}

/// The word of `#[word = "…"]`, or the variant's name in snake case.
fn word(variant: &Variant) -> syn::Result<String> {
    let Some(attribute) = variant.attrs.iter().find(|a| a.path().is_ident("word")) else {
        return Ok(snake_case(&variant.ident.to_string()));
    };
    if let Meta::NameValue(pair) = &attribute.meta
        && let syn::Expr::Lit(literal) = &pair.value
        && let Lit::Str(text) = &literal.lit
    {
        return Ok(text.value());
    }
    Err(Error::new_spanned(attribute, "expected #[word = \"…\"]"))
}

/// The first paragraph of the documentation of a variant, in one line.
fn meaning(variant: &Variant) -> String {
    let lines = variant.attrs.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            syn::Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn snake_case(name: &str) -> String {
    let mut word = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.extend(c.to_lowercase());
    }
    word
}
