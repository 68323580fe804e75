//! The same CDN on the kernel's TCP in real time.
//!
//! ```text
//!  clients: curl ── TUN ──► a path for each line, in user space ──► TUN ── servers: nginx
//!                ◄──────────────────────────────────────────────
//! ```
//!
//! All clients are in one network namespace, and all servers in another. Nginx is in a control group of its own. The
//! same objects are fetched over the same lines several times: with each controller in force everywhere, which gives
//! the truth; while a study runs; and with its policy in force. Curl reports how long each download took, independently
//! of the study and of this program.
//!
//! Processes, namespaces and paths end with this process, however it ends. If it is killed, the next start removes its
//! control group.

mod background;
mod busy;
mod clients;
mod group;
mod pass;
mod paths;
mod server;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use document::DocumentError;
use experiment::policy::Policy;
use experiment::{Findings, Plan};
use files::others;
use lab::{Cancel, EngineKind};
use linux::command::Init;
use rollout::steer::Steer;
use rollout::study::{Lookup, Study, StudyDirectory, StudyError, own_directory, read};
use scenario::{FlowSpec, HostSpec};
use units::{Bytes, Duration};

use crate::found::{Found, Real};
use crate::laboratory::{LabError, systems};
use crate::line::{Line, LineDraw};
use crate::machine::{self, Machine};
use crate::observed::drawn;
use crate::proof::{MAX_STUDY_BYTES, STUDY, SYSTEMS, policy, write};
use crate::spec::{PORT, Spec};
use crate::truth::{ObservedLine, Truth, decide, read_policy};
use group::Group;
use pass::{Force, Pass, Stage};

/// The time for which a policy may outlive this process.
const LEASE: Duration = Duration::from_secs(10);

/// The directory of curl's reports in the directory of the results.
const DOWNLOADS: &str = "downloads";

/// A CDN in real time.
#[derive(Debug)]
pub struct Live<'s> {
    spec: &'s Spec,
    lines: Vec<Line>,
}

/// The reason why this machine cannot run one. `None` if it can.
pub fn lacking() -> Option<String> {
    let required = kernel::check_steering().into_iter().find_map(|required| {
        let lack = required.lack?;
        Some(format!("{}: {lack}", required.what))
    });
    let missing = |program: &str, option: &str| {
        let found = Command::new(program).arg(option).output();
        found.is_err().then(|| format!("there is no {program}"))
    };
    required
        .or_else(|| {
            let lack = "there are no control groups of version 2";
            fleet::who::root().is_none().then(|| lack.to_owned())
        })
        .or_else(|| missing("nginx", "-v"))
        .or_else(|| missing("curl", "--version"))
}

/// The path of the directory of the results, which may not exist yet, without symbolic links.
///
/// # Errors
///
/// Another user could replace the directory, or the path cannot be written into a configuration of nginx and into a
/// shell script.
pub fn way(directory: &Path) -> Result<PathBuf, LabError> {
    let wrong = |error| LabError::file(directory, error);
    let way = others::own_way(directory).map_err(wrong)?;
    if way
        .to_str()
        .is_none_or(|path| path.contains(['"', '\'', '$', '\\', '\n']))
    {
        let why = "the path has quotes, $, backslashes or line ends; give another directory";
        return Err(wrong(io::Error::other(why)));
    }
    Ok(way)
}

/// A policy that gives all connections of a control group the same controller.
fn everywhere(group: &Path, controller: &str) -> String {
    format!(
        "cgroup = {group:?}\n[[rule]]\nname = \"everywhere\"\nlisten = [{PORT}]\ncontroller = \"{controller}\"\n"
    )
}

/// The time in seconds since 1970.
fn unix_s() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64()
}

