//! Pictures read back as PNG, pixel by pixel.

use super::*;
use crate::mesh::{CellShape, Elements};

/// A box of n³ hexahedra.
fn hexahedra(n: u32, size: [f64; 3]) -> (Vec<[f64; 3]>, Elements) {
    let at = |i, j, k| i + (n + 1) * (j + (n + 1) * k);
    let mut points = vec![];
    let mut cells = Elements::new();
    for (k, j, i) in triples(n + 1) {
        let share = [i, j, k].map(|index| f64::from(index) / f64::from(n));
        points.push([0, 1, 2].map(|axis: usize| share[axis] * size[axis]));
    }
    for (k, j, i) in triples(n) {
        let low = [at(i, j, k), at(i + 1, j, k), at(i + 1, j + 1, k), at(i, j + 1, k)];
        let high = low.map(|node| node + (n + 1) * (n + 1));
        cells.push(CellShape::Hexahedron, &[low, high].concat(), 0);
    }
    (points, cells)
}

fn triples(n: u32) -> impl Iterator<Item = (u32, u32, u32)> {
    (0..n * n * n).map(move |e| (e / n / n, e / n % n, e % n))
}

fn example(points: &[[f64; 3]]) -> Vec<f64> {
    points.iter().map(|p| 300.0 + 300.0 * (p[0] * p[0] + p[1] * p[1]).sqrt() / 1.5).collect()
}

#[test]
fn a_picture_is_a_png_with_the_colours_of_its_values() {
    let (points, cells) = hexahedra(8, [1.0; 3]);
    let slice = Slice::of_3d_mesh(&points, &cells, 2, 0.5);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("temperature.png");
    let values = example(&points);
    let of = PictureContent {
        title: "Unit cube, one hot face",
        note: "z = 0.5",
        ..PictureContent::of("temperature", PictureField::Nodes(&values))
    };
    write(&path, &slice, &of).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

    let (width, height, pixels) = draw(&path, &slice, &of).unwrap();
    let size: Vec<u8> = [width, height].iter().flat_map(|n| n.to_be_bytes()).collect();
    assert_eq!(bytes[16..24], size);
    let pixel = |x: u32, y: u32| {
        let at = 3 * (y * width + x) as usize;
        [pixels[at], pixels[at + 1], pixels[at + 2]]
    };
    let view = View::fit(slice.bounds().unwrap());
    let palette = Palette::new(300.0, 300.0 + 200.0 * 2f64.sqrt());
    let [x, y] = view.place([0.25, 0.5]).map(|pixels| pixels as u32);
    let expected = palette.colour(300.0 + 200.0 * (0.0625f64 + 0.25).sqrt());
    for (found, expected) in pixel(x, y).into_iter().zip(expected) {
        assert!(found.abs_diff(expected) <= 3, "{found} {expected}");
    }
    assert_eq!(pixel(2, 2), [255; 3]);
    let title = (0..width).flat_map(|x| (16..40).map(move |y| (x, y)));
    assert!(title.filter(|&(x, y)| pixel(x, y)[0] < 100).count() > 300, "the title is drawn");
}

#[test]
fn cells_have_one_colour_each() {
    let (points, cells) = hexahedra(2, [2.0, 1.0, 1.0]);
    let slice = Slice::of_3d_mesh(&points, &cells, 2, 0.25);
    let values: Vec<f64> = (0..8).map(f64::from).collect();
    let field = PictureField::Cells(&values);
    let of = PictureContent::of("number", field);
    let (width, _, pixels) = draw(Path::new("p.png"), &slice, &of).unwrap();
    let view = View::fit(slice.bounds().unwrap());
    let palette = Palette::new(0.0, 3.0);
    for (place, value) in [([0.5, 0.25], 0.0), ([1.1, 0.4], 1.0), ([1.9, 0.9], 3.0)] {
        let [x, y] = view.place(place).map(|pixels| pixels as usize);
        let at = 3 * (y * width as usize + x);
        assert_eq!(pixels[at..at + 3], palette.colour(value), "{place:?}");
    }
}

#[test]
fn thin_slices_and_constant_fields_are_drawn() {
    for size in [[1.0, 1e-6, 1.0], [1e-6, 1.0, 1.0], [1e12, 1e11, 1.0]] {
        let (points, cells) = hexahedra(2, size);
        let slice = Slice::of_3d_mesh(&points, &cells, 2, 0.5);
        let values = vec![300.0; 8];
        let field = PictureField::Cells(&values);
        let of = PictureContent { title: "thin", ..PictureContent::of("temperature", field) };
        let (width, height, _) = draw(Path::new("p.png"), &slice, &of).unwrap();
        assert!(width <= 1300 && height <= 1000, "{width} {height}");
        assert!(width >= 400 && height >= 300, "{width} {height}");
    }
}

