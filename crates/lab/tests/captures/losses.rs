//! Losses in captures that contain less.

use capture::read::Frames;
use capture::write::Writer;

use crate::{captured, off, only, read, run, run_one};

/// The capture with these changes of its packets. Packets for which `change` returns false are left out.
fn changed(file: &[u8], mut change: impl FnMut(&mut Vec<u8>) -> bool) -> Vec<u8> {
    let mut frames = Frames::new(file).expect("a capture");
    let mut writer = Writer::new(Vec::new(), "changed").expect("a vector takes everything");
    while let Some(frame) = frames.next_frame().expect("a frame") {
        let mut data = frame.data.to_vec();
        if change(&mut data) {
            let rest = frame.wire_len - data.len() as u32;
            let written = writer.raw(frame.at, &data, rest);
            written.expect("a vector takes everything");
        }
    }
    writer.finish().expect("a vector takes everything")
}

/// The length of the headers of an IPv4 packet.
fn headers(packet: &[u8]) -> usize {
    20 + usize::from(packet[32] >> 4) * 4
}

/// Replaces the SACK blocks of an IPv4 packet by NOPs.
fn forget_sacks(packet: &mut [u8]) {
    let (mut place, end) = (40, headers(packet));
    while place < end {
        let len = match packet[place] {
            1 => 1,
            _ => usize::from(packet[place + 1]),
        };
        if packet[place] == 5 {
            packet[place..place + len].fill(1);
        }
        place += len;
    }
}

/// The flight of a short path ends in the buffer: all packets after the last one that passes are lost.
#[test]
fn a_lost_tail_counts_at_the_receiver_too() {
    let (record, summaries) = run_one("bbr1", (50, 20), "0.5bdp", 0.0);
    let truth = record.summary.flows[0].packets_lost.expect("losses") as f64;
    for summary in &summaries {
        let lost = only(summary).lost.expect("losses") as f64;
        assert_eq!(off("lost", lost, truth, 0.01, 2.0), None);
    }
}

#[test]
fn what_a_capture_missed_is_not_taken_off_the_losses() {
    let (record, files) = captured(
        r#"
        name = "dropped"
        duration = "20s"
        path = { rate = "20mbit", rtt = "20ms", buffer = "1bdp" }
        flow = [{ controller = "cubic" }]
        "#,
    );
    let truth = record.summary.flows[0].packets_lost.expect("losses") as f64;
    assert!(truth > 10.0, "{truth}");
    for file in &files {
        let mut number = 0;
        let file = changed(file, |packet| {
            let has_data =
                usize::from(u16::from_be_bytes([packet[2], packet[3]])) > headers(packet);
            number += u32::from(has_data);
            !has_data || number % 1_000 != 0
        });
        let found = read(&file);
        let found = only(&found);
        assert!(found.missed_bytes > 0, "{found:?}");
        let lost = found.lost.expect("losses") as f64;
        assert_eq!(off("lost", lost, truth, 0.01, 2.0), None);
    }
}

#[test]
fn without_sack_data_that_arrived_behind_a_hole_make_no_fast_path() {
    for (controller, rtt) in [("cubic", 20), ("reno", 80)] {
        let (_, files) = captured(&format!(
            r#"
            name = "without"
            duration = "20s"
            path = {{ rate = "20mbit", rtt = "{rtt}ms", buffer = "1bdp" }}
            flow = [{{ controller = "{controller}" }}]
            "#
        ));
        // With 64 bytes of each packet, an acknowledgement has one SACK block at most.
        let changes: [fn(&mut Vec<u8>); 2] =
            [|packet| forget_sacks(packet), |packet| packet.truncate(64)];
        for (file, change) in files
            .iter()
            .flat_map(|file| changes.map(|change| (file, change)))
        {
            let found = read(&changed(file, |packet| {
                change(packet);
                true
            }));
            let found = only(&found);
            let rate = found.btl_bw_ip_bps.expect("BtlBw");
            let is_right = (19_400_000..20_600_000).contains(&rate);
            assert!(found.is_pipe_filled && is_right, "{controller}: {found:?}");
        }
    }
}

/// A sender that reduces its window because of ECN marks reports it with CWR.
#[test]
fn marks_show_the_controller_as_losses_do() {
    for controller in ["bbr1", "bbr3", "cubic", "reno"] {
        let (_, summaries) = run(&format!(
            r#"
            name = "marks"
            duration = "30s"
            path = {{ rate = "20mbit", rtt = "20ms", buffer = "2bdp", queue = {{ kind = "codel", ecn = true }} }}
            host = {{ ecn = true }}
            flow = [{{ controller = "{controller}" }}]
            "#
        ));
        for summary in &summaries {
            let found = only(summary);
            let guess = found.controller.as_ref().expect("a guess");
            assert_eq!(guess.controller, controller, "{guess:?}");
        }
    }
}

/// Random losses of an application that writes at a steady rate are not the drops of a policer.
#[test]
fn an_application_is_no_policer() {
    for controller in ["bbr1", "cubic", "reno"] {
        for write in ["10kb", "100kb"] {
            let (_, summaries) = run(&format!(
                r#"
                name = "writes"
                duration = "30s"
                path = {{ rate = "20mbit", rtt = "40ms", buffer = "2bdp", loss = "0.5%" }}
                flow = [{{ controller = "{controller}", app = {{ kind = "rate", rate = "4mbit", write = "{write}" }} }}]
                "#
            ));
            for summary in &summaries {
                let found = only(summary);
                let what = format!("{controller}, {write} at {}", found.place);
                assert_eq!(found.policer_bps, None, "{what}");
            }
        }
    }
}
