//! A link with a bottleneck, a short buffer and random loss, driven packet by packet in virtual time.
//! `cargo run -p fullpipe-path --example drive`

use path::{Buffer, Capacity, Effects, Link, LinkConfig, Loss};
use units::{Bytes, Duration, Time};

const PACKET: Bytes = Bytes::new(1_500);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = LinkConfig {
        capacity: Capacity::Rate("12mbit".parse()?),
        delay: Duration::from_millis(20),
        buffer: Buffer::Packets(20),
        effects: Effects {
            loss: Loss::Independent("1%".parse()?),
            ..Effects::default()
        },
        ..LinkConfig::default()
    };
    // The same seed treats every packet the same on any machine.
    let mut link = Link::new(config, 1)?;

    // Two packets enter where the bottleneck serializes one: the buffer fills.
    for number in 0..1_000_u64 {
        let now = Time::ZERO + Duration::from_micros(500) * number;
        link.send(now, PACKET, number);
    }

    // The caller asks for the time of the next event, and takes the packets that have arrived by then.
    let mut longest = Duration::ZERO;
    let mut last = None;
    while let Some(now) = link.next_event() {
        while let Some(arrival) = link.receive(now) {
            longest = longest.max(arrival.queued);
            last = Some((arrival.packet, arrival.at));
        }
    }

    let counters = link.counters();
    println!("entered    {:>4} packets", counters.entered.packets);
    println!("delivered  {:>4}", counters.delivered.packets);
    println!(
        "dropped    {:>4}, by the full buffer",
        counters.drops.packets
    );
    println!(
        "lost       {:>4}, at random",
        counters.random_losses.packets
    );
    println!("waited at most {longest}");
    if let Some((number, at)) = last {
        println!("packet {number} came last, at {}", at.since(Time::ZERO));
    }
    Ok(())
}
