//! The view options of a command line, applied in the order given.

use std::{error::Error, fmt, str::FromStr};

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use tensor_kernels::{Layout, Result};

use crate::{
    cases::view_op::{ViewOp, apply_all},
    input::chain::parse_index,
    output::render::join,
};

/// View operations, in the order given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewArgs(pub Vec<ViewOp>);

impl ViewArgs {
    /// The view of a layout.
    ///
    /// # Errors
    /// An invalid view operation.
    pub fn apply(&self, layout: &Layout) -> Result<Layout> {
        apply_all(&self.0, layout.clone())
    }
}

impl fmt::Display for ViewArgs {
    /// As options of a command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let option = |op: &ViewOp| match op {
            ViewOp::Permute(dims) => format!("--permute {}", join(dims, ",")),
            ViewOp::Transpose(a, b) => format!("--transpose {a},{b}"),
            ViewOp::Flip(dims) => format!("--flip {}", join(dims, ",")),
            ViewOp::Expand(sizes) => format!("--expand {}", join(sizes, ",")),
            // An index is printed with brackets.
            other => format!("--slice '{}'", other.to_string().trim_matches(['[', ']'])),
        };
        f.write_str(&join(self.0.iter().map(option), " "))
    }
}

type Parsed = std::result::Result<ViewOp, Box<dyn Error + Send + Sync>>;

struct Opt {
    name: &'static str,
    value: &'static str,
    help: &'static str,
    parse: fn(&str) -> Parsed,
}

const OPTIONS: &[Opt] = &[
    Opt {
        name: "permute",
        value: "DIMS",
        help: "View with the dimensions in this order, as in 2,0,1",
        parse: |text| Ok(ViewOp::Permute(list(text)?)),
    },
    Opt {
        name: "transpose",
        value: "A,B",
        help: "View with two dimensions swapped",
        parse: |text| match list(text)?.as_slice() {
            [a, b] => Ok(ViewOp::Transpose(*a, *b)),
            _ => Err("expected two dimensions".into()),
        },
    },
    Opt {
        name: "slice",
        value: "INDEX",
        help: "View of a part, in Python's notation: '0:10, ::2', '..., 0'",
        parse: |text| Ok(ViewOp::Index(parse_index(text)?)),
    },
    Opt {
        name: "flip",
        value: "DIMS",
        help: "View with dimensions reversed",
        parse: |text| Ok(ViewOp::Flip(list(text)?)),
    },
    Opt {
        name: "expand",
        value: "SIZES",
        help: "View with dimensions of size 1 repeated; -1 keeps a size",
        parse: |text| Ok(ViewOp::Expand(list(text)?)),
    },
];

fn list<T: FromStr<Err: Error + Send + Sync + 'static>>(
    text: &str,
) -> std::result::Result<Vec<T>, Box<dyn Error + Send + Sync>> {
    text.split(',').map(|part| Ok(part.trim().parse()?)).collect()
}

impl Args for ViewArgs {
    fn augment_args(command: Command) -> Command {
        let arg = |option: &Opt| {
            Arg::new(option.name)
                .long(option.name)
                .value_name(option.value)
                .help(option.help)
                .action(ArgAction::Append)
                .allow_hyphen_values(true)
                .value_parser(option.parse)
        };
        command.args(OPTIONS.iter().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ViewArgs {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let mut placed: Vec<(usize, ViewOp)> = Vec::new();
        for option in OPTIONS {
            let places = matches.indices_of(option.name).into_iter().flatten();
            let ops = matches.get_many::<ViewOp>(option.name).into_iter().flatten();
            placed.extend(places.zip(ops.cloned()));
        }
        placed.sort_by_key(|(place, _)| *place);
        Ok(ViewArgs(placed.into_iter().map(|(_, op)| op).collect()))
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> std::result::Result<ViewArgs, clap::Error> {
        let command = ViewArgs::augment_args(Command::new("test").no_binary_name(true));
        ViewArgs::from_arg_matches(&command.try_get_matches_from(line.split(' '))?)
    }

    #[test]
    fn options_are_applied_in_the_order_they_stand() {
        let there = parse("--flip 1 --permute 1,0 --flip -1").unwrap();
        let expected = [ViewOp::Flip(vec![1]), ViewOp::Permute(vec![1, 0]), ViewOp::Flip(vec![-1])];
        assert_eq!(there.0, expected);
    }

    #[test]
    fn every_option_is_a_view_operation() {
        let all = parse("--slice -3:,::2,None --transpose 0,1 --expand -1,-1,7").unwrap();
        let layout = all.apply(&Layout::contiguous([4, 5]).unwrap()).unwrap();
        assert_eq!((layout.shape(), layout.strides()), (&[3, 3, 7][..], &[2, 5, 0][..]));
    }

    #[test]
    fn they_print_as_they_are_read() {
        let text = "--permute 1,0 --transpose 0,1 --slice '::-1, 2:' --flip -1 --expand -1,7";
        let words = text.replace("'::-1, 2:'", "::-1,2:");
        assert_eq!(parse(&words).unwrap().to_string(), text);
    }

    #[test]
    fn malformed_values_are_refused() {
        for line in [
            "--permute 1,x",
            "--permute",
            "--transpose 1",
            "--slice 1:2:0",
            "--slice a",
            "--flip 99999999999999999999",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
