//! Checks for the fuzz targets: properties that hold for any text given as a policy or a plan. `fuzz/fuzz_targets` and
//! the tests below call them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use document::DocumentError;
use rules::{Connection, Prefix};
use units::{Duration, Ratio};

use crate::members::Members;
use crate::plan::Plan;
use crate::policy::Policy;

fn is_one_line(error: &DocumentError) {
    let line = error.to_string();
    assert!(!line.contains(char::is_control), "{line:?}");
}

fn address(bits: u64) -> IpAddr {
    std::net::Ipv4Addr::from_bits(bits as u32).into()
}

/// A policy is read, or refused with one line. Its decisions agree with the kernel's table of networks.
pub fn policies(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let mut policy = match Policy::parse(text) {
        Ok(policy) => policy,
        Err(error) => return is_one_line(&error),
    };
    let network: Prefix = "192.0.2.0/24".parse().expect("a network");
    let each = policy
        .systems()
        .into_iter()
        .map(|number| (number, vec![network]));
    let systems: BTreeMap<u32, Vec<Prefix>> = each.collect();
    if let Err(error) = policy.place_systems(&systems) {
        is_one_line(&error);
    }
    if let Err(error) = policy.place_lists(|_| Ok::<_, &str>([Ok(network)])) {
        is_one_line(&error);
    }
    let lowered = policy.lowered();
    let ends = policy.rules.iter().flat_map(|rule| rule.listen.first());
    let ports: BTreeSet<u16> = ends.map(|ports| ports.ends().0).collect();
    for client in [address(0), address(0xc000_0207), IpAddr::from([0xffff; 8])] {
        let bits = lowered.networks.rules(client);
        for &port in &ports {
            let of = Connection {
                at: Duration::from_secs(1_800_000_000),
                ..Connection::incoming(client, port)
            };
            let of = of
                .with_rtt(Duration::from_millis(50))
                .with_resent(Some(Ratio::new(1, 50)));
            let Some(decision) = lowered.decide(&of) else {
                continue;
            };
            let mut rules = policy.rules.iter();
            let place = rules.position(|rule| rule == decision.rule);
            assert!(place.is_some_and(|place| bits >> place & 1 == 1), "{of:?}");
        }
    }
}

/// A plan is read, or refused with one line. Each unit gets an arm. Named networks take part, unless there are too
/// many.
pub fn plans(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    match Plan::parse(text) {
        Ok(plan) => {
            let (names, shares) = (plan.names(), plan.shares());
            assert!(shares.arm(0) < names.len() && shares.arm(u64::MAX) < names.len());
            let members = Members::of(&plan);
            match members.networks(plan.unit) {
                Ok(networks) => assert!(networks.iter().all(|one| members.has(*one))),
                Err(error) => is_one_line(&error),
            }
        }
        Err(error) => is_one_line(&error),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_policies() {
        let corpus = [
            "cgroup='a'\nexplore='2%'\n[[rule]]\nname='a'\nprefix=['192.0.2.0/24','::/0']\nlisten=[443,'1-9']\ncontroller='bbr'\nexpect='9%'\n",
            "cgroup='a'\nseed='x'\n[[rule]]\nname='a'\nas=[1,2]\nlisten=[80]\nrtt_from='9ms'\nrtt_below='1s'\nresent_from='1%'\nresent_below='5%'\ncontroller='kernel:reno'\n\
             [[rule]]\nname='b'\nprefix_file='b.txt'\nconnect=[80]\nlisten=[80]\ninterface=['eth0']\ncontroller='cubic'\nevidence='why'\n",
        ];
        let corpus = corpus.map(|text| text.as_bytes().to_vec());
        for text in &corpus {
            super::Policy::parse(str::from_utf8(text).unwrap()).unwrap();
        }
        fuzzing::run("experiment_policies", &corpus, super::policies);
    }

    #[test]
    fn any_plans() {
        let arms =
            "[[arm]]\ncontroller='cubic'\nshare='90%'\n[[arm]]\ncontroller='bbr'\nshare='10%'\n";
        let corpus = [
            "name='x'\ncgroup='a'\nunit='prefix'\nprefix_v4=22\nduration='1h'\naddress='hashed'\nconnections={listen=[443],except=['10.0.0.0/8']}\n",
            "name='x'\ncgroup='a'\nunit='slot'\nslot='9min'\nwashout='1min'\nduration='1h'\nconnections={connect=['1-9'],interface=['eth0']}\n\
             [[guard]]\nmeasure='throughput'\nworse='20%'\n",
            "name='x'\nassign='route'\nunit='prefix'\nduration='1h'\n\
             connections={listen=[443],prefix=['10.0.0.0/22','2001:db8::/47'],prefix_file='b.txt',except=['10.0.1.0/24']}\n",
        ];
        let corpus = corpus.map(|text| format!("{text}{arms}").into_bytes());
        for text in &corpus {
            super::Plan::parse(str::from_utf8(text).unwrap()).unwrap();
        }
        fuzzing::run("experiment_plans", &corpus, super::plans);
    }
}
