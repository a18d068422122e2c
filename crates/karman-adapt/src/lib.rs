//! Anisotropic adaptation of meshes of triangles and tetrahedra to a metric.
//!
//! [`adapt`] changes a mesh until its edges have the length 1 in a metric and its cells are equilateral there: edges are split,
//! collapsed and swapped, faces swapped, vertices moved. Boundary patches, regions, ridges and corners are kept, and cells that are no simplices. Each change keeps
//! every cell positively oriented, by an exact test. The result is the same for any number of threads.
//! [`FieldSampler`] and [`ConservativeTransfer`] take fields to the new mesh; in the cells kept they stay as they are.

mod background;
mod change;
mod collapse;
mod complex;
mod driver;
mod energy;
mod error;
mod field;
mod given_mesh;
mod hessian;
mod kept;
mod kept_parts;
mod mesh;
mod metric;
mod metric_file;
mod node_set;
mod normals;
mod operation;
mod quality;
mod report;
mod simplices;
mod smooth;
pub mod smoothing;
mod split;
mod surface;
mod swap;
mod tensor_field;
mod transfer;
mod vector;
mod vertex_kind;
mod vertex_lists;
mod walk;

#[cfg(test)]
mod tests;

pub use background::NodalMetric;
pub use driver::{AdaptOptions, Adapted, adapt, adapt_around_frozen};
pub use energy::LengthPenalty;
pub use error::AdaptError;
pub use field::{AnalyticMetric, MetricField};
pub use hessian::{
    FieldSamples, HessianOptions, absolute_hessians, intersect_hessians, limit_gradation,
    metric_of_field, metric_of_hessians,
};
pub use kept_parts::KeptParts;
pub use mesh::check_mesh;
pub use metric::{Eigen, Metric};
pub use metric_file::{mesh_of_result, metrics_of_file};
pub use quality::{
    LENGTH_RANGE, Vertex, edge_length, mean_ratio, oriented_measure, size_and_shape,
};
pub use report::{FitReport, Histogram};
pub use smoothing::{
    MeshQuality, MetricGrid, MetricLookup, SmoothOptions, SmoothReport, Smoothed, Smoother,
    VertexSmoother, smooth_by_colours,
};
pub use tensor_field::metrics_of_tensors;
pub use transfer::{ConservativeTransfer, Conserved, FieldSampler, Limiter};
