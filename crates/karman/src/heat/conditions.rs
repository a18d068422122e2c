//! Thermal boundary conditions: their keys in a case. Their data are those of any scalar, [`BoundaryCondition`].

use crate::descriptor::{ConditionKey, Entry, KeyValue, Quantity, Sign, ValueTable};
use crate::finite_volume::BoundaryCondition;

const CONVECTION: ValueTable = ValueTable {
    section: "boundary.PATCH.convection",
    meaning: "Heat transfer to a fluid outside.",
    entries: &[
        Entry {
            name: "coefficient",
            quantity: Quantity::new("coefficient").with_sign(Sign::NotNegative),
            units: "W/(m² K)",
            meaning: "Heat transfer coefficient h.",
            example: "coefficient = 10.0",
        },
        Entry {
            name: "ambient",
            quantity: Quantity::new("ambient"),
            units: "K",
            meaning: "Temperature T∞ of the fluid.",
            example: "ambient = \"293 + 5*sin(2*pi*t/86400)\"",
        },
    ],
};

impl<V: Clone + 'static> BoundaryCondition<V> {
    /// The keys of thermal conditions.
    pub const KEYS: &'static [ConditionKey<V, Self>] = &[
        ConditionKey {
            name: "temperature",
            value: KeyValue::Scalar(Quantity::new("…"), BoundaryCondition::Dirichlet),
            units: "K",
            meaning: "Dirichlet: prescribed temperature.",
            example: "zmax.temperature = \"600 + 100*sin(2*pi*t/24)\"",
        },
        ConditionKey {
            name: "heat_flux",
            value: KeyValue::Scalar(Quantity::new("…"), BoundaryCondition::Neumann),
            units: "W/m²",
            meaning: "Neumann: heat flux density into the domain, k ∂T/∂n.",
            example: "zmax.heat_flux = 1e3",
        },
        ConditionKey {
            name: "convection",
            value: KeyValue::Table(CONVECTION, |values| BoundaryCondition::Robin {
                coefficient: values[0].clone(),
                ambient: values[1].clone(),
            }),
            units: "",
            meaning: "Robin: k ∂T/∂n = h (T∞ − T), a fluid outside.",
            example: "zmax.convection = { coefficient = 10.0, ambient = 293.0 }",
        },
        ConditionKey {
            name: "insulated",
            value: KeyValue::Flag(|_| BoundaryCondition::ZeroGradient),
            units: "",
            meaning: "Zero heat flux.",
            example: "zmax.insulated = true",
        },
    ];
}
