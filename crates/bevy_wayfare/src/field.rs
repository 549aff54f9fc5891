//! Flow fields, for games that steer by them: from every cell of a [`NavMap`] to one goal or the nearest of several.
//!
//! Comes in: a map and goals. Goes out: a [`Field`] of the core, which the game keeps, lets spread a little at a time, and
//! asks for a cost or a direction per cell. It shows the map as it was when it was made.

use std::sync::Arc;

use wayfare::{Cell, Field, Scratch};

use crate::agent::ClassId;
use crate::event::FailureReason;
use crate::map::NavMap;
use crate::plan::cell_of;
use crate::spot::Spot;

impl NavMap {
    /// A flow field to a `Vec3` of the world, a `Vec2` of the plane, or a [`Cell`]. It has not spread yet:
    /// [run](Field::run) it to the end at once, or some cells each frame.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_wayfare::prelude::*;
    ///
    /// let map = NavMap::from_text(
    ///     "..#.
    ///      ..#.
    ///      ....",
    /// )?;
    /// let mut field = map.field_to(Cell::new(3, 0))?;
    /// while field.run(1000) == Progress::Running {} // a frame goes by
    /// assert_eq!(field.direction(Cell::new(1, 1)), Some(Direction::South));
    /// assert_eq!(field.direction(Cell::new(3, 2)), Some(Direction::North));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FailureReason`] if the goal is no place on the map. A goal that is blocked is one, but no way leads there.
    pub fn field_to(&self, goal: impl Into<Spot>) -> Result<Field, FailureReason> {
        self.field_to_nearest(ClassId::default(), &[goal.into()])
    }

    /// As [`field_to`](Self::field_to), to the nearest of several goals, for any class of units.
    ///
    /// # Errors
    /// [`FailureReason`] if there is no such class, no goal, or a goal is no place on the map.
    pub fn field_to_nearest(&self, class: ClassId, goals: &[Spot]) -> Result<Field, FailureReason> {
        let snapshot = self.snapshot(class)?;
        let layout = self.layout().ok_or(FailureReason::NoMap)?;
        if goals.is_empty() {
            return Err(FailureReason::NoGoal);
        }
        let cell = |goal: &Spot| {
            let cell = cell_of(&layout, goal.aim(self.plane()))?;
            if snapshot.map().contains(cell) { Ok(cell) } else { Err(FailureReason::OutOfMap) }
        };
        let cells: Result<Vec<Cell>, FailureReason> = goals.iter().map(cell).collect();
        Ok(Field::to(Arc::clone(&snapshot), &cells?, Scratch::new()))
    }
}

#[cfg(test)]
mod tests {
    use bevy::prelude::*;
    use wayfare::Progress;

    use super::*;

    #[test]
    fn a_field_leads_to_the_nearest_of_its_goals() {
        let map = NavMap::from_text(".....\n.###.\n.....").unwrap().with_cell_size(2.0);
        let goals = [Spot::from(Cell::new(0, 0)), Spot::from(map.centre(Cell::new(4, 0)).unwrap())];
        let mut field = map.field_to_nearest(ClassId::default(), &goals).unwrap();
        while field.run(1) == Progress::Running {}
        let costs = [Cell::new(1, 0), Cell::new(3, 0), Cell::new(4, 0)].map(|cell| field.cost(cell));
        assert_eq!((costs[0], costs[2]), (costs[1], Some(0)));
        assert!(costs[0].is_some_and(|cost| cost > 0));
    }

    #[test]
    fn goals_that_are_none_are_named() {
        let map = NavMap::from_text("...").unwrap();
        let reason =
            |goals: &[Spot]| map.field_to_nearest(ClassId::default(), goals).map(|_| ()).unwrap_err();
        assert_eq!(reason(&[]), FailureReason::NoGoal);
        assert_eq!(reason(&[Cell::new(0, 0).into(), Cell::new(3, 0).into()]), FailureReason::OutOfMap);
        assert_eq!(reason(&[Vec2::NAN.into()]), FailureReason::BadPosition);
        let unknown = map.field_to_nearest(ClassId(7), &[Cell::new(0, 0).into()]);
        assert_eq!(unknown.map(|_| ()).unwrap_err(), FailureReason::UnknownClass);
    }
}
