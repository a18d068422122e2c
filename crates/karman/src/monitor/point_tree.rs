//! Points in a k-d tree: those in a box, and the nearest.

/// Points per leaf.
const LEAF: usize = 8;
/// Points per parallel task.
const CHUNK: usize = 4096;

/// Points in a balanced k-d tree (Bentley, Comm. ACM 18 (1975) 509): the median of a range along its axis is in the
/// middle, lower coordinates before it, higher ones after it. Points with a coordinate that is no number are left out.
pub(super) struct PointTree<'a> {
    points: &'a [[f64; 3]],
    dimension: usize,
    order: Vec<u32>,
}

impl<'a> PointTree<'a> {
    /// The tree of points by their first `dimension` coordinates.
    pub(super) fn new(points: &'a [[f64; 3]], dimension: usize) -> Self {
        let numbers = |i: &u32| points[*i as usize][..dimension].iter().all(|x| !x.is_nan());
        let mut order: Vec<u32> = (0..points.len() as u32).filter(numbers).collect();
        sort(points, dimension, &mut order, 0);
        PointTree { points, dimension, order }
    }

    /// Visits the points in a box, its sides included, in an order of no meaning.
    pub(super) fn in_box(&self, low: [f64; 3], high: [f64; 3], visit: &mut dyn FnMut(usize)) {
        self.visit(&self.order, 0, (low, high), visit);
    }

    fn visit(
        &self,
        range: &[u32],
        axis: usize,
        (low, high): ([f64; 3], [f64; 3]),
        visit: &mut dyn FnMut(usize),
    ) {
        let mut check = |point: u32| {
            let x = self.points[point as usize];
            if (0..self.dimension).all(|k| low[k] <= x[k] && x[k] <= high[k]) {
                visit(point as usize);
            }
        };
        if range.len() <= LEAF {
            return range.iter().for_each(|point| check(*point));
        }
        let middle = range.len() / 2;
        check(range[middle]);
        let (x, next) = (self.points[range[middle] as usize][axis], (axis + 1) % self.dimension);
        if low[axis] <= x {
            self.visit(&range[..middle], next, (low, high), visit);
        }
        if x <= high[axis] {
            self.visit(&range[middle + 1..], next, (low, high), visit);
        }
    }

    /// The nearest point to `x`, of several the one of lowest index; none in an empty tree.
    pub(super) fn nearest(&self, x: [f64; 3]) -> Option<usize> {
        let mut best = (f64::INFINITY, u32::MAX);
        self.approach(&self.order, 0, x, &mut best);
        (best.1 != u32::MAX).then_some(best.1 as usize)
    }

    fn approach(&self, range: &[u32], axis: usize, x: [f64; 3], best: &mut (f64, u32)) {
        let mut check = |point: u32| {
            let p = self.points[point as usize];
            let square = (0..self.dimension).map(|k| (p[k] - x[k]).powi(2)).fold(0.0, |a, b| a + b);
            if (square, point) < *best {
                *best = (square, point);
            }
        };
        if range.len() <= LEAF {
            return range.iter().for_each(|point| check(*point));
        }
        let middle = range.len() / 2;
        check(range[middle]);
        let beyond = x[axis] - self.points[range[middle] as usize][axis];
        let next = (axis + 1) % self.dimension;
        let (lower, upper) = (&range[..middle], &range[middle + 1..]);
        let (first, second) = if beyond < 0.0 { (lower, upper) } else { (upper, lower) };
        self.approach(first, next, x, best);
        if beyond * beyond <= best.0 {
            self.approach(second, next, x, best);
        }
    }
}

fn sort(points: &[[f64; 3]], dimension: usize, range: &mut [u32], axis: usize) {
    if range.len() <= LEAF {
        return;
    }
    let along = |point: &u32| points[*point as usize][axis];
    let middle = range.len() / 2;
    let is_large = range.len() > CHUNK;
    let (lower, _, upper) =
        range.select_nth_unstable_by(middle, |a, b| along(a).total_cmp(&along(b)).then(a.cmp(b)));
    let next = (axis + 1) % dimension;
    let mut both =
        (|| sort(points, dimension, lower, next), || sort(points, dimension, upper, next));
    if is_large {
        rayon::join(both.0, both.1);
    } else {
        both.0();
        both.1();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing::values;

    #[test]
    fn points_in_a_box_and_the_nearest_are_those_of_a_search_through_all() {
        for dimension in [2, 3] {
            for n in [0, 1, 8, 9, 1000, 9000] {
                let coordinates = values(3 * n, 5);
                // Many points have equal coordinates.
                let round = |x: f64| (x * 20.0).round() / 20.0;
                let at = |i: usize| [0, 1, 2].map(|k| round(coordinates[3 * i + k]));
                let mut points: Vec<[f64; 3]> = (0..n).map(at).collect();
                if n > 100 {
                    points[50] = [f64::NAN, 0.0, 0.0];
                }
                let tree = PointTree::new(&points, dimension);
                for query in values(300, 7).chunks_exact(3) {
                    let x = [query[0], query[1], query[2]];
                    let (low, high) = (x.map(|x| x - 0.15), x.map(|x| x + 0.1));
                    let mut found = vec![];
                    tree.in_box(low, high, &mut |point| found.push(point));
                    found.sort_unstable();
                    let is_in = |i: &usize| {
                        (0..dimension).all(|k| low[k] <= points[*i][k] && points[*i][k] <= high[k])
                    };
                    let want: Vec<usize> = (0..n).filter(is_in).collect();
                    assert_eq!(found, want);
                    let square = |i: &usize| -> f64 {
                        (0..dimension).map(|k| (points[*i][k] - x[k]).powi(2)).sum()
                    };
                    let numbers = (0..n).filter(|i| !points[*i][0].is_nan());
                    let want = numbers.min_by(|a, b| square(a).total_cmp(&square(b)));
                    assert_eq!(tree.nearest(x), want);
                }
            }
        }
    }
}