impl<'s> Live<'s> {
    /// Draws the lines of a CDN.
    ///
    /// # Errors
    ///
    /// The CDN is invalid, or is impossible in real time.
    pub fn new(spec: &'s Spec) -> Result<Live<'s>, LabError> {
        let cannot = |field: &str, reason: &str| {
            let reason = format!("engine linux cannot: {reason}");
            DocumentError::new(field, reason)
        };
        if spec.networks.len() > paths::MAX_NETWORKS {
            let reason = format!("it has room for {} networks", paths::MAX_NETWORKS);
            return Err(cannot("network", &reason).into());
        }
        if let Some(index) = spec
            .networks
            .iter()
            .position(|network| network.over.is_some())
        {
            let reason = "each line has a path of its own; leave it out, or use engine sim";
            let error = cannot("over", reason).item(index).within("network");
            return Err(error.into());
        }
        let lines = spec.lines(LineDraw::Study)?;
        for line in &lines {
            let of_network = |error: DocumentError| error.item(line.network).within("network");
            if *line.host() != HostSpec::default() {
                let reason = "its hosts run on the kernel; leave it out";
                return Err(of_network(cannot("host", reason)).into());
            }
            let is_endless = |flow: &FlowSpec| *flow == FlowSpec::new(flow.controller);
            if !line.background().iter().all(is_endless) {
                let reason =
                    "its background traffic has no end and no settings; give only a controller";
                return Err(of_network(cannot("background", reason)).into());
            }
        }
        // Checks that the kernel has the arms' controllers.
        if let Some(line) = lines.first() {
            let engine = EngineKind::Linux.engine();
            for arm in &spec.arms {
                engine.check(&line.scenario(arm))?;
            }
        }
        Ok(Live { spec, lines })
    }

    /// The number of passes: one with each arm, the study, and one with the policy.
    pub fn passes(&self) -> usize {
        self.spec.arms.len() + 2
    }

    /// Runs all passes, makes the policy from the study, and compares both with the truth. The study's data, the
    /// policy and curl's reports go to the directory. `init` starts this program as the first process of a command.
    /// `tell` is called with progress and problems.
    ///
    /// # Errors
    ///
    /// The machine lacks something, or the study has too few data.
    pub fn run(
        &self,
        directory: &Path,
        init: &Init,
        cancel: &Cancel,
        tell: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Found, LabError> {
        if let Some(lack) = lacking() {
            return Err(LabError::Lacking(lack));
        }
        let directory = &way(directory)?;
        let downloads = directory.join(DOWNLOADS);
        own_directory(&downloads).map_err(StudyError::from)?;
        write(&directory.join(SYSTEMS), &self.spec.systems())?;
        let group = Group::make()?;
        let network = paths::hosts(self.spec.networks.len())?;
        let visits = self.lines.iter().flat_map(|line| &line.visits);
        let largest = visits.map(|visit| visit.bytes).max().unwrap_or(Bytes::ZERO);
        let files = directory.join("server");
        let server = server::start(&network.far, &group, init, &files, largest)?;
        let stage = Stage {
            network: &network,
            lines: &self.lines,
            init,
            seed: self.spec.seed,
            duration: self.spec.duration,
            downloads: &downloads,
            cancel,
        };
        // The program in the kernel and its sockets must be in the server's namespace.
        let found = network
            .far
            .inside(|| self.passed(&stage, directory, &group, tell))?;
        drop(server);
        found
    }

    fn passed(
        &self,
        stage: &Stage<'_>,
        directory: &Path,
        group: &Group,
        tell: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Found, LabError> {
        let names = self.spec.controllers();
        let load = machine::load();
        let mut passes = Vec::new();
        for name in &names {
            let policy = Policy::parse(&everywhere(group.path(), name))?;
            let force = Force::policy(Steer::begin(policy, LEASE, None, unix_s())?);
            let is_right = |_: &Line, has: &str| has == *name;
            passes.push(stage.pass(name, force, &is_right, tell)?);
        }
        let table = directory.join(SYSTEMS);
        let (plan, findings, studied) = self.study(stage, directory, group, tell)?;
        let text = policy(&plan, &findings, directory)?;
        let systems = systems(&table)?;
        let learned = read_policy(&text, &systems)?;
        let begin = unix_s();
        let force = Force::policy(Steer::begin(learned.clone(), LEASE, None, begin)?);
        let lowered = learned.lowered();
        let is_right = |line: &Line, has: &str| {
            // The exploring networks may change during the pass.
            let mut times = [begin, unix_s()].into_iter();
            times.any(|at| decide(&lowered, line, at).is_some_and(|of| of.controller == has))
        };
        passes.push(stage.pass("policy", force, &is_right, tell)?);
        let truth = Truth {
            spec: self.spec,
            plan: &plan,
            systems: &systems,
            study: self.seen(&passes[..names.len()]),
            after: vec![self.seen(&passes)],
            connections: passes.iter().map(|pass| pass.downloads.len() as u64).sum(),
        };
        let mut found = truth.beside(&findings, text)?;
        passes.push(studied);
        found.real = Some(Self::real(&passes, load));
        Ok(found)
    }

    /// Runs a study. Returns its plan, its results, and its downloads.
    fn study(
        &self,
        stage: &Stage<'_>,
        directory: &Path,
        group: &Group,
        tell: &mut (dyn FnMut(&str) + Send),
    ) -> Result<(Plan, Findings, Pass), LabError> {
        let text = self.spec.plan(&group.path().display().to_string());
        let plan = Plan::parse(&text)?;
        let data = directory.join(STUDY);
        let place =
            StudyDirectory::make(&data, &text, &plan, unix_s()).map_err(StudyError::from)?;
        let (key, shares, names) = (place.key(), plan.shares(), plan.names());
        let lookup = Lookup {
            systems: Some(systems(&directory.join(SYSTEMS))?),
            regions: None,
        };
        let force = Force::study(Study::begin(place, MAX_STUDY_BYTES, lookup, stage.init)?);
        let is_right =
            |line: &Line, has: &str| names.get(drawn(line, &key, &shares).1) == Some(&has);
        let studied = stage.pass("study", force, &is_right, tell)?;
        let findings = read(&[&data], Vec::new(), &mut Lookup::default())?
            .gathered
            .findings();
        Ok((plan, findings, studied))
    }

    /// Each line in each pass, as curl's reports show it.
    fn seen(&self, passes: &[Pass]) -> Vec<ObservedLine<'_>> {
        let lines = self
            .lines
            .iter()
            .enumerate()
            .map(|(place, line)| ObservedLine {
                line,
                arms: vec![Vec::new(); passes.len()],
                background: passes.iter().map(|pass| pass.background[place]).collect(),
            });
        let mut lines: Vec<ObservedLine<'_>> = lines.collect();
        for (arm, pass) in passes.iter().enumerate() {
            for download in &pass.downloads {
                let Some(seen) = lines.get_mut(download.line()) else {
                    continue;
                };
                let system = self.spec.networks[seen.line.network].system;
                seen.arms[arm].push(download.observation(vec![format!("AS{system}")]));
            }
        }
        lines
    }

    /// The circumstances of the measurement.
    fn real(passes: &[Pass], load: Option<f64>) -> Real {
        let sum = |of: fn(&Pass) -> u64| passes.iter().map(of).sum::<u64>();
        let mut first = passes.iter().filter_map(|pass| {
            let other = pass.looks.first_other.as_ref()?;
            Some(format!("{}: {other}", pass.name))
        });
        Real {
            downloads: sum(|pass| pass.begun as u64),
            whole: sum(|pass| pass.downloads.len() as u64),
            looks: sum(|pass| pass.looks.all),
            others: sum(|pass| pass.looks.others),
            first_other: first.next(),
            assigned: [
                sum(|pass| pass.counts.assigned),
                sum(|pass| pass.counts.refused),
            ],
            machine: Machine::of(
                passes.iter().map(|pass| pass.machine.clone()).collect(),
                load,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_a_script_would_take_apart_is_no_path_of_a_directory() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["a'b", "a\"b/c", "$a", "a\\b", "a\nb"] {
            let error = way(&path(name)).unwrap_err().to_string();
            assert!(error.contains("give another directory"), "{error}");
        }
        assert!(way(&path("a b/c")).unwrap().ends_with("a b/c"));
        // The directory's resolved path counts.
        fs::create_dir(path("$a")).unwrap();
        symlink("$a", path("link")).unwrap();
        way(&path("link/b")).unwrap_err();
    }
}
