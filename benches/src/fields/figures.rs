//! The figures of the fields suite: in comes what was measured, out go a [`Row`] per map and order, and one [`Summary`].
//! Field names are the keys of the JSON.

use std::time::Duration;

use serde::Serialize;

use super::order::Order;
use super::race::Race;
use crate::level::Level;
use crate::report::figure;
use crate::stats;

/// What `--check` enforces on maps that were not surveyed: the time of single searches, or of one to each of several goals, over
/// that of what the library chooses, on the worst map.
const BARS: [(Order, f64); 6] = [
    (Order::ALL[2], 5.0),
    (Order::ALL[3], 2.0),
    (Order::ALL[4], 4.0),
    (Order::ALL[7], 60.0),
    (Order::ALL[8], 10.0),
    (Order::ALL[9], 60.0),
];

/// And everywhere: what is chosen takes no more than so many times as long as the better of both ways, or than so many
/// milliseconds more. Who is to choose has to search for one unit at least, which for a few units may be the dearer half.
const REGRET: f64 = 1.4;
const GRACE_MS: f64 = 2.0;

/// One order on one map.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Row {
    pub(crate) map: String,
    pub(crate) order: String,
    pub(crate) units: usize,
    pub(crate) goals: usize,
    /// Whether single searches, and what is chosen, had a survey.
    pub(crate) surveyed: bool,
    /// Until the field has spread, and until all units have every cell of their path.
    pub(crate) spread_ms: f64,
    pub(crate) field_ms: f64,
    pub(crate) field_us_per_unit: f64,
    /// A single search.
    pub(crate) single_us: f64,
    /// Searches of one unit for each of several goals, of which it takes the shortest path.
    pub(crate) each_us: Option<f64>,
    /// All units by what the library chooses.
    pub(crate) chosen_ms: f64,
    /// So many times as long do single searches take as what is chosen.
    pub(crate) ratio: Option<f64>,
    /// So many times as long does what is chosen take as the better of both ways, and so much longer.
    pub(crate) regret: Option<f64>,
    pub(crate) regret_ms: f64,
    /// Paths that are missing, illegal, or not as long as those of single searches.
    pub(crate) mismatches: usize,
}

impl Row {
    /// Sums up what was measured.
    pub(crate) fn new(level: &Level, order: Order, surveyed: bool, race: &Race) -> Self {
        let mean = |times: &[Duration]| {
            let times: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
            stats::mean(&times).unwrap_or(0.0)
        };
        let (units, field, single) = (order.units, mean(&race.answered), mean(&race.single));
        let (chosen, alone) = (mean(&race.chosen), single * units as f64);
        let both = race.answered.iter().zip(&race.single);
        let better = both.map(|(field, single)| field.as_secs_f64().min(single.as_secs_f64() * units as f64));
        let better = stats::mean(&better.collect::<Vec<f64>>()).unwrap_or(0.0);
        Self {
            map: level.name.clone(),
            order: order.name(),
            units,
            goals: order.goals,
            surveyed,
            spread_ms: mean(&race.spread) * 1e3,
            field_ms: field * 1e3,
            field_us_per_unit: field * 1e6 / units as f64,
            single_us: single * 1e6,
            each_us: (!race.each.is_empty()).then(|| mean(&race.each) * 1e6),
            chosen_ms: chosen * 1e3,
            ratio: stats::ratio(alone, chosen),
            regret: stats::ratio(chosen, better),
            regret_ms: (chosen - better) * 1e3,
            mismatches: race.faults.len(),
        }
    }
}

/// All maps together.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) maps: usize,
    pub(crate) mismatches: usize,
    /// Two entries per order: without a survey and with one.
    pub(crate) orders: Vec<OrderSummary>,
}

/// One order on all maps.
#[derive(Debug, Serialize)]
pub(crate) struct OrderSummary {
    pub(crate) order: String,
    pub(crate) surveyed: bool,
    /// The geometric mean over maps of the ratio.
    pub(crate) geomean_ratio: Option<f64>,
    pub(crate) worst_ratio: Option<f64>,
    /// So many times as long do searches for each of several goals take.
    pub(crate) geomean_each: Option<f64>,
    pub(crate) worst_each: Option<f64>,
    /// Of the maps where what is chosen takes some milliseconds more than the better way, the worst.
    pub(crate) worst_regret: Option<f64>,
    pub(crate) field_us_per_unit: Option<f64>,
}