#[test]
fn pictures_that_cannot_be_drawn_are_refused() {
    let (points, cells) = hexahedra(1, [1.0; 3]);
    let write = |path: &Path, at: f64, field: PictureField<'_>| {
        let slice = Slice::of_3d_mesh(&points, &cells, 2, at);
        let of = PictureContent::of("a", field);
        super::write(path, &slice, &of).unwrap_err().to_string()
    };
    let path = Path::new("a.png");
    let one = PictureField::Cells(&[1.0]);
    assert_eq!(
        write(path, 2.0, one),
        "there is nothing to draw in a.png: the plane does not intersect the mesh"
    );
    assert_eq!(
        write(path, 0.5, PictureField::Cells(&[])),
        "a picture takes a value for each of 1 cells, 0 given"
    );
    assert_eq!(
        write(path, 0.5, PictureField::Nodes(&[1.0; 7])),
        "a picture takes a value for each of 8 nodes, 7 given"
    );
    let message = write(Path::new("no/such/folder/a.png"), 0.5, one);
    assert!(message.starts_with("cannot draw no/such/folder/a.png: "), "{message}");
}

#[test]
fn a_window_a_range_and_arrows_are_drawn() {
    let (points, cells) = hexahedra(4, [4.0, 4.0, 1.0]);
    let slice = Slice::of_3d_mesh(&points, &cells, 2, 0.5);
    let values: Vec<f64> = (0..64).map(|cell| f64::from(cell % 4)).collect();
    let of = PictureContent {
        range: Some([0.0, 2.0]),
        window: Some([[1.0, 0.5], [3.5, 3.0]]),
        ..PictureContent::of("number", PictureField::Cells(&values))
    };
    let view = View::fit(of.window.unwrap());
    let palette = Palette::new(0.0, 2.0);
    let colour = |of: &PictureContent<'_>, place: [f64; 2]| {
        let (width, _, pixels) = draw(Path::new("p.png"), &slice, of).unwrap();
        let [x, y] = view.place(place).map(|pixels| pixels as usize);
        let at = 3 * (y * width as usize + x);
        [pixels[at], pixels[at + 1], pixels[at + 2]]
    };
    for (place, value) in [([1.5, 1.5], 1.0), ([2.2, 2.5], 2.0), ([3.3, 1.5], 2.0)] {
        assert_eq!(colour(&of, place), palette.colour(value), "{place:?}");
    }
    for beside in [[0.9, 1.5], [1.5, 0.4], [3.6, 1.5]] {
        assert_ne!(colour(&of, beside), palette.colour(1.0), "nothing is drawn beside the window");
    }
    let outside = PictureContent { window: Some([[5.0, 0.0], [6.0, 1.0]]), ..of };
    let message = draw(Path::new("p.png"), &slice, &outside).unwrap_err().to_string();
    assert_eq!(
        message,
        "there is nothing to draw in p.png: `window` is outside the mesh, which spans 0 to 4 and 0 to 4"
    );
    // Ink of arrows, none where the field vanishes.
    let arrows: Vec<[f64; 2]> = (0..64).map(|cell| [f64::from(cell % 4 / 2), 0.0]).collect();
    let ink = |arrows: Option<&[[f64; 2]]>| {
        let of = PictureContent { window: None, arrows, ..of };
        let (width, height, pixels) = draw(Path::new("p.png"), &slice, &of).unwrap();
        let frame = View::fit(slice.bounds().unwrap());
        let half = (MARGIN_LEFT + frame.width / 2) as usize;
        let rows = MARGIN_TOP as usize + 4..(height - MARGIN_BOTTOM) as usize - 4;
        let count = |columns: std::ops::Range<usize>| {
            let inside = rows.clone().flat_map(|y| columns.clone().map(move |x| (x, y)));
            let dark = |(x, y): &(usize, usize)| {
                let at = 3 * (y * width as usize + x);
                pixels[at..at + 3].iter().all(|byte| *byte < 50)
            };
            inside.filter(dark).count()
        };
        let right = (MARGIN_LEFT + frame.width) as usize;
        [count(MARGIN_LEFT as usize + 4..half - 20), count(half + 20..right - 4)]
    };
    assert_eq!(ink(None), [0, 0]);
    let [left, right] = ink(Some(&arrows));
    assert!(left == 0 && right > 1000, "{left} {right}");
    let short = PictureContent { arrows: Some(&arrows[..9]), ..of };
    let message = draw(Path::new("p.png"), &slice, &short).unwrap_err().to_string();
    assert_eq!(message, "a picture takes a value for each of 32 cells, 9 given");
}

/// Pixels of the frame of a picture, with their colours.
fn pixels_in_frame(slice: &Slice, of: &PictureContent<'_>) -> Vec<[u8; 3]> {
    let view = View::fit(of.window.or(slice.bounds()).unwrap());
    let (width, _, bytes) = draw(Path::new("p.png"), slice, of).unwrap();
    let rows = MARGIN_TOP + 1..MARGIN_TOP + view.height - 1;
    let columns = || MARGIN_LEFT + 1..MARGIN_LEFT + view.width - 1;
    let places = rows.flat_map(|y| columns().map(move |x| 3 * (y * width + x) as usize));
    places.map(|at| [bytes[at], bytes[at + 1], bytes[at + 2]]).collect()
}

