//! Lines of sight, against plain geometry: which blocked squares does a segment enter, which corners does it hit?

use wayfare::prelude::*;

use crate::support::{FLORA, Flora, Random, random_map, views};

/// Whether the segment between two centres enters the inside of a cell. Coordinates are doubled, so that centres
/// and borders are whole; the test is the separating axis theorem for a segment and an open square.
fn enters(from: Cell, to: Cell, cell: Cell) -> bool {
    let ((ax, ay), (bx, by)) = ((2 * from.x, 2 * from.y), (2 * to.x, 2 * to.y));
    let (left, right, top, bottom) = (2 * cell.x - 1, 2 * cell.x + 1, 2 * cell.y - 1, 2 * cell.y + 1);
    let overlaps = ax.max(bx) > left && ax.min(bx) < right && ay.max(by) > top && ay.min(by) < bottom;
    let side = |x: i32, y: i32| (bx - ax) * (y - ay) - (by - ay) * (x - ax);
    let sides = [side(left, top), side(right, top), side(left, bottom), side(right, bottom)];
    let line_is_point = from == to;
    overlaps && (line_is_point || (sides.iter().any(|s| *s > 0) && sides.iter().any(|s| *s < 0)))
}

/// The corner points strictly between two centres that the segment hits exactly, each with its two side cells.
fn corners_hit(from: Cell, to: Cell) -> Vec<(Cell, Cell)> {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let mut hit = Vec::new();
    if dx == 0 || dy == 0 {
        return hit;
    }
    for k in 0..dx.abs() {
        // Halfway between columns k and k + 1 the line is at row (2k + 1) |dy| / 2|dx|; on a corner if that is
        // a whole number and a half.
        let doubled = (2 * k + 1) * dy.abs();
        if doubled % dx.abs() == 0 && (doubled / dx.abs()) % 2 == 1 {
            let row = (doubled / dx.abs() - 1) / 2;
            let before = Cell::new(from.x + k * dx.signum(), from.y + row * dy.signum());
            hit.push((before + (dx.signum(), 0), before + (0, dy.signum())));
        }
    }
    hit
}

fn sees(snapshot: &Snapshot, from: Cell, to: Cell) -> bool {
    let touched_open =
        Area::new(from, to).cells().all(|cell| snapshot.is_open(cell) || !enters(from, to, cell));
    let corner = |(a, b): &(Cell, Cell)| {
        let (a, b) = (snapshot.is_open(*a), snapshot.is_open(*b));
        // Where no diagonal is ever walked, nothing slips between two walls.
        let slips = snapshot.rules().directions == Directions::Eight;
        snapshot.rules().corners.allow(a, b) && (a || b || slips)
    };
    touched_open && corners_hit(from, to).iter().all(corner)
}

#[test]
fn a_line_of_sight_is_what_geometry_says() {
    let (mut clear, mut blocked) = (0, 0);
    for seed in 0..60 {
        for view in views() {
            let mut random = Random::new(seed);
            let map = random_map(&mut random, 16, 13, Flora::Uniform);
            let snapshot = Snapshot::new(&map, &view);
            for _ in 0..20 {
                let (from, to) = (random.cell(&map), random.cell(&map));
                let expected = sees(&snapshot, from, to);
                let text = map.to_text(|cell| (cell == from || cell == to).then_some('o'));
                assert_eq!(snapshot.line_of_sight(from, to), expected, "{from} to {to}\n{text}");
                if expected { clear += 1 } else { blocked += 1 }
            }
        }
    }
    assert!(clear > 2000 && blocked > 2000, "{clear} clear, {blocked} blocked");
}

#[test]
fn nothing_is_seen_from_or_to_the_outside() {
    let snapshot = Snapshot::new(&Map::new(4, 4).unwrap(), &View::default());
    for outside in [Cell::new(-1, 0), Cell::new(4, 4), Cell::new(i32::MAX, i32::MIN)] {
        assert!(!snapshot.line_of_sight(outside, Cell::default()));
        assert!(!snapshot.line_of_sight(Cell::default(), outside));
    }
}

#[test]
fn a_leg_costs_what_the_ground_under_it_does() {
    let mut legs = 0;
    for seed in 0..1000 {
        let mut random = Random::new(seed);
        let map = random_map(&mut random, 14, 14, FLORA[seed as usize % 3]);
        let snapshot = Snapshot::new(&map, &View::default());
        let (from, to) = (random.cell(&map), random.cell(&map));
        let Some(cost) = snapshot.leg_cost(from, to).filter(|cost| *cost > 0) else {
            continue;
        };
        let (dx, dy) = (f64::from(to.x - from.x), f64::from(to.y - from.y));
        let length = dx.hypot(dy);
        let samples = 5000;
        let factor_at = |t: f64| {
            let cell = Cell::new(
                (f64::from(from.x) + dx * t).round() as i32,
                (f64::from(from.y) + dy * t).round() as i32,
            );
            snapshot.view().class.factor(map.terrain(cell)).map_or(0.0, |factor| f64::from(factor.value()))
        };
        let mean = (0..samples).map(|i| factor_at((f64::from(i) + 0.5) / f64::from(samples))).sum::<f64>();
        let integral = 985.0 * length * mean / f64::from(samples);
        // Steps charge what they enter, not what they leave: half a column at the price of the end instead.
        let shift = 985.0 * (factor_at(1.0) - factor_at(0.0)) * length / dx.abs().max(dy.abs()) / 2.0;
        let expected = integral + shift;
        assert!(
            (cost as f64 - expected).abs() <= expected * 0.004 + 2.0,
            "{from} to {to}: {cost}, {expected}"
        );
        legs += 1;
    }
    assert!(legs > 100, "{legs}");
}

