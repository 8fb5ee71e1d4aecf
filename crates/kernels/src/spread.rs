//! Median and spread of repeats.

use steelyard_wire::kernel::Spread;

/// `None` of nothing.
pub(crate) fn spread(figures: impl IntoIterator<Item = f64>) -> Option<Spread> {
    let mut sorted: Vec<f64> = figures.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let (least, most) = (*sorted.first()?, *sorted.last()?);
    let half = sorted.len() / 2;
    let median = if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        f64::midpoint(sorted[half - 1], sorted[half])
    };
    Some(Spread {
        least,
        median,
        most,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        let found = spread([4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((found.least, found.median, found.most), (1.0, 2.5, 4.0));
        assert_eq!(spread([5.0, 1.0, 3.0]).unwrap().median, 3.0);
        assert_eq!(spread([]), None);
    }
}
