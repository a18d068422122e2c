//! Imports of a file with entity functions: the attributes, [`Real`] and its vectors, and those items of CubeCL that have
//! equal meaning on the host.

#[cfg(not(feature = "device"))]
pub use crate::comptime;
#[cfg(not(feature = "device"))]
pub use crate::no_device::IntoRuntime;
#[cfg(not(feature = "device"))]
pub use crate::no_device::NumberOnDevice;
pub use crate::real::Real;
#[cfg(feature = "device")]
pub use crate::real_device::NumberOnDevice;
#[cfg(feature = "device")]
pub use crate::real_device::RealExpand;
#[cfg(feature = "device")]
pub use cubecl::prelude::{
    AddAssignExpand, AddExpand, AndExpand, AsDerefExpand, AsDerefMutExpand, AsMutExpand,
    AsRefExpand, Assign, BitAndExpand, BitOrExpand, BitXorExpand, Cast, CubePrimitive, CubeType,
    CubeTypeMut, DivAssignExpand, DivExpand, IndexExpand, IndexMutExpand, IntoRuntime,
    MulAssignExpand, MulExpand, NegExpand, NotExpand, OrExpand, PartialEqExpand, PartialOrdExpand,
    RemExpand, ShlExpand, ShrExpand, SubAssignExpand, SubExpand, comptime,
};
pub use karman_macros::{Components, Group, Linear, device, kernel};