#[test]
fn a_leg_cut_in_two_costs_the_same() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let map = random_map(&mut random, 30, 30, Flora::Digits);
        let snapshot = Snapshot::new(&map, &View { class: Class::flyer(), ..View::default() });
        let from = Cell::new(random.below(10) as i32, random.below(10) as i32);
        let half = (random.below(10) as i32, random.below(10) as i32);
        let (middle, to) = (from + half, from + half + half);
        let whole = snapshot.leg_cost(from, to).unwrap();
        let parts = snapshot.leg_cost(from, middle).unwrap() + snapshot.leg_cost(middle, to).unwrap();
        assert!((whole..=whole + 1).contains(&parts), "{from} to {to}: {whole} or {parts}");
    }
}

#[test]
fn what_is_seen_can_be_reached() {
    for seed in 0..40 {
        for view in views() {
            let mut random = Random::new(seed);
            let map = random_map(&mut random, 12, 12, Flora::Uniform);
            let snapshot = Snapshot::new(&map, &view);
            for _ in 0..20 {
                let (from, to) = (random.cell(&map), random.cell(&map));
                assert!(
                    !snapshot.line_of_sight(from, to) || snapshot.reachable(from, to),
                    "{:?}",
                    view.rules
                );
            }
        }
    }
}

#[test]
fn a_line_taken_over_even_ground_touches_nothing_else() {
    let mut taken = 0;
    for seed in 0..400 {
        // Coarser costs round different factors to the same price.
        for view in views().iter().filter(|view| view.rules.costs == StepCosts::FINE) {
            let mut random = Random::new(seed);
            let map = random_map(&mut random, 7, 7, FLORA[seed as usize % 3]);
            let snapshot = Snapshot::new(&map, view);
            let (from, to) = (random.cell(&map), random.cell(&map));
            let query = PathQuery::new(from, to).straight_line(StraightLine::IfUniform);
            let mut scratch = Scratch::new();
            let Ok(Answer::Found(_)) = find_path(&snapshot, &query, &mut scratch) else { continue };
            if scratch.effort().opened > 0 || from == to {
                continue;
            }
            let entered = Area::new(from, to).cells().filter(|cell| *cell != from && enters(from, to, *cell));
            let mut factors = entered.map(|cell| view.class.factor(map.terrain(cell)));
            let first = factors.next().unwrap();
            assert!(factors.all(|factor| factor == first), "{from} to {to}\n{}", map.to_text(|_| None));
            taken += 1;
        }
    }
    assert!(taken > 200, "{taken}");
}

#[test]
fn a_longer_leg_costs_no_less() {
    // Where a diagonal costs more than the straight distance, a leg along it does too.
    let dear = |view: &View| view.rules.costs == StepCosts::new(1, 2).unwrap();
    for view in views().into_iter().filter(|view| !dear(view)) {
        let snapshot = Snapshot::new(&Map::new(30, 30).unwrap(), &view);
        for x in 0..30 {
            let costs: Vec<Cost> =
                (0..30).map(|y| snapshot.leg_cost(Cell::new(0, 0), Cell::new(x, y)).unwrap()).collect();
            assert!(costs.is_sorted(), "{:?} to column {x}: {costs:?}", view.rules);
        }
    }
}

#[test]
fn legs_are_rounded_as_steps_are() {
    // A factor of 0.1 is 1 after rounding, for a step cannot be free.
    let class = Class::default().with(Terrain(1), Factor::new(0.1).unwrap());
    let view =
        View { rules: Rules { costs: StepCosts::MOVES, ..Rules::default() }, class, ..View::default() };
    let snapshot = Snapshot::new(&Map::filled(20, 2, Terrain(1)).unwrap(), &view);
    for to in [Cell::new(19, 0), Cell::new(19, 1)] {
        assert_eq!(snapshot.leg_cost(Cell::new(0, 0), to), Some(19));
    }
}

#[test]
fn over_even_ground_a_long_leg_is_what_it_is_cell_by_cell() {
    let (mut clear, mut blocked) = (0, 0);
    for (rule, view) in views().iter().enumerate() {
        for seed in 0..8 {
            let mut random = Random::new(seed * 31 + rule as u64);
            let (width, height) = (1 + random.below(300), 1 + random.below(300));
            let mut map = Map::new(width, height).unwrap();
            for _ in 0..random.below(150) {
                map.set(random.cell(&map), Terrain::WALL).unwrap();
            }
            let snapshot = Snapshot::new(&map, view);
            // Whoever carries a burden looks at every cell.
            let plainly = snapshot.burdened(&[], Factor::ONE);
            for _ in 0..300 {
                let from = random.cell(&map);
                let to = match random.below(4) {
                    0 => Cell::new(from.x, random.cell(&map).y),
                    1 => from + [(9, 9), (-40, 40), (70, -70), (3, -1)][random.below(4) as usize],
                    2 => from + [(90, 30), (-63, 27), (64, -63), (-25, -175)][random.below(4) as usize],
                    _ => random.cell(&map),
                };
                let cost = snapshot.leg_cost(from, to);
                assert_eq!(cost, plainly.leg_cost(from, to), "{from} to {to}, {:?}", view.rules);
                if cost.is_some() { clear += 1 } else { blocked += 1 }
            }
        }
    }
    assert!(clear > 10_000 && blocked > 10_000, "{clear} clear, {blocked} blocked");
}
