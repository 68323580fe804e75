use experiment::proof::*;
use experiment::simulated::*;
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    for units in [
        Units::Connections(3000),
        Units::Prefixes(500),
        Units::Slots(250),
    ] {
        for (e, s) in [(0.0, 0.0), (0.08, 0.0), (0.08, 0.1)] {
            let c = coverage(
                &Model {
                    units,
                    effect: e,
                    spread: s,
                },
                0..n,
            );
            println!(
                "{units:?} {e} {s}: thr {:.4} p5 {:.4} careless {:.4}",
                c.throughput.share(),
                c.throughput_p5.share(),
                c.careless.share()
            );
        }
        let p = peeking(
            &Model {
                units,
                effect: 0.0,
                spread: 0.0,
            },
            50,
            0..n.min(400),
        );
        println!(
            "  peek once {:.3} always {:.3}",
            p.once.share(),
            p.always.share()
        );
    }
}
