//! Random scripts of edits: after every step the map is what the tiles say, and what it would be if it were made anew.

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Random, TILE, app, nav, tile, tilemap};

const SIZE: u32 = 12;

fn rules() -> TileRules {
    TileRules::default()
        .with_texture(1, NavTile::Blocked)
        .with_texture(2, NavTile::Cost(3.0))
        .with_texture(3, NavTile::Ignored)
        .with_rule(|tile| (tile.texture == 4).then_some(NavTile::Terrain((tile.position.x % 4) as u8)))
}

/// A tilemap, how far it is shifted on the ground, and how many columns and rows it has.
type Layer = (Entity, IVec2, i32);

/// What the ground must be, from nothing but the entities: the tiles of each layer, topmost first.
fn expected(world: &mut World, layers: &[Layer], merge: Merge) -> Vec<Terrain> {
    let mut query = world.query::<(&TilePos, &TilemapId, Option<&TileTextureIndex>, Option<&NavTile>)>();
    let tiles: Vec<_> = query
        .iter(world)
        .map(|(at, id, texture, own)| {
            let tile = TileInfo { position: (*at).into(), texture: texture.map_or(0, |texture| texture.0) };
            let meaning = own.copied().unwrap_or_else(|| {
                world.get::<TileRules>(id.0).map_or(NavTile::Open, |rules| rules.meaning(tile))
            });
            (id.0, IVec2::new(at.x as i32, at.y as i32), meaning)
        })
        .collect();
    let terrain = |tile: NavTile| match tile {
        NavTile::Open => Terrain::OPEN,
        NavTile::Blocked | NavTile::Ignored => Terrain::WALL,
        NavTile::Terrain(terrain) => Terrain(terrain),
        NavTile::Cost(_) => Terrain::digit(3).unwrap(),
    };
    let mut map = Vec::new();
    for y in 0..SIZE as i32 {
        for x in 0..SIZE as i32 {
            // From the top down: of several tiles in one place of a layer the hardest.
            let found: Vec<Terrain> = layers
                .iter()
                .filter_map(|(layer, offset, size)| {
                    let at = IVec2::new(x, y) - *offset;
                    let inside = at.cmpge(IVec2::ZERO).all() && at.max_element() < *size;
                    let here = tiles.iter().filter(|(of, place, _)| inside && of == layer && *place == at);
                    let hardest = here.map(|(_, _, tile)| *tile).reduce(NavTile::harder);
                    hardest.filter(|tile| *tile != NavTile::Ignored).map(terrain)
                })
                .collect();
            let price = |terrain: Terrain| match terrain {
                Terrain::WALL => 1000,
                Terrain(247..=253) => 3,
                _ => 1,
            };
            let dearest = found.iter().rev().copied().max_by_key(|terrain| price(*terrain));
            let blocked = found.iter().copied().find(|terrain| *terrain == Terrain::WALL);
            map.push(match merge {
                Merge::TopmostWins => found.first().copied(),
                Merge::BlockedWins => blocked.or(found.first().copied()),
                Merge::DearestWins => dearest,
            });
        }
    }
    map.into_iter().map(|terrain| terrain.unwrap_or(Terrain::WALL)).collect()
}

fn actual(app: &App, ground: Entity) -> Vec<Terrain> {
    let map = nav(app, ground).map();
    map.area().into_iter().flat_map(Area::cells).map(|cell| map.terrain(cell)).collect()
}

/// One random thing that a game may do to tiles.
fn edit(world: &mut World, layers: &[Layer], random: &mut Random) {
    let mut all = world.query_filtered::<Entity, (With<TilePos>, Allow<Disabled>)>();
    let tiles: Vec<Entity> = all.iter(world).collect();
    let layer = layers[random.below(layers.len() as u32) as usize].0;
    let (x, y) = (random.below(SIZE + 1), random.below(SIZE + 1));
    if tiles.is_empty() || random.below(4) == 0 {
        world.spawn(tile(layer, x, y, random.below(6)));
        return;
    }
    let entity = tiles[random.below(tiles.len() as u32) as usize];
    let meaning =
        [NavTile::Open, NavTile::Blocked, NavTile::Terrain(3), NavTile::Cost(3.0), NavTile::Ignored]
            [random.below(5) as usize];
    let mut tile = world.entity_mut(entity);
    match random.below(9) {
        0 => tile.despawn(),
        1 => {
            tile.insert(meaning);
        }
        2 => {
            tile.remove::<NavTile>();
        }
        3 => tile.get_mut::<TilePos>().into_iter().for_each(|mut at| *at = TilePos::new(x, y)),
        4 => tile.get_mut::<TilemapId>().into_iter().for_each(|mut id| id.0 = layer),
        5 => {
            tile.insert((TilePos::new(x, y), TilemapId(layer), TileTextureIndex(random.below(6))));
        }
        6 => tile.get_mut::<TileTextureIndex>().into_iter().for_each(|mut texture| texture.0 = x % 6),
        7 => {
            tile.insert(Disabled);
        }
        _ => {
            tile.remove::<Disabled>();
        }
    }
}

