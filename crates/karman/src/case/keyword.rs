//! Choices spelled as words in a case file.

/// Declares an enum whose variants are words of the case file: `WORDS`, `word`, `from_word` and a
/// reader that names the valid words.
macro_rules! keyword {
    (
        $(#[$about:meta])*
        pub enum $name:ident { $($(#[$meaning:meta])* $variant:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$meaning])* $variant),+ }

        impl $name {
            /// The words of a case file, in the order of the variants.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word of a case file for this choice.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The choice a word stands for.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        super::keyword::word_reader!($name, $name::WORDS, $name::from_word);
    };
}
pub(super) use keyword;

/// Declares the reader of a type that is one of some words, which names the valid ones.
macro_rules! word_reader {
    ($name:ty, $words:expr, $from_word:path) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Word;
                impl serde::de::Visitor<'_> for Word {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "one of \"{}\"", $words.join("\", \""))
                    }

                    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<$name, E> {
                        $from_word(word).ok_or_else(|| E::unknown_variant(word, $words))
                    }
                }
                deserializer.deserialize_str(Word)
            }
        }
    };
}
pub(super) use word_reader;
