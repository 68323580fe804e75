//! The choice of newcomers that get a place, and of holders that lose one.

use std::collections::HashMap;
use std::net::IpAddr;

use places::{Full, Host, Places, SPARED};
use proptest::prelude::*;
use units::{Duration, Time};

fn host(number: u8) -> Host {
    Host::of(IpAddr::from([10, 0, 0, number]))
}

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

/// Ten places: nine of host 1, taken at 1 to 9 ms, and one of host 2, taken at 0 ms.
fn taken() -> Places<u8, ()> {
    let mut places = Places::new(10);
    places.insert(0, host(2), (), at(0));
    for key in 1..10 {
        assert_eq!(places.make_room(host(1), at(key)), Ok(None));
        places.insert(key as u8, host(1), (), at(key));
    }
    places
}

#[test]
fn the_greediest_gives_up_its_longest_idle_place() {
    let mut places = taken();
    assert!(places.active(&1, at(10)).is_some());
    assert_eq!(places.make_room(host(3), at(11)), Ok(Some((2, ()))));
    places.insert(10, host(3), (), at(11));
    assert_eq!(places.make_room(host(2), at(12)), Ok(Some((3, ()))));
    assert_eq!(places.len(), 9);
}

#[test]
fn the_greediest_competes_with_itself_alone() {
    let mut places = taken();
    // Host 2 has been idle for longest, but keeps its place.
    let spared = at(0) + SPARED;
    assert_eq!(places.make_room(host(1), spared), Err(Full));
    let idle = at(1) + SPARED;
    assert_eq!(places.make_room(host(1), idle), Ok(Some((1, ()))));
}

#[test]
fn equals_take_only_what_is_idle() {
    let mut places = Places::new(4);
    for number in 1..=4 {
        places.insert(number, host(number), (), at(0));
    }
    assert_eq!(places.make_room(host(9), at(999)), Err(Full));
    for number in [1, 2, 4] {
        places.active(&number, at(600));
    }
    assert_eq!(places.make_room(host(9), at(1000)), Ok(Some((3, ()))));
}

#[test]
fn the_idle_expire_and_keys_are_taken_once() {
    let mut places = taken();
    let mut expired = places.expire(at(1005), Duration::from_secs(1));
    expired.sort();
    assert_eq!(expired, [0, 1, 2, 3, 4].map(|key| (key, ())));
    assert_eq!(places.insert(9, host(7), (), at(2000)), Some(()));
    assert_eq!(places.len(), 5);
    assert_eq!((places.remove(&9), places.remove(&9)), (Some(()), None));
    assert!(places.active(&9, at(2000)).is_none());
    assert_eq!(places.iter().count(), 4);
}

#[derive(Debug, Clone)]
enum Step {
    Come(u8),
    Act(u16),
    Leave(u16),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..6u8).prop_map(Step::Come),
        3 => any::<u16>().prop_map(Step::Act),
        1 => any::<u16>().prop_map(Step::Leave),
        1 => (0..2000u64).prop_map(Step::Wait),
    ]
}

proptest! {
    /// Invariants. There are never more places than the limit. Only a host with the most places loses one. A newcomer whose
    /// host has less than its share always gets one. A refused newcomer changes nothing. An active place is lost only to a
    /// host with at least two fewer.
    #[test]
    fn places_are_shared(limit in 1..20usize, steps in prop::collection::vec(step(), 1..400)) {
        let mut places: Places<u64, u64> = Places::new(limit);
        let mut model: HashMap<u64, (u8, u64)> = HashMap::new();
        let mut now = 0;
        for (key, step) in (0u64..).zip(steps) {
            now += 1;
            let mut keys: Vec<u64> = model.keys().copied().collect();
            keys.sort();
            let chosen = |number: u16| keys.get(usize::from(number) % keys.len().max(1)).copied();
            match step {
                Step::Wait(millis) => now += millis,
                Step::Act(number) => {
                    if let Some(key) = chosen(number) {
                        prop_assert_eq!(places.active(&key, at(now)).copied(), Some(key));
                        model.get_mut(&key).unwrap().1 = now;
                    }
                }
                Step::Leave(number) => {
                    if let Some(key) = chosen(number) {
                        prop_assert_eq!(places.remove(&key), Some(key));
                        model.remove(&key);
                    }
                }
                Step::Come(number) => {
                    let count = |of: u8| model.values().filter(|(host, _)| *host == of).count();
                    let most = (0..6).map(count).max().unwrap();
                    let own = count(number);
                    let (least_share, is_full) = (limit / 6, model.len() == limit);
                    match places.make_room(host(number), at(now)) {
                        Ok(None) => prop_assert!(!is_full),
                        Ok(Some((lost, value))) => {
                            prop_assert!(is_full);
                            prop_assert_eq!(lost, value);
                            let (loser, active) = model.remove(&lost).unwrap();
                            prop_assert_eq!(most, model.values().filter(|(host, _)| *host == loser).count() + 1);
                            prop_assert!(own + 2 <= most || now - active >= 1000);
                        }
                        Err(Full) => {
                            prop_assert!(is_full);
                            prop_assert!(own + 1 >= least_share, "{own} of {least_share}");
                            let greedy = |of: u8| model.values().filter(|(host, _)| *host == of).count() == most;
                            prop_assert!(model.values().all(|(host, active)| !greedy(*host) || now - active < 1000));
                            continue;
                        }
                    }
                    places.insert(key, host(number), key, at(now));
                    model.insert(key, (number, now));
                }
            }
            prop_assert!(places.len() <= limit);
            let mut kept: Vec<u64> = places.iter().map(|(key, _)| *key).collect();
            kept.sort();
            let mut known: Vec<u64> = model.keys().copied().collect();
            known.sort();
            prop_assert_eq!(kept, known);
        }
    }

    /// However many newcomers come from one host, at any rate, the other hosts keep the places that they use.
    #[test]
    fn a_flood_costs_nobody_else_a_place(limit in 2..64usize, paces in prop::collection::vec(0..5u64, 1..500)) {
        let mut places: Places<u64, ()> = Places::new(limit);
        let used = (limit / 2).min(5) as u64;
        for key in 0..used {
            places.insert(key, host(1 + key as u8), (), at(0));
        }
        let mut now = 0;
        for (key, pace) in (used..).zip(paces) {
            now += pace;
            for own in 0..used {
                prop_assert!(places.active(&own, at(now)).is_some());
            }
            if places.make_room(host(0), at(now)).is_ok() {
                places.insert(key, host(0), (), at(now));
            }
        }
    }
}
