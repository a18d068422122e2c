//! Words of a key that has one more word than the choice it stands for: `auto`, or a word that is refused with a
//! message of its own.

/// `first`, then `second`.
pub(crate) const fn joined<const N: usize>(
    first: &[&'static str],
    second: &[&'static str],
) -> [&'static str; N] {
    let mut words = [""; N];
    let mut k = 0;
    while k < N {
        words[k] = if k < first.len() { first[k] } else { second[k - first.len()] };
        k += 1;
    }
    words
}

/// A type for the words of `$choice` and of `$other`, which are read as `None`; `$first` and `$second` are the two
/// lists in the order of the reference.
macro_rules! choice_or_word {
    ($(#[$doc:meta])* $name:ident($choice:ty), $first:expr, $second:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(pub(crate) Option<$choice>);

        impl $name {
            pub(crate) const WORDS: &'static [&'static str] =
                &$crate::case::word::joined::<{ $first.len() + $second.len() }>($first, $second);
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Word;
                impl serde::de::Visitor<'_> for Word {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(formatter, "one of \"{}\"", $name::WORDS.join("\", \""))
                    }

                    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<$name, E> {
                        match $name::WORDS.contains(&word) {
                            true => Ok($name(<$choice>::from_word(word))),
                            false => Err(E::unknown_variant(word, $name::WORDS)),
                        }
                    }
                }
                deserializer.deserialize_str(Word)
            }
        }
    };
}

pub(crate) use choice_or_word;