#[test]
fn regions_fill_the_shares_of_their_areas() {
    let (points, cells) = hexahedra(8, [1.0; 3]);
    let slice = Slice::of_3d_mesh(&points, &cells, 2, 0.3);
    // Three eighths of the section.
    let of_cells: Vec<u32> = (0..512).map(|cell| u32::from(cell % 8 < 3)).collect();
    let names = ["fluid".to_owned(), "a solid of a long name".to_owned()];
    let of = PictureContent::of("", PictureField::Regions { of_cells: &of_cells, names: &names });
    let pixels = pixels_in_frame(&slice, &of);
    let palette = Palette::of_regions(2);
    for (region, expected) in [(0.0, 0.625), (1.0, 0.375)] {
        let colour = palette.colour(region);
        let count = pixels.iter().filter(|pixel| **pixel == colour).count();
        let share = count as f64 / pixels.len() as f64;
        assert!((share - expected).abs() < 0.003, "{share} {expected}");
    }
    let (named, _, _) = draw(Path::new("p.png"), &slice, &of).unwrap();
    let one = PictureField::Regions { of_cells: &of_cells, names: &names[..1] };
    let (plain, _, _) = draw(Path::new("p.png"), &slice, &PictureContent::of("", one)).unwrap();
    assert!(named > plain + 90, "one region has no legend: {named} {plain}");
    let short = PictureField::Regions { of_cells: &of_cells[..9], names: &names };
    let message = draw(Path::new("p.png"), &slice, &PictureContent::of("", short)).unwrap_err();
    assert!(message.to_string().contains("cells, 9 given"), "{message}");
}

#[test]
fn lines_of_the_mesh_cover_their_length_times_their_width() {
    let (points, cells) = hexahedra(5, [1.0; 3]);
    let slice = Slice::of_3d_mesh(&points, &cells, 2, 0.5);
    let names = ["fluid".to_owned()];
    let field = PictureField::Regions { of_cells: &[0; 125], names: &names };
    let plain = PictureContent::of("", field);
    let lined = PictureContent { mesh_lines: true, ..plain };
    let red = |pixels: &[[u8; 3]]| pixels.iter().fold(0.0, |sum, pixel| sum + f64::from(pixel[0]));
    let (before, after) = (pixels_in_frame(&slice, &plain), pixels_in_frame(&slice, &lined));
    let ground = f64::from(Palette::of_regions(1).colour(0.0)[0]);
    let covered = (red(&before) - red(&after)) / (ground - mesh_lines::INK);
    // Four lines along each direction; 1 pixel beside the frame is left out.
    let side = (before.len() as f64).sqrt();
    let expected = 8.0 * side * mesh_lines::WIDTH;
    assert!((covered / expected - 1.0).abs() < 0.03, "{covered} {expected}");
    // Over a field the colours are paler, and lie where the bar shows them.
    let values: Vec<f64> = (0..125).map(f64::from).collect();
    let of = PictureContent {
        mesh_lines: true,
        ..PictureContent::of("number", PictureField::Cells(&values))
    };
    let pixels = pixels_in_frame(&slice, &of);
    let shown = slice.cells.iter().map(|cell| f64::from(*cell));
    let (low, high) = range_of(shown);
    let palette = Palette::new(low, high).paler();
    for value in [low, high] {
        let of_cell = pixels.iter().filter(|pixel| **pixel == palette.colour(value)).count();
        assert!(of_cell as f64 > 0.9 * side * side / 25.0, "{value}: {of_cell}");
    }
}

/// The line below the title of a narrow slice was cut off at the right.
#[test]
fn texts_above_a_narrow_slice_fit() {
    let (points, cells) = hexahedra(4, [0.2, 1.0, 3.0]);
    let values = example(&points);
    let slice = Slice::of_3d_mesh(&points, &cells, 0, 0.1);
    let of = PictureContent {
        title: "A channel",
        note: "x = 0.1, t = 1.25, 123456 cells, and more words",
        ..PictureContent::of("temperature", PictureField::Nodes(&values))
    };
    let (width, height, pixels) = draw(Path::new("a.png"), &slice, &of).unwrap();
    let column = |x: u32| (0..height).flat_map(move |y| [0, 1, 2].map(|k| 3 * (y * width + x) + k));
    for x in width - 8..width {
        assert!(column(x).all(|byte| pixels[byte as usize] == 255), "column {x} of {width}");
    }
    let short = PictureContent { note: "", ..of };
    assert!(draw(Path::new("a.png"), &slice, &short).unwrap().0 < width);
}
