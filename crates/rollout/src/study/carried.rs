//! Connections that something other than this kernel has carried, such as a simulation. They are recorded, and
//! evaluated by an experiment, like this kernel's connections.

use experiment::plan::KeptAddress;
use experiment::{Key, Observation, Unit};
use kernel::{EndedConnection, ReportedObject};
use units::{Bytes, Duration};

use super::directory::StudyDirectory;
use super::error::StudyError;
use super::groups::ClientFacts;
use super::object::ObjectRow;
use super::row::{Maker, Now, Row};
use super::running::{files_of, missing_of};
use fleet::Moment;
use fleet::files::{Files, RecordError};
use fleet::systems::Systems;

/// The time since boot of such connections is their calendar time, so both begin at zero.
const BEGIN: Now = Now {
    boot: Duration::ZERO,
    unix_s: 0.0,
};

/// A connection that has ended, and its objects, as the kernel's program would report them.
#[derive(Debug, Clone)]
pub struct CarriedConnection {
    /// The connection.
    pub connection: EndedConnection,
    /// Its objects.
    pub objects: Vec<ReportedObject>,
}

impl CarriedConnection {
    /// A copy whose unit has this draw and this arm.
    pub fn assigned(&self, unit: u64, arm: usize) -> CarriedConnection {
        let mut given = self.clone();
        let objects = given.objects.iter_mut().map(|object| &mut object.steered);
        for steered in objects.chain([&mut given.connection.steered]) {
            (steered.unit, steered.arm) = (unit, arm);
        }
        given
    }
}

/// Connections and their objects as an experiment evaluates them, with their clients in this autonomous system, if one
/// is given. The unit of randomisation is `unit`.
pub fn observations<'g>(
    given: impl IntoIterator<Item = &'g CarriedConnection>,
    unit: Unit,
    system: Option<u32>,
) -> impl Iterator<Item = Observation> {
    let maker = Maker {
        sitting: 0,
        arms: Vec::new(),
        kept: KeptAddress::Prefix,
        keeps_ends: false,
        key: Key::of_seed(""),
    };
    given.into_iter().flat_map(move |given| {
        let row = maker.ended(&given.connection, BEGIN);
        let known = ClientFacts {
            client: row.client.as_deref(),
            system,
            ..ClientFacts::default()
        };
        let groups = known.groups(unit);
        let mut all = vec![row.observation(groups.clone())];
        all.extend(given.objects.iter().map(|object| {
            let row = maker.object(object, BEGIN);
            row.observation(groups.clone())
        }));
        all
    })
}

/// Writes a study's data.
#[derive(Debug)]
pub struct Recording {
    place: StudyDirectory,
    maker: Maker,
    systems: Option<Systems>,
    files: Files<Row>,
    objects: Files<ObjectRow>,
}

impl Recording {
    /// Begins a sitting of the study of a place. Keeps at most `keep` of rows.
    ///
    /// # Errors
    ///
    /// The study's files cannot be written.
    pub fn begin(
        mut place: StudyDirectory,
        keep: Bytes,
        systems: Option<Systems>,
    ) -> Result<Recording, StudyError> {
        place.about.sittings = place.about.sittings.saturating_add(1);
        let (files, objects) = files_of(&place, keep)?;
        place.save()?;
        Ok(Recording {
            maker: Maker::of(&place),
            place,
            systems,
            files,
            objects,
        })
    }

    /// Records a connection.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn add(&mut self, given: &CarriedConnection) -> Result<(), RecordError> {
        let steered = &given.connection.steered;
        let is_evaluated = self.place.plan.is_evaluated(steered.set_up);
        let systems = self.systems.as_mut();
        let system = systems
            .and_then(|systems| systems.of_address(steered.client))
            .map(|system| system.number);
        let row = Row {
            is_evaluated,
            system,
            ..self.maker.ended(&given.connection, BEGIN)
        };
        let objects = given.objects.iter().map(|object| ObjectRow {
            is_evaluated,
            system,
            ..self.maker.object(object, BEGIN)
        });
        self.files.add(Moment::default(), [row])?;
        self.objects.add(Moment::default(), objects)
    }

    /// Writes the rows in memory. The study is over after this duration.
    ///
    /// # Errors
    ///
    /// The rows cannot be written.
    pub fn finish(mut self, ran: Duration) -> Result<(), StudyError> {
        self.files.save()?;
        self.objects.save()?;
        let missing = missing_of(&self.files, &self.objects);
        self.place.about.missing = self.place.about.missing.and(missing);
        self.place.about.ran_s = ran.as_secs_f64();
        self.place.about.ended = Some("its time is over".to_owned());
        self.place.about.last_unix_s = Some(self.place.about.began_unix_s + ran.as_secs_f64());
        Ok(self.place.save()?)
    }
}