#[test]
fn after_every_step_the_ground_is_what_the_tiles_say() {
    for (seed, merge) in
        (0..9).zip([Merge::BlockedWins, Merge::DearestWins, Merge::TopmostWins].into_iter().cycle())
    {
        let mut random = Random(seed);
        let mut app = app();
        let map = NavMap::from_tiles().with_merge(merge);
        let ground = app.world_mut().spawn((tilemap(SIZE, SIZE), map.clone(), rules())).id();
        let mut layers = vec![(ground, IVec2::ZERO, SIZE as i32)];
        for z in 1..1 + seed % 3 {
            let layer = app.world_mut().spawn((tilemap(SIZE, SIZE), LayerOf(ground), rules())).id();
            let mut at = app.world_mut().get_mut::<Transform>(layer).unwrap();
            at.translation.z = z as f32;
            layers.insert(0, (layer, IVec2::ZERO, SIZE as i32));
        }
        for step in 0..250 {
            // Sometimes one edit a frame, sometimes very many.
            for _ in 0..1 + random.below(3) * random.below(12) {
                edit(app.world_mut(), &layers, &mut random);
            }
            app.update();
            let wanted = expected(app.world_mut(), &layers, merge);
            assert_eq!(actual(&app, ground), wanted, "seed {seed}, step {step}, {merge:?}");
            if step % 25 == 24 {
                let before = actual(&app, ground);
                for (layer, ..) in &layers {
                    app.world_mut().entity_mut(*layer).remove::<TileLayer>();
                }
                app.world_mut().entity_mut(ground).insert(map.clone());
                app.update();
                assert_eq!(actual(&app, ground), before, "made anew: seed {seed}, step {step}");
            }
        }
    }
}

#[test]
fn layers_come_go_and_are_shifted() {
    for seed in 0..6 {
        let mut random = Random(100 + seed);
        let mut app = app();
        let ground = app.world_mut().spawn((tilemap(SIZE, SIZE), NavMap::from_tiles(), rules())).id();
        let mut layers: Vec<Layer> = vec![(ground, IVec2::ZERO, SIZE as i32)];
        for step in 0..120 {
            match random.below(6) {
                0 if layers.len() < 4 => {
                    let size = SIZE - 4;
                    let layer = app.world_mut().spawn((tilemap(size, size), LayerOf(ground), rules())).id();
                    // Of layers at the same height the later one lies above.
                    layers.insert(0, (layer, IVec2::ZERO, size as i32));
                }
                1 if layers.len() > 1 => {
                    let (layer, ..) = layers.remove(0);
                    app.world_mut().despawn(layer);
                }
                2 if layers.len() > 1 => {
                    let offset = IVec2::new(random.below(5) as i32, random.below(5) as i32);
                    let at = Transform::from_translation((offset.as_vec2() * TILE).extend(0.0));
                    app.world_mut().entity_mut(layers[0].0).insert(at);
                    layers[0].1 = offset;
                }
                _ => {
                    for _ in 0..8 {
                        edit(app.world_mut(), &layers, &mut random);
                    }
                }
            }
            app.update();
            let wanted = expected(app.world_mut(), &layers, Merge::BlockedWins);
            assert_eq!(actual(&app, ground), wanted, "seed {seed}, step {step}");
        }
    }
}

/// Units on their way plan again when a script of edits gets in theirs, and never stand in a wall for long.
#[test]
fn walkers_heed_what_happens_to_tiles() {
    let mut random = Random(7);
    let mut app = app();
    let ground = app.world_mut().spawn((tilemap(SIZE, SIZE), NavMap::from_tiles(), rules())).id();
    crate::support::cover(&mut app, ground, SIZE, SIZE, 0);
    app.update();
    let side = TILE * SIZE as f32;
    let units: Vec<Entity> = (0..10)
        .map(|_| {
            let at = Vec3::new(random.between(1.0, side), random.between(1.0, side), 0.0);
            app.world_mut().spawn((Transform::from_translation(at), Agent { speed: 60.0, ..default() })).id()
        })
        .collect();
    for step in 0..1500 {
        if step % 30 == 0 {
            for unit in &units {
                let goal = Vec2::new(random.between(1.0, side), random.between(1.0, side));
                app.world_mut().entity_mut(*unit).insert(PathRequest::to(goal).or_nearest());
            }
        }
        if step % 20 == 10 {
            let (x, y) = (random.below(SIZE), random.below(SIZE));
            let tile = crate::support::tile_at(&mut app, ground, x, y);
            let mut texture = app.world_mut().get_mut::<TileTextureIndex>(tile).unwrap();
            texture.0 = u32::from(texture.0 == 0);
        }
        app.update();
        if step % 20 != 9 {
            continue;
        }
        // Ten steps and more after the last edit everybody has walked out.
        let snapshot = nav(&app, ground).snapshot(ClassId(0)).unwrap();
        for unit in &units {
            let at = app.world().get::<Transform>(*unit).unwrap().translation;
            let cell = nav(&app, ground).cell_at(at).unwrap();
            assert!(
                snapshot.is_open(cell) || app.world().get::<PathRequest>(*unit).is_some(),
                "step {step}: {cell}"
            );
        }
    }
}
