//! Units that vanish while others reckon with them: at any moment of a run, by the game's systems or by what hears events.

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard};

/// After which stage of a run the unit vanishes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Moment {
    Follow,
    Avoid,
    Move,
}

const MOMENTS: [Moment; 3] = [Moment::Follow, Moment::Avoid, Moment::Move];

/// How it vanishes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum How {
    Despawned,
    Disabled,
}

const WAYS: [How; 2] = [How::Despawned, How::Disabled];

/// Who vanishes with the next run.
#[derive(Resource, Default)]
struct Doomed(Vec<(Entity, Moment, How)>);

fn vanish(world: &mut World, unit: Entity, how: How) {
    let Ok(mut unit) = world.get_entity_mut(unit) else { return };
    match how {
        How::Despawned => unit.despawn(),
        How::Disabled => _ = unit.insert(Disabled),
    }
}

fn reap(moment: Moment) -> impl FnMut(&mut World) {
    move |world| {
        let doomed = core::mem::take(&mut world.resource_mut::<Doomed>().0);
        for (unit, when, how) in doomed {
            if when == moment {
                vanish(world, unit, how);
            } else {
                world.resource_mut::<Doomed>().0.push((unit, when, how));
            }
        }
    }
}

fn game(text: &str) -> Game {
    let mut game = Game::in_frame(text);
    game.app.init_resource::<Doomed>().add_systems(
        FixedUpdate,
        (
            reap(Moment::Follow).after(PathfindingSystems::Follow).before(PathfindingSystems::Avoid),
            reap(Moment::Avoid).after(PathfindingSystems::Avoid).before(PathfindingSystems::Move),
            reap(Moment::Move).after(PathfindingSystems::Move),
        ),
    );
    game
}

impl Game {
    fn dooms(&mut self, unit: Entity, moment: Moment, how: How) {
        self.world().resource_mut::<Doomed>().0.push((unit, moment, how));
        self.update();
        assert!(self.world().resource::<Doomed>().0.is_empty());
    }

    fn arrives(&mut self, unit: Entity) {
        self.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    }
}

/// Each moment and way, a few steps later each time.
fn each(mut check: impl FnMut(Moment, How, usize)) {
    for moment in MOMENTS {
        for how in WAYS {
            for after in [1, 40, 90, 140] {
                check(moment, how, after);
            }
        }
    }
}

#[test]
fn of_two_in_a_lane_one_vanishes_while_it_passes_or_lets_pass() {
    each(|moment, how, after| {
        for victim in [0, 1] {
            let mut game = game(
                "####.###############
                 ....................",
            );
            let pair = [game.unit(0, 1), game.unit(19, 1)];
            game.order(pair[0], PathRequest::to(Cell::new(19, 1)));
            game.order(pair[1], PathRequest::to(Cell::new(0, 1)));
            game.until("they meet", |game| game.position(pair[0]).distance(game.position(pair[1])) < 1.0);
            game.updates(after);
            game.dooms(pair[victim], moment, how);
            game.arrives(pair[1 - victim]);
        }
    });
}

#[test]
fn an_idle_unit_vanishes_that_gets_out_of_the_way_or_the_one_that_it_lets_pass() {
    each(|moment, how, after| {
        for victim in [0, 1] {
            let mut game = game(
                "########.###########
                 ....................",
            );
            let (idle, walker) = (game.unit(10, 1), game.unit(16, 1));
            let home = game.position(idle);
            game.order(walker, PathRequest::to(Cell::new(1, 1)));
            game.until("it makes way", |game| game.position(idle) != home);
            game.updates(after);
            game.dooms([idle, walker][victim], moment, how);
            if victim == 0 {
                game.arrives(walker);
            } else {
                game.until("it is back", |game| game.position(idle).distance(home) < 0.05);
            }
        }
    });
}

