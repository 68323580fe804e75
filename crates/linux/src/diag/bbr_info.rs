//! BBR's model of the path, as reported by the kernel.

use units::{Duration, Rate, Ratio};

use super::native::{min_rtt, native, two_words, u32_at};

/// The unit of the kernel's gains: fixed-point numbers with eight fraction bits (`BBR_SCALE` in `net/ipv4/tcp_bbr.c`).
const GAIN_UNIT: u32 = 1 << 8;

native! {
    /// BBR's model and gains: `struct tcp_bbr_info`, reported for sockets whose controller is BBR. Fields appended by
    /// later versions of BBR are not read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct BbrInfo {
        /// BBR's estimate of the bottleneck bandwidth: the windowed maximum of its delivery-rate samples, or the
        /// policed rate while it assumes a policer (`bbr_bw_lo`, `bbr_bw_hi`; bytes per second).
        pub bw: Rate = 0 => bw,
        /// The windowed minimum of the RTT; `None` before the first sample (`bbr_min_rtt`; microseconds).
        pub min_rtt: Option<Duration> = 8 => min_rtt,
        /// The gain on `bw` that gives the pacing rate (`bbr_pacing_gain`; 1/256).
        pub pacing_gain: Ratio = 12 => gain,
        /// The gain on the estimated BDP that gives the congestion window (`bbr_cwnd_gain`; 1/256).
        pub cwnd_gain: Ratio = 16 => gain,
    }
}

fn bw(bytes: &[u8], offset: usize) -> Option<Rate> {
    two_words(bytes, offset).map(Rate::from_bytes_per_sec)
}

fn gain(bytes: &[u8], offset: usize) -> Option<Ratio> {
    Some(Ratio::new(u32_at(bytes, offset)?, GAIN_UNIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_stands_where_the_kernel_puts_it() {
        let words: [u32; 5] = [0x8000_0001, 2, 40_000, 739, 512];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(
            BbrInfo::at(&bytes, 0),
            Some(BbrInfo {
                bw: Rate::from_bytes_per_sec(0x2_8000_0001),
                min_rtt: Some(Duration::from_millis(40)),
                pacing_gain: Ratio::new(739, 256),
                cwnd_gain: Ratio::new(2, 1),
            })
        );
        assert_eq!(BbrInfo::at(&bytes[..19], 0), None);
    }

    #[test]
    fn no_rtt_sample_yet_is_no_rtt() {
        let bytes = [0xff; 20];
        assert_eq!(BbrInfo::at(&bytes, 0).and_then(|bbr| bbr.min_rtt), None);
    }
}
