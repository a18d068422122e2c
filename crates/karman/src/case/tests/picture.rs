//! Messages about `[output] picture`.

use super::*;

/// The message for a picture of a field.
fn refused(text: &str, keys: &str) -> String {
    let picture = format!("[output]\npicture = {{ {keys} }}\n");
    let text = text.replacen("[output]\n", &picture, 1);
    match parse(&text) {
        Ok(_) => panic!("accepted {keys}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn range_window_and_vectors() {
    let text = FLOW.replacen(
        "[output]",
        "[output]\npicture = { field = \"pressure\", range = [-1, 2.5], window = [0, 1, 2, 3], vectors = true }",
        1,
    );
    let picture = parse(&text).unwrap().output.picture.unwrap();
    assert_eq!(picture.range, Some([-1.0, 2.5]));
    assert_eq!(picture.window, Some([[0.0, 1.0], [2.0, 3.0]]));
    assert!(picture.vectors);
    insta::assert_snapshot!(refused(FLOW, "field = \"pressure\", range = [1.0]"), @r#"
    folder/bar.toml:15:41: `range` takes 2 numbers, 1 given
       |
    15 | picture = { field = "pressure", range = [1.0] }
       |                                         ^^^^^
    "#);
    insta::assert_snapshot!(refused(FLOW, "field = \"pressure\", range = [1.0, 1.0]"), @r#"
    folder/bar.toml:15:41: `range` goes from a lower to a higher value, not from 1 to 1
       |
    15 | picture = { field = "pressure", range = [1.0, 1.0] }
       |                                         ^^^^^^^^^^
    "#);
    insta::assert_snapshot!(refused(FLOW, "field = \"pressure\", range = [1.0, inf]"), @r#"
    folder/bar.toml:15:41: `range` must be finite, not inf
       |
    15 | picture = { field = "pressure", range = [1.0, inf] }
       |                                         ^^^^^^^^^^
    "#);
    insta::assert_snapshot!(refused(FLOW, "field = \"pressure\", window = [0, 0, 1]"), @r#"
    folder/bar.toml:15:42: `window` takes 4 numbers, 3 given
       |
    15 | picture = { field = "pressure", window = [0, 0, 1] }
       |                                          ^^^^^^^^^
    "#);
    insta::assert_snapshot!(refused(FLOW, "field = \"pressure\", window = [0, 1, 1, 0]"), @r#"
    folder/bar.toml:15:42: `window` is [x0, y0, x1, y1] with x0 < x1 and y0 < y1
       |
    15 | picture = { field = "pressure", window = [0, 1, 1, 0] }
       |                                          ^^^^^^^^^^^^
    "#);
    insta::assert_snapshot!(refused(STEADY, "field = \"temperature\", vectors = true"), @r#"
    folder/bar.toml:11:46: `vectors` belongs to a flow case: arrows show the velocity
       |
    11 | picture = { field = "temperature", vectors = true }
       |                                              ^^^^
    "#);
}