impl Summary {
    /// Sums up the rows of any number of maps.
    pub(crate) fn new(rows: &[Row]) -> Self {
        let both = Order::ALL.into_iter().flat_map(|order| [(order, false), (order, true)]);
        let orders = both.map(|(order, surveyed)| {
            let is_such = |row: &&Row| row.order == order.name() && row.surveyed == surveyed;
            let rows: Vec<&Row> = rows.iter().filter(is_such).collect();
            let costly = rows.iter().filter(|row| row.regret_ms > GRACE_MS);
            let worst_regret = costly.filter_map(|row| row.regret).max_by(f64::total_cmp);
            let ratios: Vec<f64> = rows.iter().filter_map(|row| row.ratio).collect();
            let each = rows
                .iter()
                .filter_map(|row| stats::ratio(row.each_us? * row.units as f64 / 1e3, row.chosen_ms));
            let each: Vec<f64> = each.collect();
            let per_unit: Vec<f64> = rows.iter().map(|row| row.field_us_per_unit).collect();
            OrderSummary {
                order: order.name(),
                surveyed,
                worst_regret,
                geomean_ratio: stats::geometric_mean(&ratios),
                geomean_each: stats::geometric_mean(&each),
                worst_each: each.into_iter().min_by(f64::total_cmp),
                worst_ratio: ratios.into_iter().min_by(f64::total_cmp),
                field_us_per_unit: stats::mean(&per_unit),
            }
        });
        Self {
            maps: rows.len() / (2 * Order::ALL.len()),
            mismatches: rows.iter().map(|row| row.mismatches).sum(),
            orders: orders.collect(),
        }
    }
}

/// The bars that were missed.
pub(crate) fn missed_bars(summary: &Summary) -> Vec<String> {
    let slow = BARS.iter().filter_map(|(order, bar)| {
        let is_its = |summary: &&OrderSummary| summary.order == order.name() && !summary.surveyed;
        let (summary, name) = (summary.orders.iter().find(is_its)?, order.name());
        let (measured, peers) = match order.goals {
            1 => (summary.worst_ratio?, "single searches"),
            _ => (summary.worst_each?, "searches for each goal"),
        };
        (measured < *bar).then(|| {
            format!("bar missed: {name}: {peers} take {measured:.2} × as long, should be {bar:.1} ×")
        })
    });
    let ill_chosen = summary.orders.iter().filter_map(|order| {
        let (regret, name, on) = (order.worst_regret?, &order.order, ground(order.surveyed));
        (regret > REGRET).then(|| {
            format!(
                "bar missed: {name}, {on}: what is chosen takes {regret:.2} × as long as the better way, \
                 should be {REGRET:.1} ×"
            )
        })
    });
    slow.chain(ill_chosen).collect()
}

const fn ground(is_surveyed: bool) -> &'static str {
    if is_surveyed { "surveyed" } else { "bare" }
}

/// The lines above the rows.
pub(crate) fn heading() -> String {
    "Units sent to one goal, or the nearest of several: one field for all, a search for each, and what the library chooses. Every \
     cell of every path is delivered.\n\
     map                       order                 ground    spread ms  field ms  µs/unit  single µs  each µs  chosen ms    ratio  \
     regret  mismatches"
        .into()
}

/// One row of the table.
pub(crate) fn line(row: &Row) -> String {
    format!(
        "{:<25} {:<20}  {:<8}  {:>9.2}  {:>8.2}  {:>7.2}  {:>9.1}  {:>7}  {:>9.2}  {:>7}  {:>6}  {:>10}",
        row.map,
        row.order,
        ground(row.surveyed),
        row.spread_ms,
        row.field_ms,
        row.field_us_per_unit,
        row.single_us,
        figure(row.each_us, 1),
        row.chosen_ms,
        figure(row.ratio, 1),
        figure(row.regret, 2),
        row.mismatches,
    )
}

