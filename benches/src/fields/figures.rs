//! The figures of the fields suite: in comes what was measured, out go a [`Row`] per map and order, and one [`Summary`].
//! Field names are the keys of the JSON.

use std::time::Duration;

use serde::Serialize;

use super::order::Order;
use super::race::Race;
use crate::level::Level;
use crate::report::figure;
use crate::stats;

/// What `--check` enforces: single searches' time over the field's, on the worst map.
const BARS: [(Order, f64); 3] =
    [(Order::Together(1000), 5.0), (Order::Scattered(1000), 2.0), (Order::Scattered(10_000), 4.0)];

/// One order on one map.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Row {
    pub(crate) map: String,
    pub(crate) order: String,
    pub(crate) units: usize,
    /// Until the field has spread, and until all units have every cell of their path.
    pub(crate) spread_ms: f64,
    pub(crate) field_ms: f64,
    pub(crate) field_us_per_unit: f64,
    /// A single search.
    pub(crate) single_us: f64,
    /// So many times as long do single searches take.
    pub(crate) ratio: Option<f64>,
    /// Paths that are missing, illegal, or not as long as those of single searches.
    pub(crate) mismatches: usize,
}

impl Row {
    /// Sums up what was measured.
    pub(crate) fn new(level: &Level, order: Order, race: &Race) -> Self {
        let mean = |times: &[Duration]| {
            let times: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
            stats::mean(&times).unwrap_or(0.0)
        };
        let (units, field, single) = (order.units(), mean(&race.answered), mean(&race.single));
        Self {
            map: level.name.clone(),
            order: order.name(),
            units,
            spread_ms: mean(&race.spread) * 1e3,
            field_ms: field * 1e3,
            field_us_per_unit: field * 1e6 / units as f64,
            single_us: single * 1e6,
            ratio: stats::ratio(single * units as f64, field),
            mismatches: race.faults.len(),
        }
    }
}

/// All maps together.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) maps: usize,
    pub(crate) mismatches: usize,
    /// One entry per order.
    pub(crate) orders: Vec<OrderSummary>,
}

/// One order on all maps.
#[derive(Debug, Serialize)]
pub(crate) struct OrderSummary {
    pub(crate) order: String,
    /// The geometric mean over maps of the ratio.
    pub(crate) geomean_ratio: Option<f64>,
    pub(crate) worst_ratio: Option<f64>,
    pub(crate) field_us_per_unit: Option<f64>,
}

impl Summary {
    /// Sums up the rows of any number of maps.
    pub(crate) fn new(rows: &[Row]) -> Self {
        let orders = Order::ALL.map(|order| {
            let rows: Vec<&Row> = rows.iter().filter(|row| row.order == order.name()).collect();
            let ratios: Vec<f64> = rows.iter().filter_map(|row| row.ratio).collect();
            let per_unit: Vec<f64> = rows.iter().map(|row| row.field_us_per_unit).collect();
            OrderSummary {
                order: order.name(),
                geomean_ratio: stats::geometric_mean(&ratios),
                worst_ratio: ratios.into_iter().min_by(f64::total_cmp),
                field_us_per_unit: stats::mean(&per_unit),
            }
        });
        Self {
            maps: rows.len() / Order::ALL.len(),
            mismatches: rows.iter().map(|row| row.mismatches).sum(),
            orders: orders.into(),
        }
    }
}

/// The bars that were missed.
pub(crate) fn missed_bars(summary: &Summary) -> Vec<String> {
    let missed = BARS.iter().filter_map(|(order, bar)| {
        let measured = summary.orders.iter().find(|summary| summary.order == order.name())?.worst_ratio?;
        let name = order.name();
        (measured < *bar).then(|| {
            format!("bar missed: {name}: single searches take {measured:.2} × as long, should be {bar:.1} ×")
        })
    });
    missed.collect()
}

/// The lines above the rows.
pub(crate) fn heading() -> String {
    "Units sent to one goal: one field for all, beside a search for each. Every cell of every path is delivered.\n\
     map                       order              spread ms  field ms  µs/unit  single µs    ratio  mismatches"
        .into()
}

/// One row of the table.
pub(crate) fn line(row: &Row) -> String {
    format!(
        "{:<25} {:<17}  {:>9.2}  {:>8.2}  {:>7.2}  {:>9.1}  {:>7}  {:>10}",
        row.map,
        row.order,
        row.spread_ms,
        row.field_ms,
        row.field_us_per_unit,
        row.single_us,
        figure(row.ratio, 1),
        row.mismatches,
    )
}

/// The last lines of a run.
pub(crate) fn summary_lines(summary: &Summary) -> String {
    let mut text = format!("\n{} maps, {} mismatches", summary.maps, summary.mismatches);
    for order in &summary.orders {
        text += &format!(
            "\n{:<15} single searches take {} × as long (geometric mean), {} × on the worst map; {} µs per unit",
            order.order,
            figure(order.geomean_ratio, 1),
            figure(order.worst_ratio, 1),
            figure(order.field_us_per_unit, 2),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ratios: [f64; 3]) -> Vec<Row> {
        let row = |(order, ratio): (Order, f64)| Row {
            map: "a".into(),
            order: order.name(),
            units: order.units(),
            field_us_per_unit: 3.0,
            ratio: Some(ratio),
            ..Row::default()
        };
        Order::ALL.into_iter().zip(ratios).map(row).collect()
    }

    #[test]
    fn a_summary_has_the_mean_and_the_worst_of_each_order() {
        let both = [rows([4.0, 8.0, 16.0]), rows([16.0, 2.0, 1.0])].concat();
        let summary = Summary::new(&both);
        assert_eq!((summary.maps, summary.orders.len()), (2, 3));
        assert!(summary.orders[0].geomean_ratio.is_some_and(|ratio| (ratio - 8.0).abs() < 1e-9));
        assert!(summary.orders[1].worst_ratio.is_some_and(|ratio| (ratio - 2.0).abs() < 1e-9));
        let text = summary_lines(&summary);
        assert!(text.contains("2 maps") && text.contains("8.0 ×") && text.contains("3.00 µs"), "{text}");
        assert_eq!(Summary::new(&[]).orders[0].worst_ratio, None);
    }

    #[test]
    fn a_missed_bar_is_named_with_its_figure() {
        assert!(missed_bars(&Summary::new(&rows([5.1, 2.1, 4.1]))).is_empty());
        let missed = missed_bars(&Summary::new(&rows([4.9, 1.5, 4.1])));
        assert_eq!(missed.len(), 2);
        assert!(missed[1].contains("scattered 1000") && missed[1].contains("1.50 ×"), "{missed:?}");
    }

    #[test]
    fn the_json_has_exactly_the_promised_keys() {
        let keys = |value: serde_json::Value| -> Vec<String> {
            value.as_object().expect("an object").keys().cloned().collect()
        };
        let row = serde_json::to_value(Row::default()).expect("plain data");
        let mut expected = vec!["map", "order", "units", "spread_ms", "field_ms", "field_us_per_unit"];
        expected.extend(["single_us", "ratio", "mismatches"]);
        expected.sort_unstable();
        assert_eq!(keys(row), expected);
        let summary = serde_json::to_value(Summary::new(&[])).expect("plain data");
        assert_eq!(keys(summary), ["maps", "mismatches", "orders"]);
    }
}
