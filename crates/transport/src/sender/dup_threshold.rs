//! Loss detection by counting: a packet is lost when three behind it have arrived (RFC 6675, `IsLost`, counted in
//! packets as in Linux before RACK). It considers each packet's first transmission only.

use super::scoreboard::{Number, Scoreboard, Status};

/// RFC 6675, `DupThresh`.
const DUP_THRESHOLD: usize = 3;

#[derive(Debug, Clone, Default)]
pub struct DupThreshold {
    /// The highest selectively acknowledged packets, in descending order.
    highest: [Option<Number>; DUP_THRESHOLD],
    /// Packets below this have been judged.
    judged: Number,
}

impl DupThreshold {
    /// Notes that packet `number` was selectively acknowledged.
    pub fn on_sacked(&mut self, mut number: Number) {
        for place in &mut self.highest {
            match place {
                Some(higher) if *higher >= number => {}
                Some(lower) => core::mem::swap(lower, &mut number),
                None => {
                    *place = Some(number);
                    return;
                }
            }
        }
    }

    /// The next packet that is lost. Call it until there is none.
    pub fn next_lost(&mut self, scoreboard: &Scoreboard) -> Option<Number> {
        let [.., third] = self.highest;
        let end = third?;
        self.judged = self.judged.max(scoreboard.numbers().start);
        while self.judged < end {
            let number = self.judged;
            self.judged += 1;
            let packet = scoreboard.get(number)?;
            if packet.status == Status::Flight && !packet.is_retransmitted {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_three_highest() {
        let mut threshold = DupThreshold::default();
        for number in [5, 9, 2, 7, 7, 1] {
            threshold.on_sacked(number);
        }
        assert_eq!(threshold.highest, [Some(9), Some(7), Some(7)]);
    }
}
