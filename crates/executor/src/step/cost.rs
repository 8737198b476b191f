//! What a run cost: the hours of what it held, by the prices of the target.

use kubebench_contract::Prices;
use kubebench_format::result::v1::{Cost, Usage, rounded};

/// Returns the cost of a run that held `usage`; none where a time or the price of an accelerator is not known.
pub(super) fn cost(prices: &Prices, usage: &Usage, target: &str) -> Option<Cost> {
    let Prices { currency, hourly } = prices;
    let held = &usage.resource_hours;
    let has_all = !held.is_empty() && prices.lacking(held.keys().map(String::as_str)).is_empty();
    let amount: f64 = held.iter().filter_map(|(name, hours)| Some(hours * hourly.get(name)?)).sum();
    has_all.then(|| Cost {
        currency: currency.clone(),
        amount: rounded(amount),
        gpu_hours: usage.gpu_hours.unwrap_or_default(),
        price_source: format!("`prices` of the target `{target}`"),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::cost;
    use kubebench_contract::Prices;
    use kubebench_format::result::v1::Usage;

    #[test]
    fn what_has_a_price_is_counted_and_what_should_have_one_is_not_guessed() {
        let of = |pairs: &[(&str, f64)]| -> BTreeMap<String, f64> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let amount = |prices: &[(&str, f64)], hours: &[(&str, f64)]| {
            let prices = Prices { currency: "EUR".to_owned(), hourly: of(prices) };
            cost(&prices, &Usage { resource_hours: of(hours), ..Usage::default() }, "t").map(|cost| cost.amount)
        };
        let hours = [("cpu", 4.0), ("memory", 16.0), ("nvidia.com/gpu", 0.5)];
        assert_eq!(amount(&[("nvidia.com/gpu", 5.0)], &hours), Some(2.5));
        assert_eq!(amount(&[("nvidia.com/gpu", 5.0), ("cpu", 0.1), ("memory", 0.01)], &hours), Some(3.06));
        assert_eq!(amount(&[("cpu", 0.1)], &hours), None, "the accelerator has no price");
        assert_eq!(amount(&[("cpu", 0.1)], &[("memory", 1.0)]), None);
        assert_eq!(amount(&[("cpu", 0.1)], &[]), None, "nobody knows for how long");
    }
}
