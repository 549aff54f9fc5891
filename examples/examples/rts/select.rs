//! Who is meant: in come clicks, boxes and keys, out goes [`Selected`] on units.

use bevy::ecs::entity::EntityHashSet;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::art::z;
use crate::camera::Eyes;
use crate::pointer::Pointer;
use crate::report::Report;
use crate::units::Kind;

/// A drag shorter than this is a click, in pixels.
const CLICK: f32 = 6.0;
/// A unit is hit so many pixels beside its body.
const GRACE: f32 = 4.0;
/// Two clicks within so many seconds are a double click.
const DOUBLE: f32 = 0.4;

const BOX_COLOUR: Color = Color::srgb(0.6, 1.0, 0.6);

const DIGITS: [KeyCode; 9] = [
    KeyCode::Digit1,
    KeyCode::Digit2,
    KeyCode::Digit3,
    KeyCode::Digit4,
    KeyCode::Digit5,
    KeyCode::Digit6,
    KeyCode::Digit7,
    KeyCode::Digit8,
    KeyCode::Digit9,
];

pub(crate) const SHIFT: [KeyCode; 2] = [KeyCode::ShiftLeft, KeyCode::ShiftRight];
const CONTROL: [KeyCode; 2] = [KeyCode::ControlLeft, KeyCode::ControlRight];

/// Whether either key is held in this frame, if only for a part of it.
pub(crate) fn is_held(keys: &ButtonInput<KeyCode>, either: [KeyCode; 2]) -> bool {
    keys.any_pressed(either) || keys.any_just_released(either)
}

/// On units that orders go to.
#[derive(Component, Debug)]
pub(crate) struct Selected;

/// The units behind the keys 1 to 9.
#[derive(Resource, Default, Debug)]
pub(crate) struct Groups([EntityHashSet; 9]);

/// What the left button is doing.
#[derive(Resource, Default, Debug)]
pub(crate) struct Drag {
    /// Where in the world it was pressed, while it is held.
    from: Option<Vec2>,
    /// When a unit was last clicked, and which kind it was.
    clicked: Option<(f32, Kind)>,
}

/// The rectangle between press and cursor.
#[derive(Component, Debug)]
pub(crate) struct SelectionBox;

type Units<'w, 's> =
    Query<'w, 's, (Entity, &'static Transform, &'static Kind, &'static Agent, Has<Selected>), With<Kind>>;

pub(crate) fn spawn_selection_box(mut commands: Commands) {
    let sprite = Sprite::from_color(BOX_COLOUR.with_alpha(0.15), Vec2::ONE);
    commands.spawn((
        SelectionBox,
        sprite,
        Transform::from_xyz(0.0, 0.0, z::SELECTION_BOX),
        Visibility::Hidden,
    ));
}

/// Left click selects one, left drag all in a box, double click all of a kind that are seen; shift adds.
pub(crate) fn select_by_mouse(
    // Reads
    time: Res<Time<Real>>,
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Res<Pointer>,
    eyes: Eyes,
    units: Units,
    // Writes
    mut drag: ResMut<Drag>,
    mut commands: Commands,
) {
    // In a slow frame there may be two of them.
    for click in pointer.clicks.iter().filter(|click| click.button == MouseButton::Left) {
        if click.pressed {
            drag.from = click.ground;
            continue;
        }
        let to = eyes.to_world(click.screen);
        let Some(from) = drag.from.take() else { continue };
        let add = is_held(&keys, SHIFT);
        let now = time.elapsed_secs();
        let picked: EntityHashSet = if from.distance(to) > CLICK * eyes.scale() {
            drag.clicked = None;
            let area = Rect::from_corners(from, to);
            let is_inside = |at: &Transform| area.contains(at.translation.truncate());
            units.iter().filter(|unit| is_inside(unit.1)).map(|unit| unit.0).collect()
        } else {
            let hit = hit(&units, to, GRACE * eyes.scale());
            let double = drag.clicked.take().filter(|(when, _)| now - when < DOUBLE).map(|(_, kind)| kind);
            drag.clicked = hit.map(|(_, kind)| (now, kind));
            match hit {
                Some((_, kind)) if double == Some(kind) => seen(&units, kind, eyes.view()).collect(),
                _ => hit.into_iter().map(|(unit, _)| unit).collect(),
            }
        };
        choose(&units, &picked, add, &mut commands);
    }
}

/// A selects all, Ctrl and a digit make a group, the digit alone recalls it.
pub(crate) fn select_by_keys(
    keys: Res<ButtonInput<KeyCode>>,
    units: Units,
    mut groups: ResMut<Groups>,
    mut commands: Commands,
) {
    if keys.just_pressed(KeyCode::KeyA) {
        let all = units.iter().map(|unit| unit.0).collect();
        choose(&units, &all, false, &mut commands);
    }
    for (index, _) in DIGITS.into_iter().enumerate().filter(|(_, digit)| keys.just_pressed(*digit)) {
        if is_held(&keys, CONTROL) {
            groups.0[index] = units.iter().filter(|unit| unit.4).map(|unit| unit.0).collect();
            Report::Grouped { group: index + 1, units: groups.0[index].len() }.log();
        } else if !groups.0[index].is_empty() {
            choose(&units, &groups.0[index], is_held(&keys, SHIFT), &mut commands);
        }
    }
}

pub(crate) fn draw_selection_box(
    drag: Res<Drag>,
    pointer: Res<Pointer>,
    eyes: Eyes,
    selection_box: Single<(&mut Transform, &mut Visibility), With<SelectionBox>>,
    mut gizmos: Gizmos,
) {
    let (mut transform, mut visibility) = selection_box.into_inner();
    let corners = drag.from.zip(pointer.screen.map(|at| eyes.to_world(at)));
    let corners = corners.filter(|(from, to)| from.distance(*to) > CLICK * eyes.scale());
    *visibility = if corners.is_some() { Visibility::Visible } else { Visibility::Hidden };
    if let Some((from, to)) = corners {
        let area = Rect::from_corners(from, to);
        transform.translation = area.center().extend(z::SELECTION_BOX);
        transform.scale = area.size().extend(1.0);
        gizmos.rect_2d(area.center(), area.size(), BOX_COLOUR);
    }
}

/// Selects these, and keeps who was selected before if they are to be added.
fn choose(units: &Units, picked: &EntityHashSet, add: bool, commands: &mut Commands) {
    let mut count = 0;
    for (unit, .., was_selected) in units {
        let selected = picked.contains(&unit) || (add && was_selected);
        count += usize::from(selected);
        match (was_selected, selected) {
            (false, true) => _ = commands.entity(unit).insert(Selected),
            (true, false) => _ = commands.entity(unit).remove::<Selected>(),
            _ => {}
        }
    }
    Report::Selected(count).log();
}

/// The unit under a point; of several, the one whose middle is nearest.
fn hit(units: &Units, point: Vec2, grace: f32) -> Option<(Entity, Kind)> {
    let gap = |at: &Transform, agent: &Agent| at.translation.truncate().distance(point) - agent.radius;
    let near = units.iter().map(|(unit, at, kind, agent, _)| (gap(at, agent), unit, *kind));
    let nearest = near.min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.filter(|(gap, ..)| *gap < grace).map(|(_, unit, kind)| (unit, kind))
}

fn seen<'a>(units: &'a Units, kind: Kind, view: Rect) -> impl Iterator<Item = Entity> + 'a {
    let is_seen = move |at: &Transform| view.contains(at.translation.truncate());
    units.iter().filter(move |unit| *unit.2 == kind && is_seen(unit.1)).map(|unit| unit.0)
}
