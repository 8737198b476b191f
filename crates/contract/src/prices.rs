//! What an hour of resources costs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use kubebench_syntax::unit::is_accelerator;

/// Prices per hour, which are also passed to steps.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Prices {
    /// The ISO 4217 code.
    pub currency: String,
    /// By resource name; memory by the GiB.
    pub hourly: BTreeMap<String, f64>,
}

impl Prices {
    /// Returns those of the resources in use whose price is missing: accelerators, and everything where nothing has one.
    ///
    /// Who prices accelerators alone means their CPU and memory too.
    pub fn lacking<'n>(&self, used: impl Iterator<Item = &'n str> + Clone) -> Vec<&'n str> {
        let has_price = |name: &str| self.hourly.contains_key(name);
        let something_has = used.clone().any(has_price);
        used.filter(|name| !has_price(name) && (!something_has || is_accelerator(name))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Prices;

    #[test]
    fn who_prices_accelerators_means_the_rest_too() {
        let lacking = |hourly: &[&str]| {
            let hourly = hourly.iter().map(|name| ((*name).to_owned(), 1.0)).collect();
            let prices = Prices { currency: "EUR".to_owned(), hourly };
            prices.lacking(["cpu", "memory", "nvidia.com/gpu"].into_iter()).join(" ")
        };
        assert_eq!(lacking(&[]), "cpu memory nvidia.com/gpu");
        assert_eq!(lacking(&["nvidia.com/gpu"]), "");
        assert_eq!(lacking(&["cpu"]), "nvidia.com/gpu");
        assert_eq!(lacking(&["cpu", "memory", "nvidia.com/gpu", "amd.com/gpu"]), "");
    }
}
