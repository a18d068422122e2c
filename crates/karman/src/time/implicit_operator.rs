//! The implicit operator shift M + θ A of a time scheme, kept while its coefficients stay.

/// Data made for the operator shift M + θ A of a step, such as its solver: made anew when shift or θ changes.
pub struct ImplicitOperator<T> {
    current: Option<(f64, f64, T)>,
}

impl<T> Default for ImplicitOperator<T> {
    fn default() -> Self {
        ImplicitOperator { current: None }
    }
}

impl<T> ImplicitOperator<T> {
    /// The data for `shift` and `theta`. If they differ from those of the last call, `make` computes the data; it
    /// receives the last ones to reuse a part of them.
    ///
    /// # Errors
    /// Those of `make`; the last data are lost then.
    pub fn prepare<E>(
        &mut self,
        shift: f64,
        theta: f64,
        make: impl FnOnce(Option<T>) -> Result<T, E>,
    ) -> Result<&mut T, E> {
        let (s, t, data) = match self.current.take() {
            Some(current) if current.0 == shift && current.1 == theta => current,
            last => (shift, theta, make(last.map(|(_, _, data)| data))?),
        };
        Ok(&mut self.current.insert((s, t, data)).2)
    }

    /// shift, θ and the data of the last step; none before the first.
    pub fn last(&self) -> Option<(f64, f64, &T)> {
        self.current.as_ref().map(|(shift, theta, data)| (*shift, *theta, data))
    }

    /// The data of the last step; none before the first.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.current.as_mut().map(|(_, _, data)| data)
    }
}

#[cfg(test)]
mod tests {
    use super::ImplicitOperator;

    #[test]
    fn data_are_made_once_for_equal_coefficients() {
        let mut operator = ImplicitOperator::default();
        let mut made = vec![];
        for (shift, theta) in [(10.0, 1.0), (10.0, 1.0), (20.0, 1.0), (20.0, 0.5), (20.0, 0.5)] {
            let data = operator.prepare(shift, theta, |last: Option<(f64, f64)>| {
                made.push(last);
                Ok::<_, ()>((shift, theta))
            });
            assert_eq!(data, Ok(&mut (shift, theta)));
        }
        assert_eq!(made, [None, Some((10.0, 1.0)), Some((20.0, 1.0))]);
        assert_eq!(operator.last(), Some((20.0, 0.5, &(20.0, 0.5))));
    }

    #[test]
    fn a_failure_leaves_no_data() {
        let mut operator = ImplicitOperator::default();
        assert_eq!(operator.prepare(1.0, 1.0, |_| Ok::<_, ()>(7)), Ok(&mut 7));
        assert_eq!(operator.prepare(2.0, 1.0, |_| Err("failed")), Err("failed"));
        assert_eq!(operator.last_mut(), None);
    }
}
