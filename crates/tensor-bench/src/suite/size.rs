//! Classes of cases that are judged apart: by the size of the result, and of its elements.

use super::Case;

/// The size of the work. The bounds do not depend on the machine: a class says nothing of caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SizeClass {
    /// Planning and calls weigh here.
    Small,
    /// In a second-level cache, mostly.
    Medium,
    /// Larger than that.
    Large,
}

/// The least bytes of medium work.
const MEDIUM_BYTES: u64 = 32_000;

/// The least bytes of large work.
const LARGE_BYTES: u64 = 2_000_000;

impl SizeClass {
    /// All classes, smallest first.
    pub const ALL: [SizeClass; 3] = [SizeClass::Small, SizeClass::Medium, SizeClass::Large];

    /// The class of a case, by the bytes of its result, or of the operand of a reduction.
    pub fn of(case: &Case) -> SizeClass {
        SizeClass::of_bytes(case.full_bytes())
    }

    /// The class of a result of this size.
    pub fn of_bytes(bytes: u64) -> SizeClass {
        match bytes {
            LARGE_BYTES.. => SizeClass::Large,
            MEDIUM_BYTES.. => SizeClass::Medium,
            _ => SizeClass::Small,
        }
    }

    /// The class of a group.
    pub fn named(group: &str) -> Option<SizeClass> {
        SizeClass::ALL.into_iter().find(|class| class.name() == group)
    }

    /// The bounds of the class of a group; any other group by its name.
    pub fn describe(group: &str) -> String {
        SizeClass::named(group).map_or_else(|| group.to_owned(), |class| class.bounds().to_owned())
    }

    /// The group of cases of this class.
    pub fn name(self) -> &'static str {
        match self {
            SizeClass::Small => "small",
            SizeClass::Medium => "medium",
            SizeClass::Large => "large",
        }
    }

    /// Its bounds.
    pub fn bounds(self) -> &'static str {
        match self {
            SizeClass::Small => "below 32 kB",
            SizeClass::Medium => "32 kB to 2 MB",
            SizeClass::Large => "2 MB and more",
        }
    }
}

/// The size of an element. Narrow ones need more instructions for each byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ElementClass {
    /// Four bytes and more.
    Wide,
    /// One or two bytes.
    Narrow,
}

impl ElementClass {
    /// The class of elements of this many bytes.
    pub fn of(bytes: usize) -> ElementClass {
        if bytes >= 4 { ElementClass::Wide } else { ElementClass::Narrow }
    }

    /// Its bounds.
    pub fn name(self) -> &'static str {
        match self {
            ElementClass::Wide => "4 B and more",
            ElementClass::Narrow => "1 or 2 B",
        }
    }
}
