//! Statistics: in come lists of figures, out go the few numbers that a table has room for.

/// The three figures that describe a list of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The arithmetic mean, which is what a game pays over many queries.
    pub(crate) mean: f64,
    /// Half of the times are at most this.
    pub(crate) p50: f64,
    /// All but one in a hundred are at most this, which is what a player notices.
    pub(crate) p99: f64,
}

impl Spread {
    /// Describes `values`; all zero if there are none.
    pub(crate) fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Self {
            mean: mean(values).unwrap_or(0.0),
            p50: percentile(&sorted, 50).unwrap_or(0.0),
            p99: percentile(&sorted, 99).unwrap_or(0.0),
        }
    }
}

/// The arithmetic mean, unless the list is empty.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The geometric mean, unless the list is empty. Ratios are averaged this way because then it does not matter
/// which of the two was divided by the other.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logarithms).map(f64::exp)
}

/// How many times `ours` goes into `theirs`, unless the clock was too coarse to tell.
pub(crate) fn ratio(theirs: f64, ours: f64) -> Option<f64> {
    (theirs > 0.0 && ours > 0.0).then(|| theirs / ours)
}

/// The middle entry, or the lower one of the two in the middle, unless the list is empty.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    percentile(&sorted, 50)
}

/// The nearest-rank percentile: the smallest entry that at least `percent` of a hundred entries do not exceed.
fn percentile(sorted: &[f64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: Option<f64>, expected: f64) {
        let found = found.expect("should have a value");
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn means_of_known_lists() {
        assert_near(mean(&[1.0, 2.0, 6.0]), 3.0);
        assert_near(geometric_mean(&[2.0, 8.0]), 4.0);
        assert_near(geometric_mean(&[0.5, 2.0]), 1.0);
        assert_eq!(mean(&[]), None);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn percentiles_are_entries_of_the_list() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let spread = Spread::of(&hundred);
        assert_near(Some(spread.mean), 50.5);
        assert_near(Some(spread.p50), 50.0);
        assert_near(Some(spread.p99), 99.0);

        let spread = Spread::of(&[3.0, 1.0, 2.0]);
        assert_near(Some(spread.p50), 2.0);
        assert_near(Some(spread.p99), 3.0);
        assert_near(Some(Spread::of(&[7.0]).p50), 7.0);
        assert_eq!(Spread::of(&[]), Spread { mean: 0.0, p50: 0.0, p99: 0.0 });
    }

    #[test]
    fn a_median_is_an_entry_of_the_list() {
        assert_near(median([5.0, -1.0, 3.0]), 3.0);
        assert_near(median([4.0, 2.0]), 2.0);
        assert_eq!(median([]), None);
    }

    #[test]
    fn a_ratio_needs_two_times() {
        assert_near(ratio(6.0, 2.0), 3.0);
        assert_eq!(ratio(6.0, 0.0), None);
        assert_eq!(ratio(0.0, 2.0), None);
    }
}