#[test]
fn a_blocker_vanishes_and_those_before_it_go_on() {
    each(|moment, how, after| {
        let mut game = game("....................");
        let blocker = game.unit(10, 0);
        game.world().entity_mut(blocker).insert(Avoidance::LOCKED);
        let units = [game.unit(4, 0), game.unit(5, 0), game.unit(6, 0)];
        for (unit, x) in units.into_iter().zip([17, 18, 19]) {
            game.order(unit, PathRequest::to(Cell::new(x, 0)));
        }
        game.until("they stand before it", |game| game.position(units[2]).x > 9.5);
        game.updates(4 * after);
        game.dooms(blocker, moment, how);
        units.into_iter().for_each(|unit| game.arrives(unit));
    });
}

#[test]
fn members_of_a_group_vanish_and_the_others_arrive() {
    each(|moment, how, after| {
        for formation in [Formation::Loose, Formation::Wedge] {
            let mut game = game(&[".".repeat(30).as_str(); 12].join("\n"));
            let units: Vec<Entity> = (0..8).map(|i| game.unit(1 + i % 4, 4 + i / 4)).collect();
            let order = GroupOrder::to(Cell::new(24, 6)).units(units.iter().copied()).formation(formation);
            game.world().spawn(order);
            game.updates(after);
            // The first leads.
            for unit in [0, 5] {
                game.dooms(units[unit], moment, how);
            }
            [1, 2, 3, 4, 6, 7].into_iter().for_each(|unit| game.arrives(units[unit]));
        }
    });
}

/// Whoever is heard of, and all whose turn it is, vanish at once.
#[derive(Resource)]
struct Curse {
    how: How,
    others: Vec<Entity>,
}

fn curse(unit: Entity, mut commands: Commands) {
    commands.queue(move |world: &mut World| strike(world, unit));
}

fn strike(world: &mut World, unit: Entity) {
    let Some(curse) = world.get_resource_mut::<Curse>() else { return };
    let (how, others) = (curse.how, curse.others.clone());
    for unit in others.into_iter().chain([unit]) {
        vanish(world, unit, how);
    }
}

#[test]
fn whoever_is_heard_of_vanishes_and_others_with_it() {
    for how in WAYS {
        for event in 0..3 {
            let mut game = game(
                "....................
                 .##################.
                 ....................",
            );
            // Three walk in the lower lane, where a tower stands; one in the upper, and one comes towards it.
            let tower = game.unit(10, 2);
            game.world().entity_mut(tower).insert(Avoidance::LOCKED);
            for wall in [0, 19] {
                game.edit(|map| assert!(map.set((wall, 1), Terrain::WALL).unwrap()));
            }
            let lower = [game.unit(4, 2), game.unit(5, 2), game.unit(6, 2)];
            let upper = [game.unit(0, 0), game.unit(19, 0), game.unit(9, 0)];
            match event {
                0 => game.app.add_observer(|e: On<Arrived>, commands: Commands| curse(e.entity, commands)),
                1 => game.app.add_observer(|e: On<Stuck>, commands: Commands| curse(e.entity, commands)),
                _ => game.app.add_observer(|e: On<PathFound>, commands: Commands| curse(e.entity, commands)),
            };
            // Who stands in the way, and who is being let pass or lets pass.
            game.world().insert_resource(Curse { how, others: vec![tower, upper[1]] });
            for (unit, x) in lower.into_iter().zip([17, 18, 19]) {
                game.order(unit, PathRequest::to(Cell::new(x, 2)));
            }
            game.order(upper[0], PathRequest::to(Cell::new(3, 0)));
            game.updates(64 * 15);
            // From now on nobody is struck, and whoever is left does as it is told.
            game.world().remove_resource::<Curse>();
            game.take_heard();
            let is_left = |unit: &Entity| {
                let found = game.app.world().get_entity(*unit);
                found.is_ok_and(|unit: EntityRef| !unit.contains::<Disabled>())
            };
            let left: Vec<Entity> = lower.into_iter().chain(upper).filter(is_left).collect();
            assert!(!left.is_empty(), "{how:?} {event}");
            for (i, unit) in (0..).zip(&left) {
                let y = if lower.contains(unit) { 2 } else { 0 };
                game.order(*unit, PathRequest::to(Cell::new(12 + i, y)));
            }
            left.into_iter().for_each(|unit| game.arrives(unit));
        }
    }
}
