//! Types of numbers and the encoding of the arrays of a VTU file.

/// A number's type by its name in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NumberType {
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    #[default]
    UInt32,
    UInt64,
}

impl NumberType {
    pub(super) fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "Float32" => NumberType::Float32,
            "Float64" => NumberType::Float64,
            "Int8" => NumberType::Int8,
            "Int16" => NumberType::Int16,
            "Int32" => NumberType::Int32,
            "Int64" => NumberType::Int64,
            "UInt8" => NumberType::UInt8,
            "UInt16" => NumberType::UInt16,
            "UInt32" => NumberType::UInt32,
            "UInt64" => NumberType::UInt64,
            _ => return None,
        })
    }

    pub(super) fn is_real(self) -> bool {
        matches!(self, NumberType::Float32 | NumberType::Float64)
    }
}

/// How the binary arrays of a file are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Encoding {
    pub(super) big_endian: bool,
    /// Type of the numbers of a header: `UInt32` or `UInt64`.
    pub(super) header: NumberType,
    pub(super) compressed: bool,
}
