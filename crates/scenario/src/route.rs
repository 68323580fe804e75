//! Routes over the links of a scenario.

/// A link on a route, and the direction in which packets cross it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Crossing {
    /// The index of the link: a hop of a chain, or a `[[link]]`.
    pub link: usize,
    /// True if packets cross it in the opposite direction: the one of ACKs on a `[path]`, from `to` to `from` on a
    /// `[[link]]`.
    pub is_back: bool,
}

impl Crossing {
    /// The crossing of the same link in the opposite direction.
    #[must_use]
    pub fn opposite(self) -> Crossing {
        Crossing {
            is_back: !self.is_back,
            ..self
        }
    }
}

/// The links that the packets of a flow cross.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Route {
    /// The links of its data, in the order of crossing.
    pub there: Vec<Crossing>,
    /// The links of its ACKs, in the order of crossing.
    pub back: Vec<Crossing>,
}

impl Route {
    /// Returns the route over these links whose ACKs come back over the same links.
    pub fn over(there: Vec<Crossing>) -> Route {
        Route {
            back: opposite(&there),
            there,
        }
    }

    /// The same route with data and ACKs exchanged.
    #[must_use]
    pub fn turned(&self) -> Route {
        Route {
            there: self.back.clone(),
            back: self.there.clone(),
        }
    }

    /// Both directions: the links of data, then those of ACKs.
    pub fn both(&self) -> impl Iterator<Item = Crossing> + Clone {
        self.there.iter().chain(&self.back).copied()
    }
}

/// The same links in the opposite direction.
fn opposite(crossings: &[Crossing]) -> Vec<Crossing> {
    let opposite = crossings.iter().rev().map(|crossing| crossing.opposite());
    opposite.collect()
}
