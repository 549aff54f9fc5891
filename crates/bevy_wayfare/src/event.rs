//! What a game hears: entity events, to be observed on one unit or on all.

use core::fmt;

use bevy::prelude::*;
use wayfare::Cost;

use crate::path::Reach;

/// A request was answered: the unit has its [`Path`](crate::Path). Fires again whenever that is planned anew, because the
/// map changed or the target moved.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// App::new().add_observer(|found: On<PathFound>| match found.reach {
///     Reach::Goal => println!("{} is on its way", found.entity),
///     Reach::Nearest => println!("{} gets as near as it can", found.entity),
///     Reach::BudgetSpent => println!("{} sets out", found.entity),
/// });
/// ```
#[derive(EntityEvent, Reflect, Clone, Copy, PartialEq, Debug)]
#[reflect(Clone, PartialEq, Debug)]
pub struct PathFound {
    /// Whose request it was.
    pub entity: Entity,
    /// Where the path leads.
    pub reach: Reach,
    /// What it costs, in the step costs of the map's rules.
    pub cost: Cost,
}

/// A request cannot be fulfilled. It has been removed; the unit stands still.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// App::new().add_observer(|failed: On<PathFailed>| {
///     println!("{} cannot get there: {}", failed.entity, failed.reason);
/// });
/// ```
#[derive(EntityEvent, Reflect, Clone, Copy, PartialEq, Debug)]
#[reflect(Clone, PartialEq, Debug)]
pub struct PathFailed {
    /// Whose request it was.
    pub entity: Entity,
    /// Why.
    pub reason: FailureReason,
}

/// A unit has reached the end of its path, and its request is done. Fires once per request.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// // Walks to and fro: an observer may order again at once.
/// fn patrol(arrived: On<Arrived>, units: Query<&Transform>, mut commands: Commands) -> Result {
///     let back = -units.get(arrived.entity)?.translation;
///     commands.entity(arrived.entity).insert(PathRequest::to(back));
///     Ok(())
/// }
/// # App::new().add_observer(patrol);
/// ```
#[derive(EntityEvent, Reflect, Clone, Copy, PartialEq, Debug)]
#[reflect(Clone, PartialEq, Debug)]
pub struct Arrived {
    /// Who.
    pub entity: Entity,
    /// Whether that is the goal or only the nearest point.
    pub reach: Reach,
}

/// The ground changed under the path of a unit: what remains of it is blocked or dearer now. A new one is being
/// searched for, and the unit goes on as far as it can.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// App::new().add_observer(|lost: On<PathInvalidated>| println!("{} looks for another way", lost.entity));
/// ```
#[derive(EntityEvent, Reflect, Clone, Copy, PartialEq, Debug)]
#[reflect(Clone, PartialEq, Debug)]
pub struct PathInvalidated {
    /// Whose path it is.
    pub entity: Entity,
}

/// A unit gets no farther, whatever it tried: waiting, stepping aside, asking whoever is in the way, planning around them and
/// planning anew. It keeps its order, and goes on trying.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// App::new().add_observer(|stuck: On<Stuck>| match stuck.blocker {
///     Some(blocker) => println!("{} stands before {blocker}", stuck.entity),
///     None => println!("{} cannot get through", stuck.entity),
/// });
/// ```
#[derive(EntityEvent, Reflect, Clone, Copy, PartialEq, Debug)]
#[reflect(Clone, PartialEq, Debug)]
pub struct Stuck {
    /// Who.
    pub entity: Entity,
    /// Who was in its way when it last looked; nobody, if it is too large for a gap between walls.
    pub blocker: Option<Entity>,
}

/// Why there is no path.
///
/// ```
/// use bevy_wayfare::prelude::*;
///
/// let map = NavMap::from_text(".#.")?;
/// let reason = map.find_path(Cell::new(0, 0), Cell::new(2, 0)).unwrap_err();
/// assert_eq!(reason.to_string(), "no way leads there; (0, 0) is the nearest cell in reach");
/// # Ok::<(), MapTextError>(())
/// ```
#[derive(Reflect, Clone, Copy, PartialEq, Eq, Debug)]
#[reflect(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum FailureReason {
    /// No way leads there. [`or_nearest`](crate::PathRequest::or_nearest) goes as near as possible instead.
    Unreachable {
        /// The cell nearest to the goal that can be reached.
        nearest: IVec2,
    },
    /// The unit stands on a blocked cell, and no free one is within
    /// [`escape_cells`](crate::PathfindingSettings::escape_cells).
    StartBlocked,
    /// The goal lies outside the map; or the start does, if it or the map was named.
    OutOfMap,
    /// The unit is on no map: none is under it, or the entity named by [`OnMap`](crate::OnMap) has none, or its
    /// cell size and transform make no plane.
    NoMap,
    /// A position is not a number, or infinite.
    BadPosition,
    /// The entity has no `Transform`, and the request names no start.
    NoPosition,
    /// The map has no such class of units; see [`NavMap::with_class`](crate::NavMap::with_class).
    UnknownClass,
    /// A request to the nearest of no goals.
    NoGoal,
    /// The entity to be reached no longer exists, or has no `Transform`.
    TargetLost,
    /// The search closed as many nodes as its budget allows.
    OutOfBudget {
        /// The cell nearest to the goal that it had come to.
        nearest: IVec2,
    },
    /// The search panicked. This is a defect of the library; the game goes on. Programs built with
    /// `panic = "abort"` forgo this.
    SearchPanicked,
    /// The plugin gave the request up itself: its map disappeared.
    Cancelled,
    /// The map has hexagonal cells. It knows where they are and what is on them, but searches go from square to square.
    HexagonalMap,
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { nearest } => {
                write!(f, "no way leads there; ({}, {}) is the nearest cell in reach", nearest.x, nearest.y)
            }
            Self::StartBlocked => f.write_str("the unit is stuck in blocked cells"),
            Self::OutOfMap => f.write_str("it lies outside the map"),
            Self::NoMap => f.write_str("the unit is on no map"),
            Self::BadPosition => f.write_str("a position is not a finite number"),
            Self::NoPosition => f.write_str("the entity has no transform to start from"),
            Self::UnknownClass => f.write_str("the map does not know this class of units"),
            Self::NoGoal => f.write_str("no goal was given"),
            Self::TargetLost => f.write_str("the entity to be reached is gone"),
            Self::OutOfBudget { nearest } => {
                write!(f, "the search budget was spent near ({}, {})", nearest.x, nearest.y)
            }
            Self::SearchPanicked => f.write_str("the search panicked"),
            Self::Cancelled => f.write_str("the map disappeared"),
            Self::HexagonalMap => f.write_str("searches cannot cross hexagonal cells yet"),
        }
    }
}

impl core::error::Error for FailureReason {}
