//! Copies that take every path, with sizes that are no multiple of a register or a block.

use tensor_kernels::Layout;

use super::strided;

/// A copy: its name, the shape, the strides of the source and those of the destination.
pub(crate) struct Case(
    pub(crate) &'static str,
    pub(crate) &'static [usize],
    pub(crate) &'static [isize],
    pub(crate) &'static [isize],
);

/// At least one case for each path, with sizes that are no multiple of a register or a block.
pub(crate) const CASES: &[Case] = &[
    Case("no elements", &[3, 0, 2], &[1, 1, 1], &[0, 2, 1]),
    Case("one element", &[], &[], &[]),
    Case("one element of rank 3", &[1, 1, 1], &[7, -9, 0], &[1, 1, 1]),
    Case("adjacent", &[7, 91], &[91, 1], &[91, 1]),
    Case("adjacent in one order", &[7, 3, 31], &[1, 217, 7], &[1, 217, 7]),
    Case("flipped alike", &[501], &[-1], &[-1]),
    Case("rows out of wider ones", &[9, 37], &[50, 1], &[37, 1]),
    Case("rows into wider ones", &[9, 37], &[37, 1], &[40, 1]),
    Case("rows in another order", &[5, 6, 33], &[33, 165, 1], &[198, 33, 1]),
    Case("rows of a pair", &[19, 6, 2], &[2, 38, 1], &[12, 2, 1]),
    Case("rows of three", &[19, 6, 3], &[3, 57, 1], &[18, 3, 1]),
    Case("long rows of three", &[23, 170, 3], &[3, 69, 1], &[510, 3, 1]),
    Case("long rows of three out of four, backwards", &[23, 170, 3], &[-4, 92, 1], &[520, 3, 1]),
    Case("rows flipped", &[9, 70], &[-70, 1], &[70, 1]),
    Case("many short rows out of wider ones", &[701, 3], &[5, 1], &[3, 1]),
    Case("many short rows into wider ones", &[701, 3], &[3, 1], &[4, 1]),
    Case("many short rows, backwards into wider ones", &[701, 4], &[-6, 1], &[-5, 1]),
    Case("many short rows that overlap", &[701, 3], &[1, 1], &[3, 1]),
    Case("a short row for many", &[701, 3], &[0, 1], &[3, 1]),
    Case("a short row for many, twice", &[2, 331, 3], &[9, 0, 1], &[993, 3, 1]),
    Case("one for each short row", &[701, 3], &[2, 0], &[3, 1]),
    Case("one for each short row, backwards into wider ones", &[701, 4], &[-1, 0], &[7, 1]),
    Case("windows that overlap", &[40, 9], &[1, 1], &[9, 1]),
    Case("one for all", &[613], &[0], &[1]),
    Case("one for a row", &[13, 71], &[1, 0], &[71, 1]),
    Case("one for a row, with gaps", &[13, 71], &[-3, 0], &[80, 1]),
    Case("a row for all", &[13, 71], &[0, 1], &[71, 1]),
    Case("transpose", &[71, 67], &[1, 71], &[67, 1]),
    Case("transpose into columns", &[71, 67], &[67, 1], &[1, 71]),
    Case("transpose with gaps on both sides", &[35, 67], &[1, 41], &[72, 1]),
    Case("transpose of power-of-two rows", &[64, 40], &[1, 256], &[256, 1]),
    Case("transpose, source columns flipped", &[35, 67], &[1, -41], &[67, 1]),
    Case("transpose, source rows flipped", &[35, 67], &[-1, 41], &[67, 1]),
    Case("transpose, destination flipped", &[35, 67], &[1, 41], &[67, -1]),
    Case("transpose into long rows", &[9, 1100], &[1, 9], &[1100, 1]),
    Case("transpose of several blocks", &[140, 131], &[1, 140], &[131, 1]),
    Case("three channels apart", &[3, 211], &[1, 3], &[211, 1]),
    Case("three channels together", &[211, 3], &[1, 211], &[3, 1]),
    Case("four channels apart", &[4, 130], &[1, 4], &[130, 1]),
    Case("four channels together", &[130, 4], &[1, 130], &[4, 1]),
    Case("channels last to first", &[3, 5, 6, 7], &[210, 1, 35, 5], &[210, 42, 7, 1]),
    Case("channels first to last", &[3, 6, 7, 5], &[210, 7, 1, 42], &[210, 35, 5, 1]),
    Case("batched transpose", &[4, 33, 18], &[594, 1, 33], &[594, 18, 1]),
    Case("one transpose many times", &[9, 35, 66], &[0, 1, 35], &[2310, 66, 1]),
    Case("transposed columns many times, flipped", &[35, 9, 66], &[-1, 0, 35], &[594, 66, 1]),
    Case("axes of rank 3 reversed", &[9, 10, 11], &[1, 9, 90], &[110, 11, 1]),
    Case(
        "axes of rank 8 reversed",
        &[2, 3, 2, 2, 3, 2, 2, 3],
        &[1, 2, 6, 12, 24, 72, 144, 288],
        &[432, 144, 72, 36, 12, 6, 3, 1],
    ),
    Case(
        "short axes reversed",
        &[3, 4, 5, 6, 7, 2],
        &[1, 3, 12, 60, 360, 2520],
        &[1680, 420, 84, 14, 2, 1],
    ),
    Case(
        "short axes reversed, some backwards",
        &[3, 4, 5, 6, 7, 2],
        &[1, -3, 12, -60, 360, -2520],
        &[1680, 420, 84, 14, 2, 1],
    ),
    Case("long axes around short ones", &[90, 2, 3, 70], &[6, 1, 2, 540], &[420, 210, 70, 1]),
    Case(
        "few adjacent in the result, many in the source",
        &[5, 5, 55, 5, 3, 2],
        &[8250, 1650, 5, 1, 275, 825],
        &[8250, 1650, 30, 6, 2, 1],
    ),
    Case(
        "many adjacent in the result, few in the source",
        &[34, 5, 14, 2, 3],
        &[6, 1, 510, 7140, 204],
        &[420, 84, 6, 3, 1],
    ),
    Case("pairs in pairs", &[12, 41, 2, 2], &[4, 48, 1, 2], &[164, 4, 2, 1]),
    Case("each three times, transposed", &[61, 10, 4, 3], &[4, 244, 1, 0], &[120, 12, 3, 1]),
    Case("each three times", &[701, 3], &[1, 0], &[3, 1]),
    Case("short rows backwards", &[701, 3], &[3, -1], &[3, 1]),
    Case("short rows in pairs", &[11, 13, 2, 5], &[130, 10, -5, 1], &[130, 10, 5, 1]),
    Case("short axes with gaps", &[6, 7, 8, 5], &[2, 12, 90, 730], &[280, 40, 5, 1]),
    Case("into short axes with gaps", &[6, 7, 8, 5], &[280, 40, 5, 1], &[2, 12, 90, 730]),
    Case("halves of rows interleaved", &[83, 13, 2], &[26, 1, 13], &[26, 2, 1]),
    Case("rows of five backwards", &[211, 5], &[5, -1], &[5, 1]),
    Case("rows of five backwards into wider ones", &[71, 3, 5], &[20, 5, -1], &[17, 5, 1]),
    Case("each of three, twice", &[97, 3, 2], &[3, -1, 0], &[6, 2, 1]),
    Case("few of every second", &[211, 3], &[7, 2], &[3, 1]),
    Case("pairs swapped", &[401, 2], &[2, -1], &[2, 1]),
    Case("backwards", &[501], &[-1], &[1]),
    Case("rows backwards", &[7, 70], &[70, -1], &[70, 1]),
    Case("every second", &[300], &[2], &[1]),
    Case("every second of each row", &[7, 70], &[140, 2], &[70, 1]),
    Case("every third, backwards", &[7, 70], &[210, -3], &[70, 1]),
    Case("every fifth", &[150], &[5], &[1]),
    Case("every seventh, backwards", &[150], &[-7], &[1]),
    Case("to every second", &[300], &[1], &[2]),
    Case("to every third of each row", &[7, 70], &[70, 1], &[210, 3]),
    Case("to every fifth, backwards", &[150], &[1], &[-5]),
    Case("every second to every third", &[301], &[2], &[3]),
    Case("every second, transposed", &[171, 167], &[2, 342], &[167, 1]),
    Case("few columns of every third, transposed", &[401, 9], &[3, 1203], &[9, 1]),
    // Of rank 5: fewer dimensions of so few elements are copied without a plan.
    Case("a few of every third, transposed", &[1, 1, 1, 9, 7], &[0, 0, 0, 3, 27], &[9, 9, 9, 7, 1]),
    Case("transposed to every second", &[71, 67], &[1, 71], &[134, 2]),
    Case("every third, transposed to every second", &[35, 67], &[3, 105], &[134, 2]),
    Case("interleaved without nesting", &[3, 2], &[1, 3], &[2, 3]),
    Case("one very long row of columns", &[2, 3000], &[1, 2], &[3000, 1]),
];

impl Case {
    /// The layouts of source and destination, with these offsets of the lowest element.
    pub(crate) fn layouts(&self, lead: [usize; 2]) -> [Layout; 2] {
        [strided(self.1, self.2, lead[0]), strided(self.1, self.3, lead[1])]
    }
}