/// The last lines of a run.
pub(crate) fn summary_lines(summary: &Summary) -> String {
    let mut text = format!("\n{} maps, {} mismatches", summary.maps, summary.mismatches);
    for order in &summary.orders {
        text += &format!(
            "\n{:<20} {:<8} single searches take {} × as long as what is chosen (geometric mean), {} × on the worst map; \
             that takes {} × the better way where it takes much longer; searches for each of several goals take {} × as long; \
             {} µs per unit in a field",
            order.order,
            ground(order.surveyed),
            figure(order.geomean_ratio, 1),
            figure(order.worst_ratio, 1),
            figure(order.worst_regret, 2),
            figure(order.geomean_each, 1),
            figure(order.field_us_per_unit, 2),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One map, with this ratio for each of the orders to one goal that have a bar.
    fn rows(ratios: [f64; 3], regret: f64) -> Vec<Row> {
        rows_with(ratios, 200.0, regret)
    }

    /// The same where all units have their paths twice as many times as fast as by searches to each of several goals.
    fn rows_with(ratios: [f64; 3], each: f64, regret: f64) -> Vec<Row> {
        let row = |(order, surveyed): (Order, bool)| {
            let bar = BARS.iter().position(|(with_bar, _)| *with_bar == order);
            Row {
                map: "a".into(),
                order: order.name(),
                units: order.units,
                goals: order.goals,
                surveyed,
                field_us_per_unit: 3.0,
                // With a survey single searches are faster, and that is no fault.
                ratio: Some(
                    bar.map_or(1.0, |bar| ratios.get(bar).copied().unwrap_or(100.0))
                        / if surveyed { 4.0 } else { 1.0 },
                ),
                // A search to each of several goals takes half a millisecond.
                each_us: (order.goals > 1).then_some(500.0),
                chosen_ms: order.units as f64 / each,
                regret: Some(regret),
                regret_ms: 3.0,
                ..Row::default()
            }
        };
        Order::ALL.into_iter().flat_map(|order| [(order, false), (order, true)]).map(row).collect()
    }

    #[test]
    fn a_summary_has_the_mean_and_the_worst_of_each_order() {
        let both = [rows([4.0, 8.0, 16.0], 1.0), rows([16.0, 2.0, 1.0], 1.2)].concat();
        let summary = Summary::new(&both);
        assert_eq!((summary.maps, summary.orders.len()), (2, 2 * Order::ALL.len()));
        assert!(summary.orders[4].geomean_ratio.is_some_and(|ratio| (ratio - 8.0).abs() < 1e-9));
        assert!(summary.orders[6].worst_ratio.is_some_and(|ratio| (ratio - 2.0).abs() < 1e-9));
        assert!(summary.orders[6].worst_regret.is_some_and(|regret| (regret - 1.2).abs() < 1e-9));
        let text = summary_lines(&summary);
        assert!(text.contains("2 maps") && text.contains("8.0 ×") && text.contains("3.00 µs"), "{text}");
        assert_eq!(Summary::new(&[]).orders[0].worst_ratio, None);
    }

    #[test]
    fn a_missed_bar_is_named_with_its_figure() {
        assert!(missed_bars(&Summary::new(&rows([5.1, 2.1, 4.1], 1.29))).is_empty());
        let missed = missed_bars(&Summary::new(&rows([4.9, 1.5, 4.1], 1.0)));
        assert_eq!(missed.len(), 2);
        assert!(missed[1].contains("scattered 1000") && missed[1].contains("1.50 ×"), "{missed:?}");
        let missed = missed_bars(&Summary::new(&rows([5.1, 2.1, 4.1], 1.5)));
        assert_eq!(missed.len(), 2 * Order::ALL.len());
        assert!(missed[1].contains("together 16, surveyed") && missed[1].contains("1.50 ×"), "{missed:?}");
        // To the nearest of several goals, searches for each of them are what counts.
        let missed = missed_bars(&Summary::new(&rows_with([5.1, 2.1, 4.1], 100.0, 1.0)));
        assert_eq!(missed.len(), 2);
        assert!(missed[0].contains("together 1000 to 8") && missed[0].contains("50.00 ×"), "{missed:?}");
        // A millisecond more is nothing.
        let small = rows([5.1, 2.1, 4.1], 1.5).into_iter().map(|row| Row { regret_ms: 1.0, ..row });
        assert!(missed_bars(&Summary::new(&small.collect::<Vec<Row>>())).is_empty());
    }

    #[test]
    fn the_json_has_exactly_the_promised_keys() {
        let keys = |value: serde_json::Value| -> Vec<String> {
            value.as_object().expect("an object").keys().cloned().collect()
        };
        let row = serde_json::to_value(Row::default()).expect("plain data");
        let mut expected = vec!["map", "order", "units", "goals", "surveyed", "spread_ms", "field_ms"];
        expected.extend([
            "field_us_per_unit",
            "single_us",
            "each_us",
            "chosen_ms",
            "ratio",
            "regret",
            "regret_ms",
        ]);
        expected.push("mismatches");
        expected.sort_unstable();
        assert_eq!(keys(row), expected);
        let summary = serde_json::to_value(Summary::new(&[])).expect("plain data");
        assert_eq!(keys(summary), ["maps", "mismatches", "orders"]);
    }
}
