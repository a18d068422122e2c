//! A mesh report as text.

use super::{ComponentReport, FaultyCells, Histogram, MeshReport, TopologyReport};
use std::fmt::{Display, Formatter, Result};

const BAR: usize = 40;

impl Display for Histogram {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Histogram { from, counts, min, max, mean } = self;
        writeln!(out, "min {min:.4}, mean {mean:.4}, max {max:.4}")?;
        let largest = counts.iter().copied().max().unwrap_or(0).max(1);
        for (i, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let end = from.get(i + 1).map_or("above".to_string(), |end| format!("to {end}"));
            // Rounded up: a bin with a value has at least one mark.
            let bar = "#".repeat((count * BAR).div_ceil(largest));
            writeln!(out, "    {:>6} {end:<7} {count:>10}  {bar}", from[i])?;
        }
        Ok(())
    }
}

fn faults(out: &mut Formatter<'_>, title: &str, cells: &FaultyCells) -> Result {
    writeln!(out, "{title}: {}", cells.count)?;
    for name in &cells.first {
        writeln!(out, "  {name}")?;
    }
    if cells.count > cells.first.len() {
        writeln!(out, "  and {} more", cells.count - cells.first.len())?;
    }
    Ok(())
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_string(), |value| format!("{value:.6e}"))
}

impl Display for MeshReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let flat = self.dimension == 2;
        let (volume, area) = if flat { ("area", "length") } else { ("volume", "area") };
        writeln!(out, "{}D mesh: {} nodes, {} cells", self.dimension, self.nodes, self.cells)?;
        for (shape, count) in &self.by_element {
            writeln!(out, "  {shape:<14} {count:>10}")?;
        }
        if let Some([low, high]) = self.bounding_box {
            for (k, axis) in ["x", "y", "z"].into_iter().enumerate().take(self.dimension) {
                writeln!(out, "  {axis} from {} to {}", low[k], high[k])?;
            }
        }
        writeln!(out, "Regions                    cells  {volume}")?;
        for region in &self.regions {
            writeln!(out, "  {:<20} {:>10}  {}", region.name, region.cells, number(region.volume))?;
        }
        writeln!(out, "Patches                 elements       faces  {area}")?;
        for patch in &self.patches {
            let faces = patch.faces.map_or("-".to_string(), |faces| faces.to_string());
            let (name, elements, area) = (&patch.name, patch.elements, number(patch.area));
            writeln!(out, "  {name:<20} {elements:>10}  {faces:>10}  {area}")?;
        }
        writeln!(out, "Nodes of no cell: {}", self.orphan_nodes)?;
        faults(out, "Inverted or flat cells", &self.inverted_cells)?;
        faults(out, "Duplicate cells", &self.duplicate_cells)?;
        if let Some(connected) = &self.connected {
            write!(out, "{connected}")?;
        }
        for warning in &self.warnings {
            writeln!(out, "Warning: {warning}")?;
        }
        match &self.error {
            Some(error) => writeln!(out, "Error: {error}"),
            None => {
                writeln!(out, "To begin a heat case:\n{}", self.boundary.heat)?;
                write!(out, "To begin an incompressible case:\n{}", self.boundary.incompressible)
            }
        }
    }
}

impl Display for TopologyReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let TopologyReport { faces, interior_faces, edges, volume, closure, .. } = self;
        let [min, max] = self.cell_volume;
        writeln!(out, "Faces: {faces}, of which {interior_faces} interior; edges: {edges}")?;
        writeln!(out, "Cell volumes: sum {volume:.6e}, from {min:.4e} to {max:.4e}")?;
        writeln!(
            out,
            "Closure, the largest sum of a cell's face areas over its surface: {closure:.1e}"
        )?;
        write!(out, "Quality (mean ratio, 1 ideal): {}", self.quality)?;
        write!(out, "Non-orthogonality, degrees: {}", self.nonorthogonality_deg)?;
        write!(out, "Volume ratio of neighbours: {}", self.volume_ratio)?;
        for (title, found) in [
            ("Cells of quality below 0.05", &self.poor_cells),
            ("Faces of non-orthogonality above 80°", &self.nonorthogonal_faces),
            ("Cells alone between opposite boundaries", &self.thin_cells),
            ("Flat cells among cells of other sizes", &self.flat_cells),
        ] {
            if found.count > 0 {
                faults(out, title, found)?;
            }
        }
        writeln!(
            out,
            "Cells whose face neighbours do not determine a gradient: {} of {}",
            self.grown_stencils,
            self.quality.counts.iter().sum::<usize>()
        )?;
        if self.dropped_directions.count > 0 {
            let title = "Cells without a gradient along some direction";
            faults(out, title, &self.dropped_directions)?;
        }
        if self.coincident_faces > 0 {
            writeln!(out, "Coincident boundary faces: {}", self.coincident_faces)?;
        }
        if !self.components.is_empty() {
            writeln!(out, "Connected components, the smallest first:")?;
        }
        for ComponentReport { cells, first } in &self.components {
            let s = if *cells == 1 { "" } else { "s" };
            writeln!(out, "  {cells} cell{s}, first {first}")?;
        }
        Ok(())
    }
}
