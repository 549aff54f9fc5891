//! How a kind of unit sees the ground: a [`Class`] gives terrain a price, a [`View`] adds the movement rule and the room
//! that a unit needs.

use crate::clearance::Clearance;
use crate::cost::Factor;
use crate::map::Terrain;
use crate::rules::Rules;

/// A kind of unit: which terrain it enters, and at what price.
///
/// By default everything is entered at factor 1 except walls and the outside, and a digit of a text map costs
/// what it says.
///
/// ```
/// use wayfare::prelude::*;
///
/// const ROAD: Terrain = Terrain(1);
/// const WATER: Terrain = Terrain(2);
/// let infantry = Class::default().with(ROAD, Factor::new(0.5)?).without(WATER);
/// assert_eq!(infantry.factor(ROAD).map(Factor::value), Some(0.5));
/// assert_eq!(infantry.factor(WATER), None);
/// # Ok::<(), CostError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    factors: [Option<Factor>; 256],
}

impl Class {
    /// A class that crosses everything, walls included, at factor 1.
    pub fn flyer() -> Self {
        Self { factors: [Some(Factor::ONE); 256] }
    }

    /// The same class, entering `terrain` at `factor`.
    #[must_use]
    pub fn with(mut self, terrain: Terrain, factor: Factor) -> Self {
        self.factors[usize::from(terrain.0)] = Some(factor);
        self
    }

    /// The same class, never entering `terrain`.
    #[must_use]
    pub fn without(mut self, terrain: Terrain) -> Self {
        self.factors[usize::from(terrain.0)] = None;
        self
    }

    /// The price of `terrain`, or `None` if this class does not enter it. Nobody enters [`Terrain::OUTSIDE`].
    pub fn factor(&self, terrain: Terrain) -> Option<Factor> {
        if terrain == Terrain::OUTSIDE { None } else { self.factors[usize::from(terrain.0)] }
    }
}

impl Default for Class {
    fn default() -> Self {
        (1..=9).fold(Self::flyer().without(Terrain::WALL), |class, cost| match Terrain::digit(cost) {
            Some(terrain) => class.with(terrain, Factor::whole(cost)),
            None => class,
        })
    }
}

/// What a search looks through: a class of unit of some size under a movement rule.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct View {
    /// How units move.
    pub rules: Rules,
    /// What the ground costs them.
    pub class: Class,
    /// How much room they need.
    pub clearance: Clearance,
}

impl From<Rules> for View {
    fn from(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_leaves_the_map() {
        let ghost = Class::flyer().with(Terrain::OUTSIDE, Factor::ONE);
        assert_eq!(ghost.factor(Terrain::OUTSIDE), None);
        assert_eq!(ghost.factor(Terrain::WALL), Some(Factor::ONE));
    }

    #[test]
    fn digits_cost_what_they_say() {
        let class = Class::default();
        assert_eq!(class.factor(Terrain::WALL), None);
        assert_eq!(class.factor(Terrain::OPEN), Some(Factor::ONE));
        assert_eq!(class.factor(Terrain::digit(7).unwrap()), Some(Factor::whole(7)));
        assert_eq!(Terrain::digit(0), None);
    }
}
