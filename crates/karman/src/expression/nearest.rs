//! The known name closest to a mistyped one, for "did you mean" hints.

/// The entry of `known` closest to `name`, or `None` where nothing is close.
///
/// Distance counts insertions, deletions, replacements and swaps of neighbouring letters, upper
/// and lower case alike. A third of the longer name's letters (at least one) may differ. The
/// first of equally close names wins: the result depends on nothing but the order.
pub fn nearest_name<'a, I>(name: &str, known: I) -> Option<&'a str>
where
    I: IntoIterator<Item = &'a str>,
{
    let target: Vec<char> = name.chars().flat_map(char::to_lowercase).take(64).collect();
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in known {
        let letters: Vec<char> = candidate.chars().flat_map(char::to_lowercase).take(64).collect();
        let allowed = (target.len().max(letters.len()) / 3).max(1);
        let distance = edit_distance(&target, &letters);
        let all_differ = distance >= target.len().max(letters.len());
        if distance <= allowed && !all_differ && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Edit distance with swaps of neighbours (optimal string alignment), three rows at a time.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        std::mem::swap(&mut before_last, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let distance = |a: &str, b: &str| {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            edit_distance(&a, &b)
        };
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("sni", "sin"), 1);
        assert_eq!(distance("same", "same"), 0);
    }

    #[test]
    fn finds_the_close_and_refuses_the_far() {
        let known = ["conductivity", "specific_heat", "source"];
        assert_eq!(nearest_name("conductvity", known), Some("conductivity"));
        assert_eq!(nearest_name("Source", known), Some("source"));
        assert_eq!(nearest_name("viscosity", known), None);
        assert_eq!(nearest_name("y", ["x"]), None);
        assert_eq!(nearest_name("", known), None);
    }
}
