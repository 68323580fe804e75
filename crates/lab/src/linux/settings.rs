//! A scenario's hosts as settings of the kernel.

use linux::{NetworkConfig, Settings};
use transport::segment::{HEADERS, MSS};
use transport::sender::LossDetection;
use units::{Bytes, Ratio};

use scenario::{HostSpec, Scenario};

/// The size of the timestamp option in each segment. `TCP_MAXSEG` counts it as payload, scenarios count it as header.
const TIMESTAMP_BYTES: u64 = 12;

/// The MTU of Ethernet.
const MTU: Bytes = Bytes::new(1500);

/// The kernel memory that a send buffer takes, as a multiple of its payload: large writes fill pages, and each packet
/// has overhead (`sk_wmem_queued` of a bulk flow at 100 Mbit/s: 3 698 016 bytes for 3 504 160).
const SEND_OVERHEAD: Ratio = Ratio::new(19, 18);

/// The kernel memory that a receive buffer takes for each byte of the window (`tcp_adv_win_scale` of 1).
const RECEIVE_OVERHEAD: u64 = 2;

/// Both hosts of the scenario, with this number of address pairs. All groups are checked to have the same host,
/// except for the MSS.
pub(super) fn network(scenario: &Scenario, groups: u16) -> NetworkConfig {
    let group = scenario.flows.first();
    let host = group.map_or_else(
        || scenario.host.clone(),
        |group| group.host.over(&scenario.host),
    );
    let routes = scenario.network();
    let segments = (0..scenario.flows.len()).map(|group| routes.mss(group));
    let packet = segments.max().unwrap_or(MSS) + HEADERS;
    NetworkConfig {
        groups,
        mtu: u16::try_from(packet.max(MTU).get()).unwrap_or(u16::MAX),
        host: settings(&host),
    }
}

/// The maximum segment size to set on a group's sockets; `None` leaves it to the MTU.
pub(super) fn segment_size(network: &scenario::Network<'_>, group: usize) -> Option<u16> {
    let mss = network.mss(group);
    let mut groups = 0..network.routes().len();
    let is_usual = groups.all(|group| network.mss(group) == MSS);
    u16::try_from(mss.get() + TIMESTAMP_BYTES)
        .ok()
        .filter(|_| !is_usual)
}

fn settings(host: &HostSpec) -> Settings {
    let usual = Settings::default();
    let receive_buffer = host.receive_buffer.map(|window| window * RECEIVE_OVERHEAD);
    let receive_buffer = receive_buffer.unwrap_or(usual.receive_buffer);
    // Enough ports for many short connections.
    let mut sysctls = vec![("net.ipv4.ip_local_port_range", "1024 65535".to_string())];
    if let Some(window) = host.initial_receive_buffer {
        let initial = (window * RECEIVE_OVERHEAD).get();
        let most = receive_buffer.get().max(initial);
        sysctls.push(("net.ipv4.tcp_rmem", format!("4096 {initial} {most}")));
    }
    if host.sack_blocks == Some(0) {
        sysctls.push(("net.ipv4.tcp_sack", "0".to_string()));
    }
    if let Some(count) = host.compressed_acks {
        sysctls.push(("net.ipv4.tcp_comp_sack_nr", count.to_string()));
    }
    if let Some(longest) = host.max_rto {
        let millis = longest.as_nanos().div_ceil(1_000_000);
        sysctls.push(("net.ipv4.tcp_rto_max_ms", millis.to_string()));
    }
    if host.loss_detection == Some(LossDetection::DupThreshold) {
        // Neither RACK nor tail loss probes.
        sysctls.push(("net.ipv4.tcp_recovery", "0".to_string()));
        sysctls.push(("net.ipv4.tcp_early_retrans", "0".to_string()));
    }
    Settings {
        send_buffer: host
            .send_buffer
            .map_or(usual.send_buffer, |payload| SEND_OVERHEAD.of_bytes(payload)),
        receive_buffer,
        initial_cwnd: host.initial_cwnd.and_then(|cwnd| u32::try_from(cwnd).ok()),
        min_rto: host.min_rto,
        ecn: host.ecn.unwrap_or(usual.ecn),
        sysctls: sysctls
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use scenario::Controller;

    use super::*;

    fn scenario(more: &str) -> Scenario {
        let text = format!("name = \"x\"\nduration = \"1s\"\n[path]\nrtt = \"9ms\"\n{more}");
        text.parse().unwrap()
    }

    const FLOW: &str = "[[flow]]\ncontroller = \"bbr1\"\n";

    fn sysctl<'s>(config: &'s NetworkConfig, name: &str) -> Option<&'s str> {
        let mut sysctls = config.host.sysctls.iter();
        let (_, value) = sysctls.find(|(known, _)| known.as_str() == name)?;
        Some(value)
    }

    #[test]
    fn by_default_the_kernel_is_as_it_is() {
        let config = network(&scenario(FLOW), 3);
        let usual = Settings {
            sysctls: config.host.sysctls.clone(),
            ..Settings::default()
        };
        assert_eq!((config.groups, config.mtu), (3, 1500));
        assert_eq!(config.host, usual);
        assert_eq!(config.host.sysctls.len(), 1, "{:?}", config.host.sysctls);
    }

    #[test]
    fn every_setting_reaches_the_kernel() {
        let host = "[host]\ninitial_cwnd = 4\nsend_buffer = \"3600kb\"\nreceive_buffer = \"2mb\"\n\
                    initial_receive_buffer = \"100kb\"\nsack_blocks = 0\ncompressed_acks = 7\nmin_rto = \"50ms\"\n\
                    max_rto = \"1500ms\"\nloss_detection = \"dupacks\"\necn = true\n";
        let config = network(&scenario(&format!("{host}{FLOW}")), 1);
        let settings = &config.host;
        assert_eq!(settings.initial_cwnd, Some(4));
        assert_eq!(settings.send_buffer, Bytes::new(3_800_000));
        assert_eq!(settings.receive_buffer, Bytes::new(4_000_000));
        assert_eq!(settings.min_rto.unwrap().as_millis_f64(), 50.0);
        assert!(settings.ecn);
        for (name, value) in [
            ("net.ipv4.tcp_rmem", "4096 200000 4000000"),
            ("net.ipv4.tcp_sack", "0"),
            ("net.ipv4.tcp_comp_sack_nr", "7"),
            ("net.ipv4.tcp_rto_max_ms", "1500"),
            ("net.ipv4.tcp_recovery", "0"),
            ("net.ipv4.tcp_early_retrans", "0"),
        ] {
            assert_eq!(sysctl(&config, name), Some(value), "{name}");
        }
    }

    #[test]
    fn segments_have_the_payload_that_is_asked_for() {
        let usual = scenario(FLOW);
        assert_eq!(segment_size(&usual.network(), 0), None);
        // Then the other groups need their own size too: the device would let them send larger segments.
        let jumbo = scenario(&format!("{FLOW}{FLOW}host = {{ mss = 8948 }}\n"));
        let routes = jumbo.network();
        let sizes = (0..jumbo.flows.len()).map(|group| segment_size(&routes, group));
        assert_eq!(sizes.collect::<Vec<_>>(), [Some(1460), Some(8960)]);
        assert_eq!(network(&jumbo, 1).mtu, 9000);
    }

    #[test]
    fn controllers_have_the_kernels_names() {
        for (name, kernels) in [
            ("bbr1", "bbr"),
            ("cubic", "cubic"),
            ("reno", "reno"),
            ("kernel:bbr1", "bbr1"),
        ] {
            assert_eq!(name.parse::<Controller>().unwrap().kernel_name(), kernels);
        }
    }
}
