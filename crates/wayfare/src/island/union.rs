//! Sets that are joined two at a time, for areas that turn out to be connected.

/// Members are numbers from 0 on; the lowest member of a set stands for it.
#[derive(Default)]
pub(super) struct Union(Vec<u32>);

impl Union {
    /// So many sets of one member each.
    pub(super) fn new(members: u32) -> Self {
        Self((0..members).collect())
    }

    /// The member that stands for the set of another.
    pub(super) fn find(&mut self, mut member: u32) -> u32 {
        let Self(parents) = self;
        while parents[member as usize] != member {
            let grandparent = parents[parents[member as usize] as usize];
            parents[member as usize] = grandparent;
            member = grandparent;
        }
        member
    }

    pub(super) fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
