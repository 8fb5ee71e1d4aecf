//! Everything random about one message, from one number drawn for it.

/// What is chosen; choices from one number do not depend on each other.
#[derive(Debug, Clone, Copy)]
pub enum Chosen {
    Sender = 1,
    Recipient = 2,
    Subject = 3,
    Body = 4,
}

/// One of `count`, evenly to 2^-32.
pub fn index(draw: u64, chosen: Chosen, count: usize) -> usize {
    if count <= 1 {
        return 0;
    }
    ((u128::from(mixed(draw, chosen)) * count as u128) >> 64) as usize
}

/// One of the weighted; `upper` holds the sums of the weights so far, the last of them `u64::MAX`.
pub fn weighted(draw: u64, chosen: Chosen, upper: &[u64]) -> usize {
    if upper.len() <= 1 {
        return 0;
    }
    let at = mixed(draw, chosen);
    upper
        .partition_point(|bound| *bound < at)
        .min(upper.len() - 1)
}

/// Sums of `weights`, scaled to the whole range of a draw.
pub fn bounds(weights: &[f64]) -> Vec<u64> {
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    let mut upper: Vec<u64> = weights
        .iter()
        .map(|weight| {
            sum += weight;
            (sum / total * u64::MAX as f64) as u64
        })
        .collect();
    if let Some(last) = upper.last_mut() {
        *last = u64::MAX;
    }
    upper
}

/// Finalizer of splitmix64 (Steele, Lea, Flood 2014): every bit depends on every bit.
fn mixed(draw: u64, chosen: Chosen) -> u64 {
    let mut bits = draw.wrapping_add((chosen as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_one_is_chosen_about_as_often() {
        let mut seen = [0_u32; 5];
        for draw in 0..10_000 {
            seen[index(draw, Chosen::Recipient, 5)] += 1;
        }
        assert!(
            seen.iter().all(|count| (1_800..2_200).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn weights_decide_how_often() {
        let upper = bounds(&[30.0, 50.0, 20.0, 0.0]);
        let mut seen = [0_u32; 4];
        for draw in 0..10_000 {
            seen[weighted(draw, Chosen::Body, &upper)] += 1;
        }
        let near = |at: usize, count: u32| seen[at].abs_diff(count) < 200;
        assert!(
            near(0, 3_000) && near(1, 5_000) && near(2, 2_000),
            "{seen:?}"
        );
        assert_eq!(seen[3], 0);
    }

    #[test]
    fn sender_and_recipient_are_chosen_apart() {
        let same = (0..1_000)
            .filter(|draw| index(*draw, Chosen::Sender, 10) == index(*draw, Chosen::Recipient, 10))
            .count();
        assert!((50..160).contains(&same), "{same}");
    }
}
