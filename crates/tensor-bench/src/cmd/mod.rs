//! The commands, one module each: they turn arguments into text or JSON.

pub mod advise;
pub mod calibrate;
pub mod compare;
pub mod convert;
pub mod count;
pub mod explain;
pub mod history;
pub mod pass;
pub mod record;
pub mod report;
pub mod results;
pub mod suite;
