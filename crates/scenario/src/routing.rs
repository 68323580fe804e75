//! Finds the route of each group of flows.

use std::collections::HashMap;
use std::ops::Range;

use document::DocumentError;
use units::hint;

use super::flow::FlowSpec;
use super::name::Name;
use super::named_link::NamedLink;
use super::route::{Crossing, Route};
use super::scenario::Scenario;

/// The maximum number of links on a route, and of hops of a chain.
pub(crate) const MAX_HOPS: usize = 64;

/// A site, by its index.
type Site = usize;

/// The links between sites, and the shortest ways that flows ask for.
pub(crate) struct Routing<'s> {
    scenario: &'s Scenario,
    links: HashMap<&'s Name, usize>,
    sites: HashMap<&'s Name, Site>,
    names: Vec<&'s Name>,
    /// The sites at which each link begins and ends.
    ends: Vec<[Site; 2]>,
    /// The links that begin or end at each site, in the order of the scenario.
    at: Vec<Vec<Crossing>>,
    /// The shortest way from one site to another, if there is one.
    shortest: HashMap<[Site; 2], Way>,
}

/// The way with the fewest links between two sites.
struct Way {
    crossings: Vec<Crossing>,
    /// Whether another way is as short.
    is_ambiguous: bool,
}

/// A search by breadth for the shortest ways to one site after another.
struct Search {
    /// The number of links from each site, the first link, and whether another way is as short; `None` if there is no way.
    from: Vec<Option<(usize, Crossing, bool)>>,
    /// The sites that were found, and their distances, in the order of distance.
    found: Vec<(Site, usize)>,
}

/// A problem with a field of a group of flows.
struct Problem {
    field: String,
    reason: String,
    /// The number of links of a route before the one that is wrong.
    links: usize,
}

impl Problem {
    fn new(field: impl Into<String>, reason: impl Into<String>) -> Problem {
        Problem {
            field: field.into(),
            reason: reason.into(),
            links: 0,
        }
    }
}

