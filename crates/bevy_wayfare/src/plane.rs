//! Two dimensions of three: on which plane of the world a map lies.

use bevy::prelude::*;

/// The plane units walk on. Positions on it are pairs; the third coordinate is the game's own and never written.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// let position = Vec3::new(1.0, 2.0, 3.0);
/// assert_eq!(Plane::Xy.flat(position), Vec2::new(1.0, 2.0));
/// assert_eq!(Plane::Xz.flat(position), Vec2::new(1.0, 3.0));
/// ```
#[derive(Reflect, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[reflect(Default, Clone, PartialEq, Hash, Debug)]
pub enum Plane {
    /// X to the right and Y up, as in 2D games. A unit that faces right is not rotated.
    #[default]
    Xy,
    /// X to the right and Z towards the viewer, as on the ground of 3D games; Y is height. A unit that faces
    /// away from the viewer, along −Z, is not rotated.
    Xz,
}

impl Plane {
    /// The two coordinates on the plane.
    pub const fn flat(self, position: Vec3) -> Vec2 {
        match self {
            Self::Xy => Vec2::new(position.x, position.y),
            Self::Xz => Vec2::new(position.x, position.z),
        }
    }

    /// The third coordinate.
    pub const fn height(self, position: Vec3) -> f32 {
        match self {
            Self::Xy => position.z,
            Self::Xz => position.y,
        }
    }

    /// The point of the world over `flat` at this height.
    pub const fn at_height(self, flat: Vec2, height: f32) -> Vec3 {
        match self {
            Self::Xy => Vec3::new(flat.x, flat.y, height),
            Self::Xz => Vec3::new(flat.x, height, flat.y),
        }
    }

    /// The rotation of a unit that faces along `angle` on the plane, counted from X towards the second axis.
    pub fn rotation(self, angle: f32) -> Quat {
        match self {
            Self::Xy => Quat::from_rotation_z(angle),
            // −Z is forward there, a quarter turn from X; and turning from X to Z is turning backwards about Y.
            Self::Xz => Quat::from_rotation_y(-angle - core::f32::consts::FRAC_PI_2),
        }
    }

    /// The angle a unit with this rotation faces along.
    pub fn angle(self, rotation: Quat) -> f32 {
        let forward = match self {
            Self::Xy => self.flat(rotation * Vec3::X),
            Self::Xz => self.flat(rotation * Vec3::NEG_Z),
        };
        if forward.length_squared() > 1e-12 { forward.y.atan2(forward.x) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_and_rotations_agree() {
        for plane in [Plane::Xy, Plane::Xz] {
            for step in -7_i8..8 {
                let angle = f32::from(step) * 0.4;
                let back = plane.angle(plane.rotation(angle));
                assert!((back - angle).abs() < 1e-5, "{plane:?}: {angle} became {back}");
            }
        }
    }

    #[test]
    fn the_third_coordinate_is_kept_apart() {
        let position = Vec3::new(1.0, 2.0, 3.0);
        for plane in [Plane::Xy, Plane::Xz] {
            assert_eq!(plane.at_height(plane.flat(position), plane.height(position)), position);
        }
    }
}