impl<'s> Routing<'s> {
    /// Finds the shortest ways for these groups of flows.
    pub(crate) fn of(scenario: &'s Scenario, groups: Range<usize>) -> Routing<'s> {
        let mut routing = Routing {
            scenario,
            links: HashMap::new(),
            sites: HashMap::new(),
            names: Vec::new(),
            ends: Vec::new(),
            at: Vec::new(),
            shortest: HashMap::new(),
        };
        for (link, NamedLink { name, from, to, .. }) in scenario.links.iter().enumerate() {
            routing.links.entry(name).or_insert(link);
            let ends = [from, to].map(|site| routing.site(site));
            routing.ends.push(ends);
            for (site, is_back) in ends.into_iter().zip([false, true]) {
                routing.at[site].push(Crossing { link, is_back });
            }
        }
        routing.search(groups);
        routing
    }

    /// Finds the shortest ways of the groups without a route. All groups with the same destination share one search.
    fn search(&mut self, groups: Range<usize>) {
        let site = |name: &Option<Name>| self.sites.get(name.as_ref()?).copied();
        let flows = self.scenario.flows[groups].iter();
        let flows = flows.filter(|flow| flow.route.is_empty());
        let ends = flows.filter_map(|flow| Some([site(&flow.to)?, site(&flow.from)?]));
        let mut ends: Vec<[Site; 2]> = ends.collect();
        ends.sort_unstable();
        ends.dedup();
        let mut search = Search::new(self.names.len());
        for ends in ends.chunk_by(|one, next| one[0] == next[0]) {
            search.to(ends[0][0], &self.at, &self.ends);
            let ways = ends.iter().filter_map(|&[to, from]| {
                let way = search.way(from, to, &self.ends)?;
                Some(([from, to], way))
            });
            self.shortest.extend(ways);
        }
    }

    fn site(&mut self, name: &'s Name) -> Site {
        *self.sites.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.at.push(Vec::new());
            self.names.len() - 1
        })
    }

    /// The route of one of the groups of flows.
    ///
    /// # Errors
    ///
    /// It has none. The error names the field to change.
    pub(crate) fn route(&self, group: usize) -> Result<Route, DocumentError> {
        let flow = &self.scenario.flows[group];
        let found = if self.scenario.links.is_empty() {
            self.of_chain(flow)
        } else {
            self.of_network(flow)
        };
        found.map_err(|problem| {
            self.scenario
                .flow_error(group, &problem.field, problem.reason)
        })
    }

    /// The hops of a chain that a flow crosses, in both directions.
    fn of_chain(&self, flow: &FlowSpec) -> Result<Route, Problem> {
        let ends = [("from", flow.from.is_some()), ("to", flow.to.is_some())];
        let links = [
            ("route", !flow.route.is_empty()),
            ("back", !flow.back.is_empty()),
        ];
        let given = ends
            .into_iter()
            .chain(links)
            .find(|(_, is_given)| *is_given);
        if let Some((field, _)) = given {
            let reason = "there are no links with names; add [[link]], or leave it out";
            return Err(Problem::new(field, reason));
        }
        let last = self.scenario.next.len();
        let hops = flow.hops.map_or(0..=last, |hops| hops.range());
        if *hops.end() > last {
            let reason = format!("there is no hop {}; the last is {last}", hops.end());
            return Err(Problem::new("hops", reason));
        }
        let is_back = false;
        let route = Route::over(hops.map(|link| Crossing { link, is_back }).collect());
        Ok(if flow.reverse { route.turned() } else { route })
    }

    /// The route of a flow over links with names.
    fn of_network(&self, flow: &FlowSpec) -> Result<Route, Problem> {
        if flow.hops.is_some() {
            let reason = "is for the hops of [path]; give from and to, or a route";
            return Err(Problem::new("hops", reason));
        }
        if flow.reverse {
            let reason = "is for [path]; exchange from and to instead";
            return Err(Problem::new("reverse", reason));
        }
        let there = self.there(flow)?;
        if flow.back.is_empty() {
            return Ok(Route::over(there));
        }
        let (begin, end) = self.ends_of(&there);
        let back = self.walk("back", end, &flow.back)?;
        let last = self.ends_of(&back).1;
        if last != begin {
            let reason = format!(
                "ends at {}, and not where the flow begins, at {}",
                self.name(last),
                self.name(begin)
            );
            return Err(Problem::new("back", reason));
        }
        Ok(Route { there, back })
    }

    /// The links of a flow's data.
    fn there(&self, flow: &FlowSpec) -> Result<Vec<Crossing>, Problem> {
        let from = self.known("from", flow.from.as_ref())?;
        let to = self.known("to", flow.to.as_ref())?;
        if flow.route.is_empty() {
            let needed = |field, site: Option<Site>| {
                let missing = || Problem::new(field, "is missing; name a site, or give a route");
                site.ok_or_else(missing)
            };
            return self.shortest(needed("from", from)?, needed("to", to)?);
        }
        let there = match from {
            Some(from) => self.walk("route", from, &flow.route)?,
            None => self.walk_anyhow(&flow.route)?,
        };
        let end = self.ends_of(&there).1;
        match to {
            Some(to) if to != end => {
                let (end, to) = (self.name(end), self.name(to));
                let reason = format!("ends at {end}, and not at {to}, which is the flow's to");
                Err(Problem::new("route", reason))
            }
            _ => Ok(there),
        }
    }

    fn known(&self, field: &str, name: Option<&Name>) -> Result<Option<Site>, Problem> {
        let Some(name) = name else {
            return Ok(None);
        };
        let site = self.sites.get(name).copied();
        let unknown = || {
            let known: Vec<&str> = self.names.iter().map(|site| site.as_str()).collect();
            let near = hint(name.as_str(), &known);
            Problem::new(field, format!("no link begins or ends at {name}{near}"))
        };
        site.map(Some).ok_or_else(unknown)
    }

    /// The links of a route without a given beginning. If it fails from either end of its first link, the problem is that
    /// of the attempt that came further.
    fn walk_anyhow(&self, route: &[Name]) -> Result<Vec<Crossing>, Problem> {
        let first = self.named("route", 0, route)?;
        let [from, to] = self.ends[first];
        let forward = match self.walk("route", from, route) {
            Ok(there) => return Ok(there),
            Err(forward) => forward,
        };
        let further = |backward: Problem| {
            if backward.links > forward.links {
                backward
            } else {
                forward
            }
        };
        self.walk("route", to, route).map_err(further)
    }

    /// The links of a route that begins at a site.
    fn walk(&self, field: &str, begin: Site, route: &[Name]) -> Result<Vec<Crossing>, Problem> {
        if route.len() > MAX_HOPS {
            let reason = format!("has more than {MAX_HOPS} links; give a shorter one");
            return Err(Problem::new(field, reason));
        }
        let links = (0..route.len()).map(|place| self.named(field, place, route));
        let links: Vec<usize> = links.collect::<Result<_, _>>()?;
        let mut crossings = Vec::with_capacity(route.len());
        let mut passed = vec![begin];
        for (place, (name, link)) in route.iter().zip(links).enumerate() {
            let here = *passed.last().unwrap_or(&begin);
            let next = match self.ends[link] {
                [from, to] if from == here => Some((to, false)),
                [from, to] if to == here => Some((from, true)),
                _ => None,
            };
            let at = |reason: String| Problem {
                links: place,
                ..Problem::new(format!("{field}[{place}]"), reason)
            };
            let here = self.name(here);
            let Some((site, is_back)) = next else {
                let [from, to] = self.ends[link].map(|site| self.name(site));
                return Err(at(format!(
                    "link {name} joins {from} and {to}, but the route is at {here}; give a link from there"
                )));
            };
            if passed.contains(&site) {
                let site = self.name(site);
                return Err(at(format!(
                    "link {name} leads back to {site}: a loop; leave its links out"
                )));
            }
            passed.push(site);
            crossings.push(Crossing { link, is_back });
        }
        Ok(crossings)
    }

    /// The link with the name at this place in a route.
    fn named(&self, field: &str, place: usize, route: &[Name]) -> Result<usize, Problem> {
        let name = &route[place];
        let unknown = || {
            let links = self.scenario.links.iter();
            let known: Vec<&str> = links.map(|link| link.name.as_str()).collect();
            let near = hint(name.as_str(), &known);
            Problem::new(
                format!("{field}[{place}]"),
                format!("there is no link {name}{near}"),
            )
        };
        self.links.get(name).copied().ok_or_else(unknown)
    }

    /// The way with the fewest links between two sites.
    fn shortest(&self, from: Site, to: Site) -> Result<Vec<Crossing>, Problem> {
        let (begin, end) = (self.name(from), self.name(to));
        if from == to {
            let reason = format!("is {end}, where the flow begins; name another site");
            return Err(Problem::new("to", reason));
        }
        let Some(way) = self.shortest.get(&[from, to]) else {
            let reason = format!(
                "no way of at most {MAX_HOPS} links leads from {begin} to {end}; add a [[link]] between them"
            );
            return Err(Problem::new("to", reason));
        };
        if way.is_ambiguous {
            let names = way.crossings.iter().map(|crossing| {
                let link = &self.scenario.links[crossing.link];
                format!("\"{}\"", link.name)
            });
            let names = names.collect::<Vec<String>>().join(", ");
            let reason = format!(
                "several ways of the same length lead from {begin} to {end}; give one as route, such as [{names}]"
            );
            return Err(Problem::new("to", reason));
        }
        Ok(way.crossings.clone())
    }

    /// The sites at which a route begins and ends.
    fn ends_of(&self, crossings: &[Crossing]) -> (Site, Site) {
        let begin = crossings.first().map(|first| self.end_of(first.opposite()));
        let end = crossings.last().map(|last| self.end_of(*last));
        (begin.unwrap_or(0), end.unwrap_or(0))
    }

    fn end_of(&self, crossing: Crossing) -> Site {
        end_of(crossing, &self.ends)
    }

    fn name(&self, site: Site) -> &'s str {
        self.names[site].as_str()
    }
}

impl Search {
    fn new(sites: usize) -> Search {
        Search {
            from: vec![None; sites],
            found: Vec::new(),
        }
    }

    /// Finds the ways of at most [`MAX_HOPS`] links to a site.
    fn to(&mut self, to: Site, at: &[Vec<Crossing>], ends: &[[Site; 2]]) {
        for (site, _) in self.found.drain(..) {
            self.from[site] = None;
        }
        self.found.push((to, 0));
        let mut next = 0;
        while let Some(&(here, links)) = self.found.get(next)
            && links < MAX_HOPS
        {
            next += 1;
            for crossing in &at[here] {
                let there = end_of(*crossing, ends);
                match &mut self.from[there] {
                    _ if there == to => {}
                    Some((shortest, _, is_one_of_several)) => {
                        *is_one_of_several |= *shortest == links + 1;
                    }
                    unseen => {
                        *unseen = Some((links + 1, crossing.opposite(), false));
                        self.found.push((there, links + 1));
                    }
                }
            }
        }
    }

    /// The way from a site to the one that was searched for.
    fn way(&self, from: Site, to: Site, ends: &[[Site; 2]]) -> Option<Way> {
        let mut way = Way {
            crossings: Vec::new(),
            is_ambiguous: false,
        };
        let mut here = from;
        while here != to {
            let (_, crossing, is_one_of_several) = self.from[here]?;
            way.is_ambiguous |= is_one_of_several;
            way.crossings.push(crossing);
            here = end_of(crossing, ends);
        }
        Some(way)
    }
}

fn end_of(crossing: Crossing, ends: &[[Site; 2]]) -> Site {
    ends[crossing.link][usize::from(!crossing.is_back)]
}
